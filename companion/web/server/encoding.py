"""How a stream's bytes are encoded for a browser: as they are, or compressed.

What many browsers are sent is compressed once. Each piece is a sequence of whole deflate blocks that refers to
nothing before it, so that it fits into any stream (RFC 1951, RFC 1952), and no stream keeps a window of its own.
"""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache

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

    def begin(self) -> bytes:
        """Return the header."""
        return _HEAD

    def piece(self, data: bytes) -> bytes:
        """Return bytes compressed."""
        return _deflated(data)

    def sent(self, data: bytes) -> None:
        """Count bytes for the check at the end."""
        self._check = zlib.crc32(data, self._check)
        self._size += len(data)

    def end(self) -> bytes:
        """Return the last block and the check."""
        return _LAST_BLOCK + struct.pack("<II", self._check, self._size & 0xFFFFFFFF)


@lru_cache(maxsize=64)
def _deflated(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush(zlib.Z_FULL_FLUSH)
