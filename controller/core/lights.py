"""How bright the lamp behind each shrine's door is at a moment: frames computed from what happened and from the time.

Pure. Times are integer nanoseconds of one monotonic clock, brightness goes from 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from controller.core.counting import MS, SECOND

GLOW_NS = 900 * MS
"""How long a token's glow takes to fade."""

BLINK_NS = 2 * SECOND
"""The period of the two short blinks that mark a slot which counts nothing."""

_BLINKS = ((0, 150 * MS), (300 * MS, 450 * MS))
_BLINK_BRIGHTNESS = 0.5


@dataclass(frozen=True, slots=True)
class Shrine:
    """What a shrine's lamp shows: when its latest token was recorded, and whether its slot counts nothing."""

    token_ns: int | None = None
    stopped: bool = False


def brightness(shrine: Shrine, now_ns: int) -> float:
    """Return how bright a shrine's lamp is: a token's fading glow, over the blinks of a stopped slot.

    The fade is quadratic, because eyes see a linear one as bright for long and then suddenly dark.

    >>> [brightness(Shrine(token_ns=0), ms * MS) for ms in (0, 450, 900)]
    [1.0, 0.25, 0.0]
    >>> [brightness(Shrine(stopped=True), ms * MS) for ms in (100, 200, 400, 1000, 2100)]
    [0.5, 0.0, 0.5, 0.0, 0.5]
    """
    return max(_glow(shrine.token_ns, now_ns), _blink(now_ns) if shrine.stopped else 0.0)


def _glow(token_ns: int | None, now_ns: int) -> float:
    if token_ns is None or not 0 <= now_ns - token_ns < GLOW_NS:
        return 0.0
    return (1 - (now_ns - token_ns) / GLOW_NS) ** 2


def _blink(now_ns: int) -> float:
    phase_ns = now_ns % BLINK_NS
    return _BLINK_BRIGHTNESS if any(begin <= phase_ns < end for begin, end in _BLINKS) else 0.0
