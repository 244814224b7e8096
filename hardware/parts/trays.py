"""A tray for each controller: it sits on four posts of the base and holds the board on four of its own."""

from __future__ import annotations

from hardware.parameters import Controller, Temple
from hardware.shapes import Part, Point, cut, join, middle, rod

Box = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Two opposite corners."""
HALF = 44.0
DEPTH: Point = (-46.4, 21.0)
BOSS_HIGH = 5.0
BOSS = 3.6
SCREW = 1.7
RAIL = (17.5, 22.3)
"""From where to where the rails of the strip reach; the strip stands in the middle of them."""
SLOT = 1.9
STRIP_OVER = 3.0
"""How far over the tray the strip begins: over the heads of its screws."""
ANGLED_HIGH, CABLE_HIGH = 25.0, 40.0
"""How high over its socket an angled plug reaches, and how far up every cable is followed."""
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
    return (board.x + board.beyond) / 2 + board.shift, BOARD_BACK + board.y


def holes(board: Controller) -> tuple[Point, ...]:
    """Return where a board's holes lie in the temple."""
    x, y = corner(board)
    return tuple((x - hx, y - hy) for hx, hy in board.holes)


def board_low(temple: Temple) -> float:
    """Return how high the underside of a board lies."""
    return temple.floor + BOSS_HIGH + temple.tray + temple.standoff


def strip(temple: Temple, board: Controller) -> Box:
    """Return the room of the strip of perforated board, 3 x 7 cm, with its parts: it stands before the controller."""
    low = temple.floor + BOSS_HIGH + temple.tray + STRIP_OVER
    return (board.strip, RAIL[0] - 0.2, low), (board.strip + 70, RAIL[1] + 9, low + 30)


def plug(temple: Temple, board: Controller, *, angled: bool) -> tuple[Box, Box]:
    """Return the room of the power plug, and of its cable until it goes straight up."""
    x, y = corner(board)
    kind, z = board.plug, board_low(temple) + board.plug.middle
    out = kind.angled if angled else kind.straight
    body = (0.0, out), kind.wide / 2, (z - kind.high / 2, z + (ANGLED_HIGH if angled else kind.high / 2))
    cable = (out - 5, out) if angled else (out, out + kind.bend)
    found = []
    for (near, far), half, (low, top) in (body, (cable, 2.5, (z - 2.5, z + CABLE_HIGH))):
        near, far = near + board.overhang, far + board.overhang
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
    x, y = corner(board)
    radius = pilot(board)
    middle_x = x - board.x / 2
    windows = []
    count = 5 if board.x > 60 else 2
    for n in range(count):
        at = middle_x + (n - (count - 1) / 2) * 9
        if any(
            abs(at - hx) < 2 + radius + 1.6 + 1.4 and abs(hy - (y - board.y / 2)) < board.y / 2 - 4
            for hx, hy in holes(board)
        ):
            continue
        windows.append(middle(4, board.y - 18, (-1, thick + 1), (at, y - board.y / 2)))
    # Towards the stairs a strap goes through two slots: it takes the pull off the wires and the plug.
    straps = [middle(2.4, 5, (-1, thick + 1), (sx, DEPTH[1] - 4.4)) for sx in (-14, -6, 6, 14)]
    posts = [rod(radius + 1.6, (0, thick + temple.standoff), at) for at in holes(board)]
    # At the back the supply's plug comes in below the tray and turns up.
    notch = middle(temple.cable[0] + 1.6, 12, (-1, thick + 1), (0, DEPTH[0] - 0.8))
    plate = cut(plate, [*windows, *straps, notch])
    pilots = [_slot(temple), *(rod(radius, (-1, thick + temple.standoff + 1), at) for at in holes(board))]
    screws = [rod(SCREW, (-1, thick + 1), at) for at in corners(temple)]
    return cut(join(plate, [*posts, *_rails(temple, board)]), [*pilots, *screws])


def _rails(temple: Temple, board: Controller) -> list[Part]:
    """Return the two blocks in which the strip stands: beside the straps' slots and the tray's screws."""
    places = [x for x in (-22.0, 0.0, 22.0) if board.strip + 8 < x < board.strip + 62]
    return [middle(6, RAIL[1] - RAIL[0], (0, temple.tray + 8), (x, sum(RAIL) / 2)) for x in (places[0], places[-1])]


def _slot(temple: Temple) -> Part:
    return middle(3 * HALF, SLOT, (temple.tray + STRIP_OVER, temple.tray + 20), (0, sum(RAIL) / 2))


def pilot(board: Controller) -> float:
    """Return the radius of the hole a screw cuts its thread into: M2.5 for a Pi, M2 for a Pico, M3 for an Uno."""
    return {2.75: 1.05, 2.1: 0.85, 3.2: 1.3}[board.hole]
