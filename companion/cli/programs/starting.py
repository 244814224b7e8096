"""Starts programs one after another: waits until each is ready, and reports the end of its log if it is not."""

from __future__ import annotations

import fcntl
import http.client
import json
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from companion.cli.programs.broker import HOST
from companion.cli.programs.children import Child, Program, Signals

PATIENCE = 60.0
"""Seconds until a program must be ready: a Pi 3 with a slow card needs a dozen to import everything."""

_SETTINGS_FILES = ("TEMPLO_CONTROLLER_CONFIG", "TEMPLO_COMPANION_CONFIG")

GAMES = "TEMPLO_GAMES"
"""The setting with the folders of further games."""


class LaunchError(Exception):
    """What prevents a start, in a sentence that says what to do."""


class Stopped(Exception):
    """Somebody ended the launch while programs were still starting."""


def hold(path: Path, taken: str) -> IO[str]:
    """Lock a folder until the returned file is closed.

    The previous holder may remove the lock file just after it was opened here; then a new one is made. Raises
    `LaunchError` of `taken` if another holds it, `OSError` if it cannot be written.
    """
    while True:
        lock = path.open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock.fileno()), path.stat()):
                return lock
        except BlockingIOError:
            lock.close()
            raise LaunchError(taken) from None
        except FileNotFoundError:
            pass
        lock.close()


def started(program: Program, signals: Signals) -> Child:
    """Start a program; raises `Stopped` if the launch has been ended."""
    if signals.end_requested:
        raise Stopped
    return Child(program)


def wait_until(
    child: Child,
    answers: Callable[[], object],
    signals: Signals,
    check: Callable[[], None],
    patience_s: float = PATIENCE,
) -> None:
    """Wait until a program is ready; `check` is called meanwhile, and raises if it has failed.

    Raises what `check` raises, `Stopped`, or `LaunchError` if it takes longer than `patience_s`.
    """
    deadline = time.monotonic() + patience_s
    while not answers():
        if signals.wait(0.05):
            raise Stopped
        check()
        if time.monotonic() > deadline:
            raise LaunchError(with_log(child, f"did not answer within {patience_s:.0f} seconds"))


def without_settings() -> dict[str, str]:
    """Return this process's environment without the settings that are meant for a real temple.

    The folders of further games remain: they are to be played with a simulated temple too.
    """
    kept = (name for name in os.environ if name == GAMES or not name.startswith("TEMPLO_"))
    return {name: os.environ[name] for name in kept} | dict.fromkeys(_SETTINGS_FILES, os.devnull)


def listens(port: int) -> bool:
    """Return whether a port of loopback accepts connections."""
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


def is_instance(port: int, instance: str) -> bool:
    """Return whether a port of loopback belongs to the companion that was started with this id."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        answer = json.loads(connection.getresponse().read(4096))
    except (OSError, http.client.HTTPException, ValueError):
        return False
    finally:
        connection.close()
    return isinstance(answer, dict) and answer.get("instance") == instance


def with_log(child: Child, what: str) -> str:
    """Return a message about a program, with the last lines of its log."""
    return "\n".join(
        [
            f"The {child.program.name} {what}. The last lines of its log were:",
            *(f"  {line}" for line in child.last_lines() or ["(nothing)"]),
        ]
    )


def reason(status: int) -> str:
    """Return in words how a program ended, from its exit status.

    >>> reason(3), reason(-9)
    ('exit code 3', 'signal SIGKILL')
    """
    return f"exit code {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"
