"""A tray for each controller, on four posts of the base: it holds the strip, and the board if that is inside."""

from __future__ import annotations

from hardware.parameters import Controller, Temple
from hardware.shapes import Part, Point, cut, join, middle, rod

Box = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Two opposite corners."""
HALF = 44.0
DEPTH: Point = (-46.4, 25.0)
BOSS_HIGH = 5.0
BOSS = 3.6
SCREW = 1.7
STRIP: Point = (-7.6, 22.4)
"""From where to where the strip of perforated board lies, which is 7 cm long."""
SLOT, HELD, RAIL = 1.9, 1.0, 1.8
"""The rails' slot, in which the strip's long edges lie, how far it reaches over them, and how thick the rails are."""
RAILS = (-22.0, 22.0)
"""The middles of the rails: beside the tray's screws and the piezo."""
STRIP_OVER = 3.0
"""How far over the tray the strip lies: over the heads of its screws."""
STRIP_HIGH = 11.6
"""From its underside to the tops of plugs in their sockets."""
PIEZO = 11.6
"""The radius of the room for the piezo on the base."""
PIEZO_Y = 33.5
OVERHANG, CABLE_HIGH = 1.2, 20.0
"""How far a socket stands out over its board's edge, and how far up every cable is followed."""
BOARD_BACK = -40.0
"""Where every board begins: behind it is room for the wires of its pins."""


def corners(temple: Temple) -> tuple[Point, ...]:
    """Return where the tray is screwed to the base."""
    low, high = DEPTH
    return tuple((side * 36.0, y) for side in (1, -1) for y in (low + 3.4, high - 3.0))


def bosses(temple: Temple) -> list[Part]:
    """Return the base's posts under the tray."""
    return [rod(BOSS, (temple.floor - 0.5, temple.floor + BOSS_HIGH), at) for at in corners(temple)]


def corner(board: Controller) -> Point:
    """Return where a board's lower left corner lies in the temple, seen from behind: its pins face the back.

    The board is turned by half a circle, so that its first edge, with the power plug, looks towards the stairs.
    """
    return board.x / 2 + board.shift, BOARD_BACK + board.y


def holes(board: Controller) -> tuple[Point, ...]:
    """Return where a board's holes lie in the temple."""
    x, y = corner(board)
    return tuple((x - hx, y - hy) for hx, hy in board.holes)


def board_low(temple: Temple) -> float:
    """Return how high the underside of a board lies."""
    return temple.floor + BOSS_HIGH + temple.tray + temple.standoff


def strip(temple: Temple, board: Controller) -> Box:
    """Return the room of the strip of perforated board, 3 x 7 cm, with its parts: it lies before the controller."""
    low = temple.floor + BOSS_HIGH + temple.tray + STRIP_OVER
    return (board.strip, STRIP[0], low), (board.strip + 70, STRIP[1], low + STRIP_HIGH)


def plug(temple: Temple, board: Controller) -> tuple[Box, Box]:
    """Return the room of a board's power plug, and of its cable until it goes straight up."""
    x, y = corner(board)
    kind, z = board.plug, board_low(temple) + board.plug.middle
    out = kind.straight
    body = (0.0, out), kind.wide / 2, (z - kind.high / 2, z + kind.high / 2)
    found = []
    for (near, far), half, (low, top) in (body, ((out, out + kind.bend), 2.5, (z - 2.5, z + CABLE_HIGH))):
        near, far = near + OVERHANG, far + OVERHANG
        if board.plug_left:
            across = y - board.plug_at
            found.append(((x + near, across - half, low), (x + far, across + half, top)))
        else:
            across = x - board.plug_at
            found.append(((across - half, y + near, low), (across + half, y + far, top)))
    return found[0], found[1]


def build(temple: Temple, board: Controller) -> Part:
    """Draw one, upright as it prints."""
    thick = temple.tray
    plate = middle(2 * HALF, DEPTH[1] - DEPTH[0], (0, thick), (0, (DEPTH[0] + DEPTH[1]) / 2))
    # Beside the strip a tie goes through two slots: it takes the pull off the wires and the cable.
    straps = [middle(2.4, 5, (-1, thick + 1), (sx, STRIP[0] - 6)) for sx in (-14, -6, 6, 14)]
    # At the back the supply's plug comes in below the tray and turns up.
    notch = middle(temple.cable[0] + 1.6, 12, (-1, thick + 1), (0, DEPTH[0] - 0.8))
    under = [middle(8, 20, (-1, thick + 1), (x, sum(STRIP) / 2)) for x in (-30, -10, 2, 14, 32)]
    room = rod(PIEZO, (-1, thick + 1), (0, PIEZO_Y))
    plate = cut(plate, [*(straps if not board.inside else _windows(temple, board)), notch, room, *under])
    pilots, posts = [], []
    if board.inside:
        radius = pilot(board)
        posts = [rod(radius + 1.6, (0, thick + temple.standoff), at) for at in holes(board)]
        pilots = [rod(radius, (-1, thick + temple.standoff + 1), at) for at in holes(board)]
    screws = [rod(SCREW, (-1, thick + 1), at) for at in corners(temple)]
    return cut(join(plate, [*posts, *_rails(temple)]), [_slot(temple), *pilots, *screws])


def _windows(temple: Temple, board: Controller) -> list[Part]:
    """Return the windows under a board, for the air."""
    x, y = corner(board)
    middle_x = x - board.x / 2
    found = []
    count = 5 if board.x > 60 else 2
    for n in range(count):
        at = middle_x + (n - (count - 1) / 2) * 9
        if any(
            abs(at - hx) < 2 + pilot(board) + 1.6 + 1.4 and abs(hy - (y - board.y / 2)) < board.y / 2 - 4
            for hx, hy in holes(board)
        ):
            continue
        found.append(middle(4, board.y - 18, (-1, temple.tray + 1), (at, y - board.y / 2)))
    return found


def _rails(temple: Temple) -> list[Part]:
    """Return the four blocks into which the strip slides from the side."""
    high = temple.tray + STRIP_OVER + SLOT + 1.4
    wide = RAIL + HELD
    return [
        middle(8, wide, (0, high), (x, edge + out * (wide / 2 - HELD)))
        for x in RAILS
        for edge, out in ((STRIP[0], -1), (STRIP[1], 1))
    ]


def _slot(temple: Temple) -> Part:
    low = temple.tray + STRIP_OVER - 0.15
    return middle(3 * HALF, STRIP[1] - STRIP[0] + 0.3, (low, low + SLOT), (0, sum(STRIP) / 2))


def pilot(board: Controller) -> float:
    """Return the radius of the hole a screw cuts its thread into: M2.5 for a Pi, M2 for a Pico."""
    return {2.75: 1.05, 2.1: 0.85}[board.hole]
