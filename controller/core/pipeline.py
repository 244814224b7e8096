"""The one thread that runs a temple: edges become tokens, tokens are recorded, and only then told.

All that happens comes to it through one queue, so nothing here is shared or locked. It never waits for the network,
and for the disk only to make a token durable before anyone hears of it.

A token that is certain is recorded at once, as a draft, so that the disk's time passes during its quiet. Nobody hears
of a draft, nor of what was recorded after it, until it is counted and the ledger holds it as it was counted.
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from controller.core.board_intake import Board, BoardIntake, token_id
from controller.core.calibration import USUAL, Calibration
from controller.core.commands import Commands, RefusedError, Result
from controller.core.counting import (
    MS,
    SECOND,
    BeamChanged,
    Counter,
    Detection,
    Event,
    Glitch,
    Limits,
    MissedEdge,
    simulate,
)
from controller.core.diagnosis import Answer, Finding
from controller.core.drops import Drops
from controller.core.findings_publisher import FindingsPublisher
from controller.core.messages import (
    BoardCursor,
    BoardFault,
    BoardHello,
    BoardStatus,
    BoardToken,
    BrokerConnected,
    BrokerDisconnected,
    CalibrationRequest,
    DismissRequest,
    DropRequest,
    EdgeSeen,
    LevelRead,
    MessageReceived,
    PipelineMessage,
    SelftestRequest,
    StatusGarbled,
    StatusRequest,
    Stop,
)
from controller.core.name_watch import NameWatch
from controller.core.outbox import Outbox, PendingToken
from controller.core.ports import Clock, Ledger, LedgerError, LedgerTrouble, Level, MessageSink, UnnumberedToken
from controller.core.publisher import Identity, Publisher
from controller.core.send_window import AckVerdict, SendWindow
from controller.core.slots import ALARMING, Found, Slots
from templo import contract
from templo.contract import CommandName, Emitters, Flag, God, State, Trouble
from templo.liveness import DISK_S, IDLE_S, Beat, no_heartbeat

RETRY_NS = SECOND // 2
"""How soon a ledger that failed is tried again."""

STANDSTILL_NS = SECOND // 20
"""A wait that lasted so much longer than it should: the process was frozen, and its beams' thread with it."""

_BATCH = 256
_STRAGGLERS_S = 1.0
_ROUNDS = 10
_BY_HAND = frozenset({Flag.TEST, Flag.SIMULATED})
RESTORED = "ledger_restored"
CLONED = "ledger_cloned"
log = logging.getLogger(__name__)


