"""Computes the colour of the lamp before each shrine's door from recent events and the time.

Pure. Times are integer nanoseconds of one monotonic clock. A colour is red, green and blue from 0 to 1; lamps of one
colour show its brightest component, so each pattern can also be recognised by its rhythm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import cos, tau
from typing import TypeAlias

from msgspec import Struct

from controller.core.counting import MS, SECOND
from templo.contract import God, Light, LightEffect

Colour: TypeAlias = tuple[float, float, float]
Frame: TypeAlias = Mapping[God, Colour]

Tune: TypeAlias = tuple[float, ...]

GLOW_NS = 900 * MS
"""How long a token's glow takes to fade."""

BLINK_NS = 2 * SECOND
"""The period of the two short blinks for a slot that does not count, and of the three for any other trouble."""

STEADY = 0.4
"""How bright lamps that shine at rest are, so that a token still outshines them."""

DARK: Colour = (0.0, 0.0, 0.0)
AMBER: Colour = (1.0, 0.45, 0.0)
BLUE: Colour = (0.0, 0.25, 1.0)
RED: Colour = (1.0, 0.05, 0.0)
WHITE: Colour = (1.0, 0.9, 0.7)
GLOWS: Mapping[God, Colour] = {God.HUITZILOPOCHTLI: (1.0, 0.3, 0.05), God.TLALOC: (0.1, 0.5, 1.0)}

AT_FIRST = Light(on=True, brightness=255, colour=(255, 150, 60), effect=LightEffect.SIGNALS)
"""The lamps' settings until somebody changes them."""

NOTE_NS = 160 * MS
"""How long each note sounds."""

CHIRPS: Mapping[God, Tune] = {God.HUITZILOPOCHTLI: (784.0,), God.TLALOC: (1175.0,)}
"""What a token sounds like."""

_SHORT_NS = 150 * MS
_ALARM = 0.5


class Shrine(Struct, frozen=True):
    """What one lamp shows: the time of the latest token, whether its slot fails to count, and its findings."""

    token_ns: int | None = None
    stopped: bool = False
    finding: bool = False
    """Whether something is wrong with the beam although it counts."""


class Scene(Struct, frozen=True):
    """What both lamps show: signals by their codes, the turns left in a countdown, and how the lamps are set."""

    signals: tuple[str, ...] = ()
    left: int | None = None
    trouble: bool = False
    """Whether the temple has a trouble other than its beams."""
    light: Light = AT_FIRST


class Signal(Struct, frozen=True):
    """How lamps show one signal: its colour, and how bright that is for a god at a time in a scene, from 0 to 1.

    `tune` is played once as it begins: frequencies in hertz, each for `NOTE_NS`.
    """

    colour: Colour
    level: Callable[[God, int, Scene], float]
    tune: Tune


def blinks(times: int, period_ns: int, now_ns: int) -> bool:
    """Return whether a lamp that blinks so many times at the beginning of each period is lit.

    >>> "".join(".#"[blinks(2, 900 * MS, ms * MS)] for ms in range(0, 900, 75))
    '##..##......'
    """
    phase_ns = now_ns % period_ns
    return phase_ns < times * 2 * _SHORT_NS and phase_ns % (2 * _SHORT_NS) < _SHORT_NS


def _wave(god: God, now_ns: int, scene: Scene) -> float:
    """Rise and fall in four seconds, one shrine as the other falls, as water swells."""
    turn = now_ns / (4 * SECOND) + (0.5 if god is God.TLALOC else 0)
    return 0.1 + 0.2 * (1 - cos(tau * turn))


def _heartbeat(god: God, now_ns: int, scene: Scene) -> float:
    """Beat twice in each 1.2 seconds, as a war drum."""
    return 0.5 if blinks(2, 1200 * MS, now_ns) else 0.08


def _countdown(god: God, now_ns: int, scene: Scene) -> float:
    """Blink once for each turn that is left, every eight seconds."""
    return float(blinks(min(scene.left or 0, 20), 8 * SECOND, now_ns)) * 0.9


