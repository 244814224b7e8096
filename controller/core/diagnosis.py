"""Diagnoses a beam from its edges: findings are codes with facts, never words.

Pure. Times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct

from controller.core.counting import MS, SECOND, BeamChanged, Counter, Detection, Event, Glitch, Limits, MissedEdge
from templo.contract import Beam, Finding, Flag, God

REMEMBERED = 64
TOGETHER_NS = 100 * MS
"""Beams that go dark within this time of each other have one cause: their common supply."""

RECENT_NS = 600 * SECOND
"""How long a past flicker is still reported."""

_FEW = 4
_ENOUGH = 8
_TWICE = 1.7
"""If no band was learned, a spell this many times as wide as the median was two tokens."""

DEAF = Finding("deaf", {"unheard": 1})
NO_ANSWER = Finding("no_answer")


class Answer(Struct, frozen=True):
    """A receiver's response to its emitter: whether it read dark with it on, with it off, and whether edges came."""

    lit_dark: bool
    unlit_dark: bool
    edge_seen: bool


class Observed:
    """Observations of one beam since the daemon started."""

    def __init__(self, dark: bool, since_ns: int) -> None:
        """Start with the level that was read first."""
        self.edges = 0
        self.tokens = 0
        self.jams = 0
        self.overlaps = 0
        self.glitches = 0
        self.missed = 0
        self.unexplained = 0
        self.chatters = 0
        self.chatter_ns: int | None = None
        """When the beam last went dark more often in a second than tokens can make it, merged spells included."""
        self.dips = 0
        self.dipped_ns: int | None = None
        """When it last broke and cleared together with the other beam."""
        self.darkness: tuple[int, int] | None = None
        """When its last spell that was too long for a token began and ended."""
        self.blinks = 0
        """Short bright spells between long dark ones: what a token is to a beam of the wrong polarity."""
        self.widths: deque[int] = deque(maxlen=REMEMBERED)
        self.grazes: deque[int] = deque(maxlen=REMEMBERED)
        self.starts: deque[int] = deque(maxlen=REMEMBERED)
        self.dark_since_ns: int | None = since_ns if dark else None
        self.healed_ns: int | None = None
        """When an edge came again after levels that none had led to."""
        self._edge_ns = since_ns
        self._dark = dark
        self._long_dark = dark
        self._edges_since = 0

    def deadline(self, now_ns: int) -> int | None:
        """Return when the findings about this beam change by time alone."""
        due = [self.chatter_ns + SECOND, self.chatter_ns + RECENT_NS] if self.chatter_ns is not None else []
        ended_ns = self.darkness[1] if self.darkness is not None else None
        due += [at_ns + RECENT_NS for at_ns in (self.healed_ns, self.dipped_ns, ended_ns) if at_ns is not None]
        return min((at_ns for at_ns in due if at_ns > now_ns), default=None)

    def chatters_at(self, now_ns: int) -> bool:
        """Return whether the beam now goes dark too often for tokens."""
        return self.chatter_ns is not None and now_ns - self.chatter_ns < SECOND

    @property
    def deaf(self) -> bool:
        """Whether the level changes and no edge has come since."""
        return self.unexplained > 0 and self._edges_since == 0

    def edge(self, at_ns: int, dark: bool, limits: Limits) -> None:
        """Process an edge."""
        if self.deaf:
            self.healed_ns = at_ns
        self.edges += 1
        self._edges_since += 1
        lasted = at_ns - self._edge_ns
        if dark == self._dark:
            self._edge_ns = at_ns
            return
        if dark:
            self.starts.append(at_ns)
            most = min(limits.flicker, REMEMBERED - 1)
            if len(self.starts) > most and at_ns - self.starts[-1 - most] < SECOND:
                self._chatter(at_ns)
            if self._long_dark and limits.min_break <= lasted < limits.max_break:
                self.blinks += 1
            self.dark_since_ns = at_ns
        else:
            self._long_dark = lasted >= limits.max_break or self.edges == 1
            if lasted >= limits.max_break:
                self.darkness = self._edge_ns, at_ns
            self.dark_since_ns = None
        self._edge_ns, self._dark = at_ns, dark

    def level(self, at_ns: int, dark: bool) -> None:
        """Process a level that does not follow from the edges."""
        self.unexplained += 1
        self._edges_since = 0
        self._edge_ns, self._dark = at_ns, dark
        self.dark_since_ns = at_ns if dark else None

    def doubt(self, *, together: bool, at_ns: int) -> None:
        """Note that tokens are doubted: broken `together` with the other beam's, or by light."""
        if together:
            self.dips += 1
            self.dipped_ns = at_ns
        else:
            self._chatter(at_ns)

    def _chatter(self, at_ns: int) -> None:
        self.chatters += not self.chatters_at(at_ns)
        self.chatter_ns = at_ns

    def event(self, event: Event, now_ns: int) -> None:
        """Process an event of the counter."""
        match event:
            case Detection(_, width_ns, flags):
                self.tokens += 1
                self.jams += Flag.JAM in flags
                self.overlaps += Flag.OVERLAP in flags
                if Flag.JAM not in flags:
                    self.widths.append(width_ns)
            case Glitch(_, width_ns):
                self.glitches += 1
                self.grazes.append(width_ns)
            case MissedEdge(number=number):
                self.missed += number
            case BeamChanged(beam):
                if beam is Beam.FLICKER and not self.chatters_at(now_ns):
                    self._chatter(now_ns)

    def to_dict(self) -> dict[str, object]:
        """Return the counts and widths, for a person."""
        widths = sorted(self.widths)
        return {
            "edges": self.edges,
            "tokens": self.tokens,
            "glitches": self.glitches,
            "missed_edges": self.missed,
            "jams": self.jams,
            "overlaps": self.overlaps,
            "widths_ms": {
                "number": len(widths),
                "lowest": _ms(widths[0]),
                "middle": _ms(median(widths)),
                "highest": _ms(widths[-1]),
            }
            if widths
            else None,
        }


