"""Both ends of a measurement on one clock: breaks beams through `beam`'s socket and stamps what a broker delivers.

All stamps are CLOCK_MONOTONIC in nanoseconds, which every process of a machine shares.
"""

from __future__ import annotations

import itertools
import random
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from bench.tools.beam import ANSWER, ORDER
from bench.tools.programs import HOST, BenchError

MS = 1_000_000
_numbers = itertools.count()


class Driven(NamedTuple):
    """When a beam went dark and when it cleared."""

    dark_ns: int
    clear_ns: int


class Beams:
    """The beams of one program that runs under `bench.tools.beam`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._own = path.with_name(f"{path.name}.{next(_numbers)}")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(self._own))
        self._socket.settimeout(120)

    def drop(self, pin: int, dark_ms: float) -> Driven:
        """Break one beam for so long."""
        first_dark, first_clear, _, _ = self._ordered(pin, pin, 1, dark_ms, 0)
        return Driven(first_dark, first_clear)

    def burst(self, pins: tuple[int, int], times: int, dark_ms: float, clear_ms: float) -> Driven:
        """Break two beams in turn, so often; return when the first went dark and when the last cleared."""
        first_dark, _, _, last_clear = self._ordered(*pins, times, dark_ms, clear_ms)
        return Driven(first_dark, last_clear)

    def close(self) -> None:
        """Close this end."""
        self._socket.close()
        self._own.unlink(missing_ok=True)

    def _ordered(
        self, one: int, other: int, times: int, dark_ms: float, clear_ms: float
    ) -> tuple[int, int, int, int]:
        order = ORDER.pack(one, other, times, round(dark_ms * MS), round(clear_ms * MS))
        try:
            self._socket.sendto(order, str(self._path))
            stamps: tuple[int, int, int, int] = ANSWER.unpack(self._socket.recv(ANSWER.size))
        except OSError as error:
            raise BenchError(f"the beams at {self._path.name} do not answer: {error}") from error
        return stamps


class Received(NamedTuple):
    """One message as a subscriber got it."""

    at_ns: int
    topic: str
    payload: bytes


class Listener:
    """A subscriber at QoS 1 that stamps each message first of all, and may then answer it."""

    def __init__(
        self,
        port: int,
        topics: tuple[str, ...],
        answer: Callable[[paho.Client, Received], None] | None = None,
        back_s: float = 1,
    ) -> None:
        """Connect; `back_s` is how soon it tries again once the broker is gone."""
        self.received: list[Received] = []
        self._answer = answer
        self._client = paho.Client(CallbackAPIVersion.VERSION2)
        self._client.on_message = self._on_message
        self._client.on_connect = lambda client, *_: client.subscribe([(topic, 1) for topic in topics])
        self._client.reconnect_delay_set(back_s, max(1, back_s))  # type: ignore[arg-type] # it sleeps so long
        self._client.connect(HOST, port)

    def __enter__(self) -> Self:
        self._client.loop_start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def under(self, topic: str) -> list[Received]:
        """Return what came under one topic, in the order in which it came."""
        return [each for each in list(self.received) if each.topic == topic]

    def _on_message(self, client: paho.Client, _data: Any, message: paho.MQTTMessage) -> None:
        received = Received(time.monotonic_ns(), message.topic, bytes(message.payload))
        self.received.append(received)
        if self._answer is not None:
            self._answer(client, received)


def paced(times: int, per_second: float, seed: int) -> Iterator[int]:
    """Yield a count at a pace that is even on average, however long the work in between takes.

    Each step is up to a quarter shorter or longer, by the seed: an even one would fall into step with a poll.
    """
    whims = random.Random(seed)
    due = time.monotonic()
    for n in range(times):
        if (left := due - time.monotonic()) > 0:
            time.sleep(left)
        yield n
        due += whims.uniform(0.75, 1.25) / per_second
