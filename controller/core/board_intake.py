"""Takes each token of the boards that count by themselves once, and remembers what is wrong with a board.

No port, no disk, no clock: the ledger's place for each board comes in as an argument.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from controller.core.counting import Detection
from controller.core.diagnosis import Finding
from controller.core.messages import BoardCursor, BoardFault, BoardHello, BoardStatus, BoardToken
from controller.core.slots import Found, Slots
from templo.contract import Trouble

_HARMLESS = ("line_noise",)
"""Faults of a board's cable that lose nothing."""


def token_id(board: str, seq: int) -> str:
    """Return the id of a board's token, the same however often it is recorded.

    A ledger that was restored takes tokens from its board again that an earlier one has delivered: the companion
    knows them by it.
    """
    return hashlib.sha256(f"{board} {seq}".encode()).hexdigest()[:32]


class BoardIntake:
    """The tokens of whatever boards are plugged in."""

    def __init__(self, slots: Slots) -> None:
        """Begin without having met any board."""
        self._slots = slots
        self._taken: dict[str, BoardCursor] = {}
        self.ailment: Finding | None = None
        """What is wrong with the board or its cable."""

    def meet(self, hello: BoardHello, durable: Mapping[str, tuple[int, int]]) -> None:
        """Begin behind what is durable of a board, unless more of it was taken already, and answer it.

        What is taken and not yet durable is passed over when it comes again, and acknowledged with its commit.
        """
        known = durable.get(hello.board)
        cursor = hello.otherwise if known is None else BoardCursor(*known)
        self._taken.setdefault(hello.board, cursor)
        hello.respond(cursor)

    def take(self, fell: BoardToken) -> Detection | None:
        """Return a token as it is to be recorded, or None where it was taken before or its board was never met."""
        known = self._taken.get(fell.board)
        if known is None or fell.mark.seq <= known.seq:
            return None
        self._taken[fell.board] = fell.mark
        return replace(fell.counted, flags=self._slots.board_slots[fell.god].flags(fell.counted))

    def report(self, item: BoardStatus | BoardFault) -> Found:
        """Take the state of a slot, or what is wrong with the board, and return what is new about its slots."""
        slots = self._slots.board_slots
        if isinstance(item, BoardStatus):
            return [(item.god, slots[item.god].report(item))]
        self.ailment = item.finding
        return [(god, slot.disconnect()) for god, slot in slots.items()] if self._loses() else []

    def trouble(self) -> Trouble | None:
        """Return what the board's ailment is to the table."""
        if self.ailment is None or not self._loses():
            return None
        return Trouble.LEDGER_FAILING if self.ailment.code == "board_worn" else Trouble.DEAF

    def recorded(self, durable: Mapping[str, BoardCursor]) -> None:
        """Acknowledge to each board up to where its tokens are durable now."""
        for board, mark in durable.items():
            self._slots.source.recorded(board, mark.seq)

    def _loses(self) -> bool:
        return self.ailment is not None and self.ailment.code not in _HARMLESS
