"""The network through root's helper behind a socket: the companion can read its state and have one Wi-Fi joined.

A request is one line of JSON, and so is the reply. The helper accepts no other request.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from companion.adapters.network.network_manager import NetworkError, look
from companion.model.network import Network

SOCKET = Path("/run/templo-network.sock")
ISSUE = Path("/run/issue.d/templo-mayor.issue")
"""What a screen at the machine shows above its login, there only while the hotspot is open."""

PATIENCE_S = 30.0
MOST = 65_536
"""Bytes of a request or an answer."""


class Request(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked: to join a Wi-Fi, or with no name to look alone."""

    join: str = ""
    password: str = ""


class Answer(msgspec.Struct):
    """How the network is; `error` says why nothing was done."""

    network: Network
    error: str = ""


class NetworkHelper:
    """The helper behind a socket; without one, what this user may see."""

    def __init__(self, path: Path = SOCKET, alone: Callable[[], Network] = look, issue: Path = ISSUE) -> None:
        self._path = path
        self._issue = issue
        self._alone = alone

    def look(self) -> Network:
        """Return how the network is now."""
        try:
            return self._answer_to(Request()).network
        except NetworkError:
            return self._alone()

    def hotspot_is_open(self) -> bool:
        """Return whether this machine's own Wi-Fi was open when the helper looked last; it asks nobody."""
        with suppress(OSError):
            return self._issue.exists()
        return False

    def join(self, name: str, password: str) -> Network:
        """Begin to join a Wi-Fi, and return before that is done; raises `NetworkError`."""
        answer = self._answer_to(Request(name, password))
        if answer.error:
            raise NetworkError(answer.error)
        return answer.network

    def _answer_to(self, request: Request) -> Answer:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(PATIENCE_S)
                connection.connect(str(self._path))
                connection.sendall(msgspec.json.encode(request) + b"\n")
                with connection.makefile("rb") as file:
                    return msgspec.json.decode(file.readline(MOST), type=Answer)
        except (OSError, msgspec.DecodeError) as error:
            raise NetworkError(f"the helper at {self._path} does not answer: {error}") from None
