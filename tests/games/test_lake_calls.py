"""How often a table is asked to level the lake, in games of app players, by the tokens that it plays with."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from msgspec.structs import replace

from companion.games import registry
from companion.games.kit import CHANCE
from companion.model.temples import Temple
from templo.contract import God
from templo.lake import KINDS

SEATS = 4
GAMES = 20
GODS = {"h": God.HUITZILOPOCHTLI, "t": God.TLALOC}


@cache
def lakes(preset: str) -> tuple[str, ...]:
    """Return for each game the gods of its tokens, by their letters, in the order in which they fell."""
    game = registry.load()["mexica"]
    options = {option.key: option.default for option in game.options} | dict(game.presets[preset])
    found = []
    for seed in range(GAMES):
        random, fell, before = Random(seed), "", ""
        state = game.rules.setup(options, game.seatings[SEATS])
        while acting := game.rules.to_act(state):
            seat = acting[0]
            moves = game.rules.moves(state, seat)
            decided = None if seat == CHANCE else game.decide(game.page.view(state, seat), moves, random.randrange)
            state = game.rules.play(state, seat, decided or random.choice(moves))
            if len(state.tallies.lake) > len(before):
                fell += state.tallies.lake[len(before) :]
            before = state.tallies.lake
        found.append(fell)
    return tuple(found)


def calls(kind: str, fell: str) -> int:
    """Return how often a table is called whose players level the lake whenever it is asked for."""
    temple, asked = Temple("templo", token=kind), 0
    for letter in fell:
        heaps = {**temple.heaps, GODS[letter]: temple.heaps[GODS[letter]] + 1}
        temple = replace(temple, heaps=heaps)
        if temple.to_level:
            temple, asked = temple.levelled(), asked + 1
    return asked


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_an_evening_calls_nobody(kind: str) -> None:
    assert [calls(kind, fell) for fell in lakes("evening")] == [0] * GAMES


@pytest.mark.parametrize(("kind", "most"), [("bead_8", 0), ("bead_10", 2), ("bean", 2), ("bead_12", 3), ("skull", 5)])
def test_a_classic_game_calls_a_few_times_at_most(kind: str, most: int) -> None:
    games = lakes("classic")
    assert max(map(len, games)) > 200
    assert max(calls(kind, fell) for fell in games) <= most
