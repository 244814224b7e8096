"""An installation's broker: what `broker-access` made in a folder of its own, and our drop-in for a test."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.controller.program import ROOT

PROGRAM = ROOT / "systemd" / "broker-access"
TEMPLE = "templo"
"""The temple of the machine itself."""


@dataclass
class Installation:
    """What `broker-access` made in a folder of its own."""

    folder: Path

    @property
    def broker(self) -> Path:
        return self.folder / "broker"

    @property
    def access(self) -> Path:
        return self.folder / "access"

    @property
    def listeners(self) -> Path:
        return self.folder / "templo-clubs.conf"

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        folders = ["--broker", str(self.broker), "--access", str(self.access), "--listeners", str(self.listeners)]
        command = [sys.executable, str(PROGRAM), *folders, "--owner", "root", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def password(self, user: str) -> str:
        club, _, plain = user.rpartition(".")
        name = "controller" if user == f"temple-{TEMPLE}" else f"clubs/{club}/{plain}" if club else user
        found = re.search(r"^TEMPLO_BROKER_PASSWORD=(.+)$", (self.access / f"{name}.env").read_text(), re.MULTILINE)
        assert found
        return found[1]

    def config(self) -> str:
        """Return our drop-in as a test's broker can read it: its port, folders and user are the test's."""
        text = (ROOT / "systemd" / "mosquitto" / "templo.conf").read_text()
        assert "listener 1883\n" in text
        text = text.replace("listener 1883\n", "").replace("/etc/mosquitto/templo", str(self.broker))
        return text + f"persistence_location {self.folder}/\n"
