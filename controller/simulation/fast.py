"""Runs a scenario as fast as possible: with the real counting, ledger and send window, on a clock that only jumps.

The simulated broker accepts everything while it is up, and the companion behind it stores and acknowledges at once.
Edges arrive the moment they happen.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from controller.adapters.sqlite_ledger import Ledger
from controller.core.calibration import Calibration
from controller.core.commands import Result
from controller.core.counting import SECOND, Limits
from controller.core.diagnosis import DEAF, Answer, proof
from controller.core.ledger_access import LedgerAccess
from controller.core.level_watch import WATCH_S, LevelWatch
from controller.core.messages import (
    BelowSeen,
    BrokerConnected,
    BrokerDisconnected,
    EdgeSeen,
    LevelRead,
    MessageReceived,
    PipelineMessage,
    SelftestRequest,
    Stop,
)
from controller.core.pipeline import Pipeline
from controller.core.ports import BeamSource, Capabilities, Host, Level, Put, answered
from controller.core.proof import Pulse
from controller.core.publisher import Identity
from controller.core.slots import Slots
from controller.simulation.parser import Script
from controller.simulation.timeline import BelowChange, BrokerCut, Change, Moment, Restart, expand
from templo import __version__, contract
from templo.contract import God, Kind, Timing
from templo.quoting import counted

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_WATCH_NS = round(WATCH_S * SECOND)
_BEGIN_NS = 1000 * SECOND
_RESTING_NS = 40 * SECOND
"""How long after the end a silence may last before the ledger's last tokens are sent again."""


class Outcome(Struct, frozen=True):
    """The result of a scenario: what fell, what was recorded, what a companion holds, and the temple's self-test."""

    fell: Mapping[God, int]
    tokens: tuple[contract.Token, ...]
    delivered: frozenset[int]
    doubted: frozenset[str]
    """The ids of the tokens that the temple doubts, as it has published."""
    lasted_ns: int
    selftest: Mapping[str, object]
    complaints: tuple[str, ...]
    """Where it differs from what the file expects."""

    def counted(self, god: God) -> int:
        """Return how many tokens of a slot were recorded."""
        return sum(token.god is god for token in self.tokens)

    def scored(self, god: God) -> int:
        """Return how many tokens of a slot count without a person's decision."""
        return sum(
            token.god is god and token.token not in self.doubted and contract.Flag.JAM not in token.flags
            for token in self.tokens
        )

    def to_dict(self) -> dict[str, object]:
        """Return it as a JSON object."""
        return {
            "fell": dict(self.fell),
            "counted": {god: self.counted(god) for god in God},
            "scored": {god: self.scored(god) for god in God},
            "recorded": len(self.tokens),
            "delivered": len(self.delivered),
            "selftest": dict(self.selftest),
            "complaints": list(self.complaints),
        }

    def findings(self, god: God) -> tuple[Mapping[str, object], ...]:
        """Return the temple's findings about a slot's beam at the end."""
        return findings(self.selftest, god)


def findings(selftest: Mapping[str, object], god: God) -> tuple[Mapping[str, object], ...]:
    """Return what a self-test found of one beam."""
    beams = selftest["beams"]
    assert isinstance(beams, dict)
    return tuple(beams[god]["findings"])


class _Companion:
    """A broker that takes everything while it is there, and behind it a companion that stores and acknowledges."""

    def __init__(self) -> None:
        self.up = True
        self.stored: dict[int, str] = {}
        self.acks: list[contract.Ack] = []
        self.doubted: set[str] = set()
        self._doubts = 0

    def publish(self, message: contract.Message) -> bool:
        if self.up and isinstance(message, contract.Token):
            self.stored.setdefault(message.seq, message.token)
            self.acks.append(contract.Ack(message.source, message.seq, doubts=self._doubts))
        if self.up and isinstance(message, contract.Doubt):
            self.doubted.update(message.tokens)
            self._doubts = message.number
            self.acks.append(contract.Ack(message.source, max(self.stored, default=0), doubts=self._doubts))
        return self.up

    def congested(self) -> bool:
        return False

    def introduce(self, client_id: str, will: contract.Status) -> None:
        """Connect at once, under whatever name."""

    def give_way(self, gives_way: bool) -> None:
        """Ignore it: there is one temple."""


