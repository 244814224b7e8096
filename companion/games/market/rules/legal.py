"""The legal moves of a seat at every step, sorted."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

from companion.games.kit import CHANCE, Chance, Move, Seat
from companion.games.market.rules.board import (
    BESIDE,
    CELLS,
    COMMODITIES,
    COPIES,
    CROSS,
    HOLE,
    KIND_OF,
    KINDS,
    MESSENGER,
    SIZE,
)
from companion.games.market.rules.board import KING as KING_TILE
from companion.games.market.rules.options import ON
from companion.games.market.rules.purchase import deals
from companion.games.market.rules.state import DEAL, DRAW, KINGS, LAY, OVER, SHIFT, START, TURN, State

PASS, COMMIT, ROLLBACK, FREE = Move("pass"), Move("commit"), Move("rollback"), Move("messenger")
LEAVE = Move("leave")
NO_TILE = "hole"
"""What chance deals for the one cell that stays free."""

_COIN_MOVES = [Move("coin", (lane,)) for lane in SIZE]
_DRAWS = [Move("draw", (name,)) for name in COMMODITIES]
_TAKES = [Move("take", (name,)) for name in COMMODITIES]
_BY_NAME = sorted(range(len(COMMODITIES)), key=lambda which: COMMODITIES[which])
_LAYS = {kind: [Move("lay", (kind, cell)) for cell in CELLS] for kind in sorted(KINDS)}
_BUYS = {args: Move("buy", args) for args in [*product(SIZE, SIZE), *product(SIZE, SIZE, range(3))]}
_SHIFTS = [Move("shift", (cell,)) for cell in CELLS]


def to_act(state: State) -> tuple[Seat, ...]:
    """Return the seats that have a move now; who begins may be said by any of them."""
    step = state.step
    if step == OVER:
        return ()
    if step == START:
        return state.seats if state.rules.start == "host" else (CHANCE,)
    if step in (DEAL, DRAW):
        return (CHANCE,)
    return (state.seats[state.seat],)


def moves(state: State, seat: Seat) -> list[Move]:
    """Return exactly the legal moves of a seat, or of chance, sorted."""
    step = state.step
    if seat == CHANCE:
        due = chance(state)
        return sorted(due.outcomes) if due else []
    if step == START:
        return [Move("start", (each,)) for each in sorted(state.seats)] if seat in to_act(state) else []
    if step in (OVER, DEAL, DRAW) or seat != state.seats[state.seat]:
        return []
    if step == TURN:
        return _turn(state)
    if step == SHIFT:
        return _passing(state)
    if step == LAY:
        return _laying(state)
    if step == KINGS:
        return [LEAVE, *(_TAKES[which] for which in _BY_NAME if which in within_reach(state))]
    base = 4 * state.seat
    return [_COIN_MOVES[lane] for lane in SIZE if not state.coins[base + lane]]


def chance(state: State) -> Chance | None:
    """Return what is drawn or dealt now: the start marker, the next cell's tile, a token out of the bag."""
    seat = state.seats[state.seat]
    if state.step == START and state.rules.start == "random":
        even = Fraction(1, len(state.seats))
        return Chance("start", {Move("start", (each,)): even for each in state.seats}, automatic=True)
    if state.step == DEAL:
        left = undealt(state)
        dealt = {Move("deal", (kind,)): Fraction(n, state.left) for kind, n in left.items() if n}
        return Chance("deal", dealt, seat, {"n": state.left}, automatic=True)
    if state.step == DRAW:
        unseen, total = state.unseen, sum(state.unseen)
        drawn = {_DRAWS[which]: Fraction(unseen[which], total) for which in range(4) if unseen[which]}
        return Chance("draw", drawn, seat, {"n": state.left}, follows=bool(state.drawn))
    return None


def undealt(state: State) -> dict[str, int]:
    """Return how many tiles of each kind are not in the market yet, and the hole while its cell is not dealt."""
    left = {kind: COPIES[kind] for kind in KINDS}
    for tile in state.market:
        if tile != HOLE:
            left[KIND_OF[tile]] -= 1
    if state.step == DEAL:
        left[NO_TILE] = state.left - sum(left.values())
    return left


def within_reach(state: State) -> list[int]:
    """Return the commodities of which the king may be given one: whose vendor shares his row or column."""
    market = state.market
    return sorted(
        market[cell]
        for cell in CROSS[market.index(KING_TILE)]
        if market[cell] < len(COMMODITIES) and state.vendors[market[cell]]
    )


def movable(state: State) -> tuple[int, ...]:
    """Return the cells whose tile may go into the hole: any (ruling A3), or with `slide` adjacent those beside it."""
    return _cells(state.rules.slide, state.market.index(HOLE))


@cache
def _cells(slide: str, hole: int) -> tuple[int, ...]:
    return BESIDE[hole] if slide == "adjacent" else tuple(cell for cell in CELLS if cell != hole)


def _turn(state: State) -> list[Move]:
    """Pass, or the next step of a Play: the messenger moves for nothing, every other tile for a coin."""
    seat, market = state.seat, state.market
    base = 4 * seat
    c = state.coins
    hole, messenger = market.index(HOLE), market.index(MESSENGER)
    slide = state.rules.slide
    listed = [_BUYS[each.args] for each in deals(state, seat)]
    free = slide == "any" or messenger in BESIDE[hole]
    if state.origin is not None:
        if state.bought:
            listed.append(COMMIT)
        if free:
            listed.append(FREE)
        listed.append(ROLLBACK)
    else:
        if free:
            listed.append(FREE)
        listed.append(PASS)
    return listed + _paid(slide, hole, messenger, c[base] + 2 * c[base + 1] + 4 * c[base + 2] + 8 * c[base + 3])


@cache
def _paid(slide: str, hole: int, messenger: int, payers: int) -> list[Move]:
    """Return the moves of a tile that a coin pays for, by any buyer who has one (ruling A22). Never written to."""
    lanes = [lane for lane in SIZE if payers >> lane & 1]
    return [Move("shift", (cell, lane)) for cell in _cells(slide, hole) if cell != messenger for lane in lanes]


def _passing(state: State) -> list[Move]:
    moved = state.moved if state.rules.pass_moves_distinct == ON else HOLE
    barred = state.market.index(moved) if moved != HOLE else -1
    return [_SHIFTS[cell] for cell in movable(state) if cell != barred]


def _laying(state: State) -> list[Move]:
    market, left = state.market, undealt(state)
    empty = [cell for cell in CELLS if market[cell] == HOLE]
    return [lays[cell] for kind, lays in _LAYS.items() if left[kind] for cell in empty]
