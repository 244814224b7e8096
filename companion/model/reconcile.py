"""Compares temple and ledger: which tokens fell, what a table made of them, and whether the two agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from companion.games.kit import Seat, TokenAudit, UnclaimedToken
from companion.model.ports import StoredToken
from templo import contract
from templo.shrines import LEFT_TO_RIGHT


class Side(Struct, frozen=True):
    """One god's numbers. Law: ``fell == counted + waiting + dismissed + missing``; the table shows ``score``."""

    god: contract.God
    fell: int
    """Tokens that arrived for this table."""
    on_way: int
    """Tokens in the temple's ledger that have not arrived."""
    counted: int
    waiting: int
    dismissed: int
    missing: int
    """Tokens that arrived but are unknown to the game: 0, unless something is broken."""
    tapped: int
    corrected: int

    @property
    def score(self) -> int:
        """What counts for the god: tokens, taps and corrections."""
        return self.counted + self.tapped + self.corrected


class Unclaimed(Struct, frozen=True):
    """An unclaimed token, with what the temple reported of it."""

    waiting: UnclaimedToken
    stored: StoredToken | None


class Sheet(Struct, frozen=True):
    """Both sides, the unclaimed tokens, and the verdict."""

    sides: tuple[Side, ...]
    unclaimed: tuple[Unclaimed, ...]
    corrections: tuple[tuple[Seat, str, int], ...]
    dismissed: tuple[StoredToken, ...]

    def all_of(self, what: str) -> int:
        """Return the sum of one number over both gods."""
        return sum(int(getattr(side, what)) for side in self.sides)

    @property
    def verdict(self) -> str:
        """Whether temple and ledger agree, and if not, the reason that most needs attention.

        ``missing`` means broken; ``waiting`` and ``on_way`` something to do or to wait for; ``by_hand`` that people
        made the difference, by taps, corrections and dismissed tokens; ``agree`` that there is none.
        """
        for reason in ("missing", "waiting", "on_way"):
            if self.all_of(reason):
                return reason
        by_hand = any(side.tapped or side.corrected or side.dismissed for side in self.sides)
        return "by_hand" if by_hand else "agree"


def reconciled(tokens: Sequence[StoredToken], audit: TokenAudit, on_way: Mapping[contract.God, int]) -> Sheet:
    """Return both sides of a table: the tokens stored for it, and what its game made of them."""
    by_id = {stored.token.token: stored for stored in tokens}
    return Sheet(
        tuple(_side(god, tokens, audit, on_way[god]) for god in map(contract.God, LEFT_TO_RIGHT)),
        tuple(Unclaimed(waiting, by_id.get(waiting.id)) for waiting in audit.waiting),
        audit.corrected,
        tuple(stored for stored in tokens if stored.token.token in audit.dismissed),
    )


def _side(god: contract.God, tokens: Sequence[StoredToken], audit: TokenAudit, on_way: int) -> Side:
    fell = [stored.token.token for stored in tokens if stored.token.god is god]
    counted = sum(token in audit.counted for token in fell)
    dismissed = sum(token in audit.dismissed for token in fell)
    waiting = sum(each.god == god for each in audit.waiting)
    return Side(
        god=god,
        fell=len(fell),
        on_way=on_way,
        counted=counted,
        waiting=waiting,
        dismissed=dismissed,
        missing=max(0, len(fell) - counted - dismissed - waiting),
        tapped=audit.credited.get(god, 0) - counted,
        corrected=sum(delta for _, its, delta in audit.corrected if its == god),
    )
