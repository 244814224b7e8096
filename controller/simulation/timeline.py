"""Derives from a script every change of level with its time, and every other event.

Pure and repeatable: the same script gives the same timeline, in any language that implements SplitMix64.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from controller.core.counting import MS, SECOND
from controller.core.diagnosis import Answer
from controller.simulation.parser import ALIKE, NONE, US, Happening, ScenarioError, Script, Span
from templo.contract import Emitters, God

MOST_CHANGES = 1_000_000
TRANSIT = Span(9 * MS, 30 * MS)
"""How much later than the first beam a token breaks the second one, 12 mm below it."""
_LATER_STREAM = 2**31
"""The first of the streams that those times are drawn from; no scenario has so many events."""
TAIL_NS = SECOND
"""How long a scenario goes on after its last change, where it names no end."""


class Change(Struct, frozen=True):
    """The level of a beam changes; its edge arrives (`edge_seen`), or is lost on its way.

    One that is `asleep` arrives once one more line has been claimed.
    """

    at_ns: int
    god: God
    dark: bool
    edge_seen: bool
    asleep: bool = False


class BelowChange(Struct, frozen=True):
    """The level of a second beam changes, and its edge arrives."""

    at_ns: int
    god: God
    dark: bool


class Stand(Struct, frozen=True):
    """How a beam stands from a moment on: what it reads with its emitter on and off, and whether edges come."""

    at_ns: int
    lit_dark: bool
    unlit_dark: bool
    deaf: bool
    asleep: bool

    def answer(self, awake: bool) -> Answer:
        """Return what a receiver answers its switched emitter."""
        edge_seen = not (self.deaf or (self.asleep and not awake))
        return Answer(self.lit_dark, self.unlit_dark, edge_seen and self.lit_dark != self.unlit_dark)


class BrokerCut(Struct, frozen=True):
    """The broker goes, or comes back."""

    at_ns: int
    cut: bool


class Restart(Struct, frozen=True):
    """The temple's program is stopped, and started again a while later."""

    at_ns: int
    for_ns: int


Moment: TypeAlias = Change | BelowChange | BrokerCut | Restart


class Timeline(Struct, frozen=True):
    """A scenario played out on paper: `fell` is how many tokens really fell into each slot."""

    moments: tuple[Moment, ...]
    dark: dict[God, bool]
    """The levels before anything happens."""
    fell: dict[God, int]
    end_ns: int
    stands: Mapping[God, tuple[Stand, ...]]
    """How each beam stands, from the start on."""
    emitters: Emitters = Emitters.FIXED
    below: Mapping[God, bool] = field(default_factory=dict)
    """The levels of second beams before anything happens; empty without them."""

    def answers(self, at_ns: int, awake: bool) -> dict[God, Answer] | None:
        """Return what each receiver answers at a moment; None if the emitters cannot be switched."""
        if self.emitters is Emitters.FIXED:
            return None
        found = {}
        for god, stands in self.stands.items():
            place = bisect_right(stands, at_ns, key=lambda stand: stand.at_ns)
            found[god] = stands[max(0, place - 1)].answer(awake)
        return found


