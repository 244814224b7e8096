"""The listening socket that systemd passes to a companion which it starts when somebody connects."""

from __future__ import annotations

import os
import socket

_FIRST = 3
"""The descriptor of the first socket that systemd passes: see sd_listen_fds(3)."""


def passed_socket() -> socket.socket | None:
    """Return a copy of the socket that systemd has opened for this process, or None if it has opened none.

    The socket itself stays open, so that the next server of the same process can listen on it, too.
    """
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or os.environ.get("LISTEN_FDS", "0") == "0":
        return None
    os.set_inheritable(_FIRST, False)
    return socket.socket(fileno=os.dup(_FIRST))
