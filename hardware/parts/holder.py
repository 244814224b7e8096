"""A holder: the block that a receiver or an emitter without one of its own lies in, so that a seat takes it.

It lies on the bed with what faces the gutter below, and stands in the seat with its open side up, where the pins come
out. An infrared LED goes in from behind, a receiver from the front.
"""

from __future__ import annotations

from hardware.parameters import SENSOR_MODULATED as SEAT
from hardware.parameters import Module, Temple
from hardware.shapes import Part, block, cut, rod

LOOSE = 0.15
"""Around a module in its holder, and around the holder in its seat beside the seat's own play."""
LED, FLANGE, FLANGE_AT = 2.5, 3.0, 7.2
"""The radii of an LED of 5 mm and of its flange, and how far behind its tip the flange may begin."""
PIN = 1.6
"""Half the width of the way out for the pins."""


def build(temple: Temple, module: Module) -> Part:
    """Draw it: x along the gutter, y up in the seat, z away from the gutter."""
    long, high, deep = SEAT.length - 2 * LOOSE, SEAT.height - LOOSE, SEAT.depth - LOOSE
    body = block((-long / 2, long / 2), (-SEAT.height / 2, high - SEAT.height / 2), (0, deep))
    if not module.high:
        holes = [
            rod(LED + LOOSE, (-1, deep + 1), (0, 0)),
            rod(FLANGE + LOOSE, (FLANGE_AT, deep + 1), (0, 0)),
            block((-PIN, PIN), (0, SEAT.height), (FLANGE_AT, deep + 1)),
        ]
        return cut(body, holes)
    half = module.wide / 2 + LOOSE
    return cut(body, [block((-half, half), (-module.eye - LOOSE, SEAT.height), (-1, module.deep + LOOSE))])
