"""What the lamps before the doors show, and what the piezo plays: controller/core/lights.py for a Pico.

It is loaded only where lamps or a piezo are set up. Times are milliseconds of a clock that only grows; lamps and
piezo come in, and what fails of them stays off until the next start.
"""

import json
from math import cos, pi

import wire

FRAME_MS = 40
AGAIN_MS = 1000
GLOW_MS = 900
NOTE_MS = 160
CHIRPS = ((784,), (1175,))
TUNES = {
    "flood": (523, 440, 349),
    "war": (262, 262, 392),
    "countdown": (880, 880),
    "hotspot": (440, 659),
    "level_huitzilopochtli": (659, 523),
    "level_tlaloc": (659, 523),
}
DARK = (0.0, 0.0, 0.0)
AMBER = (1.0, 0.45, 0.0)
WHITE = (1.0, 0.9, 0.7)
GLOWS = ((1.0, 0.3, 0.05), (0.1, 0.5, 1.0))
LEVELS = ("level_huitzilopochtli", "level_tlaloc")
COLOURS = {
    "flood": (0.0, 0.25, 1.0),
    "war": (1.0, 0.05, 0.0),
    "countdown": WHITE,
    "hotspot": WHITE,
    LEVELS[0]: WHITE,
    LEVELS[1]: WHITE,
}
_SHORT_MS = 150
_ALARM = 0.5
_STEADY = 0.4


def colour(god, now_ms, token_ms, stopped, finding, trouble, signals, left, light):
    """Return a lamp's red, green and blue, from 0 to 1; `light` is on, brightness, colour and effect as published."""
    on, brightness, at_rest, effect = light
    if not on:
        return DARK
    lit = DARK
    if token_ms is not None and 0 <= now_ms - token_ms < GLOW_MS:
        lit = _brighter(lit, GLOWS[god], (1 - (now_ms - token_ms) / GLOW_MS) ** 2)
    if stopped or trouble:  # and no signal, which would hide it
        lit = _brighter(lit, AMBER, _ALARM * blinks(2 if stopped else 3, 2000, now_ms))
    else:
        for code in signals:
            if code in COLOURS:
                lit = _brighter(lit, COLOURS[code], _signal(code, god, now_ms, left))
        if finding:
            lit = _brighter(lit, AMBER, _ALARM * blinks(1, 4000, now_ms))
        if effect == "steady":
            lit = _brighter(lit, at_rest, _STEADY / 255)
    return _brighter(DARK, lit, brightness / 255)


def _brighter(lit, other, level):
    """Return the brighter of a colour and another at a level, component by component."""
    return (max(lit[0], other[0] * level), max(lit[1], other[1] * level), max(lit[2], other[2] * level))


def blinks(times, period_ms, now_ms):
    """Return whether a lamp that blinks so many times at the beginning of each period is lit."""
    phase = now_ms % period_ms
    return phase < times * 2 * _SHORT_MS and phase % (2 * _SHORT_MS) < _SHORT_MS


def _signal(code, god, now_ms, left):
    if code == "flood":
        # Of a whole turn: as a float a Pico's clock would soon be too coarse.
        return 0.1 + 0.2 * (1 - cos(2 * pi * ((now_ms + 2000 * god) % 4000) / 4000))
    if code == "war":
        return 0.5 if blinks(2, 1200, now_ms) else 0.08
    if code == "countdown":
        return 0.9 * blinks(min(left or 0, 20), 8000, now_ms)
    if code == "hotspot":
        return 0.4 if (now_ms % 2000 < 1000) == (god == 0) else 0.0
    if code == LEVELS[god]:
        return 0.6 if now_ms % 3000 < 1500 else 0.0
    return 0.0


def note(tune, begun_ms, now_ms):
    """Return the frequency that sounds at a time of a tune, in hertz; None before it and after it."""
    place = (now_ms - begun_ms) // NOTE_MS
    return tune[place] if 0 <= place < len(tune) else None


