"""Wires, plugs and cables in their places in the closed temple: solids for the assembly's tests and pictures.

Nothing here is printed. A bundle of wires is round and follows corners that are bent; plugs are blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import acos, ceil, cos, dist, radians, sin, tan

import manifold3d
import numpy as np

from hardware import checks
from hardware.parameters import SIDES, Controller, Pins, Sensor, Temple
from hardware.parts import chute, plaza, trays

Spot = tuple[float, float, float]

TO_STRIP = 120.0
"""How long the wires from the board to the strip are cut."""
RADII = {2: 1.5, 3: 1.65, 6: 2.25}
"""Of a bundle of so many wires of 1.5 mm."""
CABLE = 2.5
"""The radius of a power cable."""
WIRE_BEND, LAMP_BEND, LEADS_BEND, CABLE_BEND = 3.0, 2.5, 6.0, 12.0
"""The least radius with which a bundle's middle turns: wires of a sensor, of a lamp, of the board; a power cable."""
LEVELS = (46.0, 50.0, 54.0, 58.0)
"""How high the loops of the sensors' wires lie, and under them the board's wires and the power cable."""
LEADS_LEVEL, CABLE_LEVEL = 41.6, 36.0
PIEZO_LEAD, PIEZO_LEVEL = 160.0, 37.4
"""How long the piezo's wires are cut, and how high they lie."""
LAMP_LOOPS = (24.0, 31.0, 40.0, -25.0), (24.0, 36.0, 46.0, -18.0)
"""How far under the platform each lamp's loop between the chutes begins and ends, and its wires go to their pin.

The last is how far behind the middle of the temple they turn to it.
"""
BETWEEN = 1.9
"""How far from the middle a lamp's wires come down between the chutes."""
APART, BESIDE = 8.0, 12.0
"""How far a wire's plug is beside its sensor at least, and how wide its loop is where it is under it."""
PLUGS, OVER, JOINTS = 14.0, 6.0, -3.0
"""Where on the strip the sensors' plugs stand, a loop comes back to its plug's side, and the board's wires end."""
FACET = radians(18)
LED, LED_HIGH, LED_FLANGE, LED_LEGS = 2.5, 8.7, 1.0, 4.0
"""An LED of 5 mm: its radius, its height, its flange's, and how far its legs go down before they are bent."""
WS2812 = (12.7, 10.2, 3.5)
"""A board with one of them and its pins cut short, glued under the hole: across, deep and high."""
PIEZO, PIEZO_HIGH = 11.0, 8.0
"""The largest piezo of the bill: its radius and height."""

RED, BLUE, GREY, BLACK = "#A8202F", "#2F7F9E", "#8A8A86", "#1E1E1E"
COLOURS = {"huitzilopochtli": RED, "tlaloc": BLUE}


@dataclass(frozen=True)
class Bundle:
    """Wires or a cable that lie together: corners of their way, their radius, and how narrowly they turn."""

    name: str
    corners: tuple[Spot, ...]
    radius: float
    bend: float
    colour: str

    @property
    def line(self) -> tuple[Spot, ...]:
        """The middle of the bundle; raises `ValueError` where a bend has no room."""
        return tuple(bent(self.corners, self.bend))

    @property
    def length(self) -> float:
        """How long it is, in millimetres."""
        return sum(dist(one, other) for one, other in pairwise(self.line))

    def solid(self) -> manifold3d.Manifold:
        """Return its body."""
        return checks.swept(self.line, self.radius, 16)


def bent(corners: Sequence[Spot], radius: float) -> Iterator[Spot]:
    """Yield a line through corners that are rounded with a radius.

    >>> [tuple(round(each, 1) for each in spot) for spot in bent([(0, 0, 0), (5, 0, 0), (5, 5, 0)], 5)][-1]
    (5.0, 5.0, 0.0)
    """
    points = [np.array(corner, float) for corner in corners]
    yield _spot(points[0])
    used = 0.0
    for before, at, after in zip(points, points[1:], points[2:], strict=False):
        into, out = at - before, after - at
        room, next_ = float(np.linalg.norm(into)), float(np.linalg.norm(out))
        into, out = into / room, out / next_
        turn = acos(float(np.clip(into @ out, -1, 1)))
        cut = radius * tan(turn / 2)
        if used + cut > room + 1e-6 or cut > next_ + 1e-6:
            raise ValueError(
                f"no room for a bend of {radius:g} mm at {_spot(at)}: legs of {room:.1f} and {next_:.1f}"
            )
        used = cut
        if turn < 1e-6:
            continue
        square = (out - into * cos(turn)) / sin(turn)
        centre = at - into * cut + square * radius
        for n in range(ceil(turn / FACET) + 1):
            part = turn * n / ceil(turn / FACET)
            yield _spot(centre + radius * (into * sin(part) - square * cos(part)))
    yield _spot(points[-1])


def _spot(point: np.ndarray) -> Spot:
    x, y, z = (float(each) for each in point)
    return x, y, z


