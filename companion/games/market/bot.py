"""The app as a player: it weighs what a few moves ahead would be worth, from what its seat sees. It knows no words.

It is no master: it looks one tile and a chain of purchases ahead, and takes the rest of the bag as an average.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from companion.games.kit import BEGINNER, STRONG, Below, Json, Move, Skill, replace
from companion.games.market.rules.board import COMMODITIES, HOLE, TILE_NAMES
from companion.games.market.rules.legal import COMMIT, PASS, ROLLBACK
from companion.games.market.rules.legal import moves as listed
from companion.games.market.rules.options import HouseRules
from companion.games.market.rules.purchase import deals
from companion.games.market.rules.state import COIN, KINGS, MONEY, SHIFT, TURN, State
from companion.games.market.rules.turn import MOVES

LONGEST_CHAIN = 6


class Trader(Skill, frozen=True, kw_only=True):
    """What a player of the market goes by."""

    coin: float = 1.6
    """Points that a coin on a buyer is worth in the middle of a game."""
    reach: float = 0.35
    """Of what a buyer could buy now, the part that counts before it is bought."""
    without_coin: float = 0.4
    """Of that, the part that counts for a buyer who has no coin yet."""
    king_grows: float = 0.16
    """Tokens of one commodity that the king gets in each Pass, on the average."""
    rivalry: float = 0.7
    """What a point of the best other counts beside one of its own."""
    king_token: float = 0.5
    """What a token for the king counts, for each token of the commodity that it has most of."""
    passing: float = 1.0
    """What else a Pass is worth while there is something in the bag."""


PRACTISED_TRADER = Trader()

SKILLS = {BEGINNER: Trader(slips=30), STRONG: Trader(coin=3.2)}
"""How it plays at the other levels."""


def decide(view: Mapping[str, Json], moves: Sequence[Move], below: Below, trader: Trader = PRACTISED_TRADER) -> Move:
    """Return what the app plays for a seat that sees this and may do that."""
    state = position(view)
    if state.step == TURN:
        return _of_a_turn(state, moves, trader)
    if state.step in (SHIFT, COIN, MONEY, KINGS):
        worth = {move: _worth(_after(state, move), state.seat, trader) for move in moves}
        best = max(worth.values())
        equal = [move for move in moves if worth[move] >= best - 1e-9]
        return equal[below(len(equal))]
    return moves[below(len(moves))]


def position(view: Mapping[str, Any]) -> State:
    """Return the state that a view shows; of a Play only where it has come to, not where it began."""
    buyers = [buyer for seat in view["seats"] for buyer in view["buyers"][seat]]
    seats = tuple(view["seats"])
    return State(
        rules=HouseRules.of(view["rules"]),
        seats=seats,
        coins=tuple(int(buyer["coin"]) for buyer in buyers),
        goods=tuple(COMMODITIES.index(buyer["goods"]) if buyer["n"] else 0 for buyer in buyers),
        counts=tuple(buyer["n"] for buyer in buyers),
        unseen=_numbers(view["unseen"]),
        step=view["step"],
        start=seats.index(view["start"]) if view["start"] else 0,
        seat=seats.index(view["on_turn"]) if view["on_turn"] else 0,
        turn=view["turn"],
        left=view["left"],
        market=tuple(TILE_NAMES.index(tile) if tile else HOLE for tile in view["market"]),
        vendors=_numbers(view["vendors"]),
        king=_numbers(view["king"]),
        drawn=tuple(COMMODITIES.index(each) for each in view["drawn"]),
        moved=TILE_NAMES.index(view["moved"]) if view["moved"] else HOLE,
        bought=view["bought"],
    )


def _numbers(named: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(named[name] for name in COMMODITIES)


def _of_a_turn(state: State, moves: Sequence[Move], trader: Trader) -> Move:
    """Return the first move of the best Play, or a Pass where none gains as much as a Pass does."""
    here = _worth(state, state.seat, trader)
    if PASS not in moves and not state.bought:
        # The tile was moved for a purchase: who weighed it again might take it back, and move it again, for ever.
        return _best_play(state, trader, here, float("-inf"))[0] or ROLLBACK
    plan, gain = _best_play(state, trader, here)
    if state.bought:
        return plan if plan and gain > 0 else COMMIT
    return plan if plan and gain > _worth_of_a_pass(state, trader) else PASS


def _worth_of_a_pass(state: State, trader: Trader) -> float:
    """Return about what a Pass brings beside the tokens, which come to everybody: a coin, a token for the king."""
    base = 4 * state.seat
    coin = 0.0 if all(state.coins[base : base + 4]) else _coin_worth(state, trader)
    own = next(_tokens(state, group) for group in state.partners if state.seat in group)
    return coin + trader.king_token * max(own) + (trader.passing if state.bag else 0.0)


def _best_play(state: State, trader: Trader, here: float, least: float = 0.0) -> tuple[Move | None, float]:
    """Return the first move of the best chain of purchases, made at once or after one tile has moved, and its gain.

    One that gains no more than the `least` is none.
    """
    best: tuple[Move | None, float] = (None, least)
    for first, after in _starts(state):
        reached, bought = after, first if first and first.name == "buy" else None
        for _ in range(LONGEST_CHAIN):
            step = _best_purchase(reached, trader)
            if step is None:
                break
            bought = bought or step
            reached = _after(reached, step)
        if bought is not None and (gain := _worth(reached, state.seat, trader) - here) > best[1]:
            best = (first or bought, gain)
    return best


def _starts(state: State) -> Iterator[tuple[Move | None, State]]:
    yield None, state
    for move in listed(state, state.seats[state.seat]):
        if move.name == "messenger" or (move.name == "shift" and not state.bought):
            after = _after(state, move)
            if deals(after, state.seat):
                yield move, after


def _best_purchase(state: State, trader: Trader) -> Move | None:
    """Return the purchase that is worth most by itself, if any is."""
    weights = _weights(state, trader)
    found = [each for each in deals(state, state.seat) if each.brings]
    if not found:
        return None
    return Move("buy", max(found, key=lambda each: (each.brings * weights[each.vendor], each.args)).args)


def _after(state: State, move: Move) -> State:
    after = MOVES.play(state, state.seats[state.seat], move)
    assert isinstance(after, State)  # the move was listed
    return after


def _worth(state: State, seat: int, trader: Trader) -> float:
    """Return what a position is worth to a seat: its partnership's prospects less those of the best other."""
    weights = _weights(state, trader)
    own, others = 0.0, []
    rich = replace(state, coins=(1,) * len(state.coins))
    for group in state.partners:
        worth = sum(n * weight for n, weight in zip(_tokens(state, group), weights, strict=True))
        worth += sum(_prospects(state, rich, one, weights, trader) for one in group)
        if seat in group:
            own = worth
        else:
            others.append(worth)
    return own - trader.rivalry * max(others)