def _by_turns(god: God, now_ns: int, scene: Scene) -> float:
    """Light the two shrines in turn, a second each."""
    is_first = now_ns % (2 * SECOND) < SECOND
    return 0.4 if is_first is (god is God.HUITZILOPOCHTLI) else 0.0


def _slow(whose: God) -> Callable[[God, int, Scene], float]:
    """Light one god's shrine for a second and a half of every three."""
    return lambda god, now_ns, scene: 0.6 if god is whose and now_ns % (3 * SECOND) < 1500 * MS else 0.0


SIGNALS: Mapping[str, Signal] = {
    "flood": Signal(BLUE, _wave, (523.0, 440.0, 349.0)),
    "war": Signal(RED, _heartbeat, (262.0, 262.0, 392.0)),
    "countdown": Signal(WHITE, _countdown, (880.0, 880.0)),
    "hotspot": Signal(WHITE, _by_turns, (440.0, 659.0)),
    "level_tlaloc": Signal(WHITE, _slow(God.TLALOC), (659.0, 523.0)),
    "level_huitzilopochtli": Signal(WHITE, _slow(God.HUITZILOPOCHTLI), (659.0, 523.0)),
}
"""Every signal that lamps know, by its code in `templo.contract.Mood`; a new one is a line here."""


def colour(god: God, shrine: Shrine, scene: Scene, now_ns: int) -> Colour:
    """Return a lamp's colour: a token's fading glow first, then what is wrong, the signals, and its light at rest.

    The fade is quadratic, because a linear one looks bright for a long time and then suddenly dark.

    >>> token = Shrine(token_ns=0)
    >>> [max(colour(God.TLALOC, token, Scene(), ms * MS)) for ms in (0, 450, 900)]
    [1.0, 0.25, 0.0]
    >>> [max(colour(God.TLALOC, Shrine(stopped=True), Scene(), ms * MS)) for ms in (100, 200, 400, 1000, 2100)]
    [0.5, 0.0, 0.5, 0.0, 0.5]
    """
    light = scene.light
    if not light.on:
        return DARK
    lit = [scaled(GLOWS[god], _glow(shrine.token_ns, now_ns))]
    if shrine.stopped or scene.trouble:  # and no signal, which would hide it
        lit.append(scaled(AMBER, _ALARM * blinks(2 if shrine.stopped else 3, BLINK_NS, now_ns)))
    else:
        known = [SIGNALS[code] for code in scene.signals if code in SIGNALS]
        lit += [scaled(each.colour, each.level(god, now_ns, scene)) for each in known]
        if shrine.finding:
            lit.append(scaled(AMBER, _ALARM * blinks(1, 2 * BLINK_NS, now_ns)))
        if light.effect is LightEffect.STEADY:
            red, green, blue = light.colour
            lit.append(scaled((red / 255, green / 255, blue / 255), STEADY))
    return scaled(_brightest(lit), light.brightness / 255)


def note(tune: Tune, begun_ns: int, now_ns: int) -> float | None:
    """Return the frequency that sounds at a time of a tune, in hertz; None before it and after it.

    >>> [note((440.0, 880.0), 0, ms * MS) for ms in (-1, 0, 159, 160, 320)]
    [None, 440.0, 440.0, 880.0, None]
    """
    n = (now_ns - begun_ns) // NOTE_NS
    return tune[n] if 0 <= n < len(tune) else None


def scaled(colour: Colour, level: float) -> Colour:
    """Return a colour at a level from 0 to 1.

    >>> scaled((1.0, 0.5, 0.0), 0.5)
    (0.5, 0.25, 0.0)
    """
    red, green, blue = colour
    return red * level, green * level, blue * level


def _brightest(colours: Iterable[Colour]) -> Colour:
    reds, greens, blues = zip(*colours, strict=True)
    return max(reds), max(greens), max(blues)


def _glow(token_ns: int | None, now_ns: int) -> float:
    if token_ns is None or not 0 <= now_ns - token_ns < GLOW_NS:
        return 0.0
    return (1 - (now_ns - token_ns) / GLOW_NS) ** 2
