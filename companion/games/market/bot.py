"""The app's player: it weighs what the next few moves would be worth, using only what its seat sees.

It looks one tile and a chain of purchases ahead, and takes the rest of the bag as an average. The strong player also
plays the best of these moves through for a few turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import tanh
from operator import attrgetter
from typing import Any

from companion.games.kit import BEGINNER, STRONG, Below, Move, Search, Seat, Skill, best_of, replace, shuffled
from companion.games.market.rules.board import COMMODITIES, HOLE, TILE_NAMES
from companion.games.market.rules.legal import COMMIT, PASS, ROLLBACK, chance, to_act
from companion.games.market.rules.legal import moves as listed
from companion.games.market.rules.options import HouseRules
from companion.games.market.rules.purchase import deals
from companion.games.market.rules.result import standing
from companion.games.market.rules.state import COIN, KINGS, MONEY, SHIFT, TURN, State
from companion.games.market.rules.turn import MOVES

LONGEST_CHAIN = 6

PLAYED_THROUGH = 6
"""Moves that are played through, the best at first sight."""

AHEAD = 2
"""Turns for which they are."""

FINE = 9
"""Decimal places of a worth, so that an error of rounding separates no equal moves."""

CLOSE = 24.0
"""Points between two players from which on a few more hardly make a difference."""


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
    playthroughs: int = 0
    """How many times a move is played through before it is made; with 0 it is made at first sight."""


PRACTISED_TRADER = Trader()

SKILLS = {BEGINNER: Trader(slips=30), STRONG: Trader(coin=3.2, playthroughs=30)}
"""How it plays at the other levels."""


def decide(view: Mapping[str, Any], moves: Sequence[Move], below: Below, trader: Trader = PRACTISED_TRADER) -> Move:
    """Return what the app plays for a seat that sees this and may do that."""
    state = position(view)
    if not trader.playthroughs:
        return _at_sight(state, moves, below, trader)
    if ROLLBACK in moves:  # in the middle of a Play, a bot never goes back to where it began
        state = replace(state, origin=state, played=tuple(map(Move.from_json, view["played"])))
    return _search(trader).best(state, state.seats[state.seat], moves, below, trader.playthroughs)


def _at_sight(state: State, moves: Sequence[Move], below: Below, trader: Trader) -> Move:
    """Return the move that is worth most at first sight."""
    worth = _weighed(state, moves, trader)
    return best_of(worth, worth.__getitem__, below)


def _weighed(state: State, moves: Sequence[Move], trader: Trader) -> dict[Move, tuple[float, bool]]:
    """Return what the moves that lead anywhere are worth at first sight.

    Of equal ones a purchase is worth most: who moved a tile without need might go on for ever.
    """
    if state.step == TURN:
        worth = _of_a_turn(state, moves, trader)
    elif state.step in (SHIFT, COIN, MONEY, KINGS):
        worth = {move: _worth(_after(state, move), state.seat, trader) for move in moves}
    else:
        worth = dict.fromkeys(moves, 0.0)
    return {move: (round(value, FINE), move.name == "buy") for move, value in worth.items()}


@lru_cache(maxsize=8)
def _search(trader: Trader) -> Search[State]:
    """Return what plays the moves of a trader through."""

    def at_sight(state: State, seat: Seat, moves: Sequence[Move], below: Below) -> Move:
        return _at_sight(state, moves, below, trader)

    def ranked(state: State, seat: Seat, moves: Sequence[Move], below: Below) -> Sequence[Move]:
        if state.step not in (TURN, SHIFT, COIN, MONEY, KINGS):
            return [_at_sight(state, moves, below, trader)]
        worth = _weighed(state, moves, trader)
        if state.played and state.played[-1].name != "buy":  # a tile was moved for a purchase: buy now
            worth = {move: gain for move, gain in worth.items() if move.name == "buy"} or worth
        return sorted(shuffled(worth, below), key=worth.__getitem__, reverse=True)[:PLAYED_THROUGH]

    return Search(
        to_act=to_act,
        moves=listed,
        play=MOVES.play,
        chance=chance,
        turn=attrgetter("turn"),
        policy=at_sight,
        ranked=ranked,
        rewards=lambda state: _rewards(state, trader),
        turns=AHEAD,
    )


def _rewards(state: State, trader: Trader) -> dict[Seat, float]:
    """Return how far each seat is ahead of the best other, or behind, from 0 to 1."""
    points = standing(state).points if state.over else tuple(_prospects_of(state, trader))
    found: dict[Seat, float] = {}
    for at, group in enumerate(state.partners):
        ahead = points[at] - max(each for other, each in enumerate(points) if other != at)
        found |= {state.seats[n]: 0.5 + tanh(ahead / CLOSE) / 2 for n in group}
    return found


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


def _of_a_turn(state: State, moves: Sequence[Move], trader: Trader) -> dict[Move, float]:
    """Return about what each first move of a turn gains that leads anywhere."""
    commit = {COMMIT: 0.0} if state.bought else {}
    found = {PASS: _worth_of_a_pass(state, trader)} if PASS in moves else commit
    here = _worth(state, state.seat, trader)
    for move, after in _plays(state, trader):
        found[move] = _worth(after, state.seat, trader) - here
    return found or {ROLLBACK: 0.0}


def _worth_of_a_pass(state: State, trader: Trader) -> float:
    """Return about what a Pass brings beside the tokens, which come to everybody: a coin, a token for the king."""
    base = 4 * state.seat
    coin = 0.0 if all(state.coins[base : base + 4]) else _coin_worth(state, trader)
    own = next(_tokens(state, group) for group in state.partners if state.seat in group)
    return coin + trader.king_token * max(own) + (trader.passing if state.bag else 0.0)


def _plays(state: State, trader: Trader) -> Iterator[tuple[Move, State]]:
    """Yield the chains of purchases, made at once or after one tile has moved: the first move and where they lead."""
    for purchase in _best_purchases(state, trader):
        yield purchase, _bought_out(_after(state, purchase), trader)
    for move in listed(state, state.seats[state.seat]):
        if move.name == "messenger" or (move.name == "shift" and not state.bought):
            after = _after(state, move)
            reached = _bought_out(after, trader)
            if reached is not after:
                yield move, reached


def _bought_out(state: State, trader: Trader) -> State:
    """Return where the best purchases lead, one after the other."""
    for _ in range(LONGEST_CHAIN):
        purchases = _best_purchases(state, trader)
        if not purchases:
            break
        state = _after(state, purchases[-1])
    return state


def _best_purchases(state: State, trader: Trader) -> list[Move]:
    """Return the purchases that are worth most by themselves, if any are."""
    weights = _weights(state, trader)
    found = [each for each in deals(state, state.seat) if each.brings]
    worth = [round(each.brings * weights[each.vendor], FINE) for each in found]
    return [Move("buy", each.args) for each, value in zip(found, worth, strict=True) if value == max(worth)]


def _after(state: State, move: Move) -> State:
    after = MOVES.play(state, state.seats[state.seat], move)
    assert isinstance(after, State)  # the move was listed
    return after


def _worth(state: State, seat: int, trader: Trader) -> float:
    """Return what a position is worth to a seat: its partnership's prospects less those of the best other."""
    own, others = 0.0, []
    for group, worth in zip(state.partners, _prospects_of(state, trader), strict=True):
        if seat in group:
            own = worth
        else:
            others.append(worth)
    return own - trader.rivalry * max(others)


def _prospects_of(state: State, trader: Trader) -> Iterator[float]:
    """Yield for each partnership about how many points it will have when the game is over."""
    weights = _weights(state, trader)
    rich = replace(state, coins=(1,) * len(state.coins))
    for group in state.partners:
        worth = sum(n * weight for n, weight in zip(_tokens(state, group), weights, strict=True))
        yield worth + sum(_prospects(state, rich, one, weights, trader) for one in group)


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
