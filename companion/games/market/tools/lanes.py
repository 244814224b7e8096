"""The purchase checker: a market set up by tapping, and what each buyer can buy in it and why not. It moves no coin.

The market is shown as its keeper sees it: the keeper's side is called south.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.games.kit import Arg, Json, Move, MoveType, Seat, Struct, Value, number, one_of, put, replace
from companion.games.market.rules.board import (
    CELLS,
    COMMODITIES,
    COPIES,
    HOLE,
    KIND_OF,
    KINDS,
    LANES,
    PER_COMMODITY,
    SIZE,
)
from companion.games.market.rules.options import OPTIONS, HouseRules
from companion.games.market.rules.purchase import Deal, Refused, deal, deals
from companion.games.market.rules.state import TURN, State
from companion.games.market.tools.tool import MarketTool

SIDE: Seat = "south"
NOTHING = "nothing"
ORDERS, STACKS = HouseRules.options("toll_order", "toll_stack")


class Setting(Struct, frozen=True):
    """A market as it was tapped together; cells may be empty."""

    market: tuple[int, ...] = (HOLE,) * 16
    vendors: tuple[int, ...] = (0, 0, 0, 0)
    coins: tuple[int, ...] = (1, 1, 1, 1)
    goods: tuple[int, ...] = (0, 0, 0, 0)
    counts: tuple[int, ...] = (0, 0, 0, 0)
    order: Value = ORDERS.default
    stack: Value = STACKS.default

    @property
    def state(self) -> State:
        """The same as a game's state, for the rules to judge: one side of the table, its turn."""
        chosen = {option.key: option.default for option in OPTIONS}
        rules = HouseRules.of(chosen | {"toll_order": self.order, "toll_stack": self.stack})
        return State(
            rules,
            (SIDE,),
            coins=self.coins,
            goods=self.goods,
            counts=self.counts,
            unseen=(PER_COMMODITY,) * 4,
            step=TURN,
            market=self.market,
            vendors=self.vendors,
        )

    def left(self) -> dict[str, int]:
        """Return how many tiles of each kind are not in the market yet."""
        lying = [KIND_OF[tile] for tile in self.market if tile != HOLE]
        return {kind: COPIES[kind] - lying.count(kind) for kind in KINDS}


