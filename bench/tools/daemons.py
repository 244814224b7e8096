"""Our own two daemons as a benchmark starts them: unmodified, on a broker and ports of their own."""

from __future__ import annotations

import json
import secrets
import sqlite3
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import paho.mqtt.client as paho

from bench.tools import beam
from bench.tools.programs import HOST, BenchError, Programs, Running, free_port, wait_until
from bench.tools.stopwatch import Beams, Listener, Received
from templo import contract

TEMPLE = "bench"
CROWD = MappingProxyType({"WEB_STREAMS_EACH": "64"})
"""Settings of a companion whose phones all come from one address, that of the loopback."""
PINS = (17, 27)
START_S = 120.0
"""How long a start may take: a machine may be busy with much else."""


@dataclass(frozen=True, slots=True)
class Controller:
    """One controller that runs; `beams` break the pins of one that has mock pins."""

    running: Running
    state: Path
    beams: Beams | None

    def breaks(self) -> Beams:
        """Return its beams; raises `BenchError` for simulated ones."""
        if self.beams is None:
            raise BenchError("this controller has simulated beams; expected one with mock pins")
        return self.beams


def start_controller(
    programs: Programs, port: int, settings: Mapping[str, str] = MappingProxyType({}), *, simulated: bool = False
) -> Controller:
    """Start a controller and wait until the broker has its first status.

    Its beams are gpiozero's mock pins, broken from outside, or its own simulated ones. `settings` are named as in its
    environment, such as ``COUNTING_MIN_CLEAR_MS``.
    """
    state = programs.folder / "controller"
    environment = {
        "TEMPLO_TEMPLE": TEMPLE,
        "TEMPLO_STATE": str(state),
        "TEMPLO_LOG": "warning",
        "TEMPLO_BROKER_HOST": HOST,
        "TEMPLO_BROKER_PORT": str(port),
        **{f"TEMPLO_{name}": value for name, value in settings.items()},
    }
    path = programs.folder / "controller.beam"
    with Listener(port, (contract.topic(TEMPLE, contract.Status.leaf),)) as listener:
        if simulated:
            beams = None
            running = programs.python("controller", "-m", "controller", "run", "--simulate", **environment)
        else:
            command = (beam.__file__, str(path), "controller", "run")
            running = programs.python("controller", *command, TEMPLO_BEAMS_FACTORY="mock", **environment)
            beams = Beams(path)

        def born() -> bool:
            running.check()
            return any(b'"lost"' not in each.payload for each in listener.received)

        wait_until(born, START_S * programs.patience, "the controller's birth")
    return Controller(running, state, beams)


def drop(programs: Programs, tokens: int) -> None:
    """Drop simulated tokens at the controller that runs, or into the ledger of one that does not."""
    words = ["drop", "tlaloc", "--count", str(tokens), "--simulate", "--state", str(programs.folder / "controller")]
    command = [programs.tree.interpreter, "-m", "controller", *words]
    done = subprocess.run(command, cwd=programs.tree.root, capture_output=True, check=False)
    if done.returncode:
        raise BenchError(f"{tokens} tokens were not dropped: {done.stderr.decode()[-500:]}")


def acknowledge(client: paho.Client, received: Received) -> None:
    """Acknowledge a token as a companion does, so that the send window stays open; other messages are left alone."""
    if received.topic != contract.topic(TEMPLE, contract.Token.leaf):
        return
    token = contract.decode(contract.Token.leaf, received.payload)
    assert isinstance(token, contract.Token)
    ack = contract.Ack(token.source, token.seq)
    client.publish(contract.topic(TEMPLE, contract.Ack.leaf), contract.encode(ack), qos=1)


@dataclass(frozen=True, slots=True)
class Companion:
    """One companion that runs, with a table that a temple serves."""

    running: Running
    port: int
    database: Path
    code: str
    table: str
    """The path of the table's page."""

    @property
    def address(self) -> str:
        """Where its pages are."""
        return f"http://{HOST}:{self.port}"

    def stored(self) -> int:
        """Return how many tokens its store holds."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM token").fetchone()[0])


def start_companion(programs: Programs, port: int, settings: Mapping[str, str] = MappingProxyType({})) -> Companion:
    """Start a companion with a running table for four, and wait until it serves its pages.

    `settings` are named as in its environment, such as ``WEB_STREAMS``.
    """
    web = free_port()
    instance = secrets.token_hex(8)
    state = programs.folder / "companion"
    running = programs.python(
        "companion",
        *("-m", "companion", "run", "--host", HOST, "--port", str(web), "--state", str(state)),
        *("--broker", f"{HOST}:{port}", "--instance", instance, "--demo-table", TEMPLE),
        **{f"TEMPLO_{name}": value for name, value in settings.items()},
    )
    code, path = running.wait_for("table", START_S * programs.patience).split()
    wait_until(
        lambda: _answers(f"http://{HOST}:{web}/healthz", instance, running, 2 * programs.patience),
        START_S * programs.patience,
        "the companion's pages",
    )
    return Companion(running, web, state / "companion.sqlite", code, path)


def _answers(url: str, instance: str, running: Running, seconds: float) -> bool:
    running.check()
    try:
        with urllib.request.urlopen(url, timeout=seconds) as response:
            return bool(json.load(response)["instance"] == instance)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
