"""A newer release that apt knows is noted when it has read its sources, and the note goes when it is installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from companion.adapters import known_update
from tests.controller.program import ROOT

SCRIPT = ROOT / "debian" / "libexec" / "known-update"


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(known_update, "FILE", tmp_path / "update")
    return tmp_path / "update"


def updated(folder: Path, candidate: str, installed: str) -> str:
    """Run the script with an apt and a dpkg that know these versions; returns what the companion reads."""
    policy = f"templo-mayor:\n  Installed: {installed}\n  Candidate: {candidate}\n"
    for name, says in {"apt-cache": policy, "dpkg-query": installed}.items():
        (folder / name).write_text(f"#!/bin/sh\ncat <<'END'\n{says}\nEND\n")
        (folder / name).chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "STATE_DIRECTORY": str(folder)}
    subprocess.run([SCRIPT], env=environment, check=True, timeout=60)
    return known_update.read()


def test_a_newer_release_is_noted_until_it_is_installed(note: Path) -> None:
    assert updated(note.parent, "1.0.1", "1.0.0") == "1.0.1"
    assert updated(note.parent, "1.0.1", "1.0.1") == ""
    assert not note.exists()


@pytest.mark.parametrize("candidate", ["1.0.0", "1.0.0~git20261128.abc", "(none)", ""])
def test_what_is_not_newer_is_not_noted(candidate: str, note: Path) -> None:
    assert updated(note.parent, candidate, "1.0.0") == ""


@pytest.mark.parametrize("content", [b"\xff", b"<b>1</b>", b"two words", b"", b"1" * 100])
def test_what_is_no_version_is_not_shown(content: bytes, note: Path) -> None:
    note.write_bytes(content)
    assert known_update.read() == ""
