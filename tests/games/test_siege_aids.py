"""The siege's aids: each alone, proved like a game, with words for all that it says."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from companion.games.kernel import CHANCE, Game, Move, Refusal
from companion.games.siege import GAME
from companion.web.texts import LANGUAGES
from tests.games.playouts import Combination, playout
from tests.games.test_conformance import _check_state
from tests.games.test_words import LIBRARY

AIDS = list(GAME.aids.values())

each_aid = pytest.mark.parametrize("aid", AIDS, ids=lambda aid: aid.name)


def after(aid: Game[Any], state: Any, *moves: Move) -> Any:
    for move in moves:
        state = aid.play(state, aid.to_act(state)[0], move)
        assert not isinstance(state, Refusal), move
    return state


def opened(name: str) -> tuple[Game[Any], Any]:
    aid = GAME.aids[name]
    return aid, aid.setup({}, ("table",))


@each_aid
def test_an_aid_keeps_the_laws_of_a_game(aid: Game[Any]) -> None:
    here, random = Combination(aid, "classic", ("table",)), Random(aid.name)
    for n, step in enumerate(playout(aid, aid.setup({}, ("table",)), random, longest=160)):
        if n % 4 == 0:
            _check_state(here, step.after, random)
        for line in aid.story(step.before, step.seat, step.move, step.after):
            for language in LANGUAGES:
                assert LIBRARY.words(language, aid.name)(f"log.{line.code}", **line.facts)


@each_aid
@pytest.mark.parametrize("language", LANGUAGES)
def test_whatever_an_aid_offers_has_words(aid: Game[Any], language: str) -> None:
    words, random = LIBRARY.words(language, aid.name), Random(aid.name)
    assert words("name") != LIBRARY.words(language, "siege")("name")
    for step in playout(aid, aid.setup({}, ("table",)), random, longest=80):
        for seat in ("table", CHANCE):
            for choice in aid.choices(step.after, seat):
                assert words(f"choice.{choice.key}", **choice.facts)
        if due := aid.chance(step.after):
            assert words(f"due.{due.key}", **due.facts)


def test_events_take_an_aztec_on_one_to_three_and_an_ally_on_more() -> None:
    """Ruling S5."""
    aid, state = opened("events")
    state = after(aid, state, Move("events"), Move("event", (3,)), Move("event", (4,)))
    assert [roll["whom"] for roll in aid.view(state, None)["rolls"]] == ["aztecs", "allies"]  # type: ignore[index,union-attr,call-overload]
    assert aid.to_act(state) == ("table",)


def test_ticked_modifiers_add_up_to_the_exact_odds() -> None:
    """Rulings S20 and S21."""
    aid, state = opened("dice")
    state = after(aid, state, Move("tick", ("wall",)), Move("tick", ("boat",)))
    assert aid.view(state, None)["odds"] == {"win": 0, "none": 3, "lose": 3}
    state = after(aid, state, Move("tick", ("wall",)), Move("tick", ("boat",)), Move("tick", ("leader",)))
    assert aid.view(state, None)["odds"] == {"win": 3, "none": 2, "lose": 1}
    thrown = after(aid, state, Move("throw", ("attack",)), Move("die", (4,)))
    assert aid.view(thrown, None)["means"] == "defender"


def test_a_forced_march_rolls_two_dice_and_a_retreat_half_a_one() -> None:
    """Rulings S6 and S16."""
    aid, state = opened("dice")
    assert len(aid.moves(after(aid, state, Move("throw", ("force",))), CHANCE)) == 11
    assert len(aid.moves(after(aid, state, Move("throw", ("flight",))), CHANCE)) == 3


def test_the_roster_keeps_every_people_whole() -> None:
    aid, state = opened("roster")
    state = after(aid, state, Move("rout", ("warrior",)), Move("lose", ("warrior",)), Move("kill", ("boat",)))
    peoples = aid.view(state, None)["peoples"]
    assert peoples["warrior"] == {"fit": 44, "routed": 0, "dead": 1}  # type: ignore[index,call-overload]
    assert peoples["boat"]["fit"] == 12  # type: ignore[index,call-overload]
    third = after(aid, state, Move("begin", ("third",)))
    assert aid.view(third, None)["peoples"]["warrior"]["fit"] == 15  # type: ignore[index,call-overload]


def test_fires_are_rolled_for_one_by_one_and_go_out_on_one_or_two() -> None:
    aid, state = opened("fires")
    state = after(aid, state, Move("light"), Move("light"), Move("light"), Move("fires"))
    state = after(aid, state, Move("fire", (2,)), Move("fire", (3,)), Move("fire", (1,)))
    assert aid.view(state, None)["burning"] == [2]


def test_the_phase_track_goes_through_eight_phases_to_the_next_turn() -> None:
    aid, state = opened("phases")
    state = after(aid, state, *[Move("next")] * 8)
    assert aid.view(state, None)["turn"] == 2
    assert aid.view(after(aid, state, Move("back")), None)["stage"] == "fire"
