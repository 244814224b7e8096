"""A chute: a shaft, a gutter under a low roof, and two seats for a break-beam pair. The same for both gods.

The gutter's floor begins steep under the shaft and bends to its slope before the beam. It is drawn along the flatter
part: x runs down the slope from under the middle of the shaft, z square to it. So it lies on the bed, and only the
roof bridges: over the bend it rises in level steps, because a sloping ceiling hangs in the air layer by layer.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import cos, radians, sin

from build123d import Axis, Cylinder, Location, Plane, Pos, Rot, mirror

from hardware.parameters import Sensor, Temple
from hardware.shapes import Part, Point, block, cut, join, middle, rod, sideways

UNDER = 2.4
"""The floor's thickness."""
SEAT_WALL = 1.6
PLAY = 0.3
"""Around a sensor in its seat."""
LIP = 0.5
"""What holds a sensor down once it has snapped past it."""
TREAD = 2.4
"""Of a step of the roof over the bend; its lower end is as high over the line of the roof as it rises, 0.7 mm."""
EAR = (17, 10.5, 9)
"""Where two screws from the lid hold the shaft: across, out, and thick."""
EAR_HOLE = 6.5
"""How far out the screws are: beyond where the gutter's roof leaves room for them."""
PILOT = 1.3
"""The radius of a hole that an M3 screw cuts its own thread into."""


def level(temple: Temple, s: float, z: float) -> tuple[float, float]:
    """Turn a point of the upright temple (along the gutter, over the table) into the chute's own x and z."""
    tilt = radians(temple.slope)
    up = z - temple.straight(0)
    return s * cos(tilt) - up * sin(tilt), s * sin(tilt) + up * cos(tilt)


def beam(temple: Temple) -> tuple[float, float]:
    """Where the beam crosses, in the chute's own x and z."""
    tilt = radians(temple.slope)
    return (temple.beam_at - temple.beam_over * sin(tilt)) / cos(tilt), temple.beam_over


def build(temple: Temple, sensor: Sensor | None = None, *, proof: bool = False) -> Part:
    """Draw it, for the sensors of the temple or for others; for `proof` with seats for a second pair below.

    The second pair's blocks stand upright, their wires up. It is for the bench: under the shell there is no room.
    """
    sensor = sensor or temple.sensor
    half, wall = temple.shaft / 2, temple.chute_wall
    outer = half + wall
    back, front = -half, half
    end = level(temple, temple.run, temple.sill)[0]
    top = temple.platform

    def at(s: float, z: float) -> tuple[float, float]:
        return level(temple, s, z)

    def line(over: float, down: float, up: float) -> list[Point]:
        """Return the line `over` the floor from the tongue uphill."""
        return [at(*point) for point in temple.above(over, down, up)]

    # The floor's underside stays flat: it lies on the bed.
    tilt = radians(temple.slope)
    body = sideways(
        [
            ((back - wall + UNDER * sin(tilt)) / cos(tilt), -UNDER),
            (end, -UNDER),
            (end, temple.roof + wall),
            *line(temple.roof + wall, temple.run - 10, front + wall)[1:],
            at(front + wall, top),
            at(back - wall, top),
        ],
        outer,
    )
    gutter = sideways(
        [
            (end + 20, temple.roof),
            (end + 20, 0),
            *line(0, temple.run, back)[1:],
            at(back, top + 20),
            at(front, top + 20),
            *reversed(_steps(line(temple.roof, temple.run - 10, front)[1:])),
        ],
        half,
    )
    solids = [_ear(temple)]
    holes = [gutter]
    pairs = [(beam(temple)[0], sensor, True)]
    if proof:
        pairs.append((beam(temple)[0] + temple.below, upright(sensor), False))
    for x, pair, lying in pairs:
        for side in (-1, 1):
            seat, hollow = _seat(temple, pair, side, x, lip=lying)
            solids.append(seat)
            holes.append(hollow)
        bore = Pos(x, 0, temple.beam_over) * Rot(90, 0, 0) * Cylinder(temple.bore(sensor) / 2, 2 * (outer + 1))
        holes.append(bore)
    # The mouth is cut upright, so that it lies behind the shell's wall; only the tongue looks out.
    holes.append(
        _upright(
            temple,
            block((temple.run - 4, temple.run + 40), (-outer - 1, outer + 1), (temple.sill + 3, temple.sill + 60)),
        )
    )
    part = cut(join(body, solids), holes)
    for along_x in (-1, 1):
        part = part - _pilot(temple, along_x)
    return Pos(0, 0, UNDER) * part