class Lanes(MarketTool[Setting]):
    """The purchase checker as a game of one seat."""

    name = "market.lanes"
    start = Setting()

    def listed(self, state: Setting) -> list[Move]:
        """Return every tile that may be laid or taken away, every number of tokens, every buyer's coin and goods."""
        left = [kind for kind, n in state.left().items() if n]
        listed = [Move("lay", (cell, kind)) for cell in CELLS if state.market[cell] == HOLE for kind in left]
        listed += [Move("lift", (cell,)) for cell in CELLS if state.market[cell] != HOLE]
        for which, name in enumerate(COMMODITIES):
            listed += [Move("vendor", (name, n)) for n in range(PER_COMMODITY + 1) if n != state.vendors[which]]
        listed += [Move("coin", (lane,)) for lane in SIZE]
        for lane in SIZE:
            for which, name in enumerate(COMMODITIES):
                if not state.counts[lane] or state.goods[lane] != which:
                    listed.append(Move("holds", (lane, name)))
            if state.counts[lane]:
                listed.append(Move("holds", (lane, NOTHING)))
        listed += [Move("order", (each,)) for each in ORDERS.values if each != state.order]
        listed += [Move("stack", (each,)) for each in STACKS.values if each != state.stack]
        if state != Setting():
            listed.append(Move("clear"))
        return listed

    def declared(self) -> Sequence[MoveType[Setting]]:
        """Return every tap: tiles, tokens, coins and goods, the rules for tolls, a clear board."""
        cell, lane, commodity = number(0, len(CELLS) - 1), number(0, len(SIZE) - 1), one_of(*COMMODITIES)
        return (
            MoveType("lay", _lay, {"cell": cell, "tile": one_of(*KINDS)}),
            MoveType(
                "lift", lambda state, cell: replace(state, market=put(state.market, cell, HOLE)), {"cell": cell}
            ),
            MoveType("vendor", _vendor, {"commodity": commodity, "n": number(0, PER_COMMODITY)}),
            MoveType("coin", _coin, {"lane": lane}),
            MoveType("holds", _holds, {"lane": lane, "commodity": one_of(*COMMODITIES, NOTHING)}),
            MoveType("order", lambda state, order: replace(state, order=order), {"order": one_of(*ORDERS.values)}),
            MoveType("stack", lambda state, stack: replace(state, stack=stack), {"stack": one_of(*STACKS.values)}),
            MoveType("clear", lambda _: Setting()),
        )

    def element(self, name: str, picked: Sequence[Arg]) -> str:
        """Return the cell or the buyer that a tap belongs to."""
        if name in ("lay", "lift"):
            kind = "free" if name == "lay" else "tile"
            return f"{kind}:{picked[0]}" if picked else f"{kind}:*"
        if name == "coin":
            return f"buyer:{picked[0]}" if picked else "buyer:*"
        return f"vendor:{picked[0]}" if name == "vendor" and picked else ""

    def view(self, state: Setting, seat: Seat | None) -> Mapping[str, Json]:
        """Return the market, and for each buyer what each vendor in its lane would bring it, or why nothing."""
        market = state.state
        possible = deals(market, 0)
        return {
            "market": [None if tile == HOLE else KIND_OF[tile] for tile in state.market],
            "vendors": dict(zip(COMMODITIES, state.vendors, strict=True)),
            "order": state.order,
            "stack": state.stack,
            "rules": {"order": list(ORDERS.values), "stack": list(STACKS.values)},
            "buyers": [
                {
                    "lane": lane,
                    "coin": bool(state.coins[lane]),
                    "goods": COMMODITIES[state.goods[lane]] if state.counts[lane] else "",
                    "answers": _answers(market, lane, possible),
                }
                for lane in SIZE
            ],
            "lit": sorted({cell for each in possible for cell in LANES[SIDE][each.lane][: each.depth + 1]}),
        }


def _answers(state: State, lane: int, possible: list[Deal]) -> list[Json]:
    """Return for each vendor in a lane what a purchase brings, way by way, or the code of why there is none."""
    answers: list[Json] = []
    for depth, cell in enumerate(LANES[SIDE][lane]):
        if state.market[cell] >= len(COMMODITIES):
            continue
        name = COMMODITIES[state.market[cell]]
        ways = [each for each in possible if (each.lane, each.depth) == (lane, depth)]
        answers += [
            {
                "commodity": name,
                "why_not": "",
                "brings": way.brings,
                "returned": way.returned,
                "king": way.to_king,
                "keeps_coin": way.keeps_coin,
            }
            for way in ways
        ]
        if not ways:
            refused = deal(state, 0, (lane, depth))
            assert isinstance(refused, Refused)  # or it would be among the ways
            answers.append({"commodity": name, "why_not": refused.code})
    return answers


def _lay(state: Setting, cell: int, kind: str) -> Setting:
    tile = next(t for t, each in enumerate(KIND_OF) if each == kind and t not in state.market)
    return replace(state, market=put(state.market, cell, tile))


def _vendor(state: Setting, commodity: str, n: int) -> Setting:
    return replace(state, vendors=put(state.vendors, COMMODITIES.index(commodity), n))


def _coin(state: Setting, lane: int) -> Setting:
    return replace(state, coins=put(state.coins, lane, 1 - state.coins[lane]))


def _holds(state: Setting, lane: int, name: str) -> Setting:
    has = name != NOTHING
    goods = put(state.goods, lane, COMMODITIES.index(name) if has else 0)
    return replace(state, goods=goods, counts=put(state.counts, lane, int(has)))