class _Run(BeamSource):
    """One run of a script: the clock, the temple that may be restarted, and its source of edges."""

    def __init__(self, script: Script, limits: Limits, path: Path, new_id: Callable[[], str]) -> None:
        self._limits = script.limits(limits)
        self._path = path
        self._new_id = new_id
        self.timeline = expand(script)
        self.capabilities = Capabilities(Kind.SIMULATOR, Timing.SIMULATED, self.timeline.emitters, test_drops=True)
        self._levels = dict(self.timeline.dark)
        self._below = dict(self.timeline.below)
        self._now_ns = self._back_ns = _BEGIN_NS
        self.companion = _Companion()
        self._awake = False
        self._pipeline: Pipeline | None = self._start()
        self._watch = LevelWatch()

    def play(self) -> Mapping[str, object]:
        """Play it to its end, and return a self-test of that moment."""
        due = _BEGIN_NS + _WATCH_NS
        for moment in self.timeline.moments:
            at_ns = _BEGIN_NS + moment.at_ns
            while due <= at_ns:
                self._pass_to(due)
                self._check_levels()
                due += _WATCH_NS
            self._pass_to(at_ns)
            self._take(moment)
        end_ns = max(_BEGIN_NS + self.timeline.end_ns, self._now_ns, self._back_ns)
        while due <= end_ns:
            self._pass_to(due)
            self._check_levels()
            due += _WATCH_NS
        self._pass_to(end_ns)
        assert self._pipeline is not None
        if not self.companion.up:  # a broker that stays down comes back after the end: nothing may be lost until then
            self.companion.up = True
            self._work([BrokerConnected()])
        selftests: list[Result] = []
        self._work([SelftestRequest(selftests.append)])
        self._pass_to(self._now_ns + _RESTING_NS)
        self._stop()
        return selftests[0]

    def _take(self, moment: Moment) -> None:
        match moment:
            case Change(_, god, dark, edge_seen, asleep):
                self._levels[god] = dark
                if edge_seen or (asleep and self._awake):
                    self._work([EdgeSeen(god, self._now_ns, dark)])
            case BelowChange(_, god, dark):
                self._below[god] = dark
                self._work([BelowSeen(god, self._now_ns, dark)])
            case BrokerCut(_, cut):
                self.companion.up = not cut
                self._work([BrokerDisconnected() if cut else BrokerConnected()])
            case Restart(_, for_ns):
                self._stop()
                # Nobody sees what happens to the beams meanwhile; the moments that follow hold their levels.
                self._back_ns = self._now_ns + for_ns
                self._pipeline = None
                if for_ns == 0:
                    self._pipeline = self._start()

    def _pass_to(self, at_ns: int) -> None:
        """Let the time pass, with everything that falls due on its way."""
        if self._pipeline is None and self._back_ns <= at_ns:
            self._now_ns = max(self._now_ns, self._back_ns)
            self._pipeline = self._start()
        while self._pipeline is not None:
            patience = self._pipeline.patience()
            if patience is None or self._now_ns + round(patience * SECOND) >= at_ns:
                break
            self._now_ns += round(patience * SECOND) + 1
            self._work([])
        self._now_ns = max(self._now_ns, at_ns)
        self._work([])

    def _work(self, items: Iterable[PipelineMessage]) -> None:
        if self._pipeline is not None:
            self._pipeline.work(items)
            while self.companion.acks:
                acks, self.companion.acks = self.companion.acks, []
                self._pipeline.work([MessageReceived(acks[-1])])

    def _check_levels(self) -> None:
        if self._pipeline is not None:
            for god, counter in self._pipeline.counters.items():
                if self._watch.differs(god, self._levels[god], counter):
                    self._work([LevelRead(god, self._now_ns, self._levels[god])])
                    self._awake = True

    def _start(self) -> Pipeline:
        items: queue.SimpleQueue[PipelineMessage] = queue.SimpleQueue()
        pipeline = Pipeline(
            identity=Identity("rehearsal", self._new_id(), Kind.SIMULATOR, __version__, Timing.SIMULATED),
            slots=Slots(self, self.open(items.put), self._limits),
            access=LedgerAccess(lambda: Ledger.open(self._path, self._new_id)),
            link=self.companion,
            host=Host(
                lambda: self._now_ns, lambda: EPOCH + timedelta(microseconds=self._now_ns // 1000), self._new_id
            ),
            calibration=Calibration(self._limits),
            items=items,
        )
        if self.companion.up:
            pipeline.work([BrokerConnected()])
        return pipeline

    def prove(self) -> Pulse | None:
        """Return a pulse without a length, and what each receiver answers; None if nothing switches the emitters."""
        answers = self._answers()
        return None if answers is None else Pulse(self._now_ns, self._now_ns, self._now_ns, answers)

    def _answers(self) -> Mapping[God, Answer] | None:
        """Return what each receiver answers by the scenario."""
        return self.timeline.answers(self._now_ns - _BEGIN_NS, self._awake)

    def open(self, put: Put) -> dict[God, Level]:
        """Return the levels at a start of the program; the edges do not wait in a queue, but are worked at once."""
        answers = self._answers()
        if answers is not None and any(proof(each) == DEAF for each in answers.values()):
            self._awake = True
            answers = self._answers()
        return {god: answered(dark, self._now_ns, answers, god) for god, dark in self._levels.items()}

    def dark(self, god: God) -> bool:
        """Return a beam's level now."""
        return self._levels[god]

    def below(self, god: God) -> bool | None:
        """Return the level of a second beam now; None if the scenario has none."""
        return self._below.get(god)

    def alive(self) -> bool:
        """Return True: there is no thread."""
        return True

    def close(self) -> None:
        """Do nothing: the script goes on."""

    def _stop(self) -> None:
        if self._pipeline is not None:
            self._pipeline.queue.put(Stop())
            self._pipeline.run()


def play_fast(script: Script, limits: Limits, path: Path, new_id: Callable[[], str]) -> Outcome:
    """Run a script against a new ledger at `path`; raises `ScenarioError`."""
    run = _Run(script, limits, path, new_id)
    selftest = run.play()
    ledger = Ledger.open(path, new_id, read_only=True)
    try:
        tokens = tuple(ledger.tokens())
    finally:
        ledger.abandon()
    timeline, delivered = run.timeline, frozenset(run.companion.stored)
    doubted = frozenset(run.companion.doubted)
    outcome = Outcome(timeline.fell, tokens, delivered, doubted, timeline.end_ns, selftest, ())
    return replace(outcome, complaints=tuple(_complaints(script, outcome)))


def _listed(codes: Iterable[str]) -> str:
    return ", ".join(sorted(codes)) or "nothing"


def _complaints(script: Script, outcome: Outcome) -> Iterable[str]:
    for god, expected in script.expected.tokens.items():
        if (found := outcome.counted(god)) != expected:
            yield f"{god}: {counted(found, 'token was', 'tokens were')} counted; expected {expected}"
    for god, most in script.expected.scored.items():
        if (scored := outcome.scored(god)) > most:
            yield f"{god}: {counted(scored, 'token was', 'tokens were')} scored; expected {most} at most"
    for god, codes in script.expected.findings.items():
        seen = {str(finding["code"]) for finding in outcome.findings(god)}
        if seen != codes:
            yield f"{god}: found {_listed(seen)}; expected {_listed(codes)}"
    if lost := {token.seq for token in outcome.tokens} - outcome.delivered:
        tokens = counted(len(lost), "recorded token was", "recorded tokens were")
        yield f"{tokens} never delivered, from number {min(lost)} on"
