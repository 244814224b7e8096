"""What is wrong with a beam, judged by its dark spells: the codes of controller/core/diagnosis.py.

Pure: no clock, no pins. Times are whole milliseconds of a clock that only grows, widths whole microseconds. It draws
conclusions, and changes nothing in what is counted.
"""

import proof
import wire
from slots import DARK, FLICKER, JAMMED, UNPROVED

REMEMBERED = 64
TOGETHER_MS = 100
RECENT_MS = 600000
DEAF_MS = 200
"""How long after `min_clear` a finished spell must have been reported; otherwise the beam is not being watched."""

_SAMPLE_MS = 100
_SECOND_MS = 1000
_FEW = 4
_ENOUGH = 8


class Seen:
    """What was seen of one beam since the start; of widths and gaps the last `REMEMBERED`."""

    def __init__(self, slot, dark, now_ms):
        """Begin with the level at the start."""
        self._slot = slot
        self._began_dark = dark
        self._first = True
        self._long = False
        self._end_ms = None
        self._samples = []  # of the falls, as (ms, number), over the last second
        self._seen = True
        self._clear_ms = None
        self.falls = 0
        self.tokens = self.jams = self.overlaps = self.blinks = self.chatters = self.unheard = 0
        self.dips = 0
        self.dipped_ms = None  # when it last broke and cleared together with the other beam
        self.darkness = None  # when its last spell that was too long for a token began and ended
        self.widths = []
        self.grazes = []
        self.dark_ms = now_ms if dark else None
        self.chatter_ms = self.healed_ms = None
        self.deaf = False
        self.changed = True

    def spell(self, now_ms, start_ms, width_us, glitches):
        """Take a spell that is over, after its slot; `glitches` is how many there were before."""
        limits, slot = self._slot.limits, self._slot
        gap_ms = start_ms - self._end_ms if self._end_ms is not None else None
        if self._long and gap_ms is not None and gap_ms * 1000 < limits.max_break:
            self.blinks += 1
        self._long = width_us >= limits.max_break or (self._first and self._began_dark)
        self._end_ms = start_ms + width_us // 1000
        if width_us >= limits.max_break:
            self.darkness = (start_ms, self._end_ms)
        self._first = False
        if slot.glitches > glitches:
            _kept(self.grazes, width_us)
        if slot.beam == FLICKER and not self.chatters_at(now_ms):
            self._chatter(now_ms)
        if self.deaf:
            self.deaf, self.healed_ms = False, now_ms
        self._seen = True
        self.changed = True

    def token(self, width_us, flags):
        """Record a token that the slot made."""
        self.tokens += 1
        self.overlaps += "overlap" in flags
        if "jam" in flags:
            self.jams += 1
        else:
            _kept(self.widths, width_us)
        self.changed = True

    def doubt(self, together, now_ms):
        """Record that tokens are doubted: broken `together` with the other beam's, or by light."""
        if together:
            self.dips += 1
            self.dipped_ms = now_ms
            self.changed = True
        else:
            self._chatter(now_ms)

    def level(self, now_ms, dark, falls):
        """Take the level as it is and how often the beam went dark; return whether a spell was never reported."""
        self._count_falls(now_ms, falls)
        if dark:
            if self.dark_ms is None:
                self.dark_ms, self._seen, self.changed = now_ms, False, True
            self._clear_ms = None
            return False
        if self.dark_ms is not None:
            self.dark_ms, self._clear_ms, self.changed = None, now_ms, True
        if self._clear_ms is None or now_ms - self._clear_ms < DEAF_MS + self._slot.limits.min_clear // 1000:
            return False
        self._clear_ms = None
        if self._seen:
            return False
        self._seen = self.deaf = self.changed = True
        self.unheard += 1
        return True

    def chatters_at(self, now_ms):
        """Return whether the beam goes dark too often for tokens now, spells that were merged included."""
        return self.chatter_ms is not None and now_ms - self.chatter_ms < _SECOND_MS

    def reversed(self):
        """Return whether it is bright when broken."""
        return self.blinks >= 2 and self.blinks > len(self.widths)

    def rate(self):
        """Return how often the beam went dark in the last second."""
        if len(self._samples) < 2:
            return 0
        (begin_ms, before), (end_ms, after) = self._samples[0], self._samples[-1]
        return (after - before) * _SECOND_MS // max(1, end_ms - begin_ms)

    def _count_falls(self, now_ms, falls):
        self.falls = falls
        samples = self._samples
        if samples and now_ms - samples[-1][0] < _SAMPLE_MS:
            return
        samples.append((now_ms, falls))
        while now_ms - samples[0][0] > _SECOND_MS:
            samples.pop(0)
        if falls - samples[0][1] > self._slot.limits.flicker:
            self._chatter(now_ms)

    def _chatter(self, now_ms):
        self.chatters += not self.chatters_at(now_ms)
        self.chatter_ms = now_ms
        self.changed = True


_GUESSED = ("dark", "blocked", "both_dark", "reversed", "unproved", "deaf")


def diagnose(seen, slots, now_ms, proved=(None, None)):
    """Return the findings of each beam, in the order of the gods, the most urgent first.

    Each is (code, facts), the facts as pairs of a name and a number. What switched emitters showed (`proved`: for
    each beam a receiver's answer, or None) replaces what can only be guessed from a level.
    """
    together, came_back_ms = _together(seen, slots, now_ms), _came_back(seen)
    found = [_slot(seen[god], slots[god], now_ms, together, came_back_ms) for god in range(2)]
    for god in range(2):
        if proved[god] is not None:
            code = proof.finding(proved[god])
            shown = [] if code is None else [(code, (("unheard", 1),) if code == "deaf" else ())]
            found[god] = shown + [each for each in found[god] if each[0] not in _GUESSED]
    return found


