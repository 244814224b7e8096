"""The emulated board's sockets, as sockets of this machine."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable

_AGAIN, _NO_WAY = -11, -113
_CONNECT = b"\x00\x04MQTT\x04"
_1900 = 2_208_988_800


class Wires:
    """The board's sockets, as sockets of this machine; a time server answers on port 123."""

    def __init__(self, utc_s: Callable[[], float]) -> None:
        self._utc_s = utc_s
        self._open: dict[int, socket.socket | None] = {}
        self._answers: dict[int, bytes] = {}
        self._last = 0
        self.cut = False

    def pull(self) -> None:
        """End every connection as a failing network does."""
        for one in self._open.values():
            if one is not None:
                one.close()
        self._open.clear()

    def connect(self, host: str, port: int) -> int:
        """Return a connection's number."""
        if self.cut:
            return _NO_WAY
        one = None
        if port != 123:
            try:
                one = socket.create_connection((host, port), timeout=10)
            except OSError:
                return _NO_WAY
            one.setblocking(False)
        self._last += 1
        self._open[self._last] = one
        return self._last

    def send(self, number: int, data: bytes) -> int:
        """Return how many bytes were taken."""
        if number not in self._open:
            return _NO_WAY
        one = self._open[number]
        if one is None:
            seconds, rest = divmod(self._utc_s() + _1900, 1)
            self._answers[number] = b"\x24\x01" + bytes(38) + struct.pack(">II", int(seconds), int(rest * 2**32))
            return len(data)
        place = data.find(_CONNECT)
        if 0 < place < 4:  # the chip's clock is much slower than the broker's
            at = place + len(_CONNECT) + 1
            data = data[:at] + b"\xff\xff" + data[at + 2 :]
        try:
            return one.send(data)
        except BlockingIOError:
            return _AGAIN
        except OSError:
            return _NO_WAY

    def take(self, number: int, most: int) -> bytes | int:
        """Return what has come, or an error's number."""
        if number not in self._open:
            return b""
        one = self._open[number]
        if one is None:
            return self._answers.pop(number, _AGAIN)
        try:
            return one.recv(most)
        except BlockingIOError:
            return _AGAIN
        except OSError:
            return b""

    def close(self, number: int) -> int:
        """Hang up."""
        one = self._open.pop(number, None)
        if one is not None:
            one.close()
        return 0
