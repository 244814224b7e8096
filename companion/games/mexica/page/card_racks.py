"""A rack of card for each space of the calendar: the net to cut and fold, in millimetres. Pure geometry."""

from __future__ import annotations

from companion.games.mexica.page.card_temple import GLUE, Line, Net, Point, box, laid

FRONT, BACK, DEEP = 58.0, 67.0, 28.0
"""How wide it is at the board's edge and behind, and how deep: within a sector of eighteen degrees."""
LOW, HIGH = 9.0, 21.5
"""The walls towards the board, where a finger reaches in, and towards the player."""
SIDE = 14.0
"""How high a side is behind."""
GAP = 2.5
"""What is cut away between a flap and the side that it is glued behind."""
DRAWING = 15.0
"""The size of the day sign on the wall that its player sees."""


def rack(sign: str) -> Net:
    """Return the rack of a day: the wall towards its player above, the one towards the board below."""
    f, b, near = FRONT / 2, BACK / 2, HIGH + DEEP
    lean, long = (b - f), ((b - f) ** 2 + DEEP**2) ** 0.5
    # A side's foot leans outwards towards the player, and its wall stands square to it.
    out, down = DEEP / long, lean / long
    right: list[Point] = [
        (b, 0),
        (b, HIGH - SIDE + 1),
        (b + GLUE, HIGH - SIDE + 3),
        (b + GLUE, HIGH - GAP),
        (b, HIGH),
    ]
    right += [(b + SIDE * out, HIGH + SIDE * down), (f + LOW * out, near + LOW * down), (f, near)]
    right += [(f + GLUE, near + GAP), (f + GLUE, near + LOW - 1.5), (f, near + LOW)]
    edge = [*right, *((-x, y) for x, y in reversed(right))]
    folds: list[Line] = [((-b, HIGH), (b, HIGH), (f, near), (-f, near), (-b, HIGH))]
    folds += [((way * b, HIGH - SIDE + 1), (way * b, HIGH)) for way in (1, -1)]
    folds += [((way * f, near), (way * f, near + LOW)) for way in (1, -1)]
    glued: list[Line] = []
    for way in (1, -1):
        for x, top, foot in ((b, HIGH - SIDE + 3.5, HIGH - GAP - 0.5), (f, near + GAP + 0.5, near + LOW - 2)):
            begin, end = sorted((way * (x + 0.5), way * (x + GLUE - 0.5)))
            glued.append(box(begin, top, end, foot))
    bands = [box(-b, 0, b, 2.5), box(-f, near + LOW - 2.5, f, near + LOW)]
    face = (-b + 4, 4.0, DRAWING)
    return laid(f"rack-{sign}", "", edge, [], folds, glued, bands, face, (0, HIGH + 9))
