"""The ports of the core: a source of edges or tokens, a ledger, a clock, and a link to publish through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from msgspec import Struct

from controller.core.counting import Limits
from controller.core.diagnosis import Answer, proof
from controller.core.messages import PipelineMessage
from controller.core.proof import Pulse
from controller.core.settings import BeamSettings
from templo import contract
from templo.contract import (
    Beam,
    Emitters,
    Flag,
    God,
    Kind,
    Notice,
    Timing,
    Token,
    Trouble,
)
from templo.liveness import Beat, no_heartbeat
from templo.quoting import counted

Put: TypeAlias = Callable[[PipelineMessage], None]
"""Puts a message into the pipeline's queue, from any thread, and returns at once."""


class BeamsError(Exception):
    """The beams cannot be watched; the message says what is missing and how to put it right."""

    trouble = Trouble.BEAMS_MISSING


class BeamsBusyError(BeamsError):
    """The beams cannot be watched, because another program uses their lines."""

    trouble = Trouble.BEAMS_BUSY


class Level(Struct, frozen=True):
    """A beam's level at a moment; `proved` if an edge has already come from it.

    `answer` is its receiver's response to a switched emitter, if that was tried.
    """

    dark: bool
    at_ns: int
    proved: bool = False
    answer: Answer | None = None


def answered(dark: bool, at_ns: int, answers: Mapping[God, Answer] | None, god: God) -> Level:
    """Return a beam's level, with its receiver's response if the emitters were switched."""
    answer = None if answers is None else answers[god]
    return Level(dark, at_ns, answer is not None and proof(answer) is None, answer)


class Capabilities(Struct, frozen=True):
    """What a backend can do. The program depends on this, never on a backend's name or class."""

    kind: Kind
    """The kind of device in the temple's status."""
    timing: Timing
    """The source of its time stamps."""
    emitters: Emitters = Emitters.FIXED
    counts: bool = False
    """Whether it gives tokens that it counted itself instead of edges."""
    lost_edges_known: bool = False
    """Whether it reports exactly how many edges were lost, with `EdgesLost`."""
    test_drops: bool = False
    """Whether `drop` and `toggle` work, because its beams can be broken on demand."""


class BackendContext(NamedTuple):
    """What a backend may be built from."""

    settings: BeamSettings
    limits: Limits
    folder: Path
    """The temple's state folder; a backend that needs files makes a folder of its own in it."""
    monotonic_ns: Callable[[], int]
    new_id: Callable[[], str]
    """Returns 32 random hexadecimal digits."""
    beat: Beat = no_heartbeat
    """To be called by the backend's own thread, or by `alive` if it has none."""
    reserved: frozenset[int] = frozenset()
    """The pins that something else of this temple uses."""


class Source(Protocol):
    """What the daemon and the pipeline use of any backend.

    The constructor of a backend takes a `BackendContext` and does no IO. The methods with a body are optional.
    """

    capabilities: Capabilities

    @classmethod
    def check(cls, settings: BeamSettings) -> None:
        """Refuse settings that this backend cannot use, with a `ValueError` that says what was expected."""
        if settings.address:
            raise ValueError(f"{settings.backend}, with nothing behind it")

    def open(self, put: Put) -> Mapping[God, Level]:
        """Begin to put messages, and return the beams' levels; raises `BeamsError`."""

    def alive(self) -> bool:
        """Return whether messages can still come; the daemon checks every two seconds."""

    def close(self) -> None:
        """Put no more messages, and release what was opened. May be called twice, and before `open`."""

    def dark(self, god: God) -> bool | None:
        """Read a beam's level now; None if it cannot be compared with the edges."""
        return None

    def below(self, god: God) -> bool | None:
        """Read the level of a slot's second beam, whose edges are put as `BelowSeen`; None if there is none."""
        return None

    def prove(self) -> Pulse | None:
        """Switch the emitters off and on within a few milliseconds, and return how; None if they cannot be switched.

        The edges of the pulse are put like all others, unless time stamps come from a callback: then none are put
        meanwhile, and nothing but a person may ask for it, in a quiet moment.
        """
        return None

    def heal(self) -> None:
        """Try to get edges again from a beam whose level changes without one."""
        return

    def learn(self, limits: Limits) -> None:
        """Apply other limits, if the device counts."""
        return

    def recorded(self, board: str, seq: int) -> None:
        """Note, from the pipeline's thread, that a board's tokens are durable up to a number."""
        return

    def drop(self, god: God, times: int, spacing_ns: int) -> int:
        """Drop tokens through a beam; return when the last will have passed, in monotonic nanoseconds."""
        tokens = counted(times, "token")
        raise BeamsError(f"{type(self).__name__} cannot drop {tokens} for {god}: it has no test drops")

    def toggle(self, god: God) -> bool | None:
        """Hold a beam dark, or release it, and return whether it is held now; None if only a hand can do it."""
        return None


class BeamSource(Source, Protocol):
    """Gives edges: it puts `EdgeSeen`, in order for each beam, and `EdgesLost` if it knows of losses."""

    def dark(self, god: God) -> bool:
        """Read a beam's level now."""


