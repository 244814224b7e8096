"""Laws of The Aztec Market in random play: nothing is lost, turning changes nothing, a second reading agrees."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from companion.games.kit import CHANCE, Move, replace
from companion.games.market import GAME
from companion.games.market.rules.board import COPIES, KIND_OF, LANES, SIDES, TILES, turned
from companion.games.market.rules.purchase import deals
from companion.games.market.rules.state import State
from tests.games.market_sitting import Sitting, all_options
from tests.games.playouts import accepted, drawn


def _states(seed: int, players: int, plies: int = 400, **chosen: Any) -> Iterator[tuple[State, str, Move, State]]:
    """Play at random, half of the choices by name first; yield each move with the states around it."""
    random = Random(seed)
    while plies > 0:
        state: State = GAME.rules.setup(all_options(**chosen), GAME.seatings[players])
        while not state.over and plies > 0:
            seat = random.choice(GAME.rules.to_act(state))
            move = drawn(GAME.rules.moves(state, seat), random)
            after = accepted(GAME.rules.play(state, seat, move), move)
            yield state, seat, move, after
            state, plies = after, plies - 1


def _any_rules(random: Random) -> dict[str, Any]:
    return {option.key: random.choice(option.values) for option in GAME.options}


players = pytest.mark.parametrize("players", GAME.seatings)


@players
def test_tokens_coins_and_tiles_are_neither_made_nor_lost(players: int) -> None:
    random = Random(players)
    for seed in range(4):
        rules = _any_rules(random)
        gone = rules["removed"] // 4 if rules["removed_mode"] == "equal" else 0
        for _, _, _, state in _states(seed, players, 300, **rules):
            for which in range(4):
                held = sum(n for n, goods in zip(state.counts, state.goods, strict=True) if goods == which)
                assert state.unseen[which] + state.vendors[which] + state.king[which] + held == 20 - gone
            assert set(state.coins) <= {0, 1}
            assert state.bag % 4 == (0 if state.step != "draw" else state.left % 4)
            tiles = [tile for tile in state.market if tile < TILES]
            assert len(set(tiles)) == len(tiles)
            assert state.step in ("start", "deal", "lay") or len(tiles) == 15


def test_the_box_holds_fifteen_tiles() -> None:
    assert sum(COPIES.values()) == TILES == 15
    assert {kind: KIND_OF.count(kind) for kind in COPIES} == dict(COPIES)


def _turned(state: State) -> State:
    """Return a state with the market and its seats turned by 90 degrees."""
    market = [0] * 16
    for cell, tile in enumerate(state.market):
        market[turned(cell)] = tile
    return replace(
        state,
        seats=tuple(_clockwise(seat) for seat in state.seats),
        market=tuple(market),
        played=tuple(_turned_move(move) for move in state.played),
        origin=_turned(state.origin) if state.origin else None,
    )


def _clockwise(seat: str) -> str:
    return SIDES[(SIDES.index(seat) + 1) % 4] if seat in SIDES else seat


def _turned_move(move: Move) -> Move:
    match move:
        case Move("shift", (cell, *payer)):
            return Move("shift", (turned(int(cell)), *payer))
        case Move("lay", (kind, cell)):
            return Move("lay", (kind, turned(int(cell))))
        case Move("start", (seat,)):
            return Move("start", (_clockwise(str(seat)),))
    return move


def test_four_quarter_turns_lead_back() -> None:
    assert all(turned(turned(turned(turned(cell)))) == cell for cell in range(16))
    for side, lanes in LANES.items():
        assert LANES[_clockwise(side)] == tuple(tuple(turned(cell) for cell in lane) for lane in lanes)


@players
def test_turning_the_market_with_its_seats_changes_nothing(players: int) -> None:
    """A1, A15, A23: the same moves, the same outcomes, whichever way the table is turned."""
    random = Random(players)
    for seed in range(3):
        rules = _any_rules(random) | {"setup": "draft"}
        for state, seat, move, after in _states(seed, players, 250, **rules):
            other = _turned(state)
            there = _clockwise(seat)
            assert GAME.rules.to_act(other) == tuple(_clockwise(each) for each in GAME.rules.to_act(state))
            assert GAME.rules.moves(other, there) == sorted(
                _turned_move(each) for each in GAME.rules.moves(state, seat)
            )
            assert GAME.rules.play(other, there, _turned_move(move)) == _turned(after)


# Purchases once more, written for reading alone


def _naive_purchases(state: State, seat: str) -> dict[tuple[int, int], set[tuple[int, int, int, bool]]]:
    """Return by lane and depth what each possible purchase keeps, puts back, gives the king, and whether it pays.

    The market as a grid of words; a buyer looks up its lane square by square.
    """
    grid = [
        ["hole" if tile == TILES else KIND_OF[tile] for tile in state.market[row : row + 4]] for row in (0, 4, 8, 12)
    ]
    for _ in range({"south": 0, "east": 1, "north": 2, "west": 3}[seat]):
        grid = [list(row) for row in zip(*grid[::-1], strict=True)]  # turn the board until the seat is in the south
    found: dict[tuple[int, int], set[tuple[int, int, int, bool]]] = {}
    names = ["pottery", "cloth", "jewels", "herbs"]
    for lane in range(4):
        buyer = 4 * state.seats.index(seat) + lane
        for depth in range(4):
            here, between = grid[3 - depth][lane], [grid[3 - nearer][lane] for nearer in range(depth)]
            if here not in names or not state.coins[buyer] or "crowd" in between:
                continue
            which = names.index(here)
            tokens = state.vendors[which]
            if tokens == 0 or (state.counts[buyer] and names[state.goods[buyer]] != here):
                continue
            passed = [tile for tile in reversed(between) if tile in ("porter", "governor")]
            if state.rules.toll_stack == "once_per_kind":
                passed = sorted(set(passed), key=passed.index)
            orders = [passed] if state.rules.toll_order == "path" else [passed, sorted(passed), sorted(passed)[::-1]]
            if state.rules.toll_order == "choice" and len(passed) == 4:
                orders += [["porter", "governor", "porter", "governor"], ["governor", "porter", "porter", "governor"]]
            for order in orders:
                takers = order[:tokens]
                back, king = takers.count("porter"), takers.count("governor")
                pays = "ambassador" not in between
                if pays or back < tokens:
                    found.setdefault((lane, depth), set()).add((tokens - back - king, back, king, pays))
    return found


@players
def test_purchases_agree_with_a_second_reading_of_the_rules(players: int) -> None:
    seen = 0
    random = Random(players)
    for seed in range(30):
        rules = _any_rules(random)
        for state in _markets(seed, players, rules):
            for seat in state.seats:
                mine: dict[tuple[int, int], set[tuple[int, int, int, bool]]] = {}
                for deal in deals(state, state.seats.index(seat)):
                    what = (deal.brings, deal.returned, deal.to_king, not deal.keeps_coin)
                    mine.setdefault((deal.lane, deal.depth), set()).add(what)
                assert mine == _naive_purchases(state, seat)
                seen += len(mine)
    assert seen > 200


def _markets(seed: int, players: int, rules: dict[str, Any]) -> Iterator[State]:
    """Yield markets as no game may come by: any tiles anywhere, few tokens, buyers with anything."""
    random = Random(seed)
    for _ in range(12):
        market = random.sample(range(16), 16)
        counts = [random.choice((0, 0, 1, 5)) for _ in range(4 * players)]
        opening: State = GAME.rules.setup(all_options(**rules), GAME.seatings[players])
        yield replace(
            opening,
            step="turn",
            market=tuple(market),
            vendors=tuple(random.randrange(4) for _ in range(4)),
            counts=tuple(counts),
            goods=tuple(random.randrange(4) if n else 0 for n in counts),
            coins=tuple(random.randrange(2) for _ in range(4 * players)),
        )


def test_what_a_purchase_was_said_to_bring_is_what_it_brings() -> None:
    for state in _markets(7, 4, {"toll_order": "choice"}):
        for deal in deals(state, 0):
            after = accepted(GAME.rules.play(state, "south", Move("buy", deal.args)), Move("buy", deal.args))
            assert after.counts[deal.lane] - state.counts[deal.lane] == deal.brings
            assert after.king[deal.vendor] - state.king[deal.vendor] == deal.to_king
            assert after.vendors[deal.vendor] == deal.returned
            assert bool(after.coins[deal.lane]) == deal.keeps_coin


def test_four_draws_in_a_row_have_the_odds_of_four_tokens_at_once() -> None:
    """Drawn one by one from a bag that nobody has seen, the hypergeometric law holds."""
    sitting = Sitting(king="0,0,0,16", removed=4).do("pass")
    assert sitting.state.unseen == (20, 20, 20, 4)
    chances = Fraction(1)
    for letter in "hhhh":
        due = GAME.rules.chance(sitting.state)
        assert due is not None
        chances *= due.outcomes[Move("draw", ("herbs",))]
        sitting.draw(letter)
    assert chances == Fraction(1, 64 * 63 * 62 * 61 // 24)


@pytest.mark.parametrize("chosen", [{"removed": 40}, {"removed": 0}, {"removed_mode": "equal", "removed": 8}])
def test_a_game_sees_as_many_draws_as_its_bag_holds(chosen: dict[str, Any]) -> None:
    draws = 0
    for state, seat, _, after in _states(1, 2, 10_000, **chosen):
        draws += seat == CHANCE and state.step == "draw"
        if after.over:
            break
    assert draws == 80 - chosen["removed"]
