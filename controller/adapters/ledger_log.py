"""Reads a ledger's write-ahead log: which of its frames are as they were written, also behind one that is not.

SQLite ends a log at the first frame whose checksum is wrong, as a power cut in the middle of a commit leaves one. A
bit that flips in the log looks the same to it, and would cost every commit after it.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from controller.adapters.sqlite_ledger import PAGE

_HEADER, _FRAME = struct.Struct(">8I"), struct.Struct(">6I")
_MAGIC = 0x377F0682
"""A log's first word; its last bit says in which order of bytes the words of its checksums are read."""

_NATIVE = sys.byteorder == "big"
_WORDS = 0xFFFFFFFF


class _Sum(NamedTuple):
    """A checksum, which goes on from one frame to the next."""

    one: int
    other: int

    def over(self, data: bytes, big_endian: bool) -> _Sum:
        """Return the checksum after `data`, a multiple of eight bytes."""
        one, other = self
        for first, second in struct.iter_unpack(">2I" if big_endian else "<2I", data):
            one = (one + first + other) & _WORDS
            other = (other + second + one) & _WORDS
        return _Sum(one, other)


class _Frame(NamedTuple):
    number: int
    """Of the page that it holds."""
    commits: bool
    page: bytes
    sound: bool
    """Whether it is as it was written after the frame before it."""


class Log:
    """The frames of a log since it was last begun, sound or not.

    Law: what a power cut or a failing disk leaves of a commit is behind the last one that was synced, and commits at
    most once. So where two sound commits follow a frame that is not sound, all before them was synced, and the frame
    is damaged.
    """

    def __init__(self, data: bytes) -> None:
        """Take a log's bytes; they may be none."""
        self._frames: list[_Frame] = []
        self._begins_well = True
        if len(data) < _HEADER.size + _FRAME.size + PAGE:
            return
        magic, _, size, _, *salts, one, other = _HEADER.unpack_from(data)
        big_endian, before = bool(magic & 1), _Sum(one, other)
        self._begins_well = (magic & ~1, size) == (_MAGIC, PAGE) and before == _Sum(0, 0).over(
            data[: _HEADER.size - 8], big_endian
        )
        if not self._begins_well:
            big_endian, salts = _NATIVE, [*_FRAME.unpack_from(data, _HEADER.size)[2:4]]
        step, last = _FRAME.size + PAGE, 0
        for start in range(_HEADER.size, len(data) - step + 1, step):
            number, commits, *own, one, other = _FRAME.unpack_from(data, start)
            page = data[start + _FRAME.size : start + step]
            after = before.over(data[start : start + 8] + page, big_endian)
            sound = own == salts and after == (one, other)
            self._frames.append(_Frame(number, commits > 0, page, sound))
            last = len(self._frames) if own == salts else last
            before = _Sum(one, other)
        del self._frames[last:]  # what is left of an earlier log in the same file

    @property
    def damaged(self) -> bool:
        """Whether a frame of a commit that was synced is not sound any more."""
        last = max((place for place, frame in enumerate(self._frames) if not frame.sound), default=-1)
        is_whole = last < 0 and self._begins_well
        return not is_whole and sum(frame.commits for frame in self._frames[last + 1 :]) > 1

    def into(self, file: bytes) -> bytes:
        """Return the pages of a ledger's file with those of the log in their place."""
        pages = {n: file[start : start + PAGE] for n, start in enumerate(range(0, len(file), PAGE), 1)}
        pages |= {frame.number: frame.page for frame in self._committed()}
        return b"".join(pages.get(n, b"").ljust(PAGE, b"\0") for n in range(1, max(pages, default=0) + 1))

    def _committed(self) -> Iterable[_Frame]:
        """Yield the sound frames of commits: of a damaged log all, else those that SQLite reads."""
        frames = self._frames
        if not self.damaged:
            end = next((place for place, frame in enumerate(frames) if not frame.sound), len(frames))
            frames = frames[:end] if self._begins_well else []
        end = max((place for place, frame in enumerate(frames, 1) if frame.commits and frame.sound), default=0)
        return (frame for frame in frames[:end] if frame.sound)


def read_log(path: Path) -> Log:
    """Return the log of the ledger at `path`, without a frame if it has none; raises `OSError`."""
    try:
        return Log(path.with_name(path.name + "-wal").read_bytes())
    except FileNotFoundError:
        return Log(b"")
