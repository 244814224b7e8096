"""How each move changes the state: setting up, the steps of a Pass, and a Play, which ends with a commit.

An illegal move gives a `Refusal`.
"""

from __future__ import annotations

from operator import attrgetter

from companion.games.kit import (
    ANYONE,
    CHANCE,
    Move,
    MoveTable,
    MoveType,
    Refusal,
    Seat,
    a_seat,
    added,
    number,
    one_of,
    put,
    replace,
)
from companion.games.market.rules.board import BESIDE, CELLS, COMMODITIES, HOLE, KIND_OF, KINDS, MESSENGER, SIZE
from companion.games.market.rules.legal import FREE, NO_TILE, to_act, undealt, within_reach
from companion.games.market.rules.options import ON, RANDOM
from companion.games.market.rules.purchase import Refused, deal
from companion.games.market.rules.state import COIN, DEAL, DRAW, KINGS, LAY, MONEY, OVER, SHIFT, START, TURN, State

DRAWN_AT_ONCE = 4
MOVED_IN_A_PASS = 2


def undoable(before: State, seat: Seat, move: Move) -> bool:
    """Return whether a seat may take its own move back while nobody has acted since.

    What was committed stands (ruling A10), and so does what chance has brought.
    """
    return seat != CHANCE and move.name != "commit" and before.step != START


# Setting up


def _started(state: State, seat: Seat) -> State:
    start = state.seats.index(seat)
    dealt = state.rules.setup == RANDOM
    return replace(state, start=start, seat=start, step=DEAL if dealt else LAY, left=16 if dealt else 0)


def _dealt(state: State, kind: str) -> State | Refusal:
    if not undealt(state).get(kind, 0):
        return Refusal("none_left", {"kind": kind})
    market, left = state.market, state.left - 1
    if kind != NO_TILE:
        market = _with_tile(state, kind, 15 - left)
    return replace(state, market=market, left=left, step=DEAL if left else COIN)


def _laid(state: State, kind: str, cell: int) -> State | Refusal:
    """Lay a tile on any free cell; the last one that stays free is the hole (ruling A5)."""
    if not undealt(state).get(kind, 0):
        return Refusal("none_left", {"kind": kind})
    if state.market[cell] != HOLE:
        return Refusal("taken", {"cell": cell})
    market = _with_tile(state, kind, cell)
    if market.count(HOLE) > 1:
        return replace(state, market=market, seat=_next(state))
    return replace(state, market=market, seat=state.start, step=COIN)


def _with_tile(state: State, kind: str, cell: int) -> tuple[int, ...]:
    tile = next(tile for tile, each in enumerate(KIND_OF) if each == kind and tile not in state.market)
    return put(state.market, cell, tile)


def _first_coin(state: State, lane: int) -> State | Refusal:
    after = _with_coin(state, lane)
    if isinstance(after, Refusal):
        return after
    seat = _next(state)
    return replace(after, seat=seat, step=TURN if seat == state.start else COIN)


# Pass: replenish, move the market, obtain money, utilize the king


def _passed(state: State) -> State | Refusal:
    if state.origin is not None:
        return Refusal("playing")
    if state.bag:
        return replace(state, step=DRAW, left=DRAWN_AT_ONCE)
    return replace(state, step=SHIFT, left=MOVED_IN_A_PASS)


def _drawn(state: State, commodity: str) -> State | Refusal:
    which, left = COMMODITIES.index(commodity), state.left - 1
    if not state.unseen[which]:
        return Refusal("not_in_bag", {"commodity": commodity})
    unseen, vendors = added(state.unseen, which, -1), added(state.vendors, which, 1)
    after = replace(state, unseen=unseen, vendors=vendors, left=left, drawn=(*state.drawn, which))
    return after if left else replace(after, step=SHIFT, left=MOVED_IN_A_PASS)


def _shifted(state: State, cell: int) -> State | Refusal:
    tile = state.market[cell]
    refused = _immovable(state, cell)
    if refused:
        return refused
    if tile == state.moved and state.rules.pass_moves_distinct == ON:
        return Refusal("same_tile")
    market, left = _slid(state.market, cell), state.left - 1
    if left:
        return replace(state, market=market, left=left, moved=tile)
    after = replace(state, market=market, left=0, moved=HOLE)
    base = 4 * state.seat
    return _to_king(after) if all(state.coins[base : base + 4]) else replace(after, step=MONEY)


def _obtained(state: State, lane: int) -> State | Refusal:
    after = _with_coin(state, lane)
    return after if isinstance(after, Refusal) else _to_king(after)


def _to_king(state: State) -> State:
    """Let the king be given a token where any is within his reach, as the last step of a Pass (ruling A26)."""
    return replace(state, step=KINGS) if within_reach(state) else _ended(state)


def _taken(state: State, commodity: str) -> State | Refusal:
    which = COMMODITIES.index(commodity)
    if which not in within_reach(state):
        return Refusal("out_of_reach", {"commodity": commodity})
    return _ended(replace(state, vendors=added(state.vendors, which, -1), king=added(state.king, which, 1)))


