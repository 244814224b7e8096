"""The MQTT intake: stores the tokens that arrive together with their effects, and only then acknowledges them.

The connection's threads only enqueue; a thread of its own stores and acknowledges. A message that breaks the contract
is logged in one line and otherwise ignored.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from companion.adapters.backlog import Backlog
from companion.model.scores import mood_of, score_of
from companion.model.table import ServiceError
from companion.service.services import Services
from templo import contract
from templo.broker import Address, BrokerSettings
from templo.liveness import DISK_S, IDLE_S, REST_S, Beat, no_heartbeat
from templo.mqtt import Beats, Connection

log = logging.getLogger(__name__)

BATCH = 500
"""The most tokens in one change of the store."""

RETRY_AFTER = 0.5
"""Seconds between attempts to store while the store fails."""

ACK_EVERY = 60.0
"""Seconds between acknowledgements of an idle temple: they give the time to one without a time server."""

LOOK_EVERY = 0.5
"""The least seconds between two looks at what others are to know, and what the time alone changes."""

LOOK_AFTER = 0.1
"""Seconds from a change to the next look: the pages are first."""

_READ = [each for each in contract.CONTRACT.read_by(contract.Role.COMPANION) if each.place is contract.Place.TEMPLE]
_RETAINED = {each.leaf for each in _READ if each.retained}
_TOPICS = [(f"{each.place}/+/{each.leaf}", each.qos) for each in _READ]

_OWN = [each for each in _READ if each.leaf in (contract.Token.leaf, contract.Doubt.leaf)]
"""What only a temple's owner reads, if several companions share a store."""

_SHARED_TOPICS = [(f"{each.place}/+/{each.leaf}", each.qos) for each in _READ if each not in _OWN]

_Arrival: TypeAlias = tuple[str, contract.Message] | bool | None
"""A temple's message, whether the broker can be reached, or the end."""


