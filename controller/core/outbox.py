"""Tokens that fell and of which nobody may hear yet, in their order, until the ledger holds each for good.

One that is certain but not yet counted is a draft: it is recorded, and held back with all that fell after it until
it is counted and recorded as it was counted. No clock, and no disk but the ledger that is handed in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from controller.core.counting import Counted
from controller.core.messages import Mark
from controller.core.ports import Fallen, Ledger
from templo.contract import Flag, God, Token


@dataclass(slots=True, eq=False)
class Untold:
    """One such token; `recorded` once the ledger holds it as it is now."""

    fallen: Fallen
    fell_ns: int
    wished: bool = False
    """Whether it was counted from edges that no beam gave."""
    place: tuple[str, Mark] | None = None
    """Where a board that counts by itself has it."""
    recorded: Token | None = None


class Withheld:
    """All of them, drafts among them: at most one for each slot."""

    def __init__(self) -> None:
        """Begin with none."""
        self._untold: deque[Untold] = deque()
        self._drafts: dict[God, Untold] = {}

    def add(self, untold: Untold) -> None:
        """Hold back a token that was counted."""
        self._untold.append(untold)

    def draft(self, god: God, untold: Untold) -> None:
        """Hold back a token that is certain, and may still become wider."""
        self._drafts[god] = untold
        self._untold.append(untold)

    def drafted(self, god: God) -> bool:
        """Say whether the slot has a draft."""
        return god in self._drafts

    def settle(self, god: God, counted: Counted, flags: frozenset[Flag]) -> bool:
        """Take what the slot's draft was counted as, its time stays; False where it has none."""
        if (draft := self._drafts.pop(god, None)) is None:
            return False
        draft.fell_ns = counted.start_ns + counted.width_ns
        fallen = replace(draft.fallen, width_ns=counted.width_ns, flags=counted.flags | flags)
        if fallen != draft.fallen:
            draft.fallen, draft.recorded = fallen, None
        return True

    def settle_all(self) -> None:
        """Let every draft stay as it is."""
        self._drafts.clear()

    def renumber(self) -> None:
        """Record all of them again, as the ledger has begun a new source and numbers them anew."""
        for untold in self._untold:
            untold.recorded = None

    def unrecorded(self) -> int:
        """Return how many the ledger does not hold as they are now."""
        return sum(untold.recorded is None for untold in self._untold)

    def record(self, ledger: Ledger) -> dict[str, Mark]:
        """Make all of them durable as they are now, in one commit; return the boards' marks that this covers.

        Raises what the ledger raises; they are then as they were.
        """
        boards = {each.place[0]: each.place[1] for each in self._untold if each.place is not None}
        marks = {board: (mark.seq, mark.huitzilopochtli or 0) for board, mark in boards.items()}
        recorded = ledger.record([each.fallen for each in self._untold], marks)
        for untold, token in zip(self._untold, recorded, strict=True):
            untold.recorded = token
        return boards

    def let_out(self) -> Iterator[tuple[Untold, Token]]:
        """Let go, in order, of what is recorded for good."""
        drafts = self._drafts.values()
        while self._untold and self._untold[0] not in drafts and (token := self._untold[0].recorded) is not None:
            yield self._untold.popleft(), token