def diagnose(
    observed: Mapping[God, Observed],
    beams: Mapping[God, Beam],
    limits: Limits,
    now_ns: int,
    answers: Mapping[God, Answer] | None = None,
    below: Mapping[God, Sequence[Finding]] = {},
) -> dict[God, tuple[Finding, ...]]:
    """Return what is wrong with each slot's beams, the most urgent first; `below` is what is of a second beam.

    What a switched emitter proved (`answers`, for beams where nothing has changed since) replaces what could only be
    guessed from a level.
    """
    together, came_back_ns = _together(observed, beams, now_ns), _came_back(observed)
    found = {}
    for god in God:
        slot = _slot(observed[god], beams[god], limits, now_ns, together, came_back_ns)
        if answers is not None and god in answers:
            proved = proof(answers[god])
            slot = ([] if proved is None else [proved]) + [each for each in slot if each.code not in _GUESSED]
        found[god] = (*slot, *below.get(god, ()))
    return found


def selftest(
    counters: Mapping[God, Counter],
    observed: Mapping[God, Observed],
    answers: Mapping[God, Answer] | None,
    limits: Limits,
    now_ns: int,
    ailment: Finding | None = None,
    below: Mapping[God, Sequence[Finding]] = {},
) -> dict[God, dict[str, object]]:
    """Return what each beam reads, what was seen of it and what is wrong, in the form of a reply.

    A fault of the board that counts, or of its cable (`ailment`), comes before everything.
    """
    beams = {god: counter.beam for god, counter in counters.items()}
    found = diagnose(observed, beams, limits, now_ns, answers, below)
    before = () if ailment is None else (ailment,)
    return {
        god: {
            "reads": "dark" if counter.dark else "clear",
            "beam": counter.beam,
            "proof": None if answers is None or god not in answers else proof(answers[god]) is None,
            **observed[god].to_dict(),
            "findings": [{"code": each.code, **each.facts} for each in (*before, *found[god])],
        }
        for god, counter in counters.items()
    }


_GUESSED = ("dark", "blocked", "both_dark", "reversed", "unproved", "deaf")


def proof(answer: Answer) -> Finding | None:
    """Return what is wrong with a receiver according to its switched emitter, if anything.

    The beam must read dark with it off, clear with it on, and give an edge at both changes.
    """
    match answer:
        case Answer(False, True, True):
            return None
        case Answer(False, True, False):
            return DEAF
        case Answer(True, False):
            return Finding("reversed")
        case Answer(True, True):
            return Finding("no_light")
    return NO_ANSWER


def _together(observed: Mapping[God, Observed], beams: Mapping[God, Beam], now_ns: int) -> str | None:
    """Return what is wrong with both beams at once, which no token and no single plug could cause."""
    if all(beams[god] is Beam.FLICKER or observed[god].chatters_at(now_ns) for god in God):
        return "weak_supply"
    since = [each.dark_since_ns for each in observed.values()]
    if all(beam in (Beam.DARK, Beam.JAMMED) for beam in beams.values()) and not any(
        _reversed(each) for each in observed.values()
    ):
        known = [at_ns for at_ns in since if at_ns is not None]
        if len(known) == len(since) and max(known) - min(known) <= TOGETHER_NS:
            return "both_dark"
    return None


