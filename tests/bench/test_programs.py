"""Programs that a benchmark started end with it, and so does what they started themselves."""

from __future__ import annotations

import os
from pathlib import Path

from bench.tools.programs import Programs, wait_until

STARTS_ANOTHER = "import subprocess as s; print('child', s.Popen(['sleep', '600']).pid, flush=True); s.os.wait()"


def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    with Programs(tmp_path) as programs:
        running = programs.python("parent", "-c", STARTS_ANOTHER)
        child = int(running.wait_for("child"))
        assert lives(child)
    wait_until(lambda: not lives(child), 10, "the child's end")


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"
