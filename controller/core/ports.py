"""What the core needs of the world: beams, a ledger, a clock, and somewhere to publish."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol, TypeAlias

from controller.core.diagnosis import Answer, proof
from templo import contract
from templo.contract import (
    Emitters,
    Flag,
    God,
    Notice,
    Timing,
    Token,
    Trouble,
)

Listener: TypeAlias = Callable[[God, int, bool], None]
"""Called with the slot, the stamp in monotonic nanoseconds, and whether the beam is dark. It must only enqueue."""


class BeamsError(Exception):
    """The beams cannot be watched; the message says what is missing and what mends it."""


@dataclass(frozen=True, slots=True)
class Level:
    """How a beam stood at a moment; `proved` if an edge was already heard from it.

    `answer` is what its receiver answered a switched emitter, where that was asked.
    """

    dark: bool
    at_ns: int
    proved: bool = False
    answer: Answer | None = None


def answered(dark: bool, at_ns: int, answers: Mapping[God, Answer] | None, god: God) -> Level:
    """Return how a beam stood, with what its receiver answered where the emitters were switched."""
    answer = None if answers is None else answers[god]
    return Level(dark, at_ns, answer is not None and proof(answer) is None, answer)


class Beams(Protocol):
    """Where edges come from: a Pi's header, or a script."""

    timing: Timing
    emitters: Emitters

    def open(self, listener: Listener) -> Mapping[God, Level]:
        """Begin to listen, and return how the beams stand; raises `BeamsError`."""

    def dark(self, god: God) -> bool:
        """Read a beam's level now."""

    def prove(self) -> Mapping[God, Answer] | None:
        """Switch the emitters off and on, and return how each receiver answered; None where they cannot be switched.

        No listener hears of it, nor of a token that falls meanwhile: it is for a quiet moment.
        """

    def heal(self) -> None:
        """Try to hear again a beam whose level changes without an edge."""

    def alive(self) -> bool:
        """Say whether edges can still reach the listener."""

    def close(self) -> None:
        """Stop listening."""


class LedgerError(Exception):
    """A ledger that this release cannot use as it is; the message says what is found and what was expected."""

    trouble = Trouble.LEDGER_FAILING
    """What a temple's status says of it."""


class LedgerTrouble(Exception):
    """The disk refuses for now; `trouble` says how. Nothing that was asked for has been recorded."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        """Hold what a temple's status says of it."""
        super().__init__(message)
        self.trouble = trouble


@dataclass(frozen=True, slots=True)
class UnnumberedToken:
    """A token that was counted and is not yet recorded; `token` is its own random id."""

    token: str
    god: God
    at: datetime
    width_ns: int
    flags: frozenset[Flag] = frozenset()


class MessageSink(Protocol):
    """Where messages go: the link."""

    def publish(self, message: contract.Message) -> bool:
        """Hand over a message, to be retained or not as it is declared; False if there is no connection."""

    def congested(self) -> bool:
        """Say whether the broker has yet to take something."""


class Clock(NamedTuple):
    """The two times of a temple: one that only grows, and the one on the wall."""

    monotonic_ns: Callable[[], int]
    utc: Callable[[], datetime]


class Ledger(Protocol):
    """The durable record of tokens. Each method raises `LedgerTrouble` or `LedgerError` where the disk refuses.

    `source` is the record's random id; `last_seq` and `delivered` count its tokens, `totals` those of its whole life,
    `totals_before` those that fell before this source began.
    """

    source: str
    last_seq: int
    delivered: int
    totals: dict[God, int]
    totals_before: dict[God, int]
    notices: tuple[Notice, ...]

    def record(
        self, tokens: Sequence[UnnumberedToken], boards: Mapping[str, tuple[int, int]] | None = None
    ) -> list[Token]:
        """Make tokens durable, and return them with their numbers."""

    def boards(self) -> dict[str, tuple[int, int]]:
        """Return up to where the tokens of each counting board are recorded."""

    def after(self, seq: int, limit: int) -> list[Token]:
        """Return up to `limit` tokens of the present source that follow `seq`."""

    def token_id(self, seq: int) -> str | None:
        """Return the id of the token with this number of the present source, or None."""

    def renew(self, source: str, reason: str, at: datetime) -> None:
        """Begin a new source with what is not delivered, and a notice that says why."""

    def dismiss(self, code: str) -> bool:
        """Take a notice away for good; False where there is none."""

    def deliver(self, seq: int) -> None:
        """Note that everything up to `seq` is delivered."""

    def deliver_again(self, seq: int) -> None:
        """Note that `seq` and what follows has to be sent again."""

    def close(self) -> None:
        """Write the delivered mark and close."""

    def abandon(self) -> None:
        """Close without writing."""
