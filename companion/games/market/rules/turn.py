"""How each move changes the state: setting up, the steps of a Pass, a Play with its commit and its way back.

A move that is not legal gives a `Refusal`; nothing here lists moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from companion.games.kit import CHANCE, Move, Refusal, Seat, replace
from companion.games.market.rules.board import BESIDE, COMMODITIES, HOLE, KIND_OF, MESSENGER
from companion.games.market.rules.legal import FREE, NO_TILE, to_act, undealt, within_reach
from companion.games.market.rules.options import ON, RANDOM
from companion.games.market.rules.purchase import Refused, deal
from companion.games.market.rules.state import (
    COIN,
    DEAL,
    DRAW,
    KINGS,
    LAY,
    MONEY,
    OVER,
    SHIFT,
    START,
    STEPS,
    TURN,
    State,
)

DRAWN_AT_ONCE = 4
MOVED_IN_A_PASS = 2


def play(state: State, seat: Seat, move: Move) -> State | Refusal:
    """Return the state after a seat's move, or why it cannot be made."""
    name, args = move
    if seat not in to_act(state):
        return Refusal("over") if state.step == OVER else Refusal("not_your_turn")
    handler = _HANDLERS.get((state.step, name)) if isinstance(name, str) else None
    if handler is None:
        known = isinstance(name, str) and any((step, name) in _HANDLERS for step in STEPS)
        return Refusal("not_now", {"move": name}) if known else Refusal("unknown_move", {"move": shown(name)})
    made, kinds = handler
    if not isinstance(args, tuple) or not _fits(args, kinds):
        return Refusal("bad_arguments", {"move": name})
    return made(state, *args)


def undoable(before: State, seat: Seat, move: Move) -> bool:
    """Return whether a seat may take its own move back while nobody has acted since.

    What was committed stands (ruling A10), and so does what chance has brought.
    """
    return seat != CHANCE and move.name != "commit" and before.step != START


def shown(value: object) -> str:
    """Return a value as the facts of a refusal hold it: escaped, and short whatever its size."""
    return ascii(value[:40])[1:-1][:40] if isinstance(value, str) else type(value).__name__[:40]


def _fits(args: tuple[object, ...], kinds: str) -> bool:
    """Return whether arguments are of the given kinds.

    ``s`` is text, ``c`` a cell, ``l`` a lane or a depth, and ``n`` a number of tokens that may be left out.
    """
    if len(args) != len(kinds) and not (kinds.endswith("n") and len(args) == len(kinds) - 1):
        return False
    for arg, kind in zip(args, kinds, strict=False):
        if kind == "s":
            if not isinstance(arg, str):
                return False
        elif type(arg) is not int or not 0 <= arg < (16 if kind == "c" else 4):
            return False
    return True


# Setting up


def _started(state: State, seat: Seat) -> State | Refusal:
    if seat not in state.seats:
        return Refusal("unknown_seat", {"seat": shown(seat)})
    start = state.seats.index(seat)
    dealt = state.rules.setup == RANDOM
    return replace(state, start=start, seat=start, step=DEAL if dealt else LAY, left=16 if dealt else 0)


def _dealt(state: State, kind: str) -> State | Refusal:
    if not undealt(state).get(kind, 0):
        return Refusal("none_left", {"kind": shown(kind)})
    market, left = state.market, state.left - 1
    if kind != NO_TILE:
        market = _with_tile(state, kind, 15 - left)
    return replace(state, market=market, left=left, step=DEAL if left else COIN)


def _laid(state: State, kind: str, cell: int) -> State | Refusal:
    """Lay a tile on any free cell; the last one that stays free is the hole (ruling A5)."""
    if not undealt(state).get(kind, 0):
        return Refusal("none_left", {"kind": shown(kind)})
    if state.market[cell] != HOLE:
        return Refusal("taken", {"cell": cell})
    market = _with_tile(state, kind, cell)
    if market.count(HOLE) > 1:
        return replace(state, market=market, seat=_next(state))
    return replace(state, market=market, seat=state.start, step=COIN)


def _with_tile(state: State, kind: str, cell: int) -> tuple[int, ...]:
    tile = next(tile for tile, each in enumerate(KIND_OF) if each == kind and tile not in state.market)
    return (*state.market[:cell], tile, *state.market[cell + 1 :])


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
    if commodity not in COMMODITIES or not state.unseen[COMMODITIES.index(commodity)]:
        return Refusal("not_in_bag", {"commodity": shown(commodity)})
    which, left = COMMODITIES.index(commodity), state.left - 1
    unseen, vendors = _added(state.unseen, which, -1), _added(state.vendors, which, 1)
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
    if commodity not in COMMODITIES or COMMODITIES.index(commodity) not in within_reach(state):
        return Refusal("out_of_reach", {"commodity": shown(commodity)})
    which = COMMODITIES.index(commodity)
    return _ended(replace(state, vendors=_added(state.vendors, which, -1), king=_added(state.king, which, 1)))


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
        coins=(*state.coins[:buyer], 0, *state.coins[buyer + 1 :]),
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
        coins = (*coins[:buyer], 0, *coins[buyer + 1 :])
    if made.brings:
        goods = (*goods[:buyer], vendor, *goods[buyer + 1 :])
        counts = _added(counts, buyer, made.brings)
    return replace(
        state,
        origin=state.origin or state,
        played=(*state.played, Move("buy", args)),
        coins=coins,
        goods=goods,
        counts=counts,
        vendors=_added(state.vendors, vendor, made.returned - made.taken),
        king=_added(state.king, vendor, made.to_king) if made.to_king else state.king,
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


def _added(numbers: tuple[int, ...], which: int, n: int) -> tuple[int, ...]:
    return (*numbers[:which], numbers[which] + n, *numbers[which + 1 :])


def _with_coin(state: State, lane: int) -> State | Refusal:
    buyer = 4 * state.seat + lane
    if state.coins[buyer]:
        return Refusal("has_coin", {"n": lane + 1})
    return replace(state, coins=(*state.coins[:buyer], 1, *state.coins[buyer + 1 :]))


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


_Handler = tuple[Callable[..., State | Refusal], str]

_HANDLERS: Mapping[tuple[str, str], _Handler] = {
    (START, "start"): (_started, "s"),
    (DEAL, "deal"): (_dealt, "s"),
    (LAY, "lay"): (_laid, "sc"),
    (COIN, "coin"): (_first_coin, "l"),
    (TURN, "pass"): (_passed, ""),
    (DRAW, "draw"): (_drawn, "s"),
    (SHIFT, "shift"): (_shifted, "c"),
    (MONEY, "coin"): (_obtained, "l"),
    (KINGS, "take"): (_taken, "s"),
    (KINGS, "leave"): (_ended, ""),
    (TURN, "shift"): (_paid_shift, "cl"),
    (TURN, "messenger"): (_messenger, ""),
    (TURN, "buy"): (_bought, "lln"),
    (TURN, "commit"): (_committed, ""),
    (TURN, "rollback"): (_rolled_back, ""),
}
