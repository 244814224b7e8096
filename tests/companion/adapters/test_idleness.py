"""A companion that its socket starts ends when nobody has used it for a time."""

from __future__ import annotations

import threading
import time

from companion.adapters.idleness import Idleness


def test_it_ends_once_after_the_time_without_a_page_a_request_or_a_token() -> None:
    ended = threading.Event()
    idleness = Idleness(0.2, lambda: 0, ended.set, look_every_s=0.01)
    idleness.start()
    began = time.monotonic()
    while time.monotonic() - began < 0.6:
        idleness.touch()
        assert not ended.wait(0.02)
    assert ended.wait(60)
    idleness.stop()


def test_an_open_page_keeps_it_running_and_the_time_begins_when_it_is_closed() -> None:
    ended, pages, now = threading.Event(), [1], [0.0]
    idleness = Idleness(3600, lambda: pages[0], ended.set, lambda: now[0], look_every_s=0.01)
    idleness.start()
    now[0] = 7200.0
    assert not ended.wait(0.2)
    pages[0] = 0
    now[0] += 3599.0
    assert not ended.wait(0.2)
    now[0] += 1.0
    assert ended.wait(60)
    idleness.stop()
