"""A whole temple for faults to happen to: broker, proxies, companion, controller as programs, and a rain of tokens.

It starts them, ends only what it started, and reads their books off their disks; it judges nothing.
"""

from __future__ import annotations

import json
import random
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from controller.adapters.sqlite_ledger import FILE_NAME
from templo.contract import God
from tests.brokers import HOST, Broker, free_port
from tests.chaos.oracle import Books
from tests.chaos.patient import CLEAR_NS
from tests.chaos.proxy import Proxy
from tests.path.conftest import ROOT, Program

KEEPALIVE_S = 2
"""The shortest that both programs allow: what is frozen for longer than twice that is given up."""

NARROWEST_US = 6_000
"""Token 0 is as wide as this; each further one a microsecond wider."""

LONGEST_MS = 10_000
"""A machine that is busy elsewhere may let a simulated beam wait for its end; that is no jam of the slot."""

_ADVICE = ("max_", "set_tcp_nodelay")


class Patient(Program):
    """One of our programs under `tests.chaos.patient`, with the folder that governs it."""

    ready_s = 120.0

    def __init__(self, folder: Path, words: list[str], ready: str) -> None:
        folder.mkdir()
        self.folder = folder
        super().__init__(["tests.chaos.patient", str(folder), *words], ready, folder / "log")

    def disk(self, fault: str | None) -> None:
        """Let its disk be so, or well again."""
        self._order("disk", fault)

    def clock(self, years: float) -> None:
        """Let its clock on the wall be so far off."""
        self._order("clock", str(years * 365.25 * 86_400) if years else None)

    def freeze(self, seconds: float) -> None:
        """Stop it from running for a while, its connections open; it may be killed meanwhile."""
        frozen = self.process
        assert frozen is not None
        frozen.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        frozen.send_signal(signal.SIGCONT)

    def ended(self) -> int | None:
        """Return its exit code if it has ended."""
        return None if self.process is None else self.process.poll()

    def _order(self, name: str, text: str | None) -> None:
        order = self.folder / name
        if text is None:
            order.unlink(missing_ok=True)
        else:
            fresh = order.with_suffix(".new")
            fresh.write_text(text)
            fresh.replace(order)


