"""A machine whose pages are served over TLS: its files, and haproxy with our configuration before a companion."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from companion.appliance.tls import Tls
from companion.cli.programs.network import any_free_port
from tests.controller.program import ROOT

HOSTS = ("localhost", "raspberrypi", "raspberrypi.local", "raspberrypi.fritz.box", "127.0.0.1", "192.168.1.7")
PATIENCE_S = 120.0


@dataclass
class Machine:
    """A machine's folder for TLS, its names and addresses, and what systemd was asked."""

    folder: Path
    hosts: list[str] = field(default_factory=lambda: list(HOSTS))
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def systemd(self, *words: str) -> str:
        self.asked.append(words)
        return "active" if words[0] == "is-active" else ""

    @property
    def tls(self) -> Tls:
        return Tls(self.folder, lambda: self.hosts, self.systemd, self.packaged)

    @property
    def packaged(self) -> Path:
        """The settings of haproxy's own unit, which are not there at first."""
        return self.folder.with_name("haproxy.cfg")

    def trusting(self) -> ssl.SSLContext:
        """Return a client that trusts this machine's authority."""
        return ssl.create_default_context(cafile=str(self.folder / "authority.pem"))


@contextmanager
def haproxy(machine: Machine, companion: int) -> Iterator[int]:
    """Serve a companion's port over TLS as the unit does; yields the port."""
    program = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "tests/system-packages installs haproxy"
    port = any_free_port()
    config = ROOT / "systemd" / "haproxy" / "templo-tls.cfg"
    environment = {
        "CREDENTIALS_DIRECTORY": str(machine.folder),
        "TLS_ADDRESS": f"127.0.0.1:{port}",
        "COMPANION_ADDRESS": f"127.0.0.1:{companion}",
    }
    running = subprocess.Popen(
        [program, "-db", "-f", str(config)], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            assert running.poll() is None, running.stderr.read() if running.stderr else ""
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port
    finally:
        running.terminate()
        running.communicate(timeout=PATIENCE_S)
