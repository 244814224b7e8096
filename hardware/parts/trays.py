"""A tray for each controller: it sits on four posts of the base and holds the board on four of its own."""

from __future__ import annotations

from hardware.parameters import Controller, Temple
from hardware.shapes import Part, Point, cut, join, middle, rod

HALF = 44.0
DEPTH: Point = (-46.4, 21.0)
BOSS_HIGH = 5.0
BOSS = 3.6
SCREW = 1.7
PAD = 2.1
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
    return (board.x + board.beyond) / 2, BOARD_BACK + board.y


def holes(board: Controller) -> tuple[Point, ...]:
    """Return where a board's holes lie in the temple."""
    x, y = corner(board)
    return tuple((x - hx, y - hy) for hx, hy in board.holes)


def board_low(temple: Temple) -> float:
    """Return how high the underside of a board lies."""
    return temple.floor + BOSS_HIGH + temple.tray + temple.standoff


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
    pilots = [rod(radius, (-1, thick + temple.standoff + 1), at) for at in holes(board)]
    screws = [rod(SCREW, (-1, thick + 1), at) for at in corners(temple)]
    return cut(join(plate, posts), [*pilots, *screws])


def pilot(board: Controller) -> float:
    """Return the radius of the hole a screw cuts its thread into: M2.5 for a Pi, M2 for a Pico, M3 for an Uno."""
    return {2.75: 1.05, 2.1: 0.85, 3.2: 1.3}[board.hole]
