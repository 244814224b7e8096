"""Runs an unmodified gpiozero program with mock pins whose levels a Unix socket sets, to measure from the beam on.

``python bench/tools/beam.py SOCKET MODULE ARGUMENT...`` runs MODULE as ``python -m`` would. Every program that is
measured gets its edges through this one file, from a thread of its own as lgpio's come, so that none has a shorter
way than another. It is also run by other environments than the project's: standard library and gpiozero only.
"""

from __future__ import annotations

import runpy
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

ORDER = struct.Struct("=BBIII")
"""Two pins (the same twice for one), how often, nanoseconds dark, nanoseconds clear after it."""

ANSWER = struct.Struct("=QQQQ")
"""CLOCK_MONOTONIC in nanoseconds: just before the first beam went dark and clear, and the last."""


def _until(moment_ns: int) -> None:
    # No busy waiting: a spinning thread would hold the interpreter lock that the measured program needs.
    if (left := moment_ns - time.monotonic_ns()) > 0:
        time.sleep(left / 1e9)


def _spell(pin: Any, dark_ns: int) -> tuple[int, int]:
    """Break one beam for that time; its receiver reads low meanwhile."""
    darkened = time.monotonic_ns()
    pin.drive_low()
    # The pin takes its stamp within the call, however late this thread gets to it: no spell is ever too short.
    _until(time.monotonic_ns() + dark_ns)
    cleared = time.monotonic_ns()
    pin.drive_high()
    return darkened, cleared


def _serve(path: str, factories: list[Any]) -> None:
    door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    door.bind(path)
    while True:
        order, sender = door.recvfrom(ORDER.size)
        one, other, times, dark_ns, clear_ns = ORDER.unpack(order)
        pins = [factories[-1].pin(number) for number in dict.fromkeys((one, other))]
        stamps = []
        for n in range(times):
            stamps.append(_spell(pins[n % len(pins)], dark_ns))
            if n + 1 < times:
                _until(time.monotonic_ns() + clear_ns)
        door.sendto(ANSWER.pack(*stamps[0], *stamps[-1]), sender)


def main() -> None:
    """Give the program its pins, open the socket and become the program."""
    from gpiozero.pins import mock

    factories: list[Any] = []

    class KeptFactory(mock.MockFactory):  # type: ignore[misc]  # gpiozero has no types
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            factories.append(self)

    mock.MockFactory = KeptFactory
    path, module, *arguments = sys.argv[1:]
    # For a program that is run as a file, Python puts the file's folder first in the path, not the program's.
    sys.path[0] = str(Path.cwd())
    Path(path).unlink(missing_ok=True)
    threading.Thread(target=_serve, args=(path, factories), daemon=True).start()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
