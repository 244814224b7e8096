"""What may come to the thread that runs a temple: edges, levels, wishes of whoever waits for an answer, the end.

It only names them; `pipeline.py` does what they ask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from controller.core.commands import Result
from controller.core.counting import Counted
from controller.core.diagnosis import Finding
from templo import contract
from templo.contract import Beam, God


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


class Met(NamedTuple):
    """A board that counts by itself has said who it is; `told` hears up to where its tokens are recorded.

    `otherwise` is where one goes on whose tokens were never taken here.
    """

    board: str
    otherwise: Mark
    told: Callable[[Mark], None]


class Fell(NamedTuple):
    """A token that a board counted, with its place in the board's own count; `fell_ns` says how fresh it is."""

    god: God
    counted: Counted
    board: str
    mark: Mark
    fell_ns: int


class Shown(NamedTuple):
    """How a slot is, by the board that counts it."""

    god: God
    beam: Beam
    dark: bool
    glitches: int
    missed: int
    at_ns: int


class Ails(NamedTuple):
    """What is wrong with the board or its cable, or None again."""

    finding: Finding | None
    at_ns: int


class Drop(NamedTuple):
    """A wish for tokens in one slot; `told` hears how it went, once they are recorded."""

    god: God
    times: int
    spacing_ns: int
    test: bool
    told: Callable[[Result], None]


class Dismiss(NamedTuple):
    """A wish to take away a notice that a person has dealt with."""

    code: str
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


@dataclass(frozen=True, slots=True)
class Up:
    """The broker took us in: whatever was sent before is to be sent again."""


@dataclass(frozen=True, slots=True)
class Down:
    """The connection is gone."""


@dataclass(frozen=True, slots=True)
class Came:
    """A companion's message that kept to the contract."""

    message: contract.Ack | contract.Command | contract.Status


@dataclass(frozen=True, slots=True)
class Garbled:
    """Something that is no status lies where this temple's status belongs, and hides it from whoever comes."""


LinkEvent: TypeAlias = Up | Down | Came | Garbled


class Mark(NamedTuple):
    """Up to where a board's tokens are known: the number of the last, and how many of them were Huitzilopochtli's.

    `huitzilopochtli` is None where a board was never met before.
    """

    seq: int
    huitzilopochtli: int | None


Item: TypeAlias = (
    Heard | Read | Met | Fell | Shown | Ails | Drop | Dismiss | Look | Selftest | Calibrate | Stop | LinkEvent
)
