"""The bag: four tokens at a time, drawn by the app or typed in from a real bag, with what is left and the odds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import comb

from companion.games.kit import CHANCE, Chance, Json, Move, MoveType, Seat, Struct, one_of, replace
from companion.games.market.rules.board import COMMODITIES, PER_COMMODITY
from companion.games.market.rules.options import BLIND, EQUAL, HouseRules
from companion.games.market.rules.turn import DRAWN_AT_ONCE
from companion.games.market.tools.tool import MarketTool

REMOVED, MODES = HouseRules.options("removed", "removed_mode")


class Sack(Struct, frozen=True):
    """A bag on its way: `unseen` counts what is in it together with what was set aside unseen."""

    removed: int
    mode: str
    unseen: tuple[int, ...]
    left: int = 0
    drawn: tuple[int, ...] = ()

    @classmethod
    def full(cls, removed: int, mode: str) -> Sack:
        """Return a bag out of which some tokens were set aside and none drawn."""
        each = PER_COMMODITY - (removed // len(COMMODITIES) if mode == EQUAL else 0)
        return cls(removed, mode, (each,) * len(COMMODITIES))

    @property
    def aside(self) -> int:
        """How many tokens among the unseen are not in the bag."""
        return self.removed if self.mode == BLIND else 0

    @property
    def bag(self) -> int:
        """How many tokens are in the bag."""
        return sum(self.unseen) - self.aside

    def at_least_one(self, which: int) -> Fraction:
        """Return the chance that the next four tokens hold one of a commodity."""
        total, drawn = sum(self.unseen), min(DRAWN_AT_ONCE, self.bag)
        return 1 - Fraction(comb(total - self.unseen[which], drawn), comb(total, drawn))


class Bag(MarketTool[Sack]):
    """The bag as a game of one seat."""

    name = "market.bag"
    start = Sack.full(int(REMOVED.default), str(MODES.default))

    def listed(self, state: Sack) -> list[Move]:
        """Return the next draw, or how to fill the bag while nothing was drawn out of it."""
        listed = [Move("draw")] if state.bag else []
        if state != Sack.full(state.removed, state.mode):
            return [*listed, Move("refill")]
        now = (state.removed, state.mode)
        listed += [Move("aside", each) for each in product(REMOVED.values, MODES.values) if each != now]
        return listed

    def declared(self) -> Sequence[MoveType[Sack]]:
        """Return a draw, a token out of a real bag or the app's, and a bag filled again."""
        aside = {"n": one_of(*REMOVED.values), "mode": one_of(*MODES.values)}
        return (
            MoveType("draw", lambda state: replace(state, left=DRAWN_AT_ONCE, drawn=())),
            MoveType("came", _came, {"commodity": one_of(*COMMODITIES)}, CHANCE),
            MoveType("aside", lambda _, n, mode: Sack.full(n, mode), aside),
            MoveType("refill", lambda state: Sack.full(state.removed, state.mode)),
        )

    def chance(self, state: Sack) -> Chance | None:
        """Return the next token of a draw that is on its way."""
        if not state.left:
            return None
        total = sum(state.unseen)
        outcomes = {
            Move("came", (name,)): Fraction(n, total) for name, n in zip(COMMODITIES, state.unseen, strict=True) if n
        }
        return Chance("came", outcomes, facts={"n": state.left}, follows=bool(state.drawn))

    def view(self, state: Sack, seat: Seat | None) -> Mapping[str, Json]:
        """Return what is left and how likely each commodity is."""
        total = sum(state.unseen)
        return {
            "bag": state.bag,
            "aside": state.aside,
            "removed": state.removed,
            "mode": state.mode,
            "rules": {"removed": list(REMOVED.values), "mode": list(MODES.values)},
            "left": state.left,
            "fresh": state == Sack.full(state.removed, state.mode),
            "drawn": [COMMODITIES[which] for which in state.drawn],
            "goods": [
                {
                    "commodity": name,
                    "n": n,
                    "next": n / total if state.bag else 0,
                    "one_of_four": float(state.at_least_one(which)) if state.bag else 0,
                }
                for which, (name, n) in enumerate(zip(COMMODITIES, state.unseen, strict=True))
            ],
        }


def _came(state: Sack, commodity: str) -> Sack:
    which = COMMODITIES.index(commodity)
    unseen = (*state.unseen[:which], state.unseen[which] - 1, *state.unseen[which + 1 :])
    return replace(state, unseen=unseen, left=state.left - 1, drawn=(*state.drawn, which))