class Lights:
    """The lamps of one temple, and its piezo."""

    def __init__(self, lamps, piezo, fault=None):
        """Take what can be driven: `lamps` shows two colours, `piezo` plays hertz or None; each may be None.

        `fault` is why the lamps that the settings name cannot be driven.
        """
        self._lamps = lamps
        self._piezo = piezo
        self._tokens = [None, None]
        self._findings = [False, False]
        self._signals, self._left = (), None
        self._tune, self._tune_ms = (), 0
        self._light = (True, 255, (255, 150, 60), "signals")
        self._next_ms = self._again_ms = 0
        self._shown = self._played = None
        self._fault = fault
        self.connected()

    def token(self, god, now_ms):
        """Let a shrine glow, and sound."""
        self._tokens[god] = now_ms
        self._tune, self._tune_ms = CHIRPS[god], now_ms

    def found(self, found):
        """Take what is wrong with each beam; that no token has proved it yet is nothing."""
        self._findings = [any([code != "unproved" for code, _ in each]) for each in found]

    def connected(self):
        """Publish how the lamps are set: a broker may have forgotten it."""
        self.unpublished = self._lamps is not None or self._fault is not None

    def take(self, leaf, payload, now_ms):
        """Take a game's mood, or a change of how the lamps are set; raises `WireError`."""
        value = wire.opened(leaf, payload)
        if leaf == "mood":
            signals, left = _mood(value)
            begun = [code for code in signals if code in TUNES and code not in self._signals]
            self._signals, self._left = signals, left
            if begun:
                self._tune, self._tune_ms = TUNES[begun[-1]], now_ms
            return
        self._light = _changed(value, self._light)
        self.connected()

    def turn(self, now_ms, stopped, trouble):
        """Show and play what is due, 25 times a second; `stopped` says of each slot whether it counts nothing."""
        if now_ms < self._next_ms:
            return
        self._next_ms = now_ms + FRAME_MS
        if self._lamps is not None:
            colours = [self._colour(god, now_ms, stopped[god], trouble) for god in range(2)]
            # A disturbance on the line of coloured LEDs stays until they are sent again.
            if colours != self._shown or now_ms >= self._again_ms:
                self._shown, self._again_ms = colours, now_ms + AGAIN_MS
                try:
                    self._lamps.show(colours)
                except (OSError, ValueError) as error:
                    print("The lamps stay off until the next start:", error)
                    self._lamps, self._fault = None, str(error)
                    self.unpublished = True
        if self._piezo is not None:
            hertz = note(self._tune, self._tune_ms, now_ms) if self._light[0] else None
            if hertz != self._played:
                self._played = hertz
                try:
                    self._piezo.play(hertz)
                except (OSError, ValueError) as error:
                    print("The piezo stays silent until the next start:", error)
                    self._piezo = None

    def message(self):
        """Write how the lamps are set."""
        on, brightness, (red, green, blue), effect = self._light
        fault = "" if self._fault is None else ',"fault":%s' % json.dumps(self._fault)
        form = '{"v":1,"on":%s,"brightness":%d,"colour":[%d,%d,%d],"effect":"%s"%s}'
        shown = "true" if on and not fault else "false"
        return (form % (shown, brightness, red, green, blue, effect, fault)).encode()

    def _colour(self, god, now_ms, stopped, trouble):
        return colour(
            god, now_ms, self._tokens[god], stopped, self._findings[god], trouble, self._signals, self._left,
            self._light,
        )  # fmt: skip


def _mood(value):
    signals, left, table = value.get("signals"), value.get("left"), value.get("table")
    if not isinstance(signals, list) or len(signals) > 16 or not all([wire.is_code(each) for each in signals]):
        raise wire.WireError("mood.signals: at most 16 codes expected")
    if table is not None and not wire.is_id(table):
        raise wire.WireError("mood.table: 32 hexadecimal digits expected")
    return tuple(signals), None if left is None else wire.whole(value, "left", 0)


def _changed(value, before):
    on, effect, colour = value.get("on"), value.get("effect"), value.get("colour")
    if type(on) is not bool or effect not in (None, "signals", "steady"):
        raise wire.WireError("set_light: on, and an effect expected")
    brightness = value.get("brightness")
    if brightness is not None and not _byte(brightness, 1):
        raise wire.WireError("set_light.brightness: 1 to 255 expected")
    if colour is not None and not (
        isinstance(colour, list) and len(colour) == 3 and all([_byte(each, 0) for each in colour])
    ):
        raise wire.WireError("set_light.colour: red, green and blue expected")
    return (
        on,
        before[1] if brightness is None else brightness,
        before[2] if colour is None else tuple(colour),
        before[3] if effect is None else effect,
    )


def _byte(value, least):
    return type(value) is int and least <= value <= 255