class Pipeline:
    """Counts, records and tells. `run` lives in a thread of its own; everything else reaches it through `queue`."""

    def __init__(
        self,
        *,
        identity: Identity,
        limits: Limits,
        levels: Mapping[God, Level],
        ledger: Ledger | None,
        reopen: Callable[[], Ledger],
        copy: Ledger | None = None,
        read_copy: Callable[[], Ledger] | None = None,
        outlet: MessageSink,
        clock: Clock,
        new_id: Callable[[], str],
        break_beam: Callable[[God, int, int], int] | None,
        items: queue.SimpleQueue[PipelineMessage] | None = None,
        beat: Beat = no_heartbeat,
        calibration: Calibration | None = None,
        prove: Callable[[], Mapping[God, Answer] | None] = lambda: None,
        emitters: Emitters = Emitters.FIXED,
        board: Board | None = None,
        renewed: Callable[[str], None] = lambda source: None,
        give_way: Callable[[bool], None] = lambda gives_way: None,
    ) -> None:
        """Take over what the composition root opened.

        `break_beam` drops tokens through the simulated beams and returns when the last is through; without it a
        wished token is counted from edges that no beam gave, and is a test. `ledger` is None while the disk refuses
        it: `reopen` is then tried until it works, and meanwhile `copy`, or what `read_copy` finds on the disk later,
        is published. `prove` switches the emitters, where they can be switched; without a `calibration` nothing that
        is learned outlives the process. With a `board` nothing is counted here.
        `renewed` gets each new source that is begun: the connection to the broker has to bear it. `give_way` gets
        whether another temple of this name is there to which the broker is to be left.
        """
        self.queue: queue.SimpleQueue[PipelineMessage] = queue.SimpleQueue() if items is None else items
        self._read_copy = read_copy
        self._copy = copy
        self.source = found.source if (found := ledger or copy) else None
        self._identity = identity
        self._calibration = calibration or Calibration(limits, frozenset(), {}, lambda learned: None)
        self._ledger = ledger
        self._reopen = reopen
        self._outlet = outlet
        self._beat = beat
        self._clock = clock
        self._new_id = new_id
        self._break_beam = break_beam
        self._flags = frozenset({Flag.SIMULATED}) if break_beam else frozenset()
        self._board = None if board is None else BoardIntake(board)
        self._renewed = renewed
        self._give_way = give_way
        self._gave_way = False
        self._notices = found.notices if found else ()
        self._ahead_of_us: timedelta | None = None
        self._name = NameWatch(identity.session)
        limits = self._calibration.limits
        counters: Mapping[God, Counter] = (
            {god: Counter(limits, at.dark, at.at_ns, at.proved) for god, at in levels.items()}
            if board is None
            else board.slots
        )
        self._slots = Slots(counters, levels, limits, prove, emitters)
        self._findings_publisher = FindingsPublisher(outlet)
        self._outbox = Outbox()
        self._drops = Drops()
        self._trouble: Trouble | None = None
        self._retry_ns = clock.monotonic_ns() if ledger is None else None
        self._publisher = Publisher(outlet, *_told(found))
        self._commands = Commands(
            {
                CommandName.IDENTIFY: lambda _, respond: respond(self._identify()),
                CommandName.SELFTEST: lambda _, respond: respond(self.selftest()),
                CommandName.CALIBRATE: self._calibrate,
                CommandName.RESEND: self._resend,
                CommandName.DROP: self._test,
                CommandName.DISMISS: self._dismiss_by_command,
            },
            outlet.publish,
        )

    @property
    def counters(self) -> Mapping[God, Counter]:
        """What counts each slot."""
        return self._slots.counters

    def work(self, items: Iterable[PipelineMessage]) -> None:
        """Take what came, once, and draw what follows from it and from the time."""
        for item in items:
            self._take(item)
        self._settle(self._clock.monotonic_ns())

    def run(self) -> None:
        """Work until `Stop` comes, then record what fell and close the ledger."""
        self._settle(self._clock.monotonic_ns())
        while True:
            self._beat(DISK_S)
            for item in self._next():
                if isinstance(item, Stop):
                    self._close()
                    return
                self._take(item)
            self._settle(self._clock.monotonic_ns())

    def _next(self) -> list[PipelineMessage]:
        """Wait for what comes, until something is due; after a standstill, for what fell meanwhile.

        Else a spell that was over long ago would be called a jam, only because its end is heard a moment later.
        """
        patience = self.patience()
        # An idle temple lives too: it beats, at the latest when this is over.
        wait_s = IDLE_S if patience is None else min(IDLE_S, patience)
        due_ns = self._clock.monotonic_ns() + round(wait_s * SECOND)
        items = self._waited(wait_s)
        if (over_ns := self._clock.monotonic_ns() - due_ns) > STANDSTILL_NS:
            for _ in range(_ROUNDS):
                if not (more := self._waited(min(over_ns / SECOND, _STRAGGLERS_S))):
                    break
                items += more
        return items

    def _waited(self, wait_s: float) -> list[PipelineMessage]:
        items: list[PipelineMessage] = []
        with suppress(queue.Empty):
            items.append(self.queue.get(timeout=wait_s))
            while len(items) < _BATCH and not self.queue.empty():
                items.append(self.queue.get_nowait())
        return items

    def status(self) -> contract.Status:
        """Return how the temple is."""
        beams = self._slots.beams()
        ails = None if self._board is None else self._board.trouble()
        trouble = self._trouble or ails or (Trouble.NAME_TAKEN if self._name.taken else None)
        alert = trouble is not None or self.notices or any(beam in ALARMING for beam in beams.values())
        return self._identity.status(State.ALERT if alert else State.READY, beams, self.source, trouble, self.notices)

    @property
    def notices(self) -> tuple[contract.Notice, ...]:
        """What happened to the ledger, by its last word, and what no person has dealt with."""
        if (readable := self._readable) is not None:
            self._notices = readable.notices
        return self._notices

    def noise(self) -> contract.Noise:
        """Return what the beams heard that was no token."""
        return contract.Noise(self._identity.session, self._slots.glitches(), self._slots.missed_edges())

    def report(self) -> dict[str, object]:
        """Return everything that there is to know, for the command line."""
        status, ledger = self.status(), self._readable
        last = self._publisher.last_seq if ledger else None
        return {
            "temple": self._identity.temple,
            "state": status.state,
            "kind": status.kind,
            "software": status.software,
            "timing": status.timing,
            "session": status.session,
            "source": status.source,
            "trouble": status.trouble,
            "notices": [{"code": each.code, "at": contract.format_utc(each.at)} for each in status.notices],
            "beams": dict(status.beams),
            "glitches": self._slots.glitches(),
            "missed_edges": self._slots.missed_edges(),
            "totals": dict(self._publisher.totals) if ledger else None,
            "last_seq": last,
            "delivered": self._publisher.delivered,
            "waiting": last - self._publisher.delivered if last is not None else None,
            "unrecorded": self._outbox.unrecorded(),
        }

    def selftest(self) -> dict[str, object]:
        """Return what each beam reads, what was seen of it and what is wrong, what needs a hand first.

        Where the emitters can be switched they are, which takes a fifth of a second and hides what falls meanwhile:
        so only while no beam has changed for a second.
        """
        now_ns = self._clock.monotonic_ns()
        if quiet := self._slots.quiet(now_ns):
            self._act_on(self._slots.prove())
        status = self.status()
        return {
            "state": status.state,
            "trouble": status.trouble,
            **self._slots.selftest(now_ns, quiet, self._ailment()),
        }

    def findings(self) -> contract.Findings:
        """Return what is wrong with the beams as far as anybody can tell without touching them."""
        now_ns, at = self._clock.monotonic_ns(), self._clock.utc()
        return self._slots.findings(self._identity.session, at, now_ns, self._ailment())

    def _ailment(self) -> Finding | None:
        return None if self._board is None else self._board.ailment

    def patience(self) -> float | None:
        """Return the seconds until something is due, or None if only the queue can bring news."""
        due = [counter.deadline() for counter in self.counters.values()]
        due.append(self._publisher.deadline() if self._readable else None)
        due += (
            self._retry_ns,
            self._calibration.deadline(),
            self._findings_publisher.deadline(),
            self._drops.deadline(),
        )
        due.append(self._name.deadline())
        soonest = min((at_ns for at_ns in due if at_ns is not None), default=None)
        return None if soonest is None else max(0, soonest - self._clock.monotonic_ns()) / SECOND

    def _take(self, item: PipelineMessage) -> None:
        match item:
            case EdgeSeen(god, at_ns, dark):
                self._act_on(self._slots.hear(god, at_ns, dark))
            case LevelRead(god, at_ns, dark):
                self._act_on(self._slots.read(god, at_ns, dark))
            case BoardHello() | BoardToken() | BoardStatus() | BoardFault():
                assert self._board is not None
                self._take_from(self._board, item)
            case MessageReceived(contract.Ack() as ack):
                self._take_ack(ack)
            case MessageReceived(contract.Status() as status):
                if self._name.take(status, self._clock.monotonic_ns()):
                    self._publisher.republish_status()
            case MessageReceived(contract.Command() as command):
                now = self._clock.utc()
                self._commands.take(command, now, None if self._ahead_of_us is None else now + self._ahead_of_us)
                self._publisher.resend_unacknowledged()
            case BrokerConnected():
                self._name.connected(self._clock.monotonic_ns())
                self._publisher.connected()
                self._findings_publisher.connected()
            case StatusGarbled():
                self._publisher.republish_status()
            case BrokerDisconnected():
                self._ahead_of_us = None
                self._publisher.disconnected()
                self._findings_publisher.disconnected()
            case DropRequest():
                self._drop(item)
            case DismissRequest(code, respond):
                try:
                    self._dismiss(code, respond)
                except RefusedError as error:
                    respond(error.result())
            case StatusRequest(respond):
                respond(self.report())
            case SelftestRequest(respond):
                respond(self.selftest())
            case CalibrationRequest(god, number, keep, respond):
                try:
                    self._measure(god, number, keep, respond)
                except RefusedError as error:
                    respond(error.result())

    def _take_ack(self, ack: contract.Ack) -> None:
        """Note what the companion has stored, or begin a new source where it proves that the ledger was restored."""
        if ack.at is not None:
            self._ahead_of_us = ack.at - self._clock.utc()
        ledger = self._readable
        if ledger is None or ack.source != self.source:
            return
        try:
            own = None if ack.token is None else ledger.token_id(ack.seq)
            if ack.token is not None and own is not None and own != ack.token:
                self._renew(ledger, RESTORED, f"the companion has another token {ack.seq} than the ledger")
                return
            verdict = self._publisher.acknowledged(ack.seq, self._clock.monotonic_ns(), named=own is not None)
            if verdict is AckVerdict.BEYOND:
                self._renew(ledger, RESTORED, f"the companion has token {ack.seq}, which was never recorded here")
            elif verdict is AckVerdict.NEWS:
                ledger.deliver(self._publisher.delivered)
        except (LedgerTrouble, LedgerError) as error:
            self._failed(error, self._clock.monotonic_ns())

    def _watch_name(self, now_ns: int) -> None:
        """Begin a new source where another temple uses a copy of this ledger, and let one of the two give way."""
        if self._name.advance(now_ns):
            self._publisher.republish_status()
        if self._name.gives_way != self._gave_way:
            self._gave_way = self._name.gives_way
            self._give_way(self._gave_way)
        if self._ledger is not None and self._name.must_renew(self.source):
            try:
                self._renew(self._ledger, CLONED, "another temple of this name uses a copy of the ledger")
            except (LedgerTrouble, LedgerError) as error:
                self._failed(error, now_ns)

    def _renew(self, ledger: Ledger, code: str, why: str) -> None:
        """Begin a new source with what is not delivered: no token may stay under numbers that others have."""
        before, source = ledger.source, self._new_id()
        waiting = ledger.last_seq - ledger.delivered
        ledger.renew(source, code, self._clock.utc())
        log.error(
            "%s (%s): source %s ends here, and %s begins with %d tokens not yet delivered",
            code,
            why,
            before,
            source,
            waiting,
        )
        self._publisher.renew(ledger.totals_before)
        self.source = source
        self._outbox.renumber()
        self._renewed(source)

    def _settle(self, now_ns: int) -> None:
        """Draw what follows from what was taken and from the time: record first, then tell."""
        self._act_on(self._slots.advance(now_ns))
        for god in self._slots.in_order():
            if not self._outbox.drafted(god) and (certain := self.counters[god].certain()) is not None:
                self._outbox.draft(god, self._pending(god, certain, self._flags_of(god)))
        self._calibration.advance(now_ns)
        self._watch_name(now_ns)
        self._record(now_ns)
        self._release()
        self._publisher.publish_status(self.status())
        if (readable := self._readable) is not None:
            try:
                self._publisher.publish_ledger(readable, now_ns)
            except (LedgerTrouble, LedgerError) as error:
                self._failed(error, now_ns)
                self._publisher.publish_status(self.status())
        self._publisher.publish_noise(self.noise(), now_ns)
        seen = (self._slots.seen(), self._ailment())
        self._findings_publisher.tell(seen, self.findings, self._slots.observed(), now_ns)
        self._drops.forget(now_ns)

    def _take_from(self, board: BoardIntake, item: BoardHello | BoardToken | BoardStatus | BoardFault) -> None:
        """Take what a board says that counts by itself."""
        match item:
            case BoardHello(name, otherwise, respond):
                # While the ledger cannot be read the board has to ask again.
                if (durable := self._durable_of(name, otherwise)) is not None:
                    board.meet(name, durable)
                    respond(durable)
            case BoardToken():
                if (counted := board.take(item)) is not None:
                    self._slots.note(item.god, counted, self._clock.monotonic_ns())
                    pending = self._pending(item.god, counted, self._flags_of(item.god))
                    pending.token = replace(pending.token, token=token_id(item.board, item.mark.seq))
                    pending.fell_ns, pending.place = item.fell_ns, (item.board, item.mark)
                    self._outbox.add(pending)
                    self._calibration.take(item.god, counted)
            case BoardStatus():
                self._act_on([(item.god, board.show(item))])
            case BoardFault(finding, _):
                self._act_on(board.ail(finding))

    def _durable_of(self, board: str, otherwise: BoardCursor) -> BoardCursor | None:
        """Return up to where the ledger has a board's tokens, or None while it cannot be read."""
        if self._ledger is None:
            return None
        try:
            known = self._ledger.boards().get(board)
        except (LedgerTrouble, LedgerError) as error:
            self._failed(error, self._clock.monotonic_ns())
            return None
        return otherwise if known is None else BoardCursor(*known)

    def _act_on(self, found: Found) -> None:
        for god, events in found:
            for event in events:
                self._slots.note(god, event, self._clock.monotonic_ns())
                self._take_note(god, event)
                self._calibration.take(god, event)

    def _take_note(self, god: God, event: Event) -> None:
        match event:
            case Detection():
                flags = self._flags_of(god)
                if not self._outbox.settle(god, event, flags):
                    self._outbox.add(self._pending(god, event, flags))
            case BeamChanged(beam):
                log.log(logging.WARNING if beam in ALARMING else logging.INFO, "the beam of %s is %s", god, beam)
            case MissedEdge(_, dark):
                log.warning("an edge of %s was missed; its beam is %s", god, "dark" if dark else "clear")
            case Glitch(_, width_ns):
                log.debug("a glitch of %s: dark for %.1f ms", god, width_ns / MS)

    def _flags_of(self, god: God) -> frozenset[Flag]:
        return self._flags | {Flag.TEST} if self._calibration.measures(god) else self._flags

    def _pending(self, god: God, counted: Detection, flags: frozenset[Flag], wished: bool = False) -> PendingToken:
        """Return a token that fell now, or a while ago, with an id of its own."""
        at = self._clock.utc() - timedelta(microseconds=(self._clock.monotonic_ns() - counted.start_ns) // 1000)
        fallen = UnnumberedToken(self._new_id(), god, at, counted.width_ns, counted.flags | flags)
        return PendingToken(fallen, counted.start_ns + counted.width_ns, wished)

    def _drop(self, drop: DropRequest) -> None:
        now_ns = self._clock.monotonic_ns()
        test = drop.test or self._break_beam is None
        if self._break_beam is None or test:
            through_ns = now_ns
            for _ in range(drop.times):
                counted = simulate(self._slots.limits, now_ns)
                self._outbox.add(self._pending(drop.god, counted, _BY_HAND, wished=True))
        else:
            through_ns = self._break_beam(drop.god, drop.times, drop.spacing_ns)
        self._drops.wait(drop, test, through_ns)

    def _record(self, now_ns: int) -> None:
        """Make what fell durable as it is now, in one commit, or keep it and try again soon."""
        unrecorded = self._outbox.unrecorded()
        if now_ns < self._retry_ns if self._retry_ns is not None else not unrecorded:
            return
        try:
            ledger = self._ledger = self._ledger or self._open()
            if unrecorded:
                durable = self._outbox.record(ledger)
                if self._board is not None:
                    self._board.recorded(durable)
        except (LedgerTrouble, LedgerError) as error:
            self._failed(error, now_ns)
            return
        if self._retry_ns is not None:
            log.warning("the ledger can be written again")
            self._retry_ns = self._trouble = None
        self._close_copy()

    def _release(self) -> None:
        """Let everyone hear, in order, of what is recorded for good."""
        for pending, token in self._outbox.release():
            self._publisher.recorded(token, pending.fell_ns)
            self._drops.recorded(token.god, pending.wished, token.seq)

    def _open(self) -> Ledger:
        """Open the ledger again, after the disk had refused it."""
        ledger = self._reopen()
        if self.source != ledger.source:
            # It could not be opened before, or was damaged and begun anew: what waits is recorded in the new one.
            before, self.source = self.source, ledger.source
            self._outbox.renumber()
            self._publisher.begin(*_told(ledger))
            if before is not None:
                self._renewed(ledger.source)
        else:
            ledger.deliver(self._publisher.delivered)
        return ledger

    @property
    def _readable(self) -> Ledger | None:
        """The ledger, or a copy of it while it cannot be written."""
        return self._ledger or self._copy

    def _take_copy(self) -> None:
        """Take a copy of a ledger that cannot be written: all that may be published is in it until it can be."""
        if self._read_copy is None or self._copy is not None:
            return
        try:
            copy = self._read_copy()
        except (LedgerTrouble, LedgerError) as error:
            log.debug("nothing is published from the disk: %s", error)
            return
        if self.source is None:
            self.source = copy.source
            self._publisher.begin(*_told(copy))
        if self.source == copy.source:
            self._copy = copy
        else:
            copy.abandon()

    def _close_copy(self) -> None:
        if self._copy is not None:
            self._copy.abandon()
            self._copy = None

    def _failed(self, error: LedgerTrouble | LedgerError, now_ns: int) -> None:
        if error.trouble is not self._trouble:
            log.error("%s (%d tokens wait in memory)", error, self._outbox.unrecorded())
        self._trouble = error.trouble
        self._retry_ns = now_ns + RETRY_NS
        # After a failed sync only a new connection finds out what is on disk and what is not.
        if self._ledger is not None:
            self._ledger.abandon()
            self._ledger = None
        self._take_copy()

    def _identify(self) -> dict[str, object]:
        return {key: value for key, value in self.report().items() if value is not None}

    def _resend(self, command: contract.Command, respond: Callable[[Result], None]) -> None:
        if command.seq is None:
            raise RefusedError("no_seq", "resend needs seq, the first token to send again")
        if self._readable is None:
            raise RefusedError("ledger", "the ledger cannot be read now: see the temple's status")
        if command.seq > (highest := self._publisher.last_seq + 1):
            words = f"resend from {command.seq}; expected at most {highest}, the next token"
            raise RefusedError("beyond", words)
        if self._ledger is not None:
            try:
                self._ledger.deliver_again(command.seq)
            except (LedgerTrouble, LedgerError) as error:
                raise RefusedError("ledger", str(error)) from error
        self._publisher.resend_from(command.seq)
        respond({"from": command.seq, "last_seq": self._publisher.last_seq})

    def _dismiss_by_command(self, command: contract.Command, respond: Callable[[Result], None]) -> None:
        if command.notice is None:
            raise RefusedError("no_notice", "dismiss needs notice, the code of the notice to take away")
        self._dismiss(command.notice, respond)

    def _dismiss(self, code: str, respond: Callable[[Result], None]) -> None:
        """Take away a notice that a person has dealt with."""
        if self._ledger is None:
            raise RefusedError("ledger", "the ledger cannot be written now: see the temple's status")
        try:
            dismissed = self._ledger.dismiss(code)
        except (LedgerTrouble, LedgerError) as error:
            raise RefusedError("ledger", str(error)) from error
        if not dismissed:
            standing = ", ".join(notice.code for notice in self.notices) or "none stands"
            raise RefusedError("no_notice", f"there is no notice {code[:32]!r} here; expected one of: {standing}")
        respond({"dismissed": code, "notices": [notice.code for notice in self.notices]})

    def _calibrate(self, command: contract.Command, respond: Callable[[Result], None]) -> None:
        if command.god is None:
            raise RefusedError("no_god", f"calibrate needs a god: {' or '.join(God)}")
        self._measure(command.god, command.count, command.keep, respond)

    def _measure(self, god: God, number: int | None, keep: bool | None, respond: Callable[[Result], None]) -> None:
        if keep is None:
            wanted = USUAL if number is None else number
            self._calibration.begin(god, wanted, self._clock.monotonic_ns(), respond)
            return
        limits, result = self._calibration.decide(god, keep)
        self._slots.learn(limits)
        respond(result)

    def _test(self, command: contract.Command, respond: Callable[[Result], None]) -> None:
        if command.god is None:
            raise RefusedError("no_god", f"drop needs a god: {' or '.join(God)}")
        self._drop(DropRequest(command.god, 1, 0, True, respond))

    def _close(self) -> None:
        """Count what has just fallen, record it, and close."""
        now_ns = self._clock.monotonic_ns()
        self._act_on(self._slots.advance(now_ns + self._slots.limits.min_clear))
        self._outbox.settle_all()  # a beam that is dark again will not be heard to the end
        self._record(now_ns)
        self._release()
        if unrecorded := self._outbox.unrecorded():
            log.error("%d tokens could not be recorded before the end", unrecorded)
        self._drops.forget(None)
        if self._ledger is not None:
            self._ledger.close()


def _told(ledger: Ledger | None) -> tuple[SendWindow, Mapping[God, int], Mapping[God, int]]:
    """Return what a ledger that was just opened says: all of it may be told."""
    if ledger is None:
        return SendWindow(0, 0), dict.fromkeys(God, 0), dict.fromkeys(God, 0)
    return SendWindow(ledger.delivered, ledger.last_seq), ledger.totals, ledger.totals_before
