"""Runs one of our programs, and on SIGUSR1 lets one of its stages freeze, fail, or end silently.

The fault happens where the stage's thread reports progress, so the programs need not know of it.
"""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from typing import Any

from templo.liveness import Pulse

FREEZE, FAIL, VANISH = "freeze", "fail", "vanish"

FROZEN = "sabotage: frozen"
"""What the program's log says as soon as its stage is frozen."""


def main() -> int:
    stage, how, when, program, *words = sys.argv[1:]
    struck = threading.Event()
    if when == "at-once":
        struck.set()
    signal.signal(signal.SIGUSR1, lambda *_: struck.set())
    beat = Pulse.beat

    def sabotaged(self: Any, name: str, within_s: float) -> None:
        if name == stage and struck.is_set():
            if how == FREEZE:
                print(FROZEN, file=sys.stderr, flush=True)
                threading.Event().wait()
            struck.clear()  # it fails once; whoever cleans up after it does not
            raise RuntimeError("sabotage") if how == FAIL else SystemExit
        beat(self, name, within_s)

    Pulse.beat = sabotaged  # type: ignore[method-assign]
    code: int = importlib.import_module(f"{program}.__main__").main(words)
    return code


if __name__ == "__main__":
    sys.exit(main())
