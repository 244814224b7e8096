"""How a stream's bytes are encoded for a browser: as they are, or compressed.

A region is mostly the same as a moment ago, so a piece refers to the event before it, and little more than the
changes is sent. Still, what many browsers receive is compressed only once: a piece is a sequence of whole deflate
blocks (RFC 1951) that fits into every gzip stream (RFC 1952) whose last event was the same, with as many bytes after
it. No stream has a window of its own.
"""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache

WINDOW = 32 * 1024
"""How many bytes back a piece may refer."""

EVENT = 512
"""Bytes from which on a piece is worth referring to; heartbeats and the like are shorter."""

_HEAD = bytes.fromhex("1f8b08000000000000ff")
_LAST_BLOCK = b"\x03\x00"


class Plain:
    """Bytes as they are."""

    name = ""

    def begin(self) -> bytes:
        """Return what comes before everything."""
        return b""

    def piece(self, data: bytes) -> bytes:
        """Return what is sent for some bytes."""
        return data

    def sent(self, data: bytes) -> None:
        """Count bytes that were sent."""

    def end(self) -> bytes:
        """Return what comes after everything."""
        return b""


class Gzip(Plain):
    """One stream of gzip.

    >>> import gzip
    >>> stream, sent = Gzip(), Gzip.begin(Gzip())
    >>> for data in (b"one", b"two"):
    ...     sent += stream.piece(data)
    ...     stream.sent(data)
    >>> gzip.decompress(sent + stream.end())
    b'onetwo'
    """

    name = "gzip"

    def __init__(self) -> None:
        self._check = 0
        self._size = 0
        self._event = b""
        self._after = 0

    def begin(self) -> bytes:
        """Return the header."""
        return _HEAD

    def piece(self, data: bytes) -> bytes:
        """Return bytes compressed."""
        return _deflated(data, self._event, self._after)

    def sent(self, data: bytes) -> None:
        """Count bytes for the check at the end; what comes next may refer to them."""
        self._check = zlib.crc32(data, self._check)
        self._size += len(data)
        if len(data) >= EVENT:
            self._event, self._after = data, 0
        else:
            self._after += len(data)

    def end(self) -> bytes:
        """Return the last block and the check."""
        return _LAST_BLOCK + struct.pack("<II", self._check, self._size & 0xFFFFFFFF)


@lru_cache(maxsize=64)
def _deflated(data: bytes, event: bytes, after: int) -> bytes:
    """Compress a piece that comes so many bytes after an event.

    Those bytes count but are not referred to: zeros stand for them, and no event holds one.
    """
    before = (event + bytes(after))[-WINDOW:] if after < WINDOW else b""
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS, zdict=before)
    return compressor.compress(data) + compressor.flush(zlib.Z_SYNC_FLUSH)
