"""Runs the Pico's files under CPython: `pico_cpython.py FOLDER`, with what to do in FOLDER/job.json."""

import json
import os
import select
import socket
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "standins"), str(HERE.parent / "micropython"), str(HERE)]

import rp2  # noqa: E402
from pico_run import Pico  # noqa: E402


def dial(host, port):
    one = socket.create_connection((host, port))
    one.setblocking(False)
    return one


_lines = []


def next_words():
    """Return the lines that the starting program sends, one at a time."""
    if select.select([0], [], [], 0)[0]:
        _lines.extend(os.read(0, 4096).decode().split("\n"))
    return _lines.pop(0) if _lines else ""


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    job = json.loads((folder / "job.json").read_text())
    for number, tape in enumerate(job.get("tapes", [])):
        rp2.tapes[1 << number] = tape
    epoch_ms = int(time.time() * 1000)
    pico = Pico(job["settings"], str(folder / "ledger"), os.urandom, dial, time.monotonic, epoch_ms, next_words)
    for ahead_s in pico.play(job["story"], job["speed"], job["patience_s"]):
        if ahead_s > 0.001:
            time.sleep(ahead_s)
    print(json.dumps(pico.result))
