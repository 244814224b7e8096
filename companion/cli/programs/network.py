"""Reads from this machine's own tables which ports are free and which program uses one. It sends no packet."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Collection
from itertools import chain
from pathlib import Path

PROC = Path("/proc")

_LISTENING = "0A"


def free(port: int, host: str = "0.0.0.0") -> bool:  # noqa: S104 - the phones come in on every interface
    """Return whether a server could listen on a TCP port now; raises `PermissionError` if only root may."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # The servers set it too: a port counts as free although its last connection is still in TIME_WAIT.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except PermissionError:
            raise
        except OSError:
            return False
    return True


def any_free_port() -> int:
    """Return a port that was free on loopback a moment ago."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def next_free(port: int, but: Collection[int] = ()) -> int:
    """Return the first free port above this one that is not in `but`; after the last, continue at 1024."""
    return next(n for n in chain(range(port + 1, 65536), range(1024, port)) if n not in but and free(n))


def holder(port: int) -> str | None:
    """Return the program that listens on a TCP port ("mosquitto, process 712"), or None if it is not visible."""
    sockets = {f"socket:[{inode}]" for inode in _listeners(port)}
    if not sockets:
        return None
    for process in PROC.glob("[0-9]*"):
        # Processes of other users do not show their sockets, and any process may end meanwhile.
        with contextlib.suppress(OSError):
            for handle in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    if str(handle.readlink()) in sockets:
                        return f"{(process / 'comm').read_text().strip()}, process {process.name}"
    return None


def trouble(port: int, host: str = "0.0.0.0") -> str:  # noqa: S104 - as above
    """Return why no server can listen on a TCP port and that another is to be chosen; empty if one can."""
    try:
        if free(port, host):
            return ""
    except PermissionError:
        return "may be used by root alone: choose"
    return f"is taken ({holder(port) or 'by a program of another user'}): end that program, or choose"


def _listeners(port: int) -> list[str]:
    """Return the inodes of the sockets that listen on a port."""
    inodes = []
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for row in (PROC / "net" / table).read_text().splitlines()[1:]:
                fields = row.split()
                if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    inodes.append(fields[9])
    return inodes