def lead(temple: Temple) -> float:
    """Return how long a sensor's wires are, from its block to their plug: what is over is a loop under the chutes."""
    return min(225.0, 105.0 + temple.sill)


def lamp_lead(temple: Temple, board: Controller) -> float:
    """Return how long a lamp's wires are cut."""
    return 0.0 if board.lights is None else board.lights.lead + temple.sill


def sensors(temple: Temple, board: Controller, sensor: Sensor) -> tuple[Bundle, ...]:
    """Return the wires of the four halves of the beams: from their blocks, in a loop, to their plugs."""
    begins = [(god, *_leaves(temple, sensor, side, across)) for god, side in SIDES.items() for across in (1, -1)]
    begins.sort(key=lambda each: each[2][0], reverse=True)
    # A wire's plug may be under another's sensor: then the other's loop lies higher.
    levels = LEVELS if board.strip + 35 < 0 else LEVELS[::-1]
    found = []
    for n, (god, start, down) in enumerate(begins):
        emits = (n + (god == "tlaloc")) % 2 == 0
        wires = 2 if emits else 3
        x, y, z = plug_at(temple, board, n)
        end = x, y, z + RADII[wires]
        name = f"{god}'s {'emitter' if emits else 'receiver'}"
        straight = Bundle(name, (start, down, end), RADII[wires], WIRE_BEND, COLOURS[god])
        found.append(_as_long_as(lead(temple), straight, levels[n]))
    return tuple(found)


def _as_long_as(length: float, straight: Bundle, level: float) -> Bundle:
    """Return a bundle with a loop on a level, so deep that it has its length."""
    start, down, end = straight.corners

    def looped(back: float) -> Bundle:
        return replace(straight, corners=(start, down, *_loop(down, end, level, back), end))

    # The loop's way towards the back counts twice, there and back.
    return looped((looped(0.0).length - length) / 2)


def _leaves(temple: Temple, sensor: Sensor, side: int, across: int) -> tuple[Spot, Spot]:
    """Return where the wires of a half leave its block, uphill, and where they turn down."""
    x, z = chute.beam(temple)
    x -= sensor.length - sensor.lens_from_end
    out = across * (temple.shaft / 2 + temple.chute_wall + sensor.depth / 2)
    return _upright(temple, side, x, out, z), _upright(temple, side, x - 9, out, z)


def _upright(temple: Temple, side: int, x: float, across: float, z: float) -> Spot:
    """Turn a point of a chute's own frame into the temple's."""
    tilt, turn = radians(temple.slope), radians(90 - side * temple.turn)
    s, up = x * cos(tilt) + z * sin(tilt), z * cos(tilt) - x * sin(tilt)
    near, beside = temple.shaft_at[1], side * temple.shaft_at[0]
    return (
        beside + s * cos(turn) - across * sin(turn),
        near + s * sin(turn) + across * cos(turn),
        temple.straight(0) + up,
    )


def _loop(down: Spot, end: Spot, level: float, back: float) -> list[Spot]:
    """Return the corners from where wires come down to their plug: on a level, as far towards the back as is said."""
    (x, y, _), (at, near, _) = down, end
    lane = at if abs(at - x) >= APART else x + (BESIDE if x >= at else -BESIDE)
    ways = [(x, y), (x, back), (lane, back)]
    if lane != at:
        ways += [(lane, OVER), (at, OVER)]
    ways.append((at, near))
    return [(here, deep, level) for here, deep in ways]


def plug_at(temple: Temple, board: Controller, n: int) -> Spot:
    """Return where the wires of a plug on the strip begin; the first is the farthest on Tlaloc's side."""
    (left, _, _), (_, _, high) = trays.strip(temple, board)
    return left + 52 - 14 * n, PLUGS, high


def to_strip(temple: Temple, board: Controller) -> tuple[Bundle, ...]:
    """Return the wires from the board's pins to the strip."""
    (left, _, _), (right, _, top) = trays.strip(temple, board)
    found = []
    for box, pins in zip(housings(temple, board), board.pins, strict=True):
        x, y = (box[0][0] + box[1][0]) / 2, (box[0][1] + box[1][1]) / 2
        end = min(max(x, left + 8), right - 8), JOINTS
        radius = RADII[pins.wires]
        up, down = box[1][2] + radius, top + radius
        corners = ((x, y, up), (x, y, LEADS_LEVEL), (*end, LEADS_LEVEL), (*end, down))
        found.append(Bundle(f"{pins.wires} wires of the board", corners, radius, LEADS_BEND, GREY))
    return tuple(found)


def housings(temple: Temple, board: Controller) -> tuple[trays.Box, ...]:
    """Return the plugs on the board's pins."""
    return tuple(_housing(temple, board, pins) for pins in board.pins)


def _housing(temple: Temple, board: Controller, pins: Pins) -> trays.Box:
    x, y = trays.corner(board)
    low = trays.board_low(temple) + 1.6
    return (x - pins.right, y - pins.far, low), (x - pins.left, y - pins.near, low + pins.high)