def _came_back(observed: Mapping[God, Observed]) -> int | None:
    """Return when both beams came back at once, if they last went dark for long at once."""
    spells = [each.darkness for each in observed.values() if each.darkness is not None]
    if len(spells) == len(observed) and all(max(at) - min(at) <= TOGETHER_NS for at in zip(*spells, strict=True)):
        return max(ended_ns for _, ended_ns in spells)
    return None


def _slot(
    seen: Observed, beam: Beam, limits: Limits, now_ns: int, together: str | None, came_back_ns: int | None
) -> list[Finding]:
    found: list[Finding] = []
    if seen.deaf:
        found.append(Finding("deaf", {"unheard": seen.unexplained}))
    flickers = beam is Beam.FLICKER or seen.chatters_at(now_ns)
    if flickers:
        found.append(Finding(together or "flicker", {"per_s": _rate(seen)}))
    elif _reversed(seen):
        found.append(Finding("reversed", {"blinks": seen.blinks}))
    elif beam in (Beam.DARK, Beam.JAMMED) and not seen.deaf:
        since_s = round((now_ns - seen.dark_since_ns) / SECOND) if seen.dark_since_ns is not None else 0
        code = together or ("dark" if beam is Beam.DARK else "blocked")
        found.append(Finding(code, {"for_s": since_s, "tokens": seen.tokens}))
    elif seen.chatter_ns is not None and now_ns - seen.chatter_ns < RECENT_NS:
        ago_s = round((now_ns - seen.chatter_ns) / SECOND)
        found.append(Finding("flickered", {"times": seen.chatters, "ago_s": ago_s}))
    dips = [at_ns for at_ns in (seen.dipped_ns, came_back_ns) if at_ns is not None and now_ns - at_ns < RECENT_NS]
    if together is None and dips:
        ago_s = round((now_ns - max(dips)) / SECOND)
        found.append(Finding("dipped", {"times": max(1, seen.dips), "ago_s": ago_s}))
    # What flicker makes looks like tokens that hop and overlap; only without it do they show anything.
    if not seen.chatters:
        if seen.glitches >= _FEW and 5 * seen.glitches >= seen.tokens + seen.glitches:
            widest = _ms(max(seen.grazes))
            found.append(Finding("hop", {"glitches": seen.glitches, "tokens": seen.tokens, "widest_ms": widest}))
        found += _widths(seen, limits)
    if not seen.deaf and seen.healed_ns is not None and now_ns - seen.healed_ns < RECENT_NS:
        found.append(
            Finding("was_deaf", {"unheard": seen.unexplained, "ago_s": round((now_ns - seen.healed_ns) / SECOND)})
        )
    if seen.missed > seen.unexplained:
        found.append(Finding("missed_edges", {"missed": seen.missed - seen.unexplained}))
    if beam is Beam.UNPROVED and not seen.deaf:
        found.append(Finding("unproved"))
    return found


def _widths(seen: Observed, limits: Limits) -> list[Finding]:
    """Distinguish single overlaps from a band that does not fit these tokens at all."""
    widths = list(seen.widths)
    if not widths:
        return []
    middle = median(widths)
    if limits.band is None:
        wide = sum(width > _TWICE * middle for width in widths) if len(widths) >= _ENOUGH else 0
        return [Finding("overlap", {"overlaps": wide, "tokens": len(widths)})] if wide else []
    wide = sum(width > limits.band for width in widths)
    narrow = sum(width < limits.narrow for width in widths) if limits.narrow is not None else 0
    if len(widths) >= _FEW and 2 * (wide + narrow) >= len(widths):
        facts = {
            "outside": wide + narrow,
            "tokens": len(widths),
            "middle_ms": _ms(middle),
            "band_ms": _ms(limits.band),
            "narrow_ms": _ms(limits.narrow or 0),
        }
        return [Finding("outside_band", facts)]
    return [Finding("overlap", {"overlaps": wide, "tokens": len(widths)})] if wide else []


def _reversed(seen: Observed) -> bool:
    return seen.blinks >= 2 and seen.blinks > len(seen.widths)


def _rate(seen: Observed) -> int:
    if len(seen.starts) < 2:
        return 0
    return round((len(seen.starts) - 1) * SECOND / max(1, seen.starts[-1] - seen.starts[0]))


def _ms(width_ns: float) -> float:
    return round(width_ns / MS, 3)