def report(seen, slot, dark, found, answer=None):
    """Return what a self-test reports of one beam, with its receiver's answer to a pulse of the emitters."""
    widths = sorted(seen.widths)
    return {
        "reads": "dark" if dark else "clear",
        "beam": slot.beam,
        "proof": None if answer is None else proof.finding(answer) is None,
        "edges": 2 * seen.falls + seen._began_dark - dark,
        "tokens": seen.tokens,
        "glitches": slot.glitches,
        "missed_edges": slot.missed_edges,
        "jams": seen.jams,
        "overlaps": seen.overlaps,
        "widths_ms": {
            "number": len(widths),
            "lowest": wire.Ms(widths[0]),
            "middle": wire.Ms(_middle(widths)),
            "highest": wire.Ms(widths[-1]),
        }
        if widths
        else None,
        "findings": [dict(wire.finding(code, facts)) for code, facts in found],
    }


def _together(seen, slots, now_ms):
    """Return what both beams have at once, which no token and no single plug could do."""
    if all([slots[god].beam == FLICKER or seen[god].chatters_at(now_ms) for god in range(2)]):
        return "weak_supply"
    since = [each.dark_ms for each in seen]
    stuck = all([slot.beam in (DARK, JAMMED) for slot in slots]) and not any([each.reversed() for each in seen])
    if stuck and None not in since and abs(since[0] - since[1]) <= TOGETHER_MS:
        return "both_dark"
    return None


def _came_back(seen):
    """Return when both beams came back at once, if they last went dark for long at once."""
    one, other = [each.darkness for each in seen]
    if one is None or other is None or any([abs(one[at] - other[at]) > TOGETHER_MS for at in range(2)]):
        return None
    return max(one[1], other[1])


def _slot(seen, slot, now_ms, together, came_back_ms):
    found, beam = [], slot.beam
    if seen.deaf:
        found.append(("deaf", (("unheard", seen.unheard),)))
    if beam == FLICKER or seen.chatters_at(now_ms):
        found.append((together or "flicker", (("per_s", seen.rate()),)))
    elif seen.reversed():
        found.append(("reversed", (("blinks", seen.blinks),)))
    elif beam in (DARK, JAMMED):
        for_s = (now_ms - seen.dark_ms + 500) // 1000 if seen.dark_ms is not None else 0
        code = together or ("dark" if beam == DARK else "blocked")
        found.append((code, (("for_s", for_s), ("tokens", seen.tokens))))
    elif seen.chatter_ms is not None and now_ms - seen.chatter_ms < RECENT_MS:
        ago_s = (now_ms - seen.chatter_ms + 500) // 1000
        found.append(("flickered", (("times", seen.chatters), ("ago_s", ago_s))))
    dips = [each for each in (seen.dipped_ms, came_back_ms) if each is not None and now_ms - each < RECENT_MS]
    if together is None and dips:
        found.append(("dipped", (("times", max(1, seen.dips)), ("ago_s", (now_ms - max(dips) + 500) // 1000))))
    # What flicker makes looks like tokens that hop and overlap; only a beam that never did says anything of tokens.
    if not seen.chatters:
        glitches = slot.glitches
        if glitches >= _FEW and 5 * glitches >= seen.tokens + glitches:
            widest = wire.Ms(max(seen.grazes))
            found.append(("hop", (("glitches", glitches), ("tokens", seen.tokens), ("widest_ms", widest))))
        found += _widths(seen.widths, slot.limits)
    if not seen.deaf and seen.healed_ms is not None and now_ms - seen.healed_ms < RECENT_MS:
        found.append(("was_deaf", (("unheard", seen.unheard), ("ago_s", (now_ms - seen.healed_ms + 500) // 1000))))
    if slot.missed_edges > seen.unheard:
        found.append(("missed_edges", (("missed", slot.missed_edges - seen.unheard),)))
    if beam == UNPROVED and not seen.deaf:
        found.append(("unproved", ()))
    return found


def _widths(widths, limits):
    """Distinguish single overlaps from a band that does not fit these tokens at all."""
    number = len(widths)
    if not number:
        return []
    middle = _middle(sorted(widths))
    if limits.band is None:
        wide = sum([10 * width > 17 * middle for width in widths]) if number >= _ENOUGH else 0
    else:
        wide = sum([width > limits.band for width in widths])
        narrow = 0 if limits.narrow is None else sum([width < limits.narrow for width in widths])
        if number >= _FEW and 2 * (wide + narrow) >= number:
            facts = (
                ("outside", wide + narrow),
                ("tokens", number),
                ("middle_ms", wire.Ms(middle)),
                ("band_ms", wire.Ms(limits.band)),
                ("narrow_ms", wire.Ms(limits.narrow or 0)),
            )
            return [("outside_band", facts)]
    return [("overlap", (("overlaps", wide), ("tokens", number)))] if wide else []


def _middle(ordered):
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) // 2


def _kept(widths, width_us):
    widths.append(width_us)
    if len(widths) > REMEMBERED:
        widths.pop(0)
