"""The checksummed lines that a counting board and the controller exchange over USB, and what each end may expect.

Pure: no port, no clock, no thread. Bytes of any kind give a line or None. The protocol is version 1 and is described
in ``docs/serial.md``. Times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from controller.core.counting import MS, SECOND, Detection, Limits
from controller.core.messages import BoardCursor
from templo.contract import Beam, Finding, Flag, God

PROTOCOL = 1
BAUD = 115_200
MOST_LINE = 120

PATIENCE_NS = 5 * SECOND
"""How long a board may send nothing that can be read; it sends every second, and boots in two."""

MOST_GONE = 10_000
"""How many tokens in a row a board can have lost; no board is used for so many without a controller."""

REQUEST_EVERY_NS = SECOND
_NOISE_NS = 60 * SECOND
_NOISY = 5
_MOST_AGE_MS = 48 * 86_400_000
"""A board's clock of 32 bits wraps after 49.7 days: it says of nothing older how old it is."""
_BEAMS = {"u": Beam.UNPROVED, "c": Beam.CLEAR, "j": Beam.JAMMED, "d": Beam.DARK, "f": Beam.FLICKER}
_GODS = {"h": God.HUITZILOPOCHTLI, "t": God.TLALOC}
_FLAGS = {1: Flag.JAM, 2: Flag.MISSED_EDGE}
_HEX = frozenset("0123456789abcdef")


class Greeting(NamedTuple):
    """A board's introduction: `name` is None until it was given one; it still has the tokens `first` to `last`."""

    name: str | None
    software: str
    first: int
    last: int
    acked: int


class TokenLine(NamedTuple):
    """One token that a board counted, in its order; `counted` has its start, which is a guess unless `timed`."""

    board: str
    cursor: BoardCursor
    god: God
    counted: Detection
    timed: bool


class UnknownTokens(NamedTuple):
    """Tokens that a board can no longer send, and of which nothing says whose they were."""

    board: str
    first: int
    last: int


class Health(NamedTuple):
    """How a board's slots are, counted since it started."""

    beams: dict[God, Beam]
    glitches: dict[God, int]
    missed: dict[God, int]
    dark: dict[God, bool]
    worn: bool


Happened: TypeAlias = Greeting | TokenLine | UnknownTokens | Health


