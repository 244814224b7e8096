"""The two ways to control a running club: a socket in its folder, and its terminal.

Both are read without waiting, because only the main thread may start programs: the kernel ends each of them with the
thread that started it.
"""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from companion.cli.club.running import CommandError

Obey = Callable[[Sequence[str]], list[str]]
"""Carries out a command's words, and returns the lines to print; raises `CommandError`."""

_LONGEST_PATH = 107
_LONGEST_LINE = 4096
_REQUEST_S = 2.0
"""A client on this machine sends its one line at once."""

_ANSWER_S = 900.0
"""Parts that start may take their time."""


class Control:
    """The socket by which ``make club ARGS="stop worker-2"`` reaches a club; it is open to its owner alone."""

    def __init__(self, folder: Path) -> None:
        """Listen; raises `CommandError` if the folder's path is too long for a socket."""
        path = _path(folder)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(0o177)
        try:
            self._socket.bind(os.fspath(path))
        finally:
            os.umask(mask)
        self._socket.listen(8)
        self._socket.setblocking(False)

    def fileno(self) -> int:
        """Return its descriptor, for `select`."""
        return self._socket.fileno()

    def serve(self, obey: Obey) -> None:
        """Answer one client, if there is any."""
        try:
            client, _ = self._socket.accept()
        except BlockingIOError:
            return
        with client:
            client.settimeout(_REQUEST_S)
            try:
                with client.makefile("rb") as lines:
                    line = lines.readline(_LONGEST_LINE)
            except OSError:  # it has disconnected, or sends nothing
                return
            answer = self._answered(line, obey)
            with suppress(OSError):  # a client that has disconnected needs no answer
                client.sendall(json.dumps(answer).encode() + b"\n")

    def close(self) -> None:
        """Close the socket; its file stays in the folder."""
        self._socket.close()

    def _answered(self, line: bytes, obey: Obey) -> dict[str, object]:
        try:
            command = json.loads(line)
            if not (isinstance(command, list) and all(isinstance(word, str) for word in command)):
                raise ValueError
        except (ValueError, RecursionError):
            return {"ok": False, "lines": ["expected a list of words, as JSON"]}
        try:
            return {"ok": True, "lines": obey(command)}
        except CommandError as error:
            return {"ok": False, "lines": str(error).splitlines()}


def send(folder: Path, command: Sequence[str]) -> tuple[bool, list[str]]:
    """Send a command to the club of a folder; return whether it was carried out, and the lines to print.

    Raises `CommandError` if no club runs there, or if it does not answer.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_ANSWER_S)
        try:
            connection.connect(os.fspath(_path(folder)))
            with connection.makefile("rwb") as lines:
                lines.write(json.dumps(list(command)).encode() + b"\n")
                lines.flush()
                answer = json.loads(lines.readline())
        except TimeoutError:
            raise CommandError(
                f"The club in {folder} has not answered for {_ANSWER_S:.0f} seconds. It may still carry the command "
                "out: make club ARGS=status says what runs."
            ) from None
        except (OSError, ValueError):
            raise CommandError(f"No club runs in {folder}: 'make club' starts one.") from None
    return bool(answer["ok"]), [str(line) for line in answer["lines"]]


class Lines:
    """What a person types into the terminal, line by line."""

    def __init__(self, source: int) -> None:
        """Read from a descriptor."""
        self._source = source
        self._pending = b""
        self.ended = False

    def fileno(self) -> int:
        """Return its descriptor, for `select`."""
        return self._source

    def read(self) -> list[str]:
        """Return the lines that were finished since the last call."""
        if self.ended or not select.select([self._source], [], [], 0)[0]:
            return []
        try:
            data = os.read(self._source, _LONGEST_LINE)
        except OSError:  # the terminal is gone
            data = b""
        self.ended = not data
        *finished, self._pending = (self._pending + data).split(b"\n")
        return [line.decode("utf-8", "replace") for line in finished]


def _path(folder: Path) -> Path:
    path = folder / "control.sock"
    if (length := len(os.fsencode(path))) > _LONGEST_PATH:
        raise CommandError(
            f"folder is {str(folder)!r}, which makes a socket's path of {length} bytes; expected at most "
            f"{_LONGEST_PATH}: choose a shorter one with --folder"
        )
    return path
