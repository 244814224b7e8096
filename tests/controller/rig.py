"""A pipeline that runs step by step: its clock stands still, its disk may refuse, its broker records."""

from __future__ import annotations

import itertools
import queue
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import structs

from controller.adapters import learned_file
from controller.adapters.sqlite_ledger import Ledger
from controller.core.calibration import Calibration
from controller.core.counting import MS, SECOND, Limits
from controller.core.diagnosis import Answer
from controller.core.ledger_access import LedgerAccess
from controller.core.messages import BrokerConnected, EdgeSeen, PipelineMessage, SelftestRequest, Stop
from controller.core.pipeline import Pipeline
from controller.core.ports import (
    BeamSource,
    Capabilities,
    Host,
    LedgerTrouble,
    Level,
    Lights,
    Put,
    UnnumberedDoubt,
    UnnumberedToken,
)
from controller.core.proof import Pulse
from controller.core.publisher import Identity
from controller.core.slots import JAM_READINGS, Slots
from templo import contract
from templo.contract import God, Kind, Timing, Trouble

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
IDENTITY = Identity("templo", "a" * 32, Kind.PI, "1.0.0", Timing.KERNEL)


_opened: list[Ledger] = []


def close_all() -> None:
    """Close every ledger that a rig left open, as the end of its process would."""
    while _opened:
        _opened.pop().abandon()