def _prospects(state: State, rich: State, seat: int, weights: Sequence[float], trader: Trader) -> float:
    """Return what the coins of a seat are worth, and what its buyers have in reach."""
    base = 4 * seat
    in_lane = [0.0] * 4
    if state.bag or state.seat != seat:
        for each in deals(rich, seat):
            part = trader.reach * (1.0 if state.coins[base + each.lane] else trader.without_coin)
            in_lane[each.lane] = max(in_lane[each.lane], part * each.brings * weights[each.vendor])
    return sum(in_lane) + _coin_worth(state, trader) * sum(state.coins[base : base + 4])


def _coin_worth(state: State, trader: Trader) -> float:
    return trader.coin if state.bag > 8 else trader.coin / 2 if state.bag else 0.05


def _weights(state: State, trader: Trader) -> list[float]:
    """Return about what a token of each commodity will count when the game is over."""
    return [n + trader.king_grows * state.bag / 4 for n in state.king]


def _tokens(state: State, group: Sequence[int]) -> list[int]:
    """Return for each commodity what counts of a partnership: what the partner with more holds."""
    best = [0, 0, 0, 0]
    for seat in group:
        own = [0, 0, 0, 0]
        for buyer in range(4 * seat, 4 * seat + 4):
            own[state.goods[buyer]] += state.counts[buyer]
        best = [max(pair) for pair in zip(best, own, strict=True)]
    return best
