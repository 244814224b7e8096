"""The two slots of a temple: their counters, observations of their beams, and the findings that follow.

Times are integer nanoseconds of one monotonic clock. The only IO is to read levels, and to switch the emitters.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TypeAlias

from controller.core.board_slot import BoardSlot
from controller.core.counting import Counter, Detection, Edge, Event, Limits
from controller.core.diagnosis import NO_ANSWER, Answer, Observed, diagnose, proof, selftest
from controller.core.judge import Doubted, Judge, Reason
from controller.core.learned_limits import to_dict
from controller.core.messages import BelowSeen, EdgeSeen, EdgesLost, LevelRead
from controller.core.ports import Capabilities, Level, Source
from controller.core.proof import BRIEF_QUIET_NS, Proofs
from controller.core.second_beam import SecondBeam
from templo import contract
from templo.contract import Beam, Emitters, Finding, God, Timing

ALARMING = (Beam.JAMMED, Beam.DARK, Beam.FLICKER)
"""The conditions of a beam in which its slot does not count."""

JAM_READINGS = 3
"""How often in a row a beam must read dark, with no edge in between, before its spell may become a jam."""

Found: TypeAlias = list[tuple[God, list[Event]]]
"""The counters' events, in the order in which they must be handled."""

log = logging.getLogger(__name__)


