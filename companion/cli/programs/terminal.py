"""What `launch` prints, and how it restores the terminal at the end."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from typing import TextIO

import segno

if sys.platform != "win32":
    import termios

_INK = "\033[38;5;16;48;5;231m"
"""Black on white, whatever the terminal's own colours are: some cameras cannot read inverted codes."""
_PLAIN = "\033[0m"
_HALVES = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}
_QUIET_ZONE = 2


class Terminal:
    """The output for a person. If the terminal is gone, lines are dropped and the program continues."""

    def __init__(self, out: TextIO, *, keys: bool, pictures: bool) -> None:
        self._out = out
        self.keys = keys
        self.pictures = pictures

    def write(self, *lines: str) -> None:
        """Write lines and flush them."""
        try:
            for line in lines:
                print(line, file=self._out)
            self._out.flush()
        except OSError:
            # Buffered output is written at the interpreter's exit at the latest, and must not fail there.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._out.fileno())
            os.close(nowhere)

    def code(self, text: str) -> list[str]:
        """Return a QR code in half blocks, or an empty string if it cannot be drawn or does not fit."""
        if not self.pictures:
            return []
        rows = [
            bytes(row)
            for row in segno.make(text, error="l", boost_error=False, micro=False).matrix_iter(border=_QUIET_ZONE)
        ]
        if len(rows[0]) > shutil.get_terminal_size().columns:
            return []
        rows.append(bytes(len(rows[0])))
        pairs = zip(rows[0::2], rows[1::2], strict=False)
        return [_INK + "".join(_HALVES[pair] for pair in zip(*two, strict=True)) + _PLAIN for two in pairs]


@contextlib.contextmanager
def restored_terminal(file: TextIO) -> Iterator[None]:
    """Restore the terminal's settings afterwards, whatever a program that shared it has changed."""
    try:
        handle = file.fileno()
        found = termios.tcgetattr(handle)
    except (OSError, ValueError, termios.error):  # there is no terminal, or it is gone
        yield
        return
    try:
        yield
    finally:
        # Setting a terminal from the background stops the process that does so, unless it ignores the signal.
        stopping = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(handle, termios.TCSANOW, found)
        signal.signal(signal.SIGTTOU, stopping)
