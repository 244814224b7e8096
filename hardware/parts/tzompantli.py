"""A tzompantli, optional: a stepped foot for two skewers, on which thirteen pony beads stand like skulls."""

from __future__ import annotations

from hardware import ornament
from hardware.parameters import Temple
from hardware.shapes import Part, cut, join, middle, rod

SKEWER, DEEP = 1.6, 8.4
"""The radius of a hole for a skewer of 3 mm, and how deep it is."""
APART = 13.0
"""From one skewer to the other: pony beads are 9 mm wide and 6 mm high."""
LOW, HIGH = 3.6, 10.0
"""How high its two steps are."""
WIDE, NARROW = (40.0, 22.0), (34.0, 16.0)
"""The two steps, across and deep."""


def build(temple: Temple) -> Part:
    """Draw it as it stands and prints."""
    foot, step = middle(*WIDE, (0, LOW)), middle(*NARROW, (LOW - 0.1, HIGH))
    mid, size = (LOW + HIGH) / 2, HIGH - LOW - 0.9
    raised = []
    for turned, out, count in ((0, NARROW[1] / 2, 5), (180, NARROW[1] / 2, 5)):
        wall = ornament.wall(0, out if turned == 0 else -out, mid, turned)
        pitch = (NARROW[0] - 1.5) / count
        places = [(pitch * (n - (count - 1) / 2), 0.0) for n in range(count)]
        raised += ornament.on(wall, [(ornament.skull(size), at) for at in places], temple.relief)
    holes = [rod(SKEWER, (HIGH - DEEP, HIGH + 1), (side * APART / 2, 0)) for side in (1, -1)]
    return cut(join(foot, [step, *raised]), holes)
