"""The whole path as programs: a broker, the companion and a simulated temple, and what each stored."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from controller.adapters.control_socket import ControlError, send_request
from controller.adapters.sqlite_ledger import FILE_NAME, Ledger
from templo import contract
from tests.brokers import HOST, Broker, free_port
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]
READY_S = 180.0


class Program:
    """One of our programs, killed and frozen at will; `log` holds what it said."""

    ready_s = READY_S

    def __init__(self, arguments: list[str], ready: str, log: Path) -> None:
        self._command = [sys.executable, "-m", *arguments]
        self._ready = ready
        self.log = log
        self.process: subprocess.Popen[bytes] | None = None
        self._ready_before = 0

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self.begin()
        until = time.monotonic() + self.ready_s
        while not self.is_ready():
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()[-2000:]
            assert time.monotonic() < until, self.log.read_text()[-2000:]
            time.sleep(0.05)

    def begin(self) -> None:
        """Start it, ready or not."""
        self._ready_before = self._times_ready()
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )

    def is_ready(self) -> bool:
        """Return whether it has said that it is ready since it was last started."""
        return self._times_ready() > self._ready_before

    def _times_ready(self) -> int:
        return self.log.read_text().count(self._ready) if self.log.exists() else 0

    def kill(self) -> None:
        """End it as a power cut does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def freeze(self, seconds: float) -> None:
        """Stop it from running for a while, its connections open."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> int:
        """End it as its supervisor does; returns its exit code."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(timeout=180)


class Way:
    """Broker, companion and one simulated temple; the books of both ends can be compared at any time."""

    def __init__(self, folder: Path, broker: Broker, temple_clock_s: float = 0, scenario: Path | None = None) -> None:
        """Prepare; without a `scenario` tokens may fall faster than a hand drops them."""
        self.broker = broker
        self.web_port = free_port()
        self.temple_state, self.companion_state = folder / "temple", folder / "companion"
        link = ["--broker", f"{HOST}:{broker.port}"]
        self.companion = Program(
            ["companion", "run", "--host", HOST, "--port", str(self.web_port), *link,
             "--state", str(self.companion_state), "--demo-table", "templo"],
            "table ", folder / "companion.log",
        )  # fmt: skip
        controller = ["tests.path.off_clock", str(temple_clock_s)] if temple_clock_s else ["controller"]
        self.temple = Program(
            [*controller, "run", "--simulate", *([str(scenario)] if scenario else []), *link,
             "--state", str(self.temple_state),
             *([] if scenario else ["--set", "counting.fastest_per_s=10000"])],
            "templo-controller ready", folder / "temple.log",
        )  # fmt: skip
        self._droppers: list[threading.Thread] = []

    def start(self) -> None:
        self.companion.start()
        self.temple.start()

    def end(self) -> None:
        for program in (self.temple, self.companion):
            if program.process is not None:
                with suppress(ProcessLookupError):
                    program.process.send_signal(signal.SIGCONT)
                program.kill()

    def drop(self, god: str, count: int, every_ms: float = 30.0) -> None:
        """Let tokens fall through one slot while the test goes on; a temple that dies meanwhile drops no more."""

        def dropping() -> None:
            with suppress(ControlError):
                send_request(self.temple_state, {"do": "drop", "god": god, "count": count, "every_ms": every_ms}, 120)

        thread = threading.Thread(target=dropping, name=f"drop-{god}")
        thread.start()
        self._droppers.append(thread)

    def dropped(self) -> None:
        """Wait until every token asked for has fallen."""
        for thread in self._droppers:
            thread.join()
        self._droppers.clear()

    def ledger(self) -> list[str]:
        """Return the ids in the temple's ledger, in their order."""
        return [each.token for each in self._recorded()]

    def source(self) -> str:
        """Return the ledger's id; at least one token must have fallen."""
        return self._recorded()[-1].source

    def first_source(self) -> str:
        """Return the source that the ledger began with."""
        return self._recorded()[0].source

    def _recorded(self) -> list[contract.Token]:
        """Read the ledger as the command `export` does, without starting a program at every look."""
        with closing(Ledger.open(self.temple_state / FILE_NAME, str, read_only=True)) as ledger:
            return list(ledger.tokens())

    def _companion(self, query: str) -> list[Any]:
        with closing(sqlite3.connect(self.companion_state / "companion.sqlite", timeout=60)) as store:
            return [row[0] for row in store.execute(query)]

    def kept(self) -> list[str]:
        """Return the ids that the companion kept, in the ledger's order."""
        return self._companion("SELECT token FROM token ORDER BY seq")

    def scored(self) -> list[str]:
        """Return the ids that entered the table's game, as often as they did."""
        moves = map(json.loads, self._companion("SELECT move FROM entry WHERE \"by\" = 'temple' ORDER BY n"))
        return [move[1] for move in moves if move[0] == "token"]

    def table(self) -> tuple[str, str]:
        """Return the addresses at which the demo table is joined and shown."""
        found = re.search(r"^table (\S+) (\S+)$", self.companion.log.read_text(), re.MULTILINE)
        assert found
        site = f"http://{HOST}:{self.web_port}"
        return f"{site}/j/{found[1]}", f"{site}{found[2]}"

    def doubted(self) -> list[str]:
        """Return the ids that the temple doubts, as the companion stored it."""
        return self._companion("SELECT token FROM doubted_token")

    def held_apart(self) -> list[str]:
        """Return the ids that wait for a person, as the companion stored another token under their number."""
        return self._companion("SELECT token FROM quarantine")

    def undecided(self) -> list[str]:
        """Return the ids held apart that nobody has decided and that did not come again under another number."""
        return self._companion("SELECT token FROM quarantine WHERE token NOT IN (SELECT token FROM held_decision)")

    def settled(self) -> None:
        """Wait until the companion keeps all that the ledger holds."""
        self.dropped()
        eventually(lambda: len(self.kept()) == len(self.ledger()), what="the companion keeps every token")
