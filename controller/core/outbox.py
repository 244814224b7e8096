"""Tokens that may not be published yet: kept in order until the ledger has each one in its final form.

A token that is certain but not yet counted is a draft. It is recorded at once, and it and every later token are held
back until it is counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from controller.core.counting import Detection
from controller.core.messages import BoardCursor
from controller.core.ports import Ledger, UnnumberedDoubt, UnnumberedToken
from templo.contract import Flag, God, Token


class PendingToken(Struct, eq=False):
    """An accepted token; `recorded` once the ledger holds it in its present form."""

    token: UnnumberedToken
    fell_ns: int
    by_hand: bool = False
    """Whether it was dropped by hand, without a beam."""
    place: tuple[str, BoardCursor] | None = None
    """Its position in the count of a board that counts by itself."""
    recorded: Token | None = None


class Outbox:
    """All pending tokens, with at most one draft for each slot."""

    def __init__(self) -> None:
        """Begin with none."""
        self._pending: deque[PendingToken] = deque()
        self._drafts: dict[God, PendingToken] = {}
        self._doubts: list[UnnumberedDoubt] = []

    def add(self, pending: PendingToken) -> None:
        """Add a token that was counted."""
        self._pending.append(pending)

    def draft(self, god: God, pending: PendingToken) -> None:
        """Add a token that is certain, but may still become wider."""
        self._drafts[god] = pending
        self._pending.append(pending)

    def doubt(self, doubt: UnnumberedDoubt) -> None:
        """Add a doubt about tokens, pending or recorded."""
        self._doubts.append(doubt)

    def drafted(self, god: God) -> bool:
        """Return whether the slot has a draft."""
        return god in self._drafts

    def settle(self, god: God, counted: Detection, flags: frozenset[Flag]) -> PendingToken | None:
        """Replace the slot's draft by what it was counted as, keeping its time; return it, if there is one."""
        if (draft := self._drafts.pop(god, None)) is None:
            return None
        draft.fell_ns = counted.start_ns + counted.width_ns
        token = replace(draft.token, width_ns=counted.width_ns, flags=counted.flags | flags)
        if token != draft.token:
            draft.token, draft.recorded = token, None
        return draft

    def settle_all(self) -> None:
        """Make every draft final as it is."""
        self._drafts.clear()

    def renumber(self) -> None:
        """Mark all for recording again, because the ledger has begun a new source and numbers them again."""
        for pending in self._pending:
            pending.recorded = None

    @property
    def must_record(self) -> bool:
        """Whether the ledger lacks anything of it."""
        return bool(self._doubts) or self.unrecorded() > 0

    def unrecorded(self) -> int:
        """Return how many tokens are not recorded in their present form."""
        return sum(pending.recorded is None for pending in self._pending)

    def record(self, ledger: Ledger) -> dict[str, BoardCursor]:
        """Record all in their present form, with the doubts, in one commit; return the boards' positions in it.

        Raises what the ledger raises; the outbox is then unchanged.
        """
        boards = {each.place[0]: each.place[1] for each in self._pending if each.place is not None}
        positions = {board: (cursor.seq, cursor.huitzilopochtli or 0) for board, cursor in boards.items()}
        recorded = ledger.record([each.token for each in self._pending], positions, self._doubts)
        self._doubts = []
        for pending, token in zip(self._pending, recorded, strict=True):
            pending.recorded = token
        return boards

    def release(self) -> Iterator[tuple[PendingToken, Token]]:
        """Yield, in order, the tokens that are recorded in their final form."""
        drafts = self._drafts.values()
        while self._pending and self._pending[0] not in drafts and (token := self._pending[0].recorded) is not None:
            yield self._pending.popleft(), token
