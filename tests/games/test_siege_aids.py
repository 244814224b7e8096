"""The siege's aids: each alone, proved like a game, with words for all that it says."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from companion.games.kernel import CHANCE, Game, Move, Refusal
from companion.games.siege import GAME
from companion.web.rendering.texts import LANGUAGES
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
    for n, step in enumerate(
        playout(aid, aid.setup({}, ("table",)), random, longest=60 if aid.name == "siege.editor" else 160)
    ):
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


def test_the_editor_begins_with_a_sound_map_and_says_what_a_tap_breaks() -> None:
    """Ruling S1."""
    aid, state = opened("editor")
    assert aid.view(state, None)["faults"] == []
    broken = after(aid, state, Move("brush", ("ground_water",)), Move("paint", ("b2",)))
    faults = aid.view(broken, None)["faults"]
    assert [fault["code"] for fault in faults] == ["map_pond"]  # type: ignore[index,union-attr,call-overload]
    mended = after(aid, broken, Move("brush", ("ground_clear",)), Move("paint", ("b2",)))
    assert aid.view(mended, None)["faults"] == []


def test_a_map_that_was_drawn_can_be_played_on() -> None:
    aid, state = opened("editor")
    drawn = after(aid, state, Move("brush", ("gate",)), Move("side", ("d5", "e")))
    text = str(aid.view(drawn, None)["text"])
    option = next(option for option in GAME.options if option.key == "map")
    assert option.accepts(text)
    assert option.reader is not None
    assert [code for code, _ in option.reader.contents(text)] == ["map", "room", "quarters"]
    options = {each.key: each.default for each in GAME.options} | {"map": text}
    begun = GAME.setup(options, ("aztecs", "spaniards"))
    assert GAME.parse(GAME.notation(begun)) == begun


def test_a_wall_that_is_painted_again_goes_and_a_gate_takes_its_place() -> None:
    aid, state = opened("editor")
    walls = set(state.walls)
    walled = after(aid, state, Move("brush", ("wall",)), Move("side", ("f6", "e")))
    assert len(set(walled.walls) - walls) == 1
    assert after(aid, walled, Move("side", ("g6", "w"))).walls == state.walls
    gated = after(aid, walled, Move("brush", ("gate",)), Move("side", ("g6", "w")))
    assert gated.walls == state.walls
    assert len(gated.gates) == len(state.gates) + 1


def test_a_blank_map_becomes_sound_with_a_city_its_walls_and_a_camp() -> None:
    aid, state = opened("editor")
    state = after(aid, state, Move("begin", ("blank",)), Move("brush", ("zone_6",)))
    state = after(aid, state, *(Move("paint", (f"{c}{r}",)) for c in "ghijkl" for r in range(3, 11)))
    state = after(aid, state, Move("brush", ("zone_1",)))
    state = after(aid, state, *(Move("paint", (f"{c}{r}",)) for c in "abcop" for r in range(1, 14)))
    assert {fault["code"] for fault in aid.view(state, None)["faults"]} == {"map_open_wall", "map_no_inner_wall"}  # type: ignore[index,union-attr,call-overload]
    state = after(aid, state, Move("enclose"), Move("brush", ("wall",)), Move("side", ("i6", "e")))
    assert aid.view(state, None)["faults"] == []


def test_the_phase_track_goes_through_eight_phases_to_the_next_turn() -> None:
    aid, state = opened("phases")
    state = after(aid, state, *[Move("next")] * 8)
    assert aid.view(state, None)["turn"] == 2
    assert aid.view(after(aid, state, Move("back")), None)["stage"] == "fire"
