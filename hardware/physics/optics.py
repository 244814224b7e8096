"""What a receiver makes of tokens in its light: lens, aperture, threshold, reflection and response.

A pair is two lenses that face each other across the gutter, so a token takes the light away bit by bit. The light is
361 rays, from each of 19 points on one lens to each of 19 on the other. Which of them a token stops is traced once;
what a receiver sees follows for every aperture, plastic and threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import cos, pi, radians, sin, sqrt

import numpy as np

Shade = tuple[int, bytes]
"""A step of the simulation, and the rays that were stopped then, as packed bits."""

SPREAD = 20.0
"""Half the angle of an emitter's light, in degrees."""


@dataclass(frozen=True)
class Spell:
    """The beam was dark from then on for so long, in milliseconds."""

    at_ms: float
    width_ms: float


@dataclass(frozen=True)
class Rays:
    """Points on a lens as columns across and along the beam's plane, in millimetres, each with its share of area."""

    points: np.ndarray
    areas: np.ndarray
    inside: np.ndarray
    """Which of them lie behind the aperture."""
    bore: float
    """The radius of what the light passes where there is no aperture: the lens's, and a hair."""
    aperture: float
    """The aperture's radius."""

    @property
    def count(self) -> int:
        """From every point of one lens to every point of the other."""
        return len(self.points) ** 2


def rays(lens: float, aperture: float) -> Rays:
    """Return the points for a lens behind an aperture, both as diameters: seven in the aperture, twelve around it.

    >>> rays(5, 2).count, int(rays(5, 2).inside.sum())
    (361, 7)
    """
    outer, inner = lens / 2, aperture / 2
    middle = sqrt((outer**2 + inner**2) / 2)
    rings = [(0.0, inner / sqrt(7), 1), (inner / sqrt(7), inner, 6), (inner, middle, 6), (middle, outer, 6)]
    points, areas, inside = [], [], []
    for n, (low, high, count) in enumerate(rings):
        radius = sqrt((low**2 + high**2) / 2) if low else 0.0
        for k in range(count):
            turn = 2 * pi * (k + (n % 2) / 2) / count
            points.append((radius * cos(turn), radius * sin(turn)))
            areas.append((high**2 - low**2) / count)
            inside.append(high <= inner + 1e-9)
    return Rays(np.array(points), np.array(areas) / sum(areas), np.array(inside), outer + 0.2, inner)


@dataclass(frozen=True)
class Plastic:
    """What a chute is printed in, at 940 nm: what its surface throws back, and what one wall lets through."""

    name: str
    reflects: float
    passes: float


BLACK = Plastic("black (carbon black), matt", 0.06, 0.0)
GREY = Plastic("grey", 0.3, 0.01)
PALE = Plastic("white or pale", 0.7, 0.1)
"""All three are assumed from the usual range of such plastics, not measured.

A black that is only dyed may let infrared through."""


@dataclass(frozen=True)
class Receiver:
    """A receiver in its chute: when it reads dark.

    It reads dark `response_ms` after less than 1 - `threshold` of its clear light is left, and clear at once when
    there is more: no receiver is worse at the same response.
    """

    threshold: float = 0.98
    aperture: bool = True
    plastic: Plastic = BLACK
    response_ms: float = 2.0


WORST = Receiver()
"""Over-driven and slow: its dark spells are the shortest."""
EASY = Receiver(threshold=0.5, response_ms=0.0)
"""Barely driven and quick: its dark spells are the longest."""


def scattered(bundle: Rays, receiver: Receiver, across: float = 17.0, high: float = 16.6, wall: float = 2.0) -> float:
    """Return the light that comes by way of the walls, as a share of the direct light in a clear beam.

    The gutter around the beam is taken as an integrating box, 40 mm long and open at both ends; a bore as long as the
    wall is thick lets in only what comes nearly straight. An estimate, good to a factor of two.
    """
    long = 40.0
    walls, ends = 2 * (across + high) * long, 2 * across * high
    bounced = receiver.plastic.reflects / (1 - receiver.plastic.reflects * walls / (walls + ends))
    ratio = wall / (bundle.aperture if receiver.aperture else bundle.bore)
    # The view from one end of a tube to the other: the share of diffuse light that passes it without touching.
    tube = (2 + ratio**2 - sqrt((2 + ratio**2) ** 2 - 4)) / 2
    direct = 1 / (2 * pi * (1 - cos(radians(SPREAD))) * (across + 2 * wall) ** 2)
    return bounced * tube / (walls + ends) / direct


def light(bundle: Rays, receiver: Receiver, stopped: np.ndarray) -> np.ndarray:
    """Return the share of the clear beam's light that is left, for each row of stopped rays."""
    behind = np.where(bundle.inside, 1.0, receiver.plastic.passes if receiver.aperture else 1.0) * bundle.areas
    weights = np.outer(behind, behind).ravel()
    walls = scattered(bundle, receiver)
    return np.asarray(((~stopped @ weights) / weights.sum() + walls) / (1 + walls))


def spells(bundle: Rays, receiver: Receiver, shade: Sequence[Shade], step_ms: float) -> Iterator[Spell]:
    """Yield when the receiver reads dark; `shade` has every step in which a ray was stopped, in order."""
    if not shade:
        return
    bits = np.frombuffer(b"".join(each for _, each in shade), np.uint8).reshape(len(shade), -1)
    stopped = np.unpackbits(bits, axis=1, count=bundle.count).astype(bool)
    steps = np.array([step for step, _ in shade])
    dark = steps[light(bundle, receiver, stopped) < 1 - receiver.threshold]
    for run in np.split(dark, np.flatnonzero(np.diff(dark) > 1) + 1):
        width = len(run) * step_ms - receiver.response_ms
        if width > 0:
            yield Spell(round(run[0] * step_ms + receiver.response_ms, 3), round(width, 3))


def overdrive(made_for_mm: float, apart_mm: float, lens: float, aperture: float | None, share: float = 1.0) -> float:
    """Return how many times the light that it needs a receiver gets, at a share of the emitter's full current.

    A pair just works at the distance that it is made for. An aperture takes light at both ends, by its area.

    >>> round(overdrive(250, 21, 5, None)), round(overdrive(250, 21, 5, 2), 1)
    (142, 3.6)
    """
    seen = 1.0 if aperture is None else (aperture / lens) ** 4
    return (made_for_mm / apart_mm) ** 2 * seen * share


def current(ohms: float, volts: float = 5.0, full_ma: float = 20.0, drop: float = 1.3) -> float:
    """Return the share of an emitter's full current behind a resistor in series.

    >>> round(current(0), 2), round(current(220), 2)
    (1.0, 0.46)
    """
    inside = (volts - drop) / (full_ma / 1000)
    return inside / (inside + ohms)