def _ended(state: State) -> State:
    """End a turn; the game ends with the round in which the bag is empty (ruling A17)."""
    seat = _next(state)
    if seat == state.start and not state.bag:
        return replace(state, step=OVER, drawn=())
    return replace(state, step=TURN, seat=seat, turn=state.turn + 1, drawn=())


# Play: one transaction, from the state in which the turn began


def _paid_shift(state: State, cell: int, lane: int) -> State | Refusal:
    """Move a tile for the coin of any own buyer (ruling A22)."""
    refused = _immovable(state, cell)
    if refused:
        return refused
    if state.market[cell] == MESSENGER:
        return Refusal("messenger_is_free")
    buyer = 4 * state.seat + lane
    if not state.coins[buyer]:
        return Refusal("no_coin", {"n": lane + 1})
    return replace(
        state,
        origin=state.origin or state,
        played=(*state.played, Move("shift", (cell, lane))),
        market=_slid(state.market, cell),
        coins=put(state.coins, buyer, 0),
    )


def _messenger(state: State) -> State | Refusal:
    cell = state.market.index(MESSENGER)
    refused = _immovable(state, cell)
    return refused or replace(
        state,
        origin=state.origin or state,
        played=(*state.played, FREE),
        market=_slid(state.market, cell),
    )


def _bought(state: State, *args: int) -> State | Refusal:
    made = deal(state, state.seat, args)
    if isinstance(made, Refused):
        return Refusal(made.code, {"n": args[0] + 1})
    buyer, vendor = 4 * state.seat + made.lane, made.vendor
    coins, goods, counts = state.coins, state.goods, state.counts
    if not made.keeps_coin:
        coins = put(coins, buyer, 0)
    if made.brings:
        goods = put(goods, buyer, vendor)
        counts = added(counts, buyer, made.brings)
    return replace(
        state,
        origin=state.origin or state,
        played=(*state.played, Move("buy", args)),
        coins=coins,
        goods=goods,
        counts=counts,
        vendors=added(state.vendors, vendor, made.returned - made.taken),
        king=added(state.king, vendor, made.to_king) if made.to_king else state.king,
        bought=state.bought + 1,
    )


def _committed(state: State) -> State | Refusal:
    if not state.bought:
        return Refusal("nothing_bought")
    return _ended(replace(state, bought=0, played=(), origin=None))


def _rolled_back(state: State) -> State | Refusal:
    return state.origin or Refusal("nothing_played")


# What the steps share


def _next(state: State) -> int:
    return (state.seat + 1) % len(state.seats)


def _with_coin(state: State, lane: int) -> State | Refusal:
    buyer = 4 * state.seat + lane
    if state.coins[buyer]:
        return Refusal("has_coin", {"n": lane + 1})
    return replace(state, coins=put(state.coins, buyer, 1))


def _immovable(state: State, cell: int) -> Refusal | None:
    if state.market[cell] == HOLE:
        return Refusal("no_tile")
    if state.rules.slide == "adjacent" and state.market.index(HOLE) not in BESIDE[cell]:
        return Refusal("not_beside_hole")
    return None


def _slid(market: tuple[int, ...], cell: int) -> tuple[int, ...]:
    """Return the market with a tile moved into the hole; tokens ride with their vendor and with the king (A3)."""
    cells = list(market)
    cells[cells.index(HOLE)], cells[cell] = cells[cell], HOLE
    return tuple(cells)


def _out_of_turn(state: State, seat: Seat, _move: Move) -> Refusal | None:
    if seat in to_act(state):
        return None
    return Refusal("over") if state.step == OVER else Refusal("not_your_turn")


_COMMODITY, _TILE, _CELL, _LANE = (
    one_of(*COMMODITIES),
    one_of(*KINDS),
    number(0, len(CELLS) - 1),
    number(0, len(SIZE) - 1),
)

MOVES: MoveTable[State] = MoveTable(
    MoveType("start", _started, {"seat": a_seat()}, ANYONE, (START,)),
    MoveType("deal", _dealt, {"tile": one_of(*KINDS, NO_TILE)}, CHANCE, (DEAL,)),
    MoveType("lay", _laid, {"tile": _TILE, "cell": _CELL}, during=(LAY,)),
    MoveType("coin", _first_coin, {"lane": _LANE}, during=(COIN,)),
    MoveType("pass", _passed, during=(TURN,)),
    MoveType("draw", _drawn, {"commodity": _COMMODITY}, CHANCE, (DRAW,)),
    MoveType("shift", _shifted, {"cell": _CELL}, during=(SHIFT,)),
    MoveType("coin", _obtained, {"lane": _LANE}, during=(MONEY,)),
    MoveType("take", _taken, {"commodity": _COMMODITY}, during=(KINGS,)),
    MoveType("leave", _ended, during=(KINGS,)),
    MoveType("shift", _paid_shift, {"cell": _CELL, "lane": _LANE}, during=(TURN,)),
    MoveType("messenger", _messenger, during=(TURN,)),
    MoveType("buy", _bought, {"lane": _LANE, "place": _LANE, "to_king": _LANE}, during=(TURN,), optional=1),
    MoveType("commit", _committed, during=(TURN,)),
    MoveType("rollback", _rolled_back, during=(TURN,)),
    seats=attrgetter("seats"),
    stage=attrgetter("step"),
    gate=_out_of_turn,
)
"""Every move of the game."""