def _steps(line: list[Point]) -> list[Point]:
    """Return level steps over a line that rises uphill, each as high as the line at its upper end."""
    (x, low), (end, _) = line[0], line[-1]
    found = [(x, low)]
    while x > end:
        x = max(end, x - TREAD)
        high = next(
            before[1] + (x - before[0]) * (after[1] - before[1]) / (after[0] - before[0])
            for before, after in pairwise(line)
            if after[0] <= x
        )
        found += [(found[-1][0], high), (x, high)]
    return found


def place(temple: Temple, side: int) -> Location:
    """Return where it stands in the temple, on the `side` of one god (`SIDES`)."""
    x, y = temple.shaft_at
    turned = 90 - side * temple.turn
    return (
        Location((side * x, y, temple.straight(0)))
        * Location((0, 0, 0), (0, 0, turned))
        * Location((0, 0, 0), (0, temple.slope, 0))
        * Location((0, 0, -UNDER))
    )


def _upright(temple: Temple, part: Part) -> Part:
    """Tilt what was drawn in the upright temple (s, y, z) into the chute's own frame."""
    return Rot(0, -temple.slope, 0) * (Pos(0, 0, -temple.straight(0)) * part)


def _ear(temple: Temple) -> Part:
    across, out, thick = EAR
    wall = temple.shaft / 2 + temple.chute_wall
    top = temple.platform
    profile = [(wall - 0.5, top), (wall + out, top), (wall + out, top - thick), (wall - 0.5, top - thick - out - 0.5)]
    return _upright(temple, sideways(profile, across / 2))


def _pilot(temple: Temple, side: int) -> Part:
    s, y = screws(temple)[side > 0]
    return _upright(temple, rod(PILOT, (temple.platform - 4.6, temple.platform + 5), (s, y)))


def screws(temple: Temple) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where the lid's screws go, along the gutter and across it."""
    s = temple.shaft / 2 + temple.chute_wall + EAR_HOLE
    return (s, -EAR[0] / 2 + 4.2), (s, EAR[0] / 2 - 4.2)


def upright(sensor: Sensor) -> Sensor:
    """Return what a seat sees of a sensor that stands on the end with its lens."""
    return replace(sensor, length=sensor.height, height=2 * sensor.lens_from_end, lens_from_end=sensor.height / 2)


def _seat(temple: Temple, sensor: Sensor, side: int, x: float, *, lip: bool) -> tuple[Part, Part]:
    """Return the block beside the gutter that holds a sensor with its lens at `x`, and the room in it."""
    z = temple.beam_over
    wall = temple.shaft / 2 + temple.chute_wall
    low, high = x - (sensor.length - sensor.lens_from_end) - PLAY, x + sensor.lens_from_end + PLAY
    bottom, top = z - sensor.height / 2 - 0.2, z + sensor.height / 2
    out = wall + sensor.depth + PLAY
    outside = block((low - SEAT_WALL, high + SEAT_WALL), (wall - 0.5, out + SEAT_WALL), (-UNDER, top + 1.2))
    room = block((low, high), (wall, out), (bottom, top + 20))
    # The lip runs along the outer wall's upper edge; the end wall has a way out for the wires.
    edge = sideways([(0, 0), (LIP, LIP), (LIP, LIP + 0.2), (0, 2 * LIP + 0.2)], (high - low) / 2 - 3)
    edge = Pos((low + high) / 2, out, top + 0.1) * edge.rotate(Axis.Z, -90)
    wires = middle(8, sensor.depth - 2, (bottom + 1, top + 20), (low - 2, (wall + out) / 2))
    outside = outside - block((low, high), (wall + 0.01, out), (top, top + 5))
    hollow = ((room - edge) if lip else room) + wires
    if side < 0:
        return mirror(outside, about=Plane.XZ), mirror(hollow, about=Plane.XZ)
    return outside, hollow
