"""What the pipeline knows of boards that count by themselves: whose tokens were taken up to where, and what ails one.

No port, no disk, no clock: it says which token is news and tells a board what is durable, and records nothing itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from controller.board import BoardSlot
from controller.counting import Counted, Event
from controller.diagnosis import Finding
from controller.items import Fell, Shown
from controller.lines import Mark
from controller.wire import God, Trouble

_HARMLESS = ("line_noise",)
"""What may be wrong with a board's cable and loses nothing."""


def token_id(board: str, seq: int) -> str:
    """Return the id of a board's token, the same however often it is recorded.

    A ledger that was restored takes tokens from its board again that an earlier one has delivered: the companion
    knows them by it.
    """
    return hashlib.sha256(f"{board} {seq}".encode()).hexdigest()[:32]


class Board(Protocol):
    """A board that counts by itself, as far as the pipeline knows it."""

    @property
    def slots(self) -> Mapping[God, BoardSlot]:
        """Its slots, which show what it told of them last."""

    def recorded(self, board: str, seq: int) -> None:
        """Let the board know that its tokens are durable up to a number."""


class BoardIntake:
    """The tokens of whatever boards are plugged in, each taken once."""

    def __init__(self, board: Board) -> None:
        """Begin without having met any board."""
        self._board = board
        self._taken: dict[str, Mark] = {}
        self.ailment: Finding | None = None
        """What is wrong with the board or its cable."""

    def meet(self, board: str, durable: Mark) -> None:
        """Begin behind what is durable of a board, unless more of it was taken already.

        What is taken and not yet durable is passed over when it comes again, and acknowledged with its commit.
        """
        self._taken.setdefault(board, durable)

    def take(self, fell: Fell) -> Counted | None:
        """Return a token as it is to be recorded, or None where it was taken before or its board was never met."""
        known = self._taken.get(fell.board)
        if known is None or fell.mark.seq <= known.seq:
            return None
        self._taken[fell.board] = fell.mark
        return replace(fell.counted, flags=self._board.slots[fell.god].flags(fell.counted))

    def show(self, shown: Shown) -> list[Event]:
        """Take how a slot is, and return what is new about it."""
        slot = self._board.slots[shown.god]
        return slot.show(shown.beam, shown.dark, shown.glitches, shown.missed, shown.at_ns)

    def ail(self, finding: Finding | None) -> list[tuple[God, list[Event]]]:
        """Take what is wrong with the board, or None again, and return what is new about its slots."""
        self.ailment = finding
        if finding is None or finding.code in _HARMLESS:
            return []
        return [(god, slot.lose()) for god, slot in self._board.slots.items()]

    def trouble(self) -> Trouble | None:
        """Return what the board's ailment is to the table."""
        if self.ailment is None or self.ailment.code in _HARMLESS:
            return None
        return Trouble.LEDGER_FAILING if self.ailment.code == "board_worn" else Trouble.DEAF

    def recorded(self, durable: Mapping[str, Mark]) -> None:
        """Tell each board up to where its tokens are durable now."""
        for board, mark in durable.items():
            self._board.recorded(board, mark.seq)
