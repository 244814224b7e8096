"""What the pipeline knows of boards that count by themselves: whose tokens were taken up to where, and what ails one.

No port, no disk, no clock: it says which token is news and tells a board what is durable, and records nothing itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from controller.core.counting import Counter, Detection, Edge, Event, Limits, MissedEdge
from controller.core.diagnosis import Finding
from controller.core.messages import BoardCursor, BoardStatus, BoardToken
from templo.contract import Beam, Flag, God, Trouble

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
        self._taken: dict[str, BoardCursor] = {}
        self.ailment: Finding | None = None
        """What is wrong with the board or its cable."""

    def meet(self, board: str, durable: BoardCursor) -> None:
        """Begin behind what is durable of a board, unless more of it was taken already.

        What is taken and not yet durable is passed over when it comes again, and acknowledged with its commit.
        """
        self._taken.setdefault(board, durable)

    def take(self, fell: BoardToken) -> Detection | None:
        """Return a token as it is to be recorded, or None where it was taken before or its board was never met."""
        known = self._taken.get(fell.board)
        if known is None or fell.mark.seq <= known.seq:
            return None
        self._taken[fell.board] = fell.mark
        return replace(fell.counted, flags=self._board.slots[fell.god].flags(fell.counted))

    def show(self, shown: BoardStatus) -> list[Event]:
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

    def recorded(self, durable: Mapping[str, BoardCursor]) -> None:
        """Tell each board up to where its tokens are durable now."""
        for board, mark in durable.items():
            self._board.recorded(board, mark.seq)


class BoardSlot(Counter):
    """One slot as its board tells of it: nothing is counted here."""

    def __init__(self, limits: Limits, since_ns: int, learn: Callable[[Limits], None]) -> None:
        """Begin unknown: nobody has said anything yet."""
        super().__init__(limits, False, since_ns)
        self.beam = Beam.UNKNOWN
        self._told_glitches = self._heard_glitches = self._heard_missed = 0
        self._learn = learn

    @property
    def glitches(self) -> int:
        """How many spells so far were too short for a token, through all restarts of the board."""
        return self._told_glitches

    def learn(self, limits: Limits) -> None:
        """Let the board count by other limits."""
        super().learn(limits)
        self._learn(limits)

    def flags(self, counted: Detection) -> frozenset[Flag]:
        """Return a token's flags with what the learned band adds."""
        band = self._limits.band
        wide = band is not None and counted.width_ns > band and Flag.JAM not in counted.flags
        return counted.flags | {Flag.OVERLAP} if wide else counted.flags

    def show(self, beam: Beam, dark: bool, glitches: int, missed: int, now_ns: int) -> list[Event]:
        """Take how the slot is, with the board's own numbers since it started; they fall when it starts anew."""
        events: list[Event] = []
        self._told_glitches += glitches - self._heard_glitches if glitches >= self._heard_glitches else glitches
        news = missed - self._heard_missed if missed >= self._heard_missed else missed
        self._heard_glitches, self._heard_missed = glitches, missed
        self.missed_edges += news
        events += [MissedEdge(now_ns, dark)] * min(news, 100)
        if dark != self._dark:
            self._dark, self._last_ns = dark, now_ns
        self._show(beam, events)
        return events

    def lose(self) -> list[Event]:
        """Take it that nobody watches the slot any more."""
        events: list[Event] = []
        self._show(Beam.UNKNOWN, events)
        return events

    def feed(self, edge: Edge) -> list[Event]:
        """Refuse: edges of this slot are counted elsewhere."""
        raise AssertionError(f"an edge at {edge.at_ns} came to a slot that a board counts")

    def advance(self, now_ns: int) -> list[Event]:
        """Return nothing: the board's clock does it."""
        return []

    def deadline(self) -> int | None:
        """Return None: the board keeps its own."""
        return None