class TokenSource(Source, Protocol):
    """A board that counts by itself: it puts `BoardHello`, `BoardToken`, `BoardStatus` and `BoardFault`."""

    def learn(self, limits: Limits) -> None:
        """Let the board count by other limits."""

    def recorded(self, board: str, seq: int) -> None:
        """Acknowledge tokens to the board, which sends unacknowledged ones again."""


class Lights:
    """What a temple's lights are notified of; this base class shows nothing.

    The methods are called from the pipeline's and the connection's threads: they return at once, and never raise.
    """

    def token_recorded(self, god: God) -> None:
        """Show that a token is in the ledger."""

    def beam_changed(self, god: God, beam: Beam) -> None:
        """Show a beam's condition until it changes again."""

    def found(self, findings: contract.Findings) -> None:
        """Show that something is wrong with a beam, until other findings come."""

    def troubled(self, trouble: bool) -> None:
        """Show whether the temple has a trouble other than its beams."""

    def received(self, message: contract.Mood | contract.SetLight) -> None:
        """Show a game's signals, or change how the lamps are set."""

    def connected(self) -> None:
        """Publish the lamps' settings: the broker may have lost them."""


class LedgerError(Exception):
    """A ledger that this release cannot use as it is; the message says what is found and what was expected."""

    trouble = Trouble.LEDGER_FAILING
    """The trouble in the temple's status."""


class LedgerTrouble(Exception):
    """The disk refuses for now; `trouble` says how. Nothing of the request was recorded."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        """Store the trouble for the temple's status."""
        super().__init__(message)
        self.trouble = trouble


class UnnumberedToken(Struct, frozen=True):
    """A token that was counted and is not yet recorded; `token` is its own random id."""

    token: str
    god: God
    at: datetime
    width_ns: int
    flags: frozenset[Flag] = frozenset()


class UnnumberedDoubt(Struct, frozen=True):
    """Tokens that are doubted, by their ids, and since when; not yet recorded. At most `MOST_DOUBTED` tokens."""

    reason: str
    at: datetime
    tokens: tuple[str, ...]


class MessageSink(Protocol):
    """Publishes messages."""

    def publish(self, message: contract.Message) -> bool:
        """Publish a message, retained if it is declared so; return False if there is no connection."""

    def congested(self) -> bool:
        """Return whether the broker has not acknowledged everything yet."""


class Link(MessageSink, Protocol):
    """The connection to the broker."""

    def introduce(self, client_id: str, will: contract.Status) -> None:
        """Connect again under another client id, with another will."""

    def give_way(self, gives_way: bool) -> None:
        """Leave the broker to another temple with a copy of the ledger, or stop doing so."""


class Host(NamedTuple):
    """What a temple's machine provides: a monotonic clock, the time of day, random ids, and somebody who looks on."""

    monotonic_ns: Callable[[], int]
    utc: Callable[[], datetime]
    new_id: Callable[[], str]
    """Returns 32 random hexadecimal digits."""
    jam_over: Callable[[int], None] = lambda seq: None
    """Is called at the end of a jam with the number of its token, which waits for a person."""


class Ledger(Protocol):
    """The durable record of tokens. Each method raises `LedgerTrouble` or `LedgerError` if the disk refuses.

    `source` is the ledger's random id; `last_seq` and `delivered` count its tokens, `last_doubt` its doubts, `totals`
    the tokens of its lifetime, `totals_before` those that fell before this source began.
    """

    source: str
    last_seq: int
    last_doubt: int
    delivered: int
    totals: dict[God, int]
    totals_before: dict[God, int]
    notices: tuple[Notice, ...]

    def record(
        self,
        tokens: Sequence[UnnumberedToken],
        boards: Mapping[str, tuple[int, int]] | None = None,
        doubts: Sequence[UnnumberedDoubt] = (),
    ) -> list[Token]:
        """Make tokens and doubts durable, and return the tokens with their numbers."""

    def doubts_after(self, number: int, limit: int) -> list[contract.Doubt]:
        """Return up to `limit` doubts that follow `number`."""

    def boards(self) -> dict[str, tuple[int, int]]:
        """Return the position up to which each board's tokens are recorded."""

    def after(self, seq: int, limit: int) -> list[Token]:
        """Return up to `limit` tokens of the present source that follow `seq`."""

    def token_id(self, seq: int) -> str | None:
        """Return the id of the token with this number of the present source, or None."""

    def number(self, source: str, seq: int) -> int | None:
        """Return a token's number in the present source, below 1 for one of a former source; None if it has none."""

    def renew(self, source: str, reason: str, at: datetime, first: int | None = None) -> None:
        """Begin a new source at the token `first`, or with what is not delivered, and a notice that says why."""

    def dismiss(self, code: str) -> bool:
        """Remove a notice; return False if there is none."""

    def deliver(self, seq: int) -> None:
        """Note that everything up to `seq` is delivered."""

    def deliver_again(self, seq: int) -> None:
        """Note that `seq` and everything after it must be sent again."""

    def close(self) -> None:
        """Write the delivered mark and close."""

    def abandon(self) -> None:
        """Close without writing."""