class Intake:
    """Passes messages from a broker to the services; it waits for a broker that cannot be reached."""

    def __init__(
        self,
        services: Services,
        broker: BrokerSettings,
        instance: str,
        beat: Beat = no_heartbeat,
        link: Beats = Beats(),  # noqa: B008  # a frozen value
        hotspot: Callable[[], bool] = lambda: False,
        on_tokens: Callable[[], None] = lambda: None,
        shared: bool = False,
    ) -> None:
        """Only remember; `start` connects. `beat` belongs to the storing thread, `link` to the connection.

        `hotspot` returns at once whether this machine's own Wi-Fi is open, for the temples' lamps. `on_tokens` is
        called when tokens arrive. `shared` says that several companions share a store: then this one subscribes to
        the tokens of the temples that it owns, and processes the other messages of all.
        """
        self._services = services
        self._beat = beat
        self._hotspot = hotspot
        self._on_tokens = on_tokens
        self._waiting = Backlog(services.temples, time.monotonic)
        self._up = False
        self._scored: dict[str, tuple[str | None, int]] = {}
        self._moods: dict[str, contract.Mood] = {}
        self._is_news = True
        self._look_due = 0.0
        self._shared = shared
        self._versions: Mapping[str, int] | None = None
        self._acknowledged: dict[str, tuple[str, str]] = {}
        self._acks_due = 0.0
        self._commands: dict[str, tuple[str, contract.Command]] = {}
        self._commands_lock = threading.Lock()  # the threads of pages send commands, the storing thread gets replies
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="intake", daemon=True)
        self._connection = Connection(
            broker,
            f"templo-companion-{instance[:12]}",
            _SHARED_TOPICS if shared else _TOPICS,
            self,
            role="companion",
            beats=link,
        )

    def start(self) -> None:
        """Begin to connect and to listen."""
        self._services.temples.requests.connect(self._command)
        self._waiting.put_event(self._connection.subscribed)
        self._thread.start()
        self._connection.start()

    def stop(self) -> None:
        """Store and acknowledge what has arrived, and disconnect."""
        self._stopping.set()
        self._waiting.put_event(None)
        if self._thread.is_alive():
            self._thread.join(timeout=5)
        self._connection.stop()

    @property
    def subscribed(self) -> bool:
        """Whether the broker has confirmed the subscriptions, so that every token published from now on arrives."""
        return self._connection.subscribed

    @property
    def broker(self) -> Address | None:
        """The broker that it is connected to, or None."""
        return self._connection.address if self.subscribed else None

    def on_connected(self) -> None:
        """Enqueue the event."""
        self._waiting.put_event(True)

    def on_disconnected(self) -> None:
        """Enqueue it."""
        self._waiting.put_event(False)

    def on_message(self, topic: str, payload: bytes, retained: bool) -> None:
        """Enqueue a message; raises `WireError` for one that is not processed."""
        temple, leaf = contract.parse_topic(topic)
        if leaf in (contract.Token.leaf, contract.Doubt.leaf) and not self._services.temples.is_own(temple):
            return
        if not self._waiting.expects(temple):
            raise _refusal(temple)
        if retained and leaf not in _RETAINED:
            raise contract.WireError(f"{leaf} is retained; expected a live message")
        if not self._waiting.put(temple, contract.decode(leaf, payload)):
            raise _refusal(temple)

    def notice(self, topic: str) -> None:
        """Look soon what has changed here; safe from any thread."""
        if self._is_news:
            return
        self._look_due = max(self._look_due, time.monotonic() + LOOK_AFTER)
        self._is_news = True
        if threading.current_thread() is not self._thread:
            self._waiting.wake()

    def _run(self) -> None:
        arrivals: list[_Arrival] = []
        while self._take(arrivals):
            self._beat(REST_S)
            arrivals = self._waiting.take(BATCH, self._patience())
            self._beat(DISK_S)

    def _patience(self) -> float:
        """Return the seconds until something is due, if nothing arrives or changes before."""
        now = time.monotonic()
        if self._is_news or self._shared or self._services.temples.awaits_something:
            return max(0.0, self._look_due - now)
        return min(IDLE_S, max(0.0, self._acks_due - now))

    def _take(self, arrivals: list[_Arrival]) -> bool:
        """Process messages in their order; return False at the end."""
        tokens: list[tuple[str, contract.Token]] = []
        for each in arrivals:
            if isinstance(each, tuple) and isinstance(each[1], contract.Token):
                tokens.append((each[0], each[1]))
                continue
            self._store(tokens)
            tokens = []
            if each is None:
                return False
            if isinstance(each, bool):
                self._up = each
                self._scored.clear()
                self._moods.clear()  # a broker may have forgotten what it retained
                self._acknowledged.clear()
                self._persist(self._services.temples.set_reachable, each)
                if each:
                    self._repeat_commands()
            elif isinstance(each[1], contract.Status):
                self._persist(self._services.temples.receive_status, each[0], each[1])
                self._acknowledge_status(each[0], each[1])
            else:
                self._receive(*each)
        self._store(tokens)
        if arrivals:
            self.notice("")
        if time.monotonic() >= self._look_due:
            self._look_due = time.monotonic() + LOOK_EVERY
            self._is_news = False  # first: what changes meanwhile is looked at again
            self._persist(self._services.temples.pass_time)
            self._subscribe_own()
            self._request_missing()
            self._publish_scores()
            self._publish_changes()
        if time.monotonic() >= self._acks_due:
            self._acks_due = time.monotonic() + ACK_EVERY
            self._acknowledge_all()
        return True

    def _receive(self, temple: str, message: contract.Message) -> None:
        """Process a temple's message that is neither a token nor its status."""
        match message:
            case contract.Doubt():
                self._persist(self._services.temples.doubts.receive, temple, message)
                self._acknowledge(temple, message.source, apart=False)
            case contract.Count():
                self._services.temples.ledgers.receive_count(temple, message)
            case contract.Noise():
                self._persist(self._services.temples.receive_noise, temple, message)
            case contract.Findings():
                self._persist(self._services.temples.receive_findings, temple, message)
            case contract.Reply():
                with self._commands_lock:
                    self._commands.pop(message.id, None)
                self._persist(self._services.temples.requests.receive_reply, temple, message, time.monotonic())

    def _publish_scores(self) -> None:
        """Publish the score and the mood of each temple's game, if they have changed.

        Home Assistant and a temple's lamps know no game.
        """
        if not self._up:
            return
        hotspot = self._hotspot()
        for temple in self._services.temples.own():
            try:
                table = self._services.tables.find(temple.table_id)
                known = (table.id, table.version) if table else (None, 0)
                score = (
                    score_of(table, self._services.tables.tokens) if self._scored.get(temple.name) != known else None
                )
            except ServiceError as error:
                log.error("cannot read what counts at a table, trying again: %s", error.facts["reason"])
                self._is_news = True
                return
            if score is not None:
                self._scored[temple.name] = known
                self._publish(temple.name, score)
            if (mood := mood_of(table, temple, hotspot)) != self._moods.get(temple.name):
                self._moods[temple.name] = mood
                self._publish(temple.name, mood)

    def _publish_changes(self) -> None:
        """Publish which tables have changed; readers request their contents."""
        if not self._up:
            return
        versions = self._services.tables.written()
        before = versions if self._versions is None else self._versions
        self._versions = {
            table_id: version
            for table_id, version in versions.items()
            if before.get(table_id) == version
            or self._connection.publish(contract.table_topic(table_id), contract.Changed(table_id, version))
        }

    def _store(self, tokens: list[tuple[str, contract.Token]]) -> None:
        if not tokens:
            return
        self._on_tokens()
        receipts = self._persist(self._services.temples.intake.receive, tokens) or ()
        for receipt in receipts:
            self._acknowledge(receipt.temple, receipt.source, receipt.apart)
        if any(receipt.gap for receipt in receipts):
            self._request_missing()

    def _request_missing(self) -> None:
        self._persist(self._services.temples.requests.request_missing, time.monotonic())

    def _persist(self, change: Callable[..., Any], *args: Any) -> Any:
        """Make a change, repeating it while the store fails; nothing is acknowledged meanwhile.

        Even one that stores nothing reads again first what a failed commit may have stored.
        """
        while True:
            try:
                return change(*args)
            except ServiceError as error:
                if error.code != "store_failing":
                    raise
                log.error("cannot store what the temples send, trying again: %s", error.facts["reason"])
                self._beat(DISK_S)
                if self._stopping.wait(RETRY_AFTER):
                    return None

    def _acknowledge_status(self, temple: str, status: contract.Status) -> None:
        """Acknowledge what is stored of a ledger that has just appeared: this reveals a restored one at once.

        Once for each session and source of a temple while the connection lasts, and again after it was away.
        """
        if status.source is None or status.state in (contract.State.LOST, contract.State.STOPPED):
            self._acknowledged.pop(temple, None)
        elif self._acknowledged.get(temple) != (status.session, status.source):
            self._acknowledged[temple] = (status.session, status.source)
            self._acknowledge(temple, status.source)

    def _acknowledge_all(self) -> None:
        if self._up:
            for temple in self._services.temples.own():
                if temple.alive and temple.source:
                    self._acknowledge(temple.name, temple.source)

    def _subscribe_own(self) -> None:
        if self._shared:
            own = {temple.name for temple in self._services.temples.own()}
            self._connection.subscribe(
                [(contract.topic(name, each.leaf), each.qos) for name in sorted(own) for each in _OWN]
            )

    def take_over(self, topic: str) -> None:
        """Note what another companion may have changed before this one took it over; safe from any thread.

        What is stored of a temple is acknowledged, so that it sends the rest.
        """
        kind, _, temple = topic.partition(":")
        if kind != "temple":
            return
        self._subscribe_own()
        self._scored.pop(temple, None)
        self._moods.pop(temple, None)
        self.notice(topic)
        known = self._services.temples.find(temple)
        if self._up and known and known.alive and known.source:
            self._acknowledge(temple, known.source)

    def _acknowledge(self, temple: str, source: str, apart: bool = True) -> None:
        """Acknowledge what is stored of a source; before that, if some are held `apart`, the numbers that are taken.

        The mark may be at a later token of the copy of a ledger, which would not learn that it is one.
        """
        if not self._services.temples.is_own(temple):
            return
        ledgers, now = self._services.temples.ledgers, self._services.temples.now()
        for of, seq, token in (self._persist(ledgers.taken, temple) or ()) if apart else ():
            self._publish(temple, contract.Ack(of, seq, token, now))
        mark = ledgers.mark(source)
        self._publish(temple, contract.Ack(source, mark.seq, mark.token or None, now, mark.doubts))

    def _command(self, temple: str, command: contract.Command) -> None:
        """Send a command, now and at each new connection, until it is answered or has expired.

        A temple carries out a command once, however often it arrives. Missing tokens are requested again anyway.
        """
        if command.name is not contract.CommandName.RESEND:
            now = self._services.temples.now()
            with self._commands_lock:
                self._commands = {key: each for key, each in self._commands.items() if now < each[1].expires}
                self._commands[command.id] = temple, command
        self._publish(temple, command)

    def _repeat_commands(self) -> None:
        with self._commands_lock:
            waiting = list(self._commands.values())
        for temple, command in waiting:
            if self._services.temples.now() < command.expires:
                self._publish(temple, command)

    def _publish(self, temple: str, message: contract.Message) -> None:
        self._connection.publish(contract.topic(temple, message.leaf), message)


def _refusal(temple: str) -> contract.WireError:
    return contract.WireError(f"too much comes, or too many names are new; {temple!r} keeps it, and sends it again")
