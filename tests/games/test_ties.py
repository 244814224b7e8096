"""Moves that are worth the same to the app: chance decides between them, not their order."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from companion.games.kit import Game, Move, best_of, replace
from companion.games.market import GAME as MARKET
from companion.games.mexica import GAME as MEXICA
from companion.games.mexica.rules.calendar import place_of
from companion.games.mexica.rules.cards.effects import Standing
from companion.games.moctezuma import GAME as MOCTEZUMA
from companion.games.siege import GAME as SIEGE
from tests.games import battlefield, full_sitting, market_sitting, moctezuma_sitting
from tests.games.battlefield import CORTEZ, CUAUHTEMOC, SPANISH, C, W
from tests.games.full_sitting import DECK

SEEDS = range(60)

Scene = tuple[Game[Any], Any]


def decided(scene: Scene, seed: int, level: str = "practised") -> Move | None:
    game, state = scene
    seat = game.rules.to_act(state)[0]
    return game.decide(game.page.view(state, seat), game.rules.moves(state, seat), Random(seed).randrange, level)


def two_purchases() -> Scene:
    """South's first two buyers stand before vendors with as much, and either may buy first."""
    stalls = "1234/xyuv/amk./pcjh"
    coins = {"south": "o-,o-,-,-"}
    return MARKET, market_sitting.Sitting(stalls, vendors="3,3,0,0", king="2,2,2,2", buyers=coins).state


def two_to_send_out() -> Scene:
    """Two conquistadors are as far from Cuauhtemoc as each other."""
    units = {CUAUHTEMOC: "e5", CORTEZ: "a1", C[0]: "a3", C[1]: "a7"}
    state = battlefield.scene(SPANISH["move"], units)
    return SIEGE, replace(state, seen=(state.at, state.at))


def two_to_attack() -> Scene:
    """One conquistador stands beside two warriors."""
    units = {CUAUHTEMOC: "k1", W[0]: "c4", W[1]: "c6", CORTEZ: "a1", C[0]: "c5"}
    return SIEGE, battlefield.scene(SPANISH["attack"], units)


def two_tribes() -> Scene:
    """East has a single token left, and two tribes within its reach."""
    reaching = next(card.space for card in DECK.week if card.effect == Standing("range", 1))
    assert reaching
    table = full_sitting.quiet(4).hold(place_of(reaching), "east").lay("west", place=4).lay("north", place=4)
    return MEXICA, table.lay("east", tokens=0).land(3).state


def six_ways() -> Scene:
    """Nothing is known of any temple, and each way out of the middle leads to one."""
    return MOCTEZUMA, moctezuma_sitting.Sitting().rounds(9).rounds(2, "cursed").state


EQUAL: dict[Callable[[], Scene], set[Move]] = {
    two_purchases: {Move("buy", (0, 0)), Move("buy", (1, 0))},
    two_to_send_out: {Move("march", (C[0],)), Move("march", (C[1],))},
    two_to_attack: {Move("attack", (C[0], "c4")), Move("attack", (C[0], "c6"))},
    two_tribes: {Move("attack", ("north",)), Move("attack", ("west",))},
    six_ways: {Move("walk", (place,)) for place in (2, 3, 5, 6, 8, 9)},
}
"""The moves that are worth most in a position, all the same."""


@pytest.mark.parametrize("made", EQUAL)
def test_of_equal_moves_each_is_made_now_and_then(made: Callable[[], Scene]) -> None:
    scene = made()
    assert {decided(scene, seed) for seed in SEEDS} == EQUAL[made]


@pytest.mark.parametrize("made", EQUAL)
def test_the_same_chance_decides_the_same(made: Callable[[], Scene]) -> None:
    scene = made()
    assert [decided(scene, seed) for seed in SEEDS] == [decided(scene, seed) for seed in SEEDS]


def test_of_things_alike_each_is_drawn_as_often() -> None:
    random = Random(1)
    drawn = [best_of(["a", "bb", "cc", "dd"], len, random.randrange) for _ in range(3000)]
    assert "a" not in drawn
    assert all(900 < drawn.count(each) < 1100 for each in ("bb", "cc", "dd"))