class Rain:
    """Drops tokens into a temple that lives, each as wide as its number, and notes which fell during which life."""

    def __init__(self, beams: Path, seed: str) -> None:
        """Drop nothing until tokens are allowed; `seed` chooses the slots."""
        self._beams = str(beams)
        self._whims = random.Random(seed)
        self._changed = threading.Condition()
        self._allowed = 0
        self._stopped = False
        self.dropped = 0
        self.lives: list[dict[str, list[int]]] = [{god.value: [] for god in God}]
        self._thread = threading.Thread(target=self._run, name="rain", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def allow(self, number: int) -> None:
        """Let tokens fall until so many have in all."""
        with self._changed:
            self._allowed = number
            self._changed.notify_all()

    def fallen(self, patience_s: float) -> bool:
        """Wait until all that are allowed have fallen; return whether they have."""
        with self._changed:
            return self._changed.wait_for(lambda: self.dropped >= self._allowed, patience_s)

    def end_life(self, kill: Callable[[], None]) -> None:
        """Kill the temple between two tokens: what fell before belongs to this life, and the next begins."""
        with self._changed:
            kill()
            self.lives.append({god.value: [] for god in God})

    def stop(self) -> None:
        """Let no more fall."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        free = {god.value: 0.0 for god in God}
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as hand:
            hand.setblocking(False)
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._stopped or self.dropped < self._allowed)
                    if self._stopped:
                        return
                    slot = self._whims.choice(list(God)).value
                    number = self.dropped
                width_ns = (NARROWEST_US + number) * 1000
                while not self._drop(hand, slot, number, width_ns, free[slot]):
                    if self._stopped:
                        return
                free[slot] = max(time.monotonic(), free[slot]) + (width_ns + CLEAR_NS) / 1e9

    def _drop(self, hand: socket.socket, slot: str, number: int, width_ns: int, free: float) -> bool:
        """Drop one token once its slot is free, if somebody is there to count it; return whether it fell."""
        time.sleep(max(0.001, free - time.monotonic()))
        with self._changed:
            try:
                hand.sendto(f"{slot} {width_ns}".encode(), self._beams)
            except OSError:  # the temple is dead, or frozen with its hands full
                fell = False
            else:
                fell = True
                self.lives[-1][slot].append(number)
                self.dropped += 1
                self._changed.notify_all()
        if not fell:
            time.sleep(0.02)
        return fell


class World:
    """Everything between a beam and the companion's store."""

    def __init__(self, folder: Path, broker: Broker, seed: str, table: bool = True) -> None:
        """Prepare; `start` starts it. With a `table`, every token enters its log."""
        self.broker = broker
        self.temple_link, self.companion_link = Proxy(broker.port), Proxy(broker.port)
        (folder / "companion.toml").write_text(f"[broker]\nkeepalive_s = {KEEPALIVE_S}\n")
        self.temple_state, self._companion_state = folder / "temple-state", folder / "companion-state"
        self.companion = Patient(
            folder / "companion",
            ["companion", "run", "--config", str(folder / "companion.toml"), "--host", HOST,
             "--port", str(free_port()), "--state", str(self._companion_state),
             "--broker", f"{HOST}:{self.companion_link.port}", *(["--demo-table", "templo"] * table)],
            "table " if table else "ready ",
        )  # fmt: skip
        self.temple = Patient(
            folder / "temple",
            ["controller", "run", "--simulate", "--state", str(self.temple_state),
             "--broker", f"{HOST}:{self.temple_link.port}", "--set", f"broker.keepalive_s={KEEPALIVE_S}",
             "--set", f"counting.max_break_ms={LONGEST_MS}"],
            "templo-controller ready",
        )  # fmt: skip
        self.rain = Rain(self.temple.folder / "beams", seed)

    def start(self) -> None:
        """Start everything; no token falls yet."""
        self.temple_link.start()
        self.companion_link.start()
        self.companion.start()
        self.temple.start()
        self.rain.start()

    def end(self) -> None:
        """End everything at once."""
        self.rain.stop()
        for program in (self.temple, self.companion):
            if program.process is not None:
                program.kill()
        self.temple_link.close()
        self.companion_link.close()

    def kill_temple(self) -> None:
        """End the temple as a power cut does, between two tokens."""
        self.rain.end_life(self.temple.kill)

    def raise_the_dead(self) -> list[str]:
        """Start again what ended by itself, as its supervisor would; return what had."""
        raised = []
        for program in (self.temple, self.companion):
            if (code := program.ended()) is not None:
                if program is self.temple:
                    self.rain.end_life(lambda: None)
                program.start()
                raised.append(f"{program.folder.name} had ended with {code}")
        return raised

    def ledger(self) -> list[int]:
        """Return what the temple's ledger holds, in the order of its numbers."""
        rows = _rows(self.temple_state / FILE_NAME, "SELECT width_ns FROM token ORDER BY seq")
        return [_name(width_ns / 1e6) for (width_ns,) in rows]

    def received(self) -> list[int]:
        """Return what the companion's store holds, in the order of the ledger's numbers."""
        rows = _rows(self._companion_state / "companion.sqlite", "SELECT width_ms FROM token ORDER BY seq")
        return [_name(width_ms) for (width_ms,) in rows]

    def scored(self) -> list[int]:
        """Return what entered the table's game, in the order of its log."""
        store = self._companion_state / "companion.sqlite"
        names = {token: _name(width_ms) for token, width_ms in _rows(store, "SELECT token, width_ms FROM token")}
        moves = _rows(store, "SELECT move FROM entry WHERE \"by\" = 'temple' ORDER BY n")
        return [names[json.loads(move)[1]] for (move,) in moves]

    def committed(self) -> frozenset[int]:
        """Return what the temple has said that it committed."""
        with suppress(FileNotFoundError):
            lines = (self.temple.folder / "committed").read_text().splitlines()
            return frozenset(_name(float(line)) for line in lines)
        return frozenset()

    def books(self) -> Books:
        """Return what every station holds now."""
        return Books(self.rain.lives, self.committed(), self.ledger(), self.received(), self.scored())

    def settled(self, patience_s: float) -> bool:
        """Wait until the companion has all that the ledger holds, and the ledger all that fell; return whether so."""
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            last = {token for tokens in self.rain.lives[-1].values() for token in tokens}
            if last <= self.committed() and len(self.ledger()) == len(self.received()):
                return True
            time.sleep(0.2)
        return False


def advice() -> str:
    """Return the limits that the project's own configuration of mosquitto sets, and a door for everybody."""
    lines = (ROOT / "systemd" / "mosquitto" / "templo.conf").read_text().splitlines()
    return "\n".join([*(line for line in lines if line.startswith(_ADVICE)), "allow_anonymous true"])


def _name(width_ms: float) -> int:
    return round(width_ms * 1000) - NARROWEST_US


def _rows(database: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)) as connection:
        return connection.execute(query).fetchall()