class SplitMix:
    """SplitMix64: a generator of whole numbers that is six lines in every language."""

    _MASK = 2**64 - 1

    def __init__(self, seed: int, stream: int) -> None:
        """Begin a stream of its own for each event, so that editing one event changes no other."""
        self._state = (seed << 32 | stream) & self._MASK

    def next(self) -> int:
        """Return the next 64 bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & self._MASK
        mixed = self._state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & self._MASK
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & self._MASK
        return mixed ^ (mixed >> 31)

    def draw(self, span: Span) -> int:
        """Return a time of a span, in whole microseconds, as nanoseconds."""
        steps = (span.high_ns - span.low_ns) // US
        return span.low_ns + self.next() % (steps + 1) * US if steps else span.low_ns


class _Slot(Struct):
    """What acts on one beam: times at which it begins (+1) or ends (-1), by what it is."""

    later: SplitMix
    """Gives the time between the beams to each token."""
    below: str
    acts: list[tuple[int, str, int]] = field(default_factory=list)
    acts_below: list[tuple[int, str, int]] = field(default_factory=list)
    misses: list[tuple[int, int]] = field(default_factory=list)
    fell: int = 0

    def between(self, what: str, begin_ns: int, end_ns: int | None) -> None:
        """Note what acts on the beam; without an end it still does when the scenario is over."""
        for acts in (self.acts, self.acts_below) if self.below == ALIKE else (self.acts,):
            _between(acts, what, begin_ns, end_ns)

    def token(self, spells: Iterable[tuple[int, int]]) -> None:
        """Note when a token begins and ends to break the beam; it breaks a second one later."""
        later_ns = self.later.draw(TRANSIT)
        for begin_ns, end_ns in spells:
            _between(self.acts, "shade", begin_ns, end_ns)
            if self.below != NONE:
                _between(self.acts_below, "shade", begin_ns + later_ns, end_ns + later_ns)


def _between(acts: list[tuple[int, str, int]], what: str, begin_ns: int, end_ns: int | None) -> None:
    if end_ns is None:
        acts.append((begin_ns, what, 1))
    elif end_ns > begin_ns:
        acts += ((begin_ns, what, 1), (end_ns, what, -1))


def expand(script: Script) -> Timeline:
    """Return the timeline of a script; raises `ScenarioError` for one that is far too long."""
    slots = {god: _Slot(SplitMix(script.seed, _LATER_STREAM + n), script.below) for n, god in enumerate(God)}
    moments: list[Moment] = []
    for stream, each in enumerate(script.happenings):
        random = SplitMix(script.seed, stream)
        if each.do == "broker_down":
            moments += (BrokerCut(each.at_ns, True),)
            if (back_ns := each.until_ns()) is not None:
                moments.append(BrokerCut(back_ns, False))
        elif each.do == "restart":
            moments.append(Restart(each.at_ns, each.ns("for_ms")))
        for god in each.gods:
            _ACTS[each.do](each, slots[god], random)
        if (number := sum(len(slot.acts) for slot in slots.values())) > MOST_CHANGES:
            raise ScenarioError(f"the scenario makes more than {number} changes; expected at most {MOST_CHANGES}")
    stands, below = {}, {}
    for god, slot in slots.items():
        stands[god], changes = _changes(god, slot.acts, slot.misses)
        moments += changes
        if script.below != NONE:
            stands_below, changes = _changes(god, slot.acts_below, [])
            below[god] = stands_below[0].lit_dark
            moments += [BelowChange(each.at_ns, god, each.dark) for each in changes]
    dark = {god: each[0].lit_dark for god, each in stands.items()}
    # At one moment a beam changes before the world around it does.
    moments.sort(key=lambda moment: (moment.at_ns, isinstance(moment, BrokerCut | Restart)))
    last_ns = max((moment.at_ns for moment in moments), default=0)
    end_ns = last_ns + TAIL_NS if script.end_ns is None else max(script.end_ns, last_ns)
    fell = {god: slot.fell for god, slot in slots.items()}
    return Timeline(tuple(moments), dark, fell, end_ns, stands, script.emitters, below)


def _moments(each: Happening, random: SplitMix) -> Iterator[int]:
    """Yield when each of a row of tokens begins."""
    at_ns = each.at_ns
    for _ in range(each.ns("count")):
        yield at_ns
        at_ns += random.draw(each.span("every_ms"))


def _drop(each: Happening, slot: _Slot, random: SplitMix) -> None:
    """Drop tokens; one whose beam flashes `bounces` times is `bounces + 1` spells, as wide in all as one."""
    pieces = each.ns("bounces") + 1
    if (number := 2 * pieces * each.ns("count")) > MOST_CHANGES:
        raise ScenarioError(f"a row of drops makes {number} changes; expected at most {MOST_CHANGES}")
    for at_ns in _moments(each, random):
        width = random.draw(each.span("width_ms"))
        slot.fell += 1
        gaps = [random.draw(each.span("gap_ms")) for _ in range(pieces - 1)]
        dark = max(US, (width - sum(gaps)) // pieces)
        starts = [at_ns + n * dark + sum(gaps[:n]) for n in range(pieces)]
        slot.token([(start, start + dark) for start in starts])


def _handful(each: Happening, slot: _Slot, random: SplitMix) -> None:
    for _ in range(each.ns("count")):
        begin = each.at_ns + random.draw(Span(0, each.ns("span_ms")))
        slot.token([(begin, begin + random.draw(each.span("width_ms")))])
        slot.fell += 1


def _overlap(each: Happening, slot: _Slot, random: SplitMix) -> None:
    first, second = (random.draw(each.span("width_ms")) for _ in range(2))
    begin = each.at_ns + max(0, first - each.ns("by_ms"))
    slot.token([(each.at_ns, each.at_ns + first)])
    slot.token([(begin, begin + second)])
    slot.fell += 2


def _hop(each: Happening, slot: _Slot, random: SplitMix) -> None:
    slot.fell += each.ns("count")
    for at_ns in _moments(each, random):
        slot.token([(at_ns, at_ns + random.draw(each.span("width_ms")))])


def _glitch(each: Happening, slot: _Slot, random: SplitMix) -> None:
    for at_ns in _moments(each, random):
        slot.between("shade", at_ns, at_ns + random.draw(each.span("width_ms")))


def _train(each: Happening, slot: _Slot, _random: SplitMix) -> None:
    below = each.spells("below_ms")
    for start, width in each.spells("spells_ms") or ():
        spell = each.at_ns + start, each.at_ns + start + width
        if below is not None:
            _between(slot.acts, "shade", *spell)
        elif each.ns("tokens"):
            slot.token([spell])
        else:
            slot.between("shade", *spell)
    for start, width in below or ():
        _between(slot.acts_below, "shade", each.at_ns + start, each.at_ns + start + width)
    slot.fell += each.ns("tokens")


def _jam(each: Happening, slot: _Slot, _random: SplitMix) -> None:
    slot.fell += 1
    slot.between("shade", each.at_ns, each.until_ns())


def _flicker(each: Happening, slot: _Slot, random: SplitMix) -> None:
    period = SECOND // each.ns("per_s")
    number = each.ns("for_ms") // period
    if 2 * number > MOST_CHANGES:
        raise ScenarioError(f"a flicker makes {2 * number} changes; expected at most {MOST_CHANGES}")
    at_ns = each.at_ns
    for _ in range(number):
        slot.between("shade", at_ns, at_ns + random.draw(Span(period // 10 // US * US, period // 2 // US * US)))
        at_ns += period


def _lasting(what: str) -> Callable[[Happening, _Slot, SplitMix], None]:
    def act(each: Happening, slot: _Slot, _random: SplitMix) -> None:
        slot.between(what, each.at_ns, each.until_ns())

    return act


def _unplug(each: Happening, slot: _Slot, _random: SplitMix) -> None:
    slot.between(str(each.values["part"]), each.at_ns, each.until_ns())


def _deaf(each: Happening, slot: _Slot, _random: SplitMix) -> None:
    slot.between("asleep" if each.values["until"] == "claim" else "deaf", each.at_ns, each.until_ns())


def _miss(each: Happening, slot: _Slot, _random: SplitMix) -> None:
    slot.misses.append((each.at_ns, each.ns("edges")))


_ACTS: dict[str, Callable[[Happening, _Slot, SplitMix], None]] = {
    "drop": _drop,
    "handful": _handful,
    "overlap": _overlap,
    "hop": _hop,
    "glitch": _glitch,
    "train": _train,
    "jam": _jam,
    "unplug": _unplug,
    "flicker": _flicker,
    "lamp": _lasting("lamp"),
    "reverse": _lasting("reverse"),
    "miss": _miss,
    "deaf": _deaf,
}


def _changes(
    god: God, acted: list[tuple[int, str, int]], missed: list[tuple[int, int]]
) -> tuple[tuple[Stand, ...], list[Change]]:
    """Return how a beam stands from moment to moment, and every change of its level.

    A receiver without its plug reads clear, as its pull-up leaves it; one without its emitter reads dark. A lamp
    lights a receiver whatever its emitter does. What begins at the very start was so before it.
    """
    acts = sorted(acted, key=lambda act: act[0])
    misses = sorted(missed)
    depth = dict.fromkeys(("shade", "emitter", "lamp", "receiver", "reverse", "deaf", "asleep"), 0)
    for at_ns, what, step in acts:
        if at_ns == 0 and what not in _LATER:
            depth[what] += step
    dark = _level(depth)
    stands = [_stand(0, depth)]
    changes: list[Change] = []
    swallow = number = 0
    while number < len(acts):
        at_ns = acts[number][0]
        while number < len(acts) and acts[number][0] == at_ns:
            _, what, step = acts[number]
            if at_ns or what in _LATER:
                depth[what] += step
            number += 1
        while misses and misses[0][0] <= at_ns:
            swallow += misses.pop(0)[1]
        if (level := _level(depth)) != dark:
            dark = level
            edge_seen = not (depth["deaf"] or depth["asleep"] or swallow)
            asleep = depth["asleep"] > 0 and not (depth["deaf"] or swallow)
            changes.append(Change(at_ns, god, dark, edge_seen, asleep))
            swallow -= swallow > 0
        if (stand := _stand(at_ns, depth)) != replace(stands[-1], at_ns=at_ns):
            stands.append(stand)
    return tuple(stands), changes


_LATER = ("shade", "deaf", "asleep")
"""What may begin at the very start and yet arrive, or be missed, as a change."""


def _stand(at_ns: int, depth: dict[str, int]) -> Stand:
    unlit = _level({**depth, "emitter": 1})
    return Stand(at_ns, _level(depth), unlit, depth["deaf"] > 0, depth["asleep"] > 0)


def _level(depth: dict[str, int]) -> bool:
    if depth["receiver"]:
        return False
    dark = (depth["shade"] > 0 or depth["emitter"] > 0) and not depth["lamp"]
    return not dark if depth["reverse"] else dark
