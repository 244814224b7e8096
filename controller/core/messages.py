"""The messages on the pipeline's queue: edges, levels, boards' tokens, broker events, requests with a callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from controller.core.commands import Result
from controller.core.counting import Detection
from templo import contract
from templo.contract import Beam, Finding, God


class EdgeSeen(NamedTuple):
    """An edge of one slot's beam."""

    god: God
    at_ns: int
    dark: bool


class BelowSeen(NamedTuple):
    """An edge of the second beam of one slot, below the first."""

    god: God
    at_ns: int
    dark: bool


class EdgesLost(NamedTuple):
    """A number of one slot's edges were lost before the next one, as its backend knows for certain."""

    god: God
    at_ns: int
    number: int


class LevelRead(NamedTuple):
    """A level that was read and does not follow from the edges so far."""

    god: God
    at_ns: int
    dark: bool


class BoardHello(NamedTuple):
    """The name of a board that counts by itself; `respond` gets the position up to which its tokens are recorded.

    `initial` is the position of a board whose tokens were never taken here.
    """

    board: str
    initial: BoardCursor
    respond: Callable[[BoardCursor], None]


class BoardToken(NamedTuple):
    """A token that a board counted, with its position in the board's own count; `fell_ns` is when it fell."""

    god: God
    counted: Detection
    board: str
    cursor: BoardCursor
    fell_ns: int


class BoardStatus(NamedTuple):
    """The state of a slot, reported by the board that counts it."""

    god: God
    beam: Beam
    dark: bool
    glitches: int
    missed: int
    at_ns: int


class BoardFault(NamedTuple):
    """What is wrong with the board or its cable, or None again."""

    finding: Finding | None
    at_ns: int


class DropRequest(NamedTuple):
    """A request for tokens in one slot; `respond` gets the result once they are recorded."""

    god: God
    times: int
    spacing_ns: int
    test: bool
    respond: Callable[[Result], None]


class DismissRequest(NamedTuple):
    """A request to dismiss a notice that a person has dealt with."""

    code: str
    respond: Callable[[Result], None]


class StatusRequest(NamedTuple):
    """A request for the temple's status."""

    respond: Callable[[Result], None]


class SelftestRequest(NamedTuple):
    """A request for what each beam reads and what is wrong with it."""

    respond: Callable[[Result], None]


class CalibrationRequest(NamedTuple):
    """A request to measure known tokens in one slot, or to accept or reject (`keep`) the proposal."""

    god: God
    number: int | None
    keep: bool | None
    respond: Callable[[Result], None]


class Stop(NamedTuple):
    """The end of the queue."""


class BrokerConnected(Struct, frozen=True):
    """The broker accepted the connection: everything unacknowledged must be sent again."""


class BrokerDisconnected(Struct, frozen=True):
    """The connection is gone."""


class MessageReceived(Struct, frozen=True):
    """A valid message."""

    message: contract.Ack | contract.Command | contract.Status


class StatusGarbled(Struct, frozen=True):
    """Something that is no status is retained under this temple's status topic."""


LinkEvent: TypeAlias = BrokerConnected | BrokerDisconnected | MessageReceived | StatusGarbled


class BoardCursor(NamedTuple):
    """The position up to which a board's tokens are known: the last number, and how many were Huitzilopochtli's.

    `huitzilopochtli` is None if a board was never met before and had counted for others.
    """

    seq: int
    huitzilopochtli: int | None


PipelineMessage: TypeAlias = (
    EdgeSeen
    | BelowSeen
    | EdgesLost
    | LevelRead
    | BoardHello
    | BoardToken
    | BoardStatus
    | BoardFault
    | DropRequest
    | DismissRequest
    | StatusRequest
    | SelftestRequest
    | CalibrationRequest
    | Stop
    | LinkEvent
)