def power(temple: Temple, board: Controller) -> Bundle:
    """Return the cable that leaves the temple over the base's road.

    It is a board's power cable, from where it has turned up behind its plug, or the strip's cable to a board outside.
    """
    back = temple.tiers[0].back
    if not board.inside:
        over = trays.strip(temple, board)[0][2]
        corners: tuple[Spot, ...] = ((0.0, trays.STRIP[0] - 4, over), (0.0, back - 25, over))
        return Bundle("cable of the strip", corners, CABLE, CABLE_BEND, BLACK)
    (near_x, near_y, low), (far_x, far_y, _) = trays.plug(temple, board)[1]
    x, y = (far_x - CABLE, (near_y + far_y) / 2) if board.plug_left else ((near_x + far_x) / 2, far_y - CABLE)
    out, rear = temple.floor + 4.3, back + 6
    turn = [] if board.plug_left else [(x, rear, CABLE_LEVEL)]
    corners = (
        (x, y, low + 8),
        (x, y, CABLE_LEVEL),
        *turn,
        (0.0, rear, CABLE_LEVEL),
        (0.0, rear, out),
        (0.0, back - 25, out),
    )
    return Bundle("power cable", corners, CABLE, CABLE_BEND, BLACK)


def lamps(temple: Temple, board: Controller) -> tuple[Bundle, ...]:
    """Return the wires of both lamps: in a loop between the chutes, behind them down to the board's pins."""
    if board.lights is None:
        return ()
    near = plaza.LAMP_Y + 2 * LAMP_BEND
    found = []
    for god, at, loop in zip(plaza.lamps(temple), board.lights.at, LAMP_LOOPS, strict=False):
        end = _light_pin(temple, board, at)
        short = _lamp(temple, god, end, loop, near)
        found.append(_lamp(temple, god, end, loop, near + (lamp_lead(temple, board) - short.length) / 2))
    return tuple(found)


def _lamp(temple: Temple, god: str, end: Spot, loop: tuple[float, float, float, float], front: float) -> Bundle:
    """Return a lamp's wires with a loop that reaches as far towards the stairs as is said."""
    x, y = plaza.lamps(temple)[god]
    z = temple.platform - LED_FLANGE - LED_LEGS - RADII[2] - 0.1
    gap = SIDES[god] * BETWEEN
    upper, lower, under_chutes = (temple.platform - under for under in loop[:3])
    behind = loop[3]
    corners = (
        (x, y, z),
        (gap, y, z),
        (gap, y, upper),
        (gap, front, upper),
        (gap, front, lower),
        (gap, behind, lower),
        (gap, behind, under_chutes),
        (end[0], end[1], under_chutes),
        end,
    )
    return Bundle(f"{god}'s lamp", corners, RADII[2], LAMP_BEND, COLOURS[god])


def piezo(temple: Temple, board: Controller) -> Bundle | None:
    """Return the piezo's wires: up before the strip, over it, and to the board's pins; None without lights."""
    if board.lights is None:
        return None
    end = _light_pin(temple, board, board.lights.at[2])
    x, y, z = -13.0, 40.0, temple.floor + PIEZO_HIGH + RADII[2] + 0.1
    corners = ((x, y, z), (x, y, PIEZO_LEVEL), (end[0], end[1], PIEZO_LEVEL), end)
    return Bundle("piezo's wires", corners, RADII[2], WIRE_BEND, GREY)


def _light_pin(temple: Temple, board: Controller, at: float) -> Spot:
    """Return where wires of a lamp or the piezo leave their plug."""
    assert board.lights is not None
    plugs = board.lights.plugs
    x, y = trays.corner(board)
    return x - at, y - (plugs.near + plugs.far) / 2, trays.board_low(temple) + 1.6 + plugs.high + RADII[2] + 0.1


def light_plugs(temple: Temple, board: Controller) -> tuple[trays.Box, ...]:
    """Return the plugs of lamps and piezo that stand beside the others."""
    return () if board.lights is None else (_housing(temple, board, board.lights.plugs),)


def light_bodies(temple: Temple) -> dict[str, manifold3d.Manifold]:
    """Return two LEDs of 5 mm, a board with a WS2812 under each hole instead, and the piezo on the base."""
    found = {}
    for god, (x, y) in plaza.lamps(temple).items():
        top = temple.platform
        led = manifold3d.Manifold.cylinder(LED_HIGH, LED) + manifold3d.Manifold.cylinder(LED_FLANGE, LED + 0.45)
        legs = manifold3d.Manifold.cylinder(LED_LEGS, 2.0).translate((0, 0, -LED_LEGS))
        found[f"{god}'s LED"] = (led + legs).translate((x, y, top - LED_FLANGE - 0.01))
        half, deep, thick = (each / 2 for each in WS2812)
        board = checks.box((-half, -deep, -2 * thick), (half, deep, 0))
        found[f"{god}'s WS2812"] = board.translate((x, y, top - 0.01))
    found["piezo"] = manifold3d.Manifold.cylinder(PIEZO_HIGH, PIEZO).translate(
        (0, trays.PIEZO_Y, temple.floor + 0.01)
    )
    return found
