"""Keys at a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

from tests.controller.program import command, environment
from tests.waiting import eventually


def test_keys_typed_before_the_temple_is_ready_are_kept(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"tt")
    words = ("run", "--simulate", "--keys", "--state", str(tmp_path), "--broker", "127.0.0.1:1")
    log = tmp_path / "log"
    with (
        log.open("w") as file,
        subprocess.Popen(
            command(*words),
            stdout=file,
            stderr=file,
            env=environment(),
            preexec_fn=lambda: _sit_down(theirs, file.fileno()),
        ) as running,
    ):
        try:
            eventually(lambda: "token 2 is recorded for tlaloc" in log.read_text() or running.poll() is not None)
            assert running.poll() is None, log.read_text()
        finally:
            running.kill()
            os.close(ours)
            os.close(theirs)


def _sit_down(terminal: int, output: int) -> None:
    """Begin a session at a terminal, whose output goes elsewhere."""
    os.login_tty(terminal)
    os.dup2(output, 1)
    os.dup2(output, 2)
