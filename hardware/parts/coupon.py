"""A coupon to print first: the chute's stretch with both sensors' seats, and two holes for screws to try.

It shows in an hour whether a sensor snaps in, whether the apertures are open and see each other, whether the roof
bridges, and whether the printer's holes take the threads.
"""

from __future__ import annotations

from hardware.parameters import Sensor, Temple
from hardware.parts import chute
from hardware.shapes import Part, block, cut, join, rod

UPHILL, DOWNHILL = 5.0, 11.0
"""How much of the chute is left before the seats and behind them."""
CUBE, HIGH = 9.0, 10.0
BOARD_PILOT = 1.05
"""The radius of a hole that an M2.5 screw cuts its own thread into."""


def build(temple: Temple, sensor: Sensor | None = None) -> Part:
    """Draw it."""
    sensor = sensor or temple.sensor
    x, _ = chute.beam(temple)
    edge = chute.PLAY + chute.SEAT_WALL
    begin = x - (sensor.length - sensor.lens_from_end) - edge - UPHILL
    end = x + sensor.lens_from_end + edge + DOWNHILL
    half = temple.shaft / 2 + temple.chute_wall
    piece = chute.build(temple, sensor) & block((begin, end), (-60, 60), (-1, 100))
    cubes, holes = [], []
    for side, radius in ((1, chute.PILOT), (-1, BOARD_PILOT)):
        near, far = sorted((side * (half - 0.5), side * (half + CUBE)))
        cubes.append(block((end - CUBE, end), (near, far), (0, HIGH)))
        holes.append(rod(radius, (2, HIGH + 1), (end - CUBE / 2, side * (half + CUBE / 2))))
    return cut(join(piece, cubes), holes)
