"""A stream that is compressed: pieces that many share, each little more than what changed."""

from __future__ import annotations

import gzip
import random
import zlib

import pytest

from companion.web.server import encoding
from companion.web.server.encoding import EVENT, WINDOW, Gzip

HEARTBEAT = b"event: heartbeat\ndata: {}\n\n"


def event(number: int, size: int = 12_000) -> bytes:
    """Return an event that differs little from the one before, and not at all like another text."""
    letters = random.Random(size).choices(range(97, 123), k=size)
    return f"id: {number}\n".encode() + bytes(letters)


def sent(stream: Gzip, data: bytes) -> bytes:
    piece = stream.piece(data)
    stream.sent(data)
    return piece


def test_an_event_that_is_like_the_last_one_is_sent_in_a_fraction_of_its_size() -> None:
    stream = Gzip()
    first, second = sent(stream, event(1)), sent(stream, event(2))
    assert len(second) < len(first) / 20


@pytest.mark.parametrize("heartbeats", [0, 1, 3, 800, WINDOW // len(HEARTBEAT) + 1])
def test_whatever_came_between_two_events_both_are_read_as_they_were(heartbeats: int) -> None:
    stream = Gzip()
    short = b"x" * 600
    pieces = [event(1), *[HEARTBEAT] * heartbeats, event(2), HEARTBEAT, event(3, 40_000), event(4, 40_000), short]
    read = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    assert read.decompress(stream.begin()) == b""
    for piece in pieces:
        assert read.decompress(sent(stream, piece)) == piece
    assert read.decompress(stream.end()) == b""
    assert read.eof


def test_streams_whose_last_event_was_the_same_are_sent_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = Gzip(), Gzip()
    for stream, earlier in ((ours, event(1)), (theirs, event(1, 9_000))):
        sent(stream, earlier)
        sent(stream, HEARTBEAT)
        sent(stream, event(2))
    encoding._deflated.cache_clear()
    assert sent(ours, event(3)) == sent(theirs, event(3))
    assert encoding._deflated.cache_info().misses == 1


def test_a_stream_whose_reader_missed_a_piece_refers_to_what_it_has() -> None:
    stream, missed = Gzip(), event(2)
    pieces = stream.begin() + sent(stream, event(1))
    stream.piece(missed)
    pieces += sent(stream, event(3)) + stream.end()
    assert gzip.decompress(pieces) == event(1) + event(3)


def test_no_short_piece_takes_the_place_of_the_event_before() -> None:
    stream = Gzip()
    sent(stream, event(1))
    sent(stream, b"y" * (EVENT - 1))
    assert len(sent(stream, event(2))) < 1_000