def crc16(data: bytes) -> int:
    """Return the CCITT checksum of some bytes, begun with 0xFFFF."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def written(*words: object) -> bytes:
    """Return a line as it goes over the wire: the words, their checksum, a line feed."""
    text = " ".join(map(str, words)).encode("ascii")
    return text + b"*%04x\n" % crc16(text)


def read(line: bytes) -> list[str] | None:
    """Return the words of a line without its line feed, or None if it is not whole."""
    text, star, sum_ = line.rpartition(b"*")
    if not star or len(sum_) != 4 or len(line) > MOST_LINE or sum_ != b"%04x" % crc16(text):
        return None
    try:
        return text.decode("ascii").split(" ")
    except UnicodeDecodeError:
        return None


class _Token(Struct, frozen=True):
    seq: int
    god: God | None
    flags: frozenset[Flag]
    width_ns: int
    age_ns: int | None
    huitzilopochtli: int


class Session:
    """One connection to a board, from the opening of the port to its loss.

    Laws:
    - Tokens are yielded in the order of their numbers, each once: what comes twice is passed over, what is too early
      is waited for. The board sends again what is not acknowledged.
    - What a board can no longer send, because its memory went round, is yielded as tokens of no width, flagged
      `missed_edge`, as many for each god as the board's totals show. Where the totals at the cursor are not known or
      contradict the numbers, and where more than `MOST_GONE` are missing, it is yielded as `UnknownTokens`, and no
      token.
    """

    def __init__(self, limits: Limits, now_ns: int) -> None:
        """Begin with a port that was just opened. `limits` is what the board is to count by."""
        self.out: deque[bytes] = deque()
        """What is to be written."""
        self.problem: Finding | None = None
        """What is wrong with this connection, if anything."""
        self._limits = limits
        self._rest = b""
        self._board: str | None = None
        self._cursor = BoardCursor(0, None)
        self._first = 1
        self._good_ns = self._request_ns = now_ns
        self._early_ns: int | None = None
        self._garbage = 0
        self._bad: deque[int] = deque(maxlen=1000)
        self._good = 0
        self._worn = False

    def take(self, data: bytes, now_ns: int) -> Iterator[Happened]:
        """Take bytes as they come, and yield what they contain."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MOST_LINE:
            self._garbage += len(self._rest)
            self._rest = self._rest[-MOST_LINE:]
        for line in lines:
            words = read(line.rstrip(b"\r"))
            try:
                happened = None if words is None else self._read_line(words, now_ns)
            except (ValueError, KeyError, IndexError):
                words = happened = None
            if words is None:
                self._garbage += len(line) + 1
                self._bad.append(now_ns)
                continue
            self._good_ns = now_ns
            self._good += 1
            yield from happened or ()
        self._judge(now_ns)

    def advance(self, now_ns: int) -> None:
        """Do what follows from time alone."""
        if self._early_ns is not None and now_ns - self._early_ns > 3 * SECOND:
            self._early_ns = None
            self._board = None  # it does not send the expected tokens: request what it has
        if self._board is None and now_ns >= self._request_ns:
            self._request_ns = now_ns + REQUEST_EVERY_NS
            self.out.append(written("?"))
        self._judge(now_ns)

    def name(self, board: str) -> None:
        """Give a board its name: 32 hexadecimal digits that no other has."""
        self.out.append(written("I", board))

    def welcome(self, greeting: Greeting, cursor: BoardCursor) -> None:
        """Let a board go on behind `cursor`, up to where its tokens are known to be durable."""
        assert greeting.name is not None
        self._board, self._cursor, self._first = greeting.name, cursor, greeting.first
        self._early_ns = None
        self.learn(self._limits)
        self.out.append(written("A", cursor.seq))

    def recorded(self, board: str, seq: int) -> None:
        """Acknowledge that a board's tokens are durable up to a number."""
        if board == self._board:
            self.out.append(written("A", seq))

    def learn(self, limits: Limits) -> None:
        """Let the board count by other limits; before it is known they are sent with the welcome."""
        self._limits = limits
        if self._board is not None:
            us = (limits.min_break // 1000, limits.min_clear // 1000, limits.max_break // 1000)
            self.out.append(written("L", *us, limits.flicker))

    def _read_line(self, words: list[str], now_ns: int) -> list[Happened]:
        kind = words[0]
        if kind == "H":
            return self._greeted(words)
        if kind == "B":
            health = _health(words)
            self._worn = health.worn
            return [health]
        if kind == "T":
            return list(self._counted(_token(words), now_ns))
        if kind == "E" and len(words) == 1:  # a line that we sent arrived damaged
            self._bad.append(now_ns)
            return []
        raise ValueError(kind)

    def _greeted(self, words: list[str]) -> list[Happened]:
        """Take the introduction of a board that has started, or that was requested."""
        speaks = _number(words[1])
        if speaks != PROTOCOL:
            self.problem = Finding("other_protocol", {"speaks": speaks, "expected": PROTOCOL})
            self._board = None
            return []
        _, _, name, software, *numbers = words
        first, last, acked = map(_number, numbers)
        if name != "-" and (len(name) != 32 or not _HEX.issuperset(name)):
            raise ValueError(name)
        self._board = None
        self.problem = None
        return [Greeting(None if name == "-" else name, software[:16], first, last, acked)]

    def _counted(self, token: _Token, now_ns: int) -> Iterator[TokenLine | UnknownTokens]:
        if self._board is None or token.seq <= self._cursor.seq:
            return
        if token.seq > max(self._cursor.seq + 1, self._first):
            self._early_ns = self._early_ns if self._early_ns is not None else now_ns
            return
        self._early_ns = None
        if token.god is None:
            self._first = token.seq + 1  # it cannot be read any more: the next one's totals show whose it was
            return
        gone, known = token.seq - 1 - self._cursor.seq, self._cursor.huitzilopochtli
        theirs = -1 if known is None else token.huitzilopochtli - (token.god is God.HUITZILOPOCHTLI) - known
        if known is not None and gone <= MOST_GONE and 0 <= theirs <= gone:
            for number in range(gone):
                god = God.HUITZILOPOCHTLI if number < theirs else God.TLALOC
                self._cursor = BoardCursor(self._cursor.seq + 1, known + min(number + 1, theirs))
                counted = Detection(now_ns, 0, frozenset({Flag.MISSED_EDGE}))
                yield TokenLine(self._board, self._cursor, god, counted, False)
        elif gone:
            yield UnknownTokens(self._board, self._cursor.seq + 1, token.seq - 1)
        self._cursor = BoardCursor(token.seq, token.huitzilopochtli)
        start_ns = now_ns - (token.age_ns if token.age_ns is not None else 0)
        counted = Detection(start_ns, token.width_ns, token.flags)
        yield TokenLine(self._board, self._cursor, token.god, counted, token.age_ns is not None)

    def _judge(self, now_ns: int) -> None:
        """Set what is wrong, above all that nothing can be read."""
        while self._bad and now_ns - self._bad[0] > _NOISE_NS:
            self._bad.popleft()
        silent_ns = now_ns - self._good_ns
        if self.problem is not None and self.problem.code == "other_protocol" and silent_ns <= PATIENCE_NS:
            return
        if silent_ns > PATIENCE_NS:
            for_s = silent_ns // SECOND
            foreign = self._garbage >= 20 and not self._good
            self.problem = Finding(
                "foreign_device" if foreign else "board_silent",
                {"bytes": self._garbage} if foreign else {"for_s": for_s},
            )
        elif self._worn:
            self.problem = Finding("board_worn")
        elif len(self._bad) >= _NOISY:
            self.problem = Finding("line_noise", {"bad": len(self._bad)})
        else:
            self.problem = None


def _number(text: str, most: int = 2**32 - 1) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10) or int(text) > most:
        raise ValueError(text)
    return int(text)


def _token(words: list[str]) -> _Token:
    if words[2:] == ["?"]:
        return _Token(_number(words[1]), None, frozenset(), 0, None, 0)
    _, seq, god, flags, width, age, total = words
    bits = _number(flags)
    return _Token(
        seq=_number(seq),
        god=_GODS[god],
        flags=frozenset(flag for bit, flag in _FLAGS.items() if bits & bit),
        width_ns=_number(width) * 1000,
        age_ns=None if age == "-" or _number(age) > _MOST_AGE_MS else _number(age) * MS,
        huitzilopochtli=_number(total),
    )


def _health(words: list[str]) -> Health:
    _, *beams, g1, g2, m1, m2, d1, d2, worn = words
    if len(beams) != len(God):
        raise ValueError(words)
    return Health(
        dict(zip(God, (_BEAMS[beam] for beam in beams), strict=True)),
        dict(zip(God, map(_number, (g1, g2)), strict=True)),
        dict(zip(God, map(_number, (m1, m2)), strict=True)),
        dict(zip(God, (_number(dark, 1) == 1 for dark in (d1, d2)), strict=True)),
        _number(worn, 1) == 1,
    )
