"""Accepts each token of a board that counts by itself once, and remembers what is wrong with the board."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from msgspec.structs import replace

from controller.core.counting import Detection
from controller.core.messages import BoardCursor, BoardFault, BoardHello, BoardStatus, BoardToken
from controller.core.slots import Found, Slots
from templo.contract import Beam, Finding, God, Trouble

_HARMLESS = ("line_noise",)
"""Faults of a board's cable that lose no token."""


def token_id(board: str, seq: int) -> str:
    """Return the id of a board's token, the same however often it is recorded.

    A restored ledger receives tokens again that the board had already sent: the companion recognises them by this id.
    """
    return hashlib.sha256(f"{board} {seq}".encode()).hexdigest()[:32]


class BoardIntake:
    """The tokens of all boards that have been plugged in."""

    def __init__(self, slots: Slots) -> None:
        """Start without any known board."""
        self._slots = slots
        self._taken: dict[str, BoardCursor] = {}
        self._reported: dict[God, BoardStatus] = {}
        """What the board reported of its slots since its latest fault that loses tokens."""
        self.ailment: Finding | None = None
        """What is wrong with the board or its cable."""

    def meet(self, hello: BoardHello, durable: Mapping[str, tuple[int, int]]) -> None:
        """Answer a board's greeting with the position up to which its tokens were accepted.

        Tokens that were accepted but are not durable yet are ignored when they come again, and acknowledged with
        their commit.
        """
        known = durable.get(hello.board)
        cursor = hello.initial if known is None else BoardCursor(*known)
        self._taken.setdefault(hello.board, cursor)
        hello.respond(cursor)

    def take(self, fell: BoardToken) -> Detection | None:
        """Return a token for the ledger, or None if it was accepted before or its board is unknown."""
        known = self._taken.get(fell.board)
        if known is None or fell.cursor.seq <= known.seq:
            return None
        self._taken[fell.board] = fell.cursor
        return replace(fell.counted, flags=self._slots.board_slots[fell.god].flags(fell.counted))

    def report(self, item: BoardStatus | BoardFault) -> Found:
        """Process a report about a slot or the board; return the events of its slots.

        While a board loses tokens its beams are unknown, whatever it reports of them.
        """
        slots = self._slots.board_slots
        if isinstance(item, BoardStatus):
            self._reported[item.god] = item
            shown = item._replace(beam=Beam.UNKNOWN) if self._loses() else item
            return [(item.god, slots[item.god].report(shown))]
        self.ailment = item.finding
        if self._loses():
            self._reported.clear()
            return [(god, slot.disconnect()) for god, slot in slots.items()]
        return [(god, slots[god].report(status)) for god, status in self._reported.items()]

    def trouble(self) -> Trouble | None:
        """Return the board's fault as a trouble of the temple, if it loses tokens."""
        if self.ailment is None or not self._loses():
            return None
        return Trouble.LEDGER_FAILING if self.ailment.code == "board_worn" else Trouble.DEAF

    def recorded(self, durable: Mapping[str, BoardCursor]) -> None:
        """Acknowledge to each board up to where its tokens are durable now."""
        for board, cursor in durable.items():
            self._slots.source.recorded(board, cursor.seq)

    def _loses(self) -> bool:
        return self.ailment is not None and self.ailment.code not in _HARMLESS
