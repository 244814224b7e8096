"""The control socket of a running daemon, for the command line on the same machine, in the state directory.

Requests and replies are one JSON object a line. Only the socket's owner may open it, and the daemon behind it is the
one that holds the lock of the state directory.
"""

from __future__ import annotations

import json
import logging
import os
import select
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from templo import files
from templo.liveness import IDLE_S, REST_S, Beat, no_heartbeat

HasLeft: TypeAlias = Callable[[], bool]
"""Returns whether nobody waits for the result any more."""

Answerer: TypeAlias = Callable[[Mapping[str, object], HasLeft], Mapping[str, object]]
"""Carries a request out and returns its result; raises `ControlError`."""

_LONGEST_PATH = 107
_LONGEST_LINE = 65_536
_IDLE_S = 30.0
_VISITORS = 8

log = logging.getLogger(__name__)


class ControlError(Exception):
    """A request that was refused, or a socket that cannot be made; the message says why."""


class InUseError(Exception):
    """Another process holds the state directory."""


def socket_path(state: Path) -> Path:
    """Return where a state directory's socket is; raises `ControlError` if no socket can be."""
    path = state / "control.sock"
    if (length := len(os.fsencode(path))) > _LONGEST_PATH:
        raise ControlError(
            f"the state directory {state} makes a socket's path of {length} bytes; expected at most {_LONGEST_PATH}: "
            "choose a shorter one"
        )
    return path


def prepare(state: Path) -> None:
    """Make a state directory, private to its owner; raises `ControlError`."""
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ControlError(f"the state directory {state} cannot be made: {error.strerror}") from error


class StateLock:
    """The lock on a state directory: one process at a time writes there."""

    def __init__(self, state: Path) -> None:
        """Store the arguments."""
        self._state = state
        self._path = state / "controller.lock"
        self._descriptor: int | None = None

    def take(self) -> None:
        """Take the lock, if need be; raises `InUseError`, and `ControlError` if its file cannot be opened."""
        if self._descriptor is not None:
            return
        descriptor = self._opened()
        try:
            files.lock(descriptor)
        except files.HeldError as error:
            os.close(descriptor)
            holder = error.holder or "unknown"
            raise InUseError(f"another controller (process {holder}) already keeps {self._state}") from None
        self._descriptor = descriptor
        files.make_folder_private(self._state)

    def release(self) -> None:
        """Let others have it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _opened(self) -> int:
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, files.OWNER_ONLY)
        except OSError as error:
            with suppress(OSError):  # an existing lock file can be locked on a read-only disk, too
                return os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            raise ControlError(f"the lock {self._path} cannot be opened: {error.strerror}") from error


@contextmanager
def held(state: Path) -> Iterator[None]:
    """Hold a state directory; raises `InUseError`, and `ControlError` if it cannot be written."""
    lock = StateLock(state)
    lock.take()
    try:
        yield
    finally:
        lock.release()


class ControlServer:
    """Answers the socket's clients, each in a thread of its own, a handful at a time."""

    def __init__(self, path: Path, answer: Answerer, beat: Beat = no_heartbeat) -> None:
        """Bind the socket; the caller holds the state directory, so one left by a daemon that died is removed."""
        self._path = path
        self._beat = beat
        self._answer = answer
        self._visitors = threading.BoundedSemaphore(_VISITORS)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(0o177)
        try:
            path.unlink(missing_ok=True)
            self._socket.bind(os.fspath(path))
        except OSError as error:
            self._socket.close()
            raise ControlError(f"the socket {path} cannot be made: {error.strerror}") from error
        finally:
            os.umask(mask)
        self._socket.listen(_VISITORS)
        self._socket.settimeout(IDLE_S)
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="control", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def alive(self) -> bool:
        """Return whether the socket is still answered."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Take the socket away."""
        self._closing = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with suppress(OSError):  # on a disk that has become read-only the next daemon removes it
            self._path.unlink(missing_ok=True)

    def _run(self) -> None:
        while not self._closing:
            self._beat(REST_S)
            try:
                visitor, _ = self._socket.accept()
            except TimeoutError:
                continue
            except OSError as error:
                if self._closing:
                    return
                log.warning("a visitor to %s was lost: %s", self._path, error)
                continue
            while not self._visitors.acquire(timeout=IDLE_S):
                self._beat(REST_S)
            threading.Thread(target=self._serve, args=(visitor,), name="visitor", daemon=True).start()

    def _serve(self, visitor: socket.socket) -> None:
        try:
            with visitor, visitor.makefile("rwb") as lines:
                visitor.settimeout(_IDLE_S)
                while line := lines.readline(_LONGEST_LINE):
                    lines.write(json.dumps(self._reply(line, lambda: _has_left(visitor))).encode() + b"\n")
                    lines.flush()
        except OSError as error:
            log.debug("a visitor to %s left: %s", self._path, error)
        finally:
            self._visitors.release()

    def _reply(self, line: bytes, has_left: HasLeft) -> dict[str, object]:
        try:
            request = json.loads(line)
            if not isinstance(request, dict):
                raise ControlError(f"the request is {line[:80]!r}; expected a JSON object")
            return {"ok": True, "result": dict(self._answer(request, has_left))}
        except (ValueError, RecursionError):
            return {"ok": False, "error": f"the request is {line[:80]!r}; expected a JSON object"}
        except ControlError as error:
            return {"ok": False, "error": str(error)}


def _has_left(visitor: socket.socket) -> bool:
    """Return whether the other end of a connection is closed, without reading what else it may have sent."""
    readable, _, _ = select.select([visitor], [], [], 0)
    return bool(readable) and not visitor.recv(1, socket.MSG_PEEK)


def send_request(state: Path, request: Mapping[str, object], timeout_s: float) -> Mapping[str, object] | None:
    """Send a request to the daemon of a state directory; None if there is none. Raises `ControlError`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        try:
            connection.connect(os.fspath(socket_path(state)))
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
            return None
        except OSError as error:
            raise ControlError(f"the daemon behind {socket_path(state)} cannot be reached: {error}") from error
        try:
            with connection.makefile("rwb") as lines:
                lines.write(json.dumps(request).encode() + b"\n")
                lines.flush()
                answer = json.loads(lines.readline())
        except (OSError, ValueError) as error:
            raise ControlError(f"the daemon behind {socket_path(state)} did not answer ({error})") from error
    if not answer["ok"]:
        raise ControlError(str(answer["error"]))
    result = answer["result"]
    assert isinstance(result, dict)
    return result
