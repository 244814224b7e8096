"""Reads keys from a terminal or a pipe and passes them on: they drop tokens, hold beams and pull plugs in a demo.

The terminal is always restored as it was.
"""

from __future__ import annotations

import atexit
import os
import select
import termios
import threading
import tty
from collections.abc import Callable
from typing import Protocol

from templo.contract import God

HELP = "keys: h t drop a token · H T hold a beam dark, or let go · p pull the broker's plug, or put it back · s status · ? help · q quit"  # noqa: E501 (one line on the screen)


class KeyHandler(Protocol):
    """What the keys do; each returns a line that describes it."""

    def drop(self, god: God) -> str:
        """Drop a token."""

    def hold(self, god: God) -> str:
        """Hold a beam dark, or release it."""

    def plug(self) -> str:
        """Pull the plug of the broker's connection, or put it back."""

    def status(self) -> str:
        """Return the temple's status."""

    def quit(self) -> str:
        """Stop the daemon."""


class Keyboard:
    """Reads keys in a thread of its own until the input ends."""

    def __init__(self, descriptor: int, handler: KeyHandler, report: Callable[[str], None]) -> None:
        """Store the arguments; `start` begins to read from the descriptor."""
        self._descriptor = descriptor
        self._report = report
        self._keys: dict[str, Callable[[], str]] = {
            "h": lambda: handler.drop(God.HUITZILOPOCHTLI),
            "t": lambda: handler.drop(God.TLALOC),
            "H": lambda: handler.hold(God.HUITZILOPOCHTLI),
            "T": lambda: handler.hold(God.TLALOC),
            "p": handler.plug,
            "s": handler.status,
            "q": handler.quit,
            "?": lambda: HELP,
        }
        self._saved: list[object] | None = None
        self._wake, self._waker = os.pipe()
        self._thread = threading.Thread(target=self._run, name="keys", daemon=True)

    def start(self) -> None:
        """Begin to read, unless the input is a terminal that somebody else is using."""
        if os.isatty(self._descriptor):
            if os.tcgetpgrp(self._descriptor) != os.getpgrp():
                self._report("keys: not read, this program runs in the background")
                return
            self._saved = termios.tcgetattr(self._descriptor)
            atexit.register(self._restore)
            tty.setcbreak(self._descriptor, termios.TCSANOW)  # keeps what was typed before
        self._report(HELP)
        self._thread.start()

    def stop(self) -> None:
        """Stop reading, and give the terminal back."""
        os.write(self._waker, b".")
        if self._thread.is_alive():
            self._thread.join()
        self._restore()

    def _restore(self) -> None:
        saved, self._saved = self._saved, None
        if saved is not None:
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, saved)  # type: ignore[arg-type]

    def _run(self) -> None:
        while True:
            ready, _, _ = select.select([self._descriptor, self._wake], [], [])
            if self._wake in ready:
                return
            try:
                typed = os.read(self._descriptor, 256)
            except OSError:
                return
            if not typed:
                return
            for key in typed.decode("utf-8", "replace"):
                if not key.isspace():
                    self._report(self._keys[key]() if key in self._keys else f"{key!r} does nothing; {HELP}")