class Disk:
    """A disk that may refuse, under a real ledger."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble: Trouble | None = None
        self.fails_after_commit = False
        self.commits: list[int] = []

    def open(self) -> Ledger:
        disk = self
        self.check()

        class Refusing(Ledger):
            def after(self, seq: int, limit: int) -> list[contract.Token]:
                disk.check()
                return super().after(seq, limit)

            def record(
                self,
                tokens: Sequence[UnnumberedToken],
                boards: Mapping[str, tuple[int, int]] | None = None,
                doubts: Sequence[UnnumberedDoubt] = (),
            ) -> list[contract.Token]:
                disk.check()
                recorded = super().record(tokens, boards, doubts)
                disk.commits.append(len(recorded))
                if disk.fails_after_commit:
                    disk.fails_after_commit = False
                    raise LedgerTrouble(Trouble.LEDGER_FAILING, "the sync failed")
                return recorded

            def renew(self, source: str, reason: str, at: datetime, first: int | None = None) -> None:
                disk.check()
                super().renew(source, reason, at, first)
                if disk.fails_after_commit:
                    disk.fails_after_commit = False
                    raise LedgerTrouble(Trouble.LEDGER_FAILING, "the sync failed")

        ledger = Refusing.open(self.path, lambda: "5" * 32)
        _opened.append(ledger)
        return ledger

    def check(self) -> None:
        if self.trouble is not None:
            raise LedgerTrouble(self.trouble, "the disk refuses")


class Broker:
    """A link that remembers what was handed over."""

    def __init__(self) -> None:
        self.up = False
        self.slow = False
        self.gave_way = False
        self.client_ids: list[str] = []
        self.published: list[contract.Message] = []

    def publish(self, message: contract.Message) -> bool:
        if self.up:
            self.published.append(message)
        return self.up

    def congested(self) -> bool:
        return self.slow

    def introduce(self, client_id: str, will: contract.Status) -> None:
        self.client_ids.append(client_id)

    def give_way(self, gives_way: bool) -> None:
        self.gave_way = gives_way

    def tokens(self) -> list[tuple[int, bool]]:
        return [(message.seq, message.replayed) for message in self.published if isinstance(message, contract.Token)]

    def statuses(self) -> list[contract.Status]:
        return [message for message in self.published if isinstance(message, contract.Status)]

    def replies(self) -> list[contract.Reply]:
        return [message for message in self.published if isinstance(message, contract.Reply)]


class StillBeams(BeamSource):
    """Beams that begin clear and proved, give no edge by themselves, and read as they were set."""

    capabilities = Capabilities(IDENTITY.kind, IDENTITY.timing)

    def __init__(
        self,
        prove: Callable[[], Mapping[God, Answer] | None],
        now_ns: Callable[[], int],
        below: Mapping[God, bool] = {},
    ) -> None:
        self._prove, self._now_ns, self._below = prove, now_ns, below
        self.levels = dict.fromkeys(God, False)

    def open(self, put: Put) -> Mapping[God, Level]:
        return {god: Level(False, 0, True) for god in God}

    def dark(self, god: God) -> bool:
        return self.levels[god]

    def below(self, god: God) -> bool | None:
        return self._below.get(god)

    def prove(self) -> Pulse | None:
        answers = self._prove()
        now_ns = self._now_ns()
        return None if answers is None else Pulse(now_ns, now_ns, now_ns, answers)

    def drop(self, god: God, times: int, spacing_ns: int) -> int:
        return self._now_ns()

    def alive(self) -> bool:
        return True

    def close(self) -> None:
        pass


class Rig:
    """A pipeline whose clock stands still until it is moved."""

    def __init__(
        self,
        folder: Path,
        opened: bool = True,
        prove: Callable[[], Mapping[God, Answer] | None] = lambda: None,
        chosen: frozenset[str] = frozenset(),
        new_id: Callable[[], str] | None = None,
        lights: Lights | None = None,
        below: Mapping[God, bool] = {},
        session: str = IDENTITY.session,
    ) -> None:
        self.now_ns = 1000 * SECOND
        self.disk = Disk(folder / "ledger.sqlite3")
        self.broker = Broker()
        ids = (f"{number:032x}" for number in itertools.count(1))
        calibration = Calibration(
            Limits(), chosen, learned_file.load(folder), lambda measured: learned_file.save(folder, measured)
        )
        items: queue.SimpleQueue[PipelineMessage] = queue.SimpleQueue()
        self.beams = beams = StillBeams(prove, lambda: self.now_ns, below)
        self.disk.trouble = None if opened else Trouble.LEDGER_FAILING
        self.access = LedgerAccess(self.disk.open)
        self.disk.trouble = None
        self.pipeline = Pipeline(
            identity=structs.replace(IDENTITY, session=session),
            slots=Slots(beams, beams.open(items.put), calibration.limits),
            access=self.access,
            link=self.broker,
            host=Host(
                lambda: self.now_ns,
                lambda: NOON + timedelta(microseconds=self.now_ns // 1000),
                new_id or ids.__next__,
            ),
            calibration=calibration,
            items=items,
            lights=lights,
        )

    def take(self, *items: PipelineMessage, after_ns: int = 0) -> None:
        """Let the pipeline process items, a while later; each beam reads the level of its last edge."""
        self.now_ns += after_ns
        self.beams.levels |= {item.god: item.dark for item in items if isinstance(item, EdgeSeen)}
        self.pipeline.work(items)

    def jam(self) -> None:
        """Let a beam stay dark for so long that its spell is a jam."""
        for _ in range(JAM_READINGS):
            self.take(after_ns=SECOND)

    def connect(self) -> None:
        self.broker.up = True
        self.take(BrokerConnected())

    def token(self, god: God = God.TLALOC, width_ms: float = 12) -> None:
        """Let a token fall."""
        at_ns = self.now_ns
        self.take(EdgeSeen(god, at_ns, True), EdgeSeen(god, at_ns + round(width_ms * MS), False), after_ns=0)
        self.take(after_ns=round((width_ms + 8) * MS))

    def selftest(self) -> Mapping[str, object]:
        results: list[Mapping[str, object]] = []
        self.take(SelftestRequest(results.append))
        return results[0]

    def stop(self) -> None:
        self.pipeline.queue.put(Stop())
        self.pipeline.run()

    def ledger(self) -> list[contract.Token]:
        ledger = Ledger.open(self.disk.path, str, read_only=True)
        try:
            return list(ledger.tokens())
        finally:
            ledger.abandon()
