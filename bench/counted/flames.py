"""Draws where a program's time goes: ``python -m bench.counted.flames`` writes flame graphs into ``build/flames``.

py-spy looks 200 times a second at what the real companion computes: at a start until its first page, at tokens with
four phones, and in a minute at rest. It needs root where the kernel lets a program look only at its children.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.club.temples import Temples
from bench.counted.companion import PATIENCE_S, ask, drop
from bench.tools import daemons
from bench.tools.programs import ROOT, BenchError, Programs, Running
from bench.tools.readers import Readers

FLAMES = ROOT / "build" / "flames"
RATE = 200
TOKENS, PHONES = 200, 4
REST_S = 60


def main() -> int:
    """Draw all graphs; returns 2 where one could not be drawn."""
    FLAMES.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix="flames-") as folder, Programs(Path(folder)) as programs:
            port = programs.mosquitto()
            _start(programs, port)
            companion = daemons.start_companion(programs, port)
            ask(programs, companion, companion.table)
            with (
                Temples(port, [daemons.TEMPLE]) as temples,
                Readers([(companion.port, companion.table)], PHONES) as phones,
            ):
                phones.wait_for_first(PATIENCE_S)
                with _watched(companion.running, "companion-tokens", RATE):
                    for _ in range(TOKENS):
                        drop(programs, temples, phones, PHONES)
            with _watched(companion.running, "companion-at-rest", RATE):
                time.sleep(REST_S)
    except BenchError as error:
        print(f"flames: {error}", file=sys.stderr)
        return 2
    return 0


def _start(programs: Programs, port: int) -> None:
    """Start a companion twice, and draw the later start."""
    for before in ((), _spy("companion-start", RATE)):
        with Programs(programs.folder, programs.tree, before, patience=10) as watched:
            companion = daemons.start_companion(watched, port)
            ask(watched, companion, companion.table)
            if before:  # py-spy writes its graph when the program has ended
                pid = companion.running.pid
                os.kill(int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]), signal.SIGTERM)
                companion.running.process.wait(PATIENCE_S)


@contextmanager
def _watched(running: Running, name: str, rate: int) -> Iterator[None]:
    """Draw what a program does meanwhile."""
    with subprocess.Popen([*_spy(name, rate)[:-1], "--pid", str(running.pid)], stdout=subprocess.DEVNULL) as spy:
        yield
        spy.send_signal(signal.SIGINT)


def _spy(name: str, rate: int) -> list[str]:
    program = Path(sys.executable).with_name("py-spy")
    if not program.exists():
        raise BenchError(f"{program} is missing; expected the extra [dev] of this project")
    return [str(program), "record", "--gil", "--rate", str(rate), "--output", str(FLAMES / f"{name}.svg"), "--"]


if __name__ == "__main__":
    sys.exit(main())
