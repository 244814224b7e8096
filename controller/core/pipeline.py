"""The one thread that runs a temple: an edge is counted, the token recorded in the ledger, and only then published.

Everything comes to it through one queue, so nothing here is shared or locked. It never waits for the network, and for
the disk only to make a token durable before it is published.

A token that is certain is recorded at once, as a draft, so that the disk's time passes during its quiet. Neither a
draft nor what was recorded after it is published until it is counted and the ledger holds it as it was counted.
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import timedelta

from controller.core.board_intake import BoardIntake, token_id
from controller.core.calibration import Calibration
from controller.core.counting import (
    JAM_PATIENCE,
    MS,
    SECOND,
    BeamChanged,
    Counter,
    Detection,
    Event,
    Glitch,
    MissedEdge,
    simulate,
)
from controller.core.drops import Drops
from controller.core.findings_publisher import FindingsPublisher
from controller.core.judge import Doubted
from controller.core.ledger_access import LedgerAccess
from controller.core.messages import (
    BelowSeen,
    BoardFault,
    BoardHello,
    BoardStatus,
    BoardToken,
    BrokerConnected,
    BrokerDisconnected,
    DropRequest,
    EdgeSeen,
    EdgesLost,
    LevelRead,
    MessageReceived,
    PipelineMessage,
    StatusGarbled,
    Stop,
)
from controller.core.name_watch import NameWatch
from controller.core.outbox import Outbox, PendingToken
from controller.core.ports import Host, Ledger, Lights, Link, UnnumberedDoubt, UnnumberedToken
from controller.core.proof import SETTLED_NS
from controller.core.publisher import Identity, Publisher, client_id
from controller.core.requests import Doing, Requests
from controller.core.send_window import AckVerdict
from controller.core.slots import ALARMING, Found, Slots
from controller.core.status import StatusReporter
from templo import contract
from templo.contract import Beam, Flag, God, State
from templo.liveness import DISK_S, IDLE_S, REST_S, Beat, no_heartbeat

STANDSTILL_NS = SECOND // 20
"""If a wait takes this much longer than it should, the process was frozen, and the thread of its beams with it."""

_BATCH = 256
_STRAGGLERS_S = 1.0
_ROUNDS = 10
_BY_HAND = frozenset({Flag.TEST, Flag.SIMULATED})
RESTORED = "ledger_restored"
CLONED = "ledger_cloned"
log = logging.getLogger(__name__)


class Pipeline:
    """Counts, records and publishes. `run` has a thread of its own; everything else reaches it through `queue`."""

    def __init__(
        self,
        *,
        identity: Identity,
        slots: Slots,
        access: LedgerAccess,
        link: Link,
        host: Host,
        calibration: Calibration,
        items: queue.SimpleQueue[PipelineMessage],
        lights: Lights | None = None,
    ) -> None:
        """Start with what the composition root opened; `items` is the queue of the source of `slots`."""
        self.queue = items
        self._identity = identity
        self._slots = slots
        self._access = access
        self._link = link
        self._host = host
        self._calibration = calibration
        self._lights = lights or Lights()
        for god, beam in slots.beams().items():
            self._lights.beam_changed(god, beam)
        self._flags = frozenset({Flag.SIMULATED}) if slots.capabilities.test_drops else frozenset()
        self._board = BoardIntake(slots)
        self._outbox = Outbox()
        self._drops = Drops()
        self._jams: dict[God, int] = {}
        """The numbers of the tokens of jams that have not ended."""
        self._publisher = Publisher(link, access.readable)
        self._findings_publisher = FindingsPublisher(link)
        self._name = NameWatch(identity.session)
        self._drained_ns = 0
        self.source = access.source
        """The source that is published."""
        self.reporter = StatusReporter(
            identity, slots, self._board, self._outbox, access, self._publisher, self._name
        )
        """What the temple reports of itself; to be used from the pipeline's thread."""
        self._requests = Requests(
            self.reporter, slots, calibration, access, self._publisher, host, link, Doing(self._drop, self._handle)
        )

    @property
    def counters(self) -> Mapping[God, Counter]:
        """The counter of each slot."""
        return self._slots.counters

    def gone(self, state: State) -> contract.Status:
        """Return the status for when this temple no longer runs."""
        return self._identity.gone(state, self.source, notices=self._access.notices)

    # -- the thread --

    def run(self, beat: Beat = no_heartbeat) -> None:
        """Process messages until `Stop` comes, then record what fell and close the ledger."""
        self._settle()
        while True:
            beat(REST_S)
            items = self._next()
            beat(DISK_S)
            for item in items:
                if isinstance(item, Stop):
                    self._close()
                    return
                self._take(item)
            self._settle(self._drained_ns)

    def work(self, items: Iterable[PipelineMessage]) -> None:
        """Process messages, then run everything that is due."""
        for item in items:
            self._take(item)
        self._settle()

    def patience(self) -> float | None:
        """Return the seconds until something is due, or None if only a message can bring news."""
        due = [counter.deadline() for counter in self.counters.values()]
        due += (
            self._publisher.deadline() if self._access.readable else None,
            self._publisher.status_deadline(),
            self._access.retry_ns,
            self._calibration.deadline(),
            self._findings_publisher.deadline(),
            self._drops.deadline(),
            self._name.deadline(),
            self._slots.proof_deadline(),
            self._slots.alone_deadline(),
        )
        soonest = min((at_ns for at_ns in due if at_ns is not None), default=None)
        return None if soonest is None else max(0, soonest - self._host.monotonic_ns()) / SECOND

    def _next(self) -> list[PipelineMessage]:
        """Wait for messages until something is due; after a standstill, also for late edges.

        Otherwise a spell that ended long ago would become a jam only because its last edge arrives a moment later.
        """
        patience = self.patience()
        # An idle temple is alive too: it beats at least once per wait.
        wait_s = IDLE_S if patience is None else min(IDLE_S, patience)
        due_ns = self._host.monotonic_ns() + round(wait_s * SECOND)
        items = self._waited(wait_s)
        if (over_ns := self._host.monotonic_ns() - due_ns) > STANDSTILL_NS:
            for _ in range(_ROUNDS):
                if not (more := self._waited(min(over_ns / SECOND, _STRAGGLERS_S))):
                    break
                items += more
        return items

    def _waited(self, wait_s: float) -> list[PipelineMessage]:
        items: list[PipelineMessage] = []
        with suppress(queue.Empty):
            items.append(self.queue.get(timeout=wait_s))
        self._drained_ns = self._host.monotonic_ns()
        while len(items) < _BATCH and not self.queue.empty():
            items.append(self.queue.get_nowait())
        return items

    def _take(self, item: PipelineMessage) -> None:
        match item:
            case EdgeSeen() | BelowSeen() | EdgesLost() | LevelRead():
                self._handle(self._slots.take(item))
            case BoardHello():
                if self._access.ledger is not None:  # otherwise the board has to ask again
                    with self._access.attempt(self._host.monotonic_ns()):
                        self._board.meet(item, self._access.ledger.boards())
            case BoardToken():
                self._take_from_board(item)
            case BoardStatus() | BoardFault():
                self._handle(self._board.report(item))
            case MessageReceived(message):
                self._take_message(message)
            case BrokerConnected():
                self._name.connected(self._host.monotonic_ns())
                self._publisher.connected()
                self._findings_publisher.connected()
            case StatusGarbled():
                self._publisher.republish_status()
            case BrokerDisconnected():
                self._requests.companion_ahead = None
                self._publisher.disconnected()
                self._findings_publisher.disconnected()
            case Stop():
                raise AssertionError("Stop ends `run`, and is no message to process")
            case request:
                self._requests.take(request)

    def _settle(self, drained_ns: int | None = None) -> None:
        """Run everything that is due: count, record, then publish.

        If `drained_ns`, the time when the queue was last emptied, is given, the counters advance only to it: an edge
        that came since may end a spell that would otherwise become a jam.
        """
        now_ns = self._host.monotonic_ns()
        self._handle(self._slots.advance(now_ns if drained_ns is None else drained_ns))
        for god in God:
            self._doubt(god, [*self._slots.unproved(god), *self._slots.alone(god, now_ns)])
        for god in self._slots.in_order():
            if not self._outbox.drafted(god) and (certain := self.counters[god].certain()) is not None:
                self._outbox.draft(god, self._pending(god, certain, self._flags_of(god)))
        self._calibration.advance(now_ns)
        self._watch_name(now_ns)
        self._record(now_ns)
        self._release()
        self._end_jams()
        self._publish(now_ns)
        self._drops.advance(now_ns, self._access.trouble)
        self._slots.prove_if_due(now_ns)

    def _close(self) -> None:
        """Count and record what has just fallen, and close."""
        now_ns = self._host.monotonic_ns()
        self._handle(self._slots.advance(now_ns + self._slots.limits.min_clear + JAM_PATIENCE, closing=True))
        for god in God:
            self._doubt(god, self._slots.alone(god, now_ns + SETTLED_NS))
        self._outbox.settle_all()  # the beam is dark again: its missed end will not come
        self._record(max(now_ns, self._access.retry_ns or now_ns))  # at once, although it has just failed
        self._release()
        if unrecorded := self._outbox.unrecorded():
            log.error("%d tokens could not be recorded before the end", unrecorded)
        self._drops.close()
        self._access.close()

    # -- from an edge to a pending token --

    def _handle(self, found: Found) -> None:
        """Handle the counters' events."""
        for god, events in found:
            for event in events:
                self._slots.note(god, event, self._host.monotonic_ns())
                self._handle_event(god, event)
                self._calibration.take(god, event)

    def _handle_event(self, god: God, event: Event) -> None:
        match event:
            case Detection():
                flags = self._flags_of(god)
                if (pending := self._outbox.settle(god, event, flags)) is None:
                    pending = self._pending(god, event, flags)
                    self._outbox.add(pending)
                self._judge(god, pending, event)
            case BeamChanged(beam):
                self._lights.beam_changed(god, beam)
                if beam is Beam.FLICKER:
                    self._doubt(god, self._slots.flickers(god, self._host.monotonic_ns()))
                log.log(logging.WARNING if beam in ALARMING else logging.INFO, "the beam of %s is %s", god, beam)
            case MissedEdge(_, dark, 1):
                log.warning("an edge of %s was missed; its beam is %s", god, "dark" if dark else "clear")
            case MissedEdge(number=number):
                log.warning("%d edges of %s were lost", number, god)
            case Glitch(_, width_ns):
                log.debug("a glitch of %s: dark for %.1f ms", god, width_ns / MS)

    def _take_from_board(self, fell: BoardToken) -> None:
        if (counted := self._board.take(fell)) is None:
            return
        self._slots.note(fell.god, counted, self._host.monotonic_ns())
        pending = self._pending(fell.god, counted, self._flags_of(fell.god), token_id(fell.board, fell.cursor.seq))
        pending.fell_ns, pending.place = fell.fell_ns, (fell.board, fell.cursor)
        self._outbox.add(pending)
        if fell.fell_ns == counted.start_ns + counted.width_ns:  # it is known when it fell
            self._judge(fell.god, pending, counted)
        self._calibration.take(fell.god, counted)

    def _judge(self, god: God, pending: PendingToken, counted: Detection) -> None:
        """Doubt what this token shows to be none, unless it waits for a person or scores nowhere as it is."""
        token = pending.token
        scores = not token.flags & {Flag.JAM, Flag.TEST}
        self._slots.follow(god, token.token if scores else None, counted)
        if scores:
            self._doubt(god, self._slots.judge(god, token.token, counted, self._host.monotonic_ns()))

    def _doubt(self, god: God, found: Iterable[Doubted]) -> None:
        for doubted in found:
            log.warning("doubted in the slot of %s (%s): %d", god, doubted.reason, len(doubted.tokens))
            for start in range(0, len(doubted.tokens), contract.MOST_DOUBTED):
                some = doubted.tokens[start : start + contract.MOST_DOUBTED]
                self._outbox.doubt(UnnumberedDoubt(doubted.reason, self._host.utc(), some))

    def _flags_of(self, god: God) -> frozenset[Flag]:
        return self._flags | {Flag.TEST} if self._calibration.measures(god) else self._flags

    def _pending(
        self, god: God, counted: Detection, flags: frozenset[Flag], token: str | None = None, by_hand: bool = False
    ) -> PendingToken:
        """Return a pending token for a detection, with an id of its own."""
        at = self._host.utc() - timedelta(microseconds=(self._host.monotonic_ns() - counted.start_ns) // 1000)
        fallen = UnnumberedToken(token or self._host.new_id(), god, at, counted.width_ns, counted.flags | flags)
        return PendingToken(fallen, counted.start_ns + counted.width_ns, by_hand)

    def _drop(self, drop: DropRequest) -> None:
        now_ns = self._host.monotonic_ns()
        test = drop.test or not self._slots.capabilities.test_drops
        if test:
            through_ns = now_ns
            for _ in range(drop.times):
                counted = simulate(self._slots.limits, now_ns)
                self._outbox.add(self._pending(drop.god, counted, _BY_HAND, by_hand=True))
        else:
            through_ns = self._slots.source.drop(drop.god, drop.times, drop.spacing_ns)
        self._drops.wait(drop, test, now_ns, through_ns)

    # -- from a pending token to the ledger --

    def _record(self, now_ns: int) -> None:
        """Record the pending tokens in one commit; if that fails, keep them and try again soon."""
        must, retry_ns = self._outbox.must_record, self._access.retry_ns
        if now_ns < retry_ns if retry_ns is not None else not must:
            return
        with self._access.attempt(now_ns):
            failed = self._access.ledger is None
            ledger = self._access.open()
            if failed:
                self._follow(ledger)
                ledger.deliver(self._publisher.delivered)
            if must:
                self._board.recorded(self._outbox.record(ledger))
                self._publisher.doubted(ledger.last_doubt)
            self._access.works()

    def _release(self) -> None:
        """Release for publishing, in order, what is recorded in its final form."""
        for pending, token in self._outbox.release():
            self._publisher.recorded(token, pending.fell_ns)
            self._lights.token_recorded(token.god)
            self._drops.recorded(token.god, pending.by_hand, token.seq)
            if Flag.JAM in token.flags and Flag.TEST not in token.flags:
                self._jams[token.god] = token.seq

    def _end_jams(self) -> None:
        for god, beam in self._slots.beams().items():
            if beam is not Beam.JAMMED and (seq := self._jams.pop(god, None)) is not None:
                self._host.jam_over(seq)

    def _follow(self, ledger: Ledger) -> None:
        """Publish from this ledger, which replaces the former one if that was damaged or unreadable."""
        if ledger.source == self.source:
            return
        before, self.source = self.source, ledger.source
        self._outbox.renumber()
        self._publisher.begin(ledger)
        if before is not None:
            self._introduce()

    # -- from the ledger to the companion, and back --

    def _publish(self, now_ns: int) -> None:
        if (readable := self._access.readable) is not None:
            self._follow(readable)
        status = self.reporter.status()
        self._lights.troubled(status.trouble is not None)
        if self._publisher.publish_status(status, now_ns):
            self._findings_publisher.repeat()
        if readable is not None:
            with self._access.attempt(now_ns):
                self._publisher.publish_ledger(readable, now_ns)
            if self._access.readable is not readable:  # it has just failed
                self._publisher.publish_status(self.reporter.status(), now_ns)
        self._publisher.publish_noise(self.reporter.noise(), now_ns)
        self._findings_publisher.publish_if_changed(
            self.reporter.seen(),
            lambda: self._find(now_ns),
            self._slots.observed(),
            now_ns,
        )

    def _find(self, now_ns: int) -> contract.Findings:
        findings = self.reporter.findings(now_ns, self._host.utc())
        self._lights.found(findings)
        return findings

    def _take_message(self, message: contract.Ack | contract.Command | contract.Status) -> None:
        match message:
            case contract.Ack():
                self._take_ack(message)
            case contract.Command():
                self._requests.command(message)
                self._publisher.resend_unacknowledged()
            case contract.Status():
                if self._name.take(message, self._host.monotonic_ns()):
                    self._publisher.republish_status()

    def _take_ack(self, ack: contract.Ack) -> None:
        """Note what the companion has stored, or begin a new source if it proves that the ledger was restored.

        The proof may be about a token that had been taken for delivered, and even about one of a former source.
        """
        if ack.at is not None:
            self._requests.companion_ahead = ack.at - self._host.utc()
        ledger, now_ns = self._access.readable, self._host.monotonic_ns()
        if ledger is None:
            return
        with self._access.attempt(now_ns):
            number = None if ack.token is None else ledger.number(ack.source, ack.seq)
            own = None if number is None else ledger.token_id(number)
            if own is not None and own != ack.token:
                self._renew(RESTORED, f"the companion has another token {ack.seq} than the ledger", number)
                return
            if ack.source != self.source:
                return
            if ack.doubts is not None and not self._publisher.doubts_stored(ack.doubts, now_ns):
                self._renew(RESTORED, f"the companion has doubt {ack.doubts}, which was never recorded here")
                return
            verdict = self._publisher.acknowledged(ack.seq, now_ns, named=own is not None)
            if verdict is AckVerdict.BEYOND:
                self._renew(RESTORED, f"the companion has token {ack.seq}, which was never recorded here")
            elif verdict is AckVerdict.NEWS:
                ledger.deliver(self._publisher.delivered)

    def _watch_name(self, now_ns: int) -> None:
        """Begin a new source if another temple uses a copy of this ledger; give way to it while none can begin."""
        if self._name.advance(now_ns):
            self._publisher.republish_status()
        if self._name.must_renew(self.source):
            with self._access.attempt(now_ns):
                self._renew(CLONED, "another temple of this name uses a copy of the ledger")
        self._link.give_way(self._name.must_renew(self.source))

    def _renew(self, code: str, why: str, taken: int | None = None) -> None:
        """Begin a new source with what is not delivered, so that no token keeps a number that another one has.

        `taken` is a number that another one has: it was not delivered, nor is anything above it for certain. Nothing
        can begin while the ledger cannot be written: the companion says again what proves it.
        """
        ledger = self._access.ledger
        if ledger is None:
            return
        first = min(ledger.delivered, self._publisher.delivered) + 1
        first = first if taken is None else min(first, taken)
        before, source = ledger.source, self._host.new_id()
        ledger.renew(source, code, self._host.utc(), first)
        log.error(
            "%s (%s): source %s ends here, and %s begins with %d tokens not yet delivered",
            code,
            why,
            before,
            source,
            ledger.last_seq,
        )
        self._publisher.renew(ledger.totals_before, first)
        self.source = source
        self._outbox.renumber()
        self._introduce()

    def _introduce(self) -> None:
        """Connect to the broker again under a new source: a copy of the former ledger may be using its client id."""
        assert self.source is not None
        self._link.introduce(client_id(self.source), self._identity.gone(State.LOST, self.source))
