"""Temples as a companion sees them: they publish tokens, at most 20 of them unacknowledged, over one connection.

Beams, counting and ledgers are left out, so that what is measured is the companion's.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from bench.tools.programs import HOST, BenchError, wait_until
from templo import contract
from templo.contract import Ack, Command, Count, God, Kind, State, Status, Timing, Token

WINDOW = 20
"""Tokens that a controller publishes before it waits for an acknowledgement."""


class _Temple:
    def __init__(self, number: int, name: str) -> None:
        self.name = name
        self.source = f"{number + 1:032x}"
        self.wanted = 0
        self.sent = 0
        self.acknowledged = 0


class Temples:
    """Temples that are connected until the context is left."""

    def __init__(self, port: int, names: Sequence[str]) -> None:
        """Prepare; entering connects."""
        self._port = port
        self._temples = {name: _Temple(number, name) for number, name in enumerate(names)}
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._client = paho.Client(CallbackAPIVersion.VERSION2)
        answers = [(f"templo/+/{leaf}", 1) for leaf in ("ack", "command")]
        self._client.on_connect = lambda client, *_: client.subscribe(answers)
        self._client.on_subscribe = lambda *_: self._ready.set()
        self._client.on_message = self._on_message
        self._client.max_inflight_messages_set(10_000)

    def __enter__(self) -> Self:
        self._client.connect(HOST, self._port)
        self._client.loop_start()
        if not self._ready.wait(30):
            raise BenchError("the broker did not answer the temples within 30 s")
        for temple in self._temples.values():
            self._publish(temple, self._status(temple))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    @property
    def acknowledged(self) -> int:
        """How many tokens of all temples are acknowledged."""
        return sum(temple.acknowledged for temple in self._temples.values())

    def drop(self, name: str, tokens: int = 1) -> None:
        """Queue tokens at a temple, to be published as its window allows."""
        with self._lock:
            temple = self._temples[name]
            temple.wanted += tokens
            totals = {god: (temple.wanted + n) // 2 for n, god in enumerate(God)}
            self._publish(temple, Count(temple.source, temple.wanted, totals))
            self._fill(temple)

    def wait(self, seconds: float) -> None:
        """Wait until every token is acknowledged; raises `BenchError`."""
        wanted = sum(temple.wanted for temple in self._temples.values())
        wait_until(lambda: self.acknowledged >= wanted, seconds, f"{wanted} tokens to be acknowledged")

    def _fill(self, temple: _Temple) -> None:
        while temple.sent < min(temple.wanted, temple.acknowledged + WINDOW):
            temple.sent += 1
            god = tuple(God)[temple.sent % 2]
            name = f"{temple.source[-8:]}{temple.sent:024x}"
            now = datetime.now(UTC)
            self._publish(temple, Token(temple.source, temple.sent, name, god, now, 14.0, frozenset(), False))

    def _on_message(self, client: paho.Client, _data: Any, message: paho.MQTTMessage) -> None:
        name, leaf = contract.parse_topic(message.topic)
        decoded = contract.decode(leaf, bytes(message.payload))
        with self._lock:
            temple = self._temples[name]
            if isinstance(decoded, Ack) and decoded.source == temple.source:
                temple.acknowledged = max(temple.acknowledged, decoded.seq)
            elif isinstance(decoded, Command) and decoded.seq:
                temple.sent = min(temple.sent, decoded.seq - 1)
                temple.acknowledged = min(temple.acknowledged, temple.sent)
                self._publish(temple, contract.Reply(decoded.id, True))
            self._fill(temple)

    def _status(self, temple: _Temple) -> Status:
        beams = dict.fromkeys(God, contract.Beam.CLEAR)
        return Status(State.READY, "5" * 32, Kind.SIMULATOR, "bench", Timing.SIMULATED, beams, temple.source)

    def _publish(self, temple: _Temple, message: contract.Message) -> None:
        declared = contract.declaration_of(type(message))
        topic = contract.topic(temple.name, message.leaf)
        self._client.publish(topic, contract.encode(message), declared.qos, declared.retained)
