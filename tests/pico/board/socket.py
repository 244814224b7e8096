"""On the board: sockets through the emulator's door, for a plain Pico has none. They never block."""

from door import CLOSE, OPEN, SEND, TAKE, ask

AF_INET, SOCK_STREAM, SOCK_DGRAM = 2, 1, 2


class socket:  # noqa: N801 (MicroPython's name)
    """One connection, or one peer that is spoken to."""

    def __init__(self, family=AF_INET, kind=SOCK_STREAM):
        """Begin unconnected."""
        self._number = 0

    def setblocking(self, on):
        """Refuse to block."""
        if on:
            raise OSError(95)

    def connect(self, address):
        """Connect to a host's port."""
        host, port = address
        self._number = ask(OPEN, port, host.encode())

    def send(self, data):
        """Send what is taken of this, and return how much that is."""
        return ask(SEND, self._number, data)

    def recv(self, most):
        """Return what has come."""
        buffer = bytearray(most)
        return bytes(buffer[: ask(TAKE, self._number, buffer)])

    def close(self):
        """Hang up."""
        if self._number:
            ask(CLOSE, self._number)
            self._number = 0
