"""Draws where a program's time goes: ``python -m bench.counted.flames`` writes flame graphs into ``build/flames``.

py-spy looks 200 times a second at what the real companion computes: at a start until its first page, at tokens with
four phones, and in a minute at rest. It needs root where the kernel lets a program look only at its children. With a
git revision it draws that tree, into a folder of its name.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.club.temples import Temples
from bench.counted.companion import PATIENCE_S, ask, drop
from bench.tools import daemons, trees
from bench.tools.programs import ROOT, THIS_TREE, BenchError, Programs, Running
from bench.tools.readers import Readers

FLAMES = ROOT / "build" / "flames"
RATE = 200
TOKENS, PHONES = 200, 4
REST_S = 60
_TITLE = re.compile(r'(<text id="title"[^>]*>)[^<]*<')


def main(revisions: Sequence[str]) -> int:
    """Draw all graphs of this tree or of a revision; returns 2 where one could not be drawn."""
    drawn = FLAMES.joinpath(*revisions[:1])
    drawn.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix="flames-") as folder:
            tree = trees.of_revision(revisions[0], Path(folder) / "tree") if revisions else THIS_TREE
            with Programs(Path(folder) / "run", tree) as programs:
                _draw(programs, drawn)
            for file in drawn.glob("*.svg"):  # py-spy's title is its command line, with all paths
                title = f"\\g<1>{file.stem}, {tree.name}<"
                file.write_text(_TITLE.sub(title, file.read_text("utf-8")), "utf-8")
    except BenchError as error:
        print(f"flames: {error}", file=sys.stderr)
        return 2
    return 0


def _draw(programs: Programs, drawn: Path) -> None:
    port = programs.mosquitto()
    _start(programs, port, drawn / "companion-start.svg")
    companion = daemons.start_companion(programs, port)
    ask(programs, companion, companion.table)
    with (
        Temples(port, [daemons.TEMPLE]) as temples,
        Readers([(companion.port, companion.table)], PHONES) as phones,
    ):
        phones.wait_for_first(PATIENCE_S)
        with _watched(companion.running, drawn / "companion-tokens.svg"):
            for _ in range(TOKENS):
                drop(programs, temples, phones, PHONES)
    with _watched(companion.running, drawn / "companion-at-rest.svg"):
        time.sleep(REST_S)


def _start(programs: Programs, port: int, file: Path) -> None:
    """Start a companion twice, and draw the later start."""
    for before in ((), _spy(file)):
        with Programs(programs.folder, programs.tree, before, patience=10) as watched:
            companion = daemons.start_companion(watched, port)
            ask(watched, companion, companion.table)
            if before:  # py-spy writes its graph when the program has ended
                pid = companion.running.pid
                os.kill(int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]), signal.SIGTERM)
                companion.running.process.wait(PATIENCE_S)


@contextmanager
def _watched(running: Running, file: Path) -> Iterator[None]:
    """Draw what a program does meanwhile."""
    with subprocess.Popen([*_spy(file)[:-1], "--pid", str(running.pid)], stdout=subprocess.DEVNULL) as spy:
        yield
        spy.send_signal(signal.SIGINT)


def _spy(file: Path) -> list[str]:
    program = Path(sys.executable).with_name("py-spy")
    if not program.exists():
        raise BenchError(f"{program} is missing; expected the extra [dev] of this project")
    return [str(program), "record", "--gil", "--rate", str(RATE), "--output", str(file), "--"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