class Slots:
    """The counters of both slots, and everything else that is known of their beams."""

    def __init__(self, source: Source, levels: Mapping[God, Level], limits: Limits) -> None:
        """Start with the beams' first levels, and with the receivers' responses if the emitters were switched."""
        self.source = source
        self.limits = limits
        self.board_slots: Mapping[God, BoardSlot] = {}
        """The slots of a board that counts by itself."""
        self.counters: Mapping[God, Counter]
        if self.capabilities.counts:
            self.counters = self.board_slots = {god: BoardSlot(limits, at.at_ns) for god, at in levels.items()}
        else:
            self.counters = {god: Counter(limits, at.dark, at.at_ns, at.proved) for god, at in levels.items()}
        self._light = Judge(limits)
        self._below = {
            god: SecondBeam(limits, dark, at.at_ns)
            for god, at in levels.items()
            if (dark := source.below(god)) is not None
        }
        self._observed = {god: Observed(at.dark, at.at_ns) for god, at in levels.items()}
        self._answers = {god: at.answer for god, at in levels.items() if at.answer is not None}
        """What the emitters proved, for beams where nothing has changed since."""
        failed = [god for god, answer in self._answers.items() if self._failed(god, answer)]
        for god in failed:
            self.counters[god].disprove()
        self._proofs = Proofs(max(at.at_ns for at in levels.values()), failed)
        self._dark_readings: dict[God, tuple[int, int]] = {}
        """For a beam that seems jammed: the time of its last edge, and how often it has read dark since."""

    @property
    def capabilities(self) -> Capabilities:
        """What the source of the edges or tokens can do."""
        return self.source.capabilities

    def take(self, item: EdgeSeen | BelowSeen | EdgesLost | LevelRead) -> Found:
        """Process a message of a source of edges, and return the events.

        Events of the other slot from before an edge come first, however late everything arrives.
        """
        god = item.god
        counter, observed = self.counters[god], self._observed[god]
        match item:
            case EdgeSeen(_, at_ns, dark):
                return self._feed(god, self._proofs.take(god, Edge(at_ns, dark), counter.dark))
            case BelowSeen(_, at_ns, dark):
                self._below[god].feed(Edge(at_ns, dark))
                return []
            case EdgesLost(_, at_ns, number):
                return [*self._feed(god, self._proofs.release(god)), (god, counter.lose(at_ns, number))]
            case LevelRead(_, at_ns, dark):
                found = self._feed(god, self._proofs.release(god))
                self._answers.pop(god, None)
                observed.level(at_ns, dark)
                return [*found, (god, counter.resync(at_ns, dark))]

    def _feed(self, god: God, edges: Iterable[Edge]) -> Found:
        found: Found = []
        for edge in edges:
            answer = self._answers.get(god)
            # A lamp's edges are no answer: a receiver that its emitter does not change stays so until it is proved.
            if answer is not None and proof(answer) != NO_ANSWER:
                del self._answers[god]
            self._observed[god].edge(edge.at_ns, edge.dark, self.limits)
            found += [self._advanced(each, edge.at_ns) for each in self.in_order() if each is not god]
            found.append((god, self.counters[god].feed(edge)))
        return found

    def advance(self, now_ns: int, *, closing: bool = False) -> Found:
        """Return what follows from time alone, and from the level of a beam that seems to be jammed.

        While `closing` a single dark reading is enough, because no further one comes.
        """
        due_ns = self._proofs.settled_ns
        found = self._settle() if due_ns is not None and (closing or now_ns >= due_ns) else []
        return found + [self._advanced(god, now_ns, 1 if closing else JAM_READINGS) for god in self.in_order()]

    def _advanced(self, god: God, now_ns: int, readings: int = JAM_READINGS) -> tuple[God, list[Event]]:
        return god, self.counters[god].advance(now_ns, lambda: self._reads_dark(god, readings))

    def _reads_dark(self, god: God, readings: int) -> bool | None:
        """Return whether a beam is dark for certain, or cannot be read; None if it has to be read again.

        If edges come late, a beam may read dark because the next token is already in it while the last edge of the
        one before is still on its way. So one reading is not enough.
        """
        dark = self._reads(god)
        last_ns = self.counters[god].last_ns
        before_ns, times = self._dark_readings.get(god, (last_ns, 0))
        times = times + 1 if dark and before_ns == last_ns else int(dark is True)
        self._dark_readings[god] = last_ns, times
        return True if dark is None or times >= readings else None if dark else False

    def note(self, god: God, event: Event, now_ns: int) -> None:
        """Add a counter's event to the observations."""
        self._observed[god].event(event, now_ns)

    def judge(self, god: God, token: str, counted: Detection, now_ns: int) -> list[Doubted]:
        """Return which tokens are doubted because of one that was just counted; `token` is its id."""
        return self._noted(god, self._light.take(god, token, counted.start_ns, counted.width_ns), now_ns)

    def flickers(self, god: God, now_ns: int) -> list[Doubted]:
        """Return which tokens are doubted because a beam has just been found to flicker."""
        return self._noted(god, self._light.flickers(god, now_ns), now_ns)

    def unproved(self, god: God) -> list[Doubted]:
        """Return which tokens are newly doubted because the emitter no longer proves their beam."""
        since_ns = self.unproved_since(god)
        return [] if since_ns is None else self._light.unproved(god, since_ns)

    def follow(self, god: God, token: str | None, counted: Detection) -> None:
        """Hold a token that was just counted against the slot's second beam; `token` is None if it is not judged."""
        if (below := self._below.get(god)) is not None:
            below.take(token, counted.start_ns, counted.start_ns + counted.width_ns)

    def alone(self, god: God, now_ns: int) -> list[Doubted]:
        """Return which tokens are newly doubted because they broke the slot's first beam alone."""
        below = self._below.get(god)
        return [] if below is None else self._light.alone(god, below.alone(now_ns))

    def alone_deadline(self) -> int | None:
        """Return when `alone` can judge another token."""
        return min((due_ns for each in self._below.values() if (due_ns := each.due_ns()) is not None), default=None)

    def _noted(self, god: God, found: list[Doubted], now_ns: int) -> list[Doubted]:
        for doubted in found:
            for each in God if doubted.reason is Reason.TOGETHER else (god,):
                self._observed[each].doubt(together=doubted.reason is Reason.TOGETHER, at_ns=now_ns)
        return found

    def learn(self, limits: Limits) -> None:
        """Apply other limits from now on."""
        self.limits = limits
        self._light.learn(limits)
        for counter in self.counters.values():
            counter.learn(limits)
        for below in self._below.values():
            below.learn(limits)
        self.source.learn(limits)

    def in_order(self) -> list[God]:
        """Return the slots by the time of their last edge, the earlier first."""
        return sorted(self.counters, key=lambda god: self.counters[god].last_ns)

    def beams(self) -> dict[God, Beam]:
        """Return each beam's condition."""
        return {god: counter.beam for god, counter in self.counters.items()}

    def glitches(self) -> dict[God, int]:
        """Return how many spells in each slot were too short for a token."""
        return {god: counter.glitches for god, counter in self.counters.items()}

    def missed_edges(self) -> dict[God, int]:
        """Return how many edges of each slot are missing."""
        return {god: counter.missed_edges for god, counter in self.counters.items()}

    def observed(self) -> Iterable[Observed | SecondBeam]:
        """Return the observations of each beam."""
        return (*self._observed.values(), *self._below.values())

    def quiet(self, now_ns: int) -> bool:
        """Return whether the emitters may be switched, because no beam has changed for a second."""
        return all(now_ns - counter.last_ns >= BRIEF_QUIET_NS for counter in self.counters.values())

    def prove(self) -> Found:
        """Switch the emitters if possible, because a person asked for it, and return at once what that proved."""
        if (pulse := self.source.prove()) is None:
            return []
        found = self._settle() if self._proofs.settled_ns is not None else []
        self._proofs.begin(pulse, self.limits.min_clear)
        return found + self._judge(pulse.answers)

    def proof_deadline(self) -> int | None:
        """Return when the emitters are to be switched, or the latest pulse can be judged; None if neither is."""
        if self._proofs.settled_ns is not None:
            return self._proofs.settled_ns
        if self.capabilities.emitters is Emitters.FIXED or self.capabilities.timing is Timing.CALLBACK:
            return None
        return self._proofs.due_ns(max(counter.last_ns for counter in self.counters.values()))

    def prove_if_due(self, now_ns: int) -> None:
        """Switch the emitters for a few milliseconds if they are to be proved again; `advance` judges it later."""
        due_ns = self.proof_deadline()
        if due_ns is None or now_ns < due_ns or self._proofs.settled_ns is not None:
            return
        self._proofs.tried(now_ns)
        try:
            pulse = self.source.prove()
        except Exception:
            log.exception("the emitters cannot be switched")
            return
        if pulse is not None:
            self._proofs.begin(pulse, self.limits.min_clear)

    def unproved_since(self, god: God) -> int | None:
        """Return when a beam was last proved, or the start, if its last proof failed; None if it did not.

        Emitters that cannot be switched prove nothing, so that no proof fails.
        """
        return self._proofs.unproved_since(god)

    def _settle(self) -> Found:
        """Judge the latest pulse."""
        freed, answers = self._proofs.settle({god: self._reads(god) is True for god in self.counters})
        found = [each for god, edges in freed.items() for each in self._feed(god, edges)]
        certain = {
            god: answer
            for god, answer in answers.items()
            if not self._obstructed(god, answer) and not (self._failed(god, answer) and self._proofs.suspect(god))
        }
        return found + self._judge(certain)

    def _judge(self, answers: Mapping[God, Answer]) -> Found:
        """Remember what the receivers answered."""
        self._answers.update(answers)
        found: Found = []
        for god, answer in answers.items():
            if not self._obstructed(god, answer):
                failed = self._failed(god, answer)
                self._proofs.note(god, not failed)
                found.append((god, self.counters[god].disprove() if failed else self.counters[god].prove()))
        return found

    def _failed(self, god: God, answer: Answer) -> bool:
        return proof(answer) is not None and not self._obstructed(god, answer)

    def _obstructed(self, god: God, answer: Answer) -> bool:
        """Return whether a beam that is known to be dark stays dark: that proves nothing new."""
        return self.counters[god].dark and answer.lit_dark and answer.unlit_dark

    def _reads(self, god: God) -> bool | None:
        try:
            return self.source.dark(god)
        except Exception:  # although the chip is gone, tokens that have fallen must be recorded
            return None

    def selftest(self, now_ns: int, quiet: bool, ailment: Finding | None) -> dict[str, object]:
        """Return what each beam reads, what was seen of it and what is wrong, the most urgent first."""
        emitters = self.capabilities.emitters
        beams = selftest(
            self.counters, self._observed, self._answers, self.limits, now_ns, ailment, self._found_below(now_ns)
        )
        for god, below in self._below.items():
            beams[god]["below"] = below.to_dict()
        return {
            "limits": to_dict(self.limits),
            "emitters": emitters if quiet or emitters is Emitters.FIXED else "busy",
            "beams": beams,
        }

    def findings(self, session: str, at: datetime, now_ns: int, ailment: Finding | None) -> contract.Findings:
        """Return what is wrong with the beams, as far as is known without a test."""
        found = diagnose(self._observed, self.beams(), self.limits, now_ns, self._answers, self._found_below(now_ns))
        before = () if ailment is None else (ailment,)
        return contract.Findings(
            session=session,
            at=at,
            emitters=self.capabilities.emitters,
            limits=to_dict(self.limits),
            beams={god: (*before, *found[god]) for god in God},
        )

    def seen(self) -> object:
        """Return everything that `findings` depends on, except the time."""
        edges = tuple((each.edges, each.unexplained) for each in self._observed.values())
        below = tuple(each.seen() for each in self._below.values())
        return (edges, tuple(self.beams().values()), self.limits, tuple(self._answers.items()), below)

    def _found_below(self, now_ns: int) -> dict[God, list[Finding]]:
        return {god: below.findings(now_ns) for god, below in self._below.items()}
