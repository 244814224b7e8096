"""Two clocks: milliseconds since the start that never wrap, and the time of day once it is known."""

import struct

_1900 = 2208988800
ASK_MS = (10000, 320000)
"""How soon it is asked again while nobody answers, from the first time to the last."""

AGAIN_MS = 3600000


class Clock:
    """`ticks` gives microseconds that wrap; `diff` is their difference, as MicroPython's ticks_diff."""

    def __init__(self, ticks, diff):
        """Begin at 0, without a time of day."""
        self._ticks = ticks
        self._diff = diff
        self._last = ticks()
        self._ms = self._rest_us = 0
        self._offset_ms = None
        self._by_server = False

    def ms(self):
        """Return the milliseconds since the start; to be called at least once in eight minutes."""
        now = self._ticks()
        us = self._rest_us + max(0, self._diff(now, self._last))
        self._last = now
        self._ms += us // 1000
        self._rest_us = us % 1000
        return self._ms

    def us(self):
        """Return the microseconds since the start."""
        return self.ms() * 1000 + self._rest_us

    def utc_ms(self):
        """Return the time since 1970, or None while nobody has given it."""
        return None if self._offset_ms is None else self.ms() + self._offset_ms

    def set_by_server(self, utc_ms, at_ms):
        """Take a time server's time of day as it was at a moment of ours."""
        self._offset_ms = utc_ms - at_ms
        self._by_server = True

    def suggested(self, utc_ms):
        """Take a companion's time as the time of now, unless a time server has answered since the start."""
        if not self._by_server:
            self._offset_ms = utc_ms - self.ms()


class TimeServer:
    """Asks a server for the time, by SNTP over a socket that never blocks."""

    def __init__(self, clock, udp):
        """`udp` gives a connected socket that never blocks, None while a name is looked up, or raises OSError."""
        self._clock = clock
        self._udp = udp
        self._socket = None
        self._next_ms = 0
        self._asked_ms = 0
        self._wait_ms = ASK_MS[0]

    def turn(self, now_ms):
        """Ask when it is due, and take what came."""
        try:
            if self._socket is not None:
                try:
                    answer = self._socket.recv(64)
                except OSError as error:
                    if error.args and error.args[0] in (11, 35):
                        answer = None
                    else:
                        raise
                if answer and self._take(answer, now_ms):
                    self._hang_up()
                    self._next_ms = now_ms + AGAIN_MS
                    self._wait_ms = ASK_MS[0]
                    return
            if now_ms >= self._next_ms:
                self._hang_up()
                self._socket = self._udp()
                if self._socket is None:
                    return
                self._put_off(now_ms)
                self._asked_ms = now_ms
                self._socket.send(b"\x1b" + 47 * b"\0")
        except OSError:
            self._hang_up()
            if now_ms >= self._next_ms:
                self._put_off(now_ms)

    def _put_off(self, now_ms):
        self._next_ms = now_ms + self._wait_ms
        self._wait_ms = min(2 * self._wait_ms, ASK_MS[1])

    def _take(self, answer, now_ms):
        if len(answer) < 48 or answer[0] & 7 != 4 or answer[1] == 0:
            return False
        seconds, fraction = struct.unpack(">II", answer[40:48])
        if seconds < _1900:
            return False
        # Half of the way there and back has passed since the server looked.
        half_ms = (now_ms - self._asked_ms) // 2
        self._clock.set_by_server((seconds - _1900) * 1000 + (fraction >> 16) * 1000 // 65536 + half_ms, now_ms)
        return True

    def _hang_up(self):
        if self._socket is not None:
            self._socket.close()
            self._socket = None
