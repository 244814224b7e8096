"""The controller as a program, and a small companion: what the tests with real brokers are made of."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from controller.adapters.control_socket import send_request
from templo import contract
from tests.brokers import leave
from tests.waiting import eventually

ROOT = Path(__file__).parents[2]


def environment(**more: str) -> dict[str, str]:
    """Return an environment without a TEMPLO_ setting of the machine's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TEMPLO_", "STATE_DIRECTORY"))}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "controller", *words]


def command_anywhere(program: str) -> list[str]:
    """Return a command of "controller" or "companion" that finds our modules in any folder and environment."""
    script = (
        f"import runpy, sys; sys.path.insert(0, {str(ROOT)!r}); runpy.run_module(sys.argv.pop(1), {{}}, '__main__')"
    )
    return [sys.executable, "-P", "-c", script, program]


def call(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the controller to its end."""
    return subprocess.run(
        command(*words), env=environment(**more), capture_output=True, text=True, timeout=120, check=False
    )


class Temple:
    """A daemon with simulated beams at a port or a list of brokers, keys on a pipe, and its output in a file."""

    def __init__(self, state: Path, port: int | str, *words: str, **more: str) -> None:
        self.state = state
        self._words = (
            "run",
            "--simulate",
            "--keys",
            "--state",
            str(state),
            "--broker",
            str(port) if isinstance(port, str) else f"127.0.0.1:{port}",
            *words,
        )
        self._more = more
        self._log = state.parent / f"{state.name}.log"

    def start(self) -> Temple:
        """Start it and wait until it is ready."""
        with self._log.open("ab") as log:
            begin = log.tell()
            self._process = subprocess.Popen(
                command(*self._words),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment(**self._more),
                bufsize=0,
            )
        eventually(lambda: b"templo-controller ready" in self._log.read_bytes()[begin:] or self._ended())
        assert self._process.poll() is None, self.log()
        return self

    @property
    def pid(self) -> int:
        return self._process.pid

    def press(self, keys: str) -> None:
        """Press keys."""
        assert self._process.stdin is not None
        self._process.stdin.write(keys.encode())

    def drop(self, god: str = "tlaloc", count: int = 1) -> int:
        """Drop tokens, and return the number of the last once they are durable."""
        if (dropped := send_request(self.state, {"do": "drop", "god": god, "count": count}, 120)) is not None:
            return int(str(dropped["seq"]))
        done = call("drop", god, "--count", str(count), "--state", str(self.state))
        assert done.returncode == 0, done.stderr
        return int(self.report()["last_seq"])

    def report(self) -> dict[str, Any]:
        """Return the daemon's status, or that of the command `status` if no daemon runs."""
        if (running := send_request(self.state, {"do": "status"}, 120)) is not None:
            return {"running": True, **running}
        done = call("status", "--json", "--state", str(self.state))
        assert done.returncode == 0, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    def ledger(self) -> list[dict[str, Any]]:
        """Return what the ledger holds, running or not."""
        done = call("export", "--state", str(self.state))
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def stop(self) -> int:
        """End it as systemd does and return its exit code."""
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(180)
        self._hang_up()
        return code

    def kill(self) -> None:
        """End it as a power cut does."""
        if hasattr(self, "_process") and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._hang_up()

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def _hang_up(self) -> None:
        if hasattr(self, "_process") and self._process.stdin is not None:
            self._process.stdin.close()

    def _ended(self) -> bool:
        return self._process.poll() is not None


Starter: TypeAlias = Callable[..., Temple]
"""Starts a temple at a broker's port, with further words of its command line and variables of its environment."""


class Companion:
    """Keeps what it receives, each token once, and then acknowledges it, as the contract asks.

    `acknowledges` may be switched off. `received` holds every message, in order; `kept` each token by its number.
    """

    def __init__(
        self, port: int, temple: str = "templo", v5: bool = False, name: str = "companion", user: str | None = None
    ) -> None:
        self.temple = temple
        self.acknowledges = True
        self.received: list[contract.Message] = []
        self.kept: dict[tuple[str, int], contract.Token] = {}
        self.clashes: list[contract.Token] = []
        self._news = threading.Condition()
        self._client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=f"{name}-{os.getpid()}",
            protocol=MQTTProtocolVersion.MQTTv5 if v5 else MQTTProtocolVersion.MQTTv311,
        )
        self._client.username_pw_set(user)
        self._client.reconnect_delay_set(1, 1)
        self._client.on_connect = self._on_connect
        self._client.on_message = self._on_message
        self._client.connect_async("127.0.0.1", port, keepalive=5)
        self._client.loop_start()

    def __enter__(self) -> Companion:
        return self

    def __exit__(self, *error: object) -> None:
        leave(self._client)

    def say(self, message: contract.Message, retain: bool = False) -> None:
        self._client.publish(contract.topic(self.temple, message.leaf), contract.encode(message), 1, retain)

    def say_bytes(self, leaf: str, payload: bytes) -> None:
        self._client.publish(contract.topic(self.temple, leaf), payload, 1)

    def tokens(self) -> list[contract.Token]:
        """Return every token that came, repeats included."""
        return [message for message in list(self.received) if isinstance(message, contract.Token)]

    def statuses(self) -> list[contract.Status]:
        return [message for message in list(self.received) if isinstance(message, contract.Status)]

    def replies(self) -> list[contract.Reply]:
        return [message for message in list(self.received) if isinstance(message, contract.Reply)]

    def until(self, happened: Callable[[], Any], timeout_s: float = 180) -> Any:
        """Wait until something holds of what was received."""
        until = time.monotonic() + timeout_s
        with self._news:
            while not (value := happened()):
                if not self._news.wait(until - time.monotonic()) and time.monotonic() >= until:
                    raise AssertionError(f"it did not happen within {timeout_s} s; received {self.received[-8:]}")
            return value

    def _on_connect(self, client: paho.Client, *_: Any) -> None:
        client.subscribe(f"templo/{self.temple}/+", qos=1)

    def _on_message(self, _client: Any, _data: Any, arrived: paho.MQTTMessage) -> None:
        _, leaf = contract.parse_topic(arrived.topic)
        if leaf in (contract.Ack.leaf, contract.Command.leaf):
            return
        message = contract.decode(leaf, bytes(arrived.payload))
        with self._news:
            self.received.append(message)
            if isinstance(message, contract.Token):
                self._keep(message)
            self._news.notify_all()

    def _keep(self, token: contract.Token) -> None:
        kept = self.kept.setdefault((token.source, token.seq), token)
        if kept.token != token.token:
            self.clashes.append(token)
        # The highest contiguous number is what may be acknowledged; tokens come in order, so it is found by walking.
        if self.acknowledges:
            seq = token.seq
            while (token.source, seq + 1) in self.kept:
                seq += 1
            if all((token.source, each) in self.kept for each in range(max(1, seq - 40), seq)):
                self.say(contract.Ack(token.source, seq))
