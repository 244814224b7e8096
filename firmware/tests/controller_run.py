"""Runs the unmodified controller on an accelerated clock: `controller_run.py HOW SPEED JOB ARGUMENTS...`

HOW is `simulated`, `serial` or `lgpio`. The last plays JOB's story through lgpio's own thread and its own pipe: only
the calls of its C library that need a chip are answered here. What the story does to the broker is done to the link,
and a restart restarts the daemon. It prints `over` at the end of the story.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

how, speed, job = sys.argv[1], float(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text())
_begun_ns = time.monotonic_ns()
_real_ns = time.monotonic_ns
_real_wait = threading.Condition.wait


class _Gate:
    """Holds the hurried clock back until what is due has been seen.

    Whoever plays the story waits for the machine like everyone else. On a clock that runs on meanwhile, an edge would
    come later than any real one, and a glitch of 2 ms would last long enough for a jam.
    """

    slack_ns = 50_000_000
    """How much later than it happened an edge may be seen: less than the counting waits before it calls a jam."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stood_ns = 0
        self._due_ns: int | None = None

    def now_ns(self) -> int:
        with self._lock:
            now_ns = _begun_ns + round((_real_ns() - _begun_ns) * speed) - self._stood_ns
            if self._due_ns is not None and now_ns > self._due_ns + self.slack_ns:
                self._stood_ns += now_ns - self._due_ns - self.slack_ns
                now_ns = self._due_ns + self.slack_ns
            return now_ns

    def hold(self, due_ns: int | None) -> None:
        """Keep the clock from passing this time until the next call."""
        self.now_ns()  # the standstill up to now is accounted for
        with self._lock:
            self._due_ns = due_ns


_gate = _Gate()
_fast_ns = _gate.now_ns


def _fast_wait(self: threading.Condition, timeout: float | None = None) -> bool:
    return _real_wait(self, None if timeout is None else timeout / speed)


time.monotonic_ns = _fast_ns
threading.Condition.wait = _fast_wait  # type: ignore[method-assign]

from controller.adapters import gpio as beams  # noqa: E402 (the clock comes first)
from controller.adapters import header  # noqa: E402
from controller.app import daemon  # noqa: E402 (the clock comes first)
from controller.app.command_line import main  # noqa: E402

LINES = {"h": 17, "t": 27}
_now: list[Any] = []
_away = threading.Event()


class _Chip:
    """A Pi 5's chip behind the calls of the C library: its lines have levels, and edges of those that are claimed.

    It may be asleep, as a real one is whose lines were claimed too soon: levels change and no edge comes, until one
    line more is claimed, whichever.
    """

    def __init__(self) -> None:
        self.levels = {17: 1, 27: 1}
        self.asleep = False
        self._watched: set[int] = set()

    def answer(self) -> None:
        """Take the place of the calls that need a chip."""
        import lgpio

        answers = {
            "_gpiochip_open": lambda number: number,
            "_gpiochip_close": lambda handle: 0,
            "_gpio_get_chip_info": lambda handle: [0, 54, "gpiochip", "pinctrl-rp1"],
            "_gpio_get_mode": lambda handle, gpio: 0,
            "_gpio_free": lambda handle, gpio: self._let_go(gpio),
            "_gpio_read": lambda handle, gpio: self.levels.get(gpio, 1),
            "_gpio_set_debounce_micros": lambda handle, gpio, micros: 0,
            "_gpio_claim_input": lambda handle, flags, gpio: self._claim(gpio, False),
            "_gpio_claim_alert": lambda handle, flags, edges, gpio, notify: self._claim(gpio, True),
        }
        for name, answer in answers.items():
            setattr(lgpio._lgpio, name, answer)

    def move(self, line: int, level: int) -> bool:
        """Change a level; say whether an edge comes of it."""
        changed, self.levels[line] = self.levels[line] != level, level
        return changed and line in self._watched

    def _claim(self, line: int, watched: bool) -> int:
        self._let_go(line)
        if watched:
            self._watched.add(line)
        self.asleep = False
        return 0

    def _let_go(self, line: int) -> int:
        self._watched.discard(line)
        return 0


_chip = _Chip()


def _edges_seen() -> int:
    """Return how many edges lgpio's thread has given to the daemon that runs now."""
    beams_now = getattr(_now[0], "_beams", None)  # a daemon that is starting has none yet
    return 0 if beams_now is None else sum(device.edges for device in list(beams_now._devices.values()))


def _play() -> None:
    """Play the story: each line at its time, an edge as the kernel stamps it."""
    (pipe,) = Path(os.environ["LG_WD"]).glob(".lgd-nfy*") if how == "lgpio" else (None,)
    begun_ns = _fast_ns() + 300_000_000
    _chip.asleep = True
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(pipe.open("wb", buffering=0)) if pipe is not None else None
        for at_us, words in job["story"]:
            at_ns = begun_ns + at_us * 1000
            if how == "lgpio":
                _gate.hold(at_ns)
            while (ahead := at_ns - _fast_ns()) > 0:
                time.sleep(min(0.1, ahead / 1e9 / speed))
            kind, *rest = words.split()
            if kind in LINES and file is not None:
                line, level, edge_seen = LINES[kind], int(rest[0]), rest[1:] != ["unheard"]
                if rest[1:] == ["asleep"]:
                    edge_seen = not _chip.asleep
                if _chip.move(line, level) and edge_seen:
                    before = _edges_seen()
                    file.write(struct.pack("QBBBBI", at_ns, 4, line, level, 0, 0))
                    until_ns = _real_ns() + 1_000_000_000
                    while _edges_seen() == before and _real_ns() < until_ns:
                        time.sleep(0.001)
            elif kind == "B":
                for one in _now:
                    one.cut(rest[0] == "1")
            elif kind == "P" and how == "lgpio":
                _gate.hold(None)
                os.kill(os.getpid(), signal.SIGTERM)
                _away.wait(30)
                _away.clear()
    _gate.hold(None)
    print("over", flush=True)


def _begin() -> None:
    while not _now or not _now[0]._link.connection.protocol:
        time.sleep(0.01)
    _play()


class _Known(daemon._Daemon):
    """A daemon that the story can reach."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        _now[:] = [self]


class _Late(daemon.ScriptPlayer):
    """A stage whose scenario begins when the daemon has had the time to start."""

    def start(self) -> None:
        self._start_ns = self._now() + round(2e9 * speed)
        self.beams.play(self._timeline, self._start_ns)
        self._thread.start()


if __name__ == "__main__":
    daemon.ScriptPlayer = _Late  # type: ignore[misc]
    daemon._Daemon = _Known  # type: ignore[misc]
    if how == "lgpio":
        header.chip_numbers = lambda: [4]
        state = Path(sys.argv[sys.argv.index("--state") + 1])
        beams._import_lgpio(state / "lgpio")
        _chip.answer()
        import gpiozero.pins.local

        gpiozero.pins.local.get_pi_revision = lambda: 0xC04170
        for at_us, words in job["story"]:
            if at_us == 0 and words[0] in LINES:
                _chip.levels[LINES[words[0]]] = int(words[2])
    if how != "simulated":
        threading.Thread(target=_begin, daemon=True).start()
    # A restart of the story ends the daemon in good order; the beams and the story go on.
    ends = sum(words[0] == "P" for _, words in job["story"]) if how == "lgpio" else 0
    while (code := main(sys.argv[4:])) == 0 and ends:
        ends -= 1
        _away.set()
    sys.exit(code)
