"""What may come to the thread that runs a temple: edges, levels, wishes of whoever waits for an answer, the end.

It only names them; `pipeline.py` does what they ask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from controller.commands import Result
from controller.link import LinkEvent
from controller.wire import God


class Heard(NamedTuple):
    """An edge of one slot's beam."""

    god: God
    at_ns: int
    dark: bool


class Read(NamedTuple):
    """A level that was read, and that the edges heard so far do not lead to."""

    god: God
    at_ns: int
    dark: bool


class Drop(NamedTuple):
    """A wish for tokens in one slot; `told` hears how it went, once they are recorded."""

    god: God
    times: int
    spacing_ns: int
    test: bool
    told: Callable[[Result], None]


class Look(NamedTuple):
    """A wish to know how the temple is."""

    told: Callable[[Result], None]


class Selftest(NamedTuple):
    """A wish to know what each beam reads and what is wrong with it."""

    told: Callable[[Result], None]


class Calibrate(NamedTuple):
    """A wish to measure a number of known tokens in one slot, or the yes or no (`keep`) to what they proposed."""

    god: God
    number: int | None
    keep: bool | None
    told: Callable[[Result], None]


class Stop(NamedTuple):
    """The end of the queue."""


Item: TypeAlias = Heard | Read | Drop | Look | Selftest | Calibrate | Stop | LinkEvent
