"""The app as a player of the siege; `tests.games.siege_matches` plays its 200 skirmishes on either side."""

from __future__ import annotations

from random import Random

import pytest

from companion.games.kit import CHANCE, STRONG, Move, outcome, replace
from companion.games.siege import GAME
from companion.games.siege.bot import SKILLS, Commander, decide, position
from companion.games.siege.rules.state import State
from tests.games.playouts import accepted
from tests.games.siege_matches import won


def begun(preset: str, **chosen: str) -> State:
    options = {option.key: option.default for option in GAME.options}
    return GAME.rules.setup({**options, **GAME.presets[preset], **chosen}, GAME.seatings[2])


def after(state: State, random: Random, moves: int) -> State:
    """Return the state after so many random moves, or at the end."""
    for _ in range(moves):
        for seat in GAME.rules.to_act(state)[:1]:
            due = GAME.rules.chance(state)
            move = outcome(due, random.randrange) if due else random.choice(GAME.rules.moves(state, seat))
            state = accepted(GAME.rules.play(state, CHANCE if due else seat, move), move)
    return state


def deployed(commander: Commander, **chosen: str) -> State:
    """Return the skirmish after both sides were put up by one commander."""
    state, random = begun("skirmish", **chosen), Random(0)
    while state.deploying:
        (seat,) = GAME.rules.to_act(state)
        move = decide(GAME.page.view(state, seat), GAME.rules.moves(state, seat), random.randrange, commander)
        state = accepted(GAME.rules.play(state, seat, move), move)
    return state


@pytest.mark.parametrize("side", ["aztecs", "spaniards"])
def test_the_app_beats_chance_in_three_of_four_skirmishes(side: str) -> None:
    assert won(side, 24) >= 18


@pytest.mark.parametrize("preset", GAME.presets)
def test_the_player_sees_in_a_view_the_whole_position(preset: str) -> None:
    """Then what is played through begins where the siege stands."""
    random, state = Random(7), begun(preset)
    for _ in range(40):
        state = after(state, random, 5)
        view = GAME.page.view(state, "aztecs")
        found = position(view)
        assert GAME.page.view(found, "aztecs") == view
        for seat in GAME.rules.to_act(state):
            assert GAME.rules.moves(found, seat) == GAME.rules.moves(state, seat)


def test_the_strong_player_takes_cortez_out_on_the_lake_when_that_wins_more_often() -> None:
    state = deployed(SKILLS[STRONG])
    assert state.hulls >> state.at[state.roster.leader[1]] & 1


def test_where_cortez_may_not_go_aboard_it_places_him_on_land() -> None:
    state = deployed(SKILLS[STRONG], cortez_afloat="off")
    assert state.field.dry(state.at[state.roster.leader[1]])


def test_without_playthroughs_it_keeps_the_app_s_own_array() -> None:
    ready = begun("skirmish")
    for seat in GAME.seatings[2]:
        for move in (Move("rest"), Move("ready")):
            ready = accepted(GAME.rules.play(ready, seat, move), move)
    assert deployed(replace(SKILLS[STRONG], playthroughs=0)).at == ready.at
