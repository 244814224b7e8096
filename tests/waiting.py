"""Waits for what nobody announces: the one way in which a test does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, holds: Callable[[], T], every_s: float = 0.02) -> T:
    """Wait until something holds; return its last value, which is false where it did not in time."""
    deadline = time.monotonic() + seconds
    while not (value := holds()) and time.monotonic() < deadline:
        time.sleep(every_s)
    return value


def eventually(holds: Callable[[], T], seconds: float = 180.0, what: str = "it", every_s: float = 0.02) -> T:
    """Wait until something holds, and return its value; fail if it does not in time."""
    value = within(seconds, holds, every_s)
    assert value, f"{what} did not happen within {seconds:g} s"
    return value
