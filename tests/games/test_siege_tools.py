"""The siege's tools: each alone, proved like a game, with words for all that it says."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from companion.games.kit import CHANCE, USER, Game, Move, Refusal
from companion.games.siege import GAME
from companion.web.rendering.texts import LANGUAGES
from tests.games.playouts import Combination, check_value, playout
from tests.games.test_conformance import _check_state
from tests.games.test_words import LIBRARY

TOOLS = list(GAME.tools.values())

each_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def after(tool: Game[Any], state: Any, *moves: Move) -> Any:
    for move in moves:
        state = tool.rules.play(state, tool.rules.to_act(state)[0], move)
        assert not isinstance(state, Refusal), move
    return state


def opened(name: str) -> tuple[Game[Any], Any]:
    tool = GAME.tools[name]
    return tool, tool.rules.setup({}, (USER,))


@each_tool
def test_an_aid_keeps_the_laws_of_a_game(tool: Game[Any]) -> None:
    here, random = Combination(tool, "classic", (USER,)), Random(tool.name)
    for n, step in enumerate(
        playout(tool, tool.rules.setup({}, (USER,)), random, longest=60 if tool.name == "siege.editor" else 160)
    ):
        if n % 4 == 0:
            _check_state(here, step.after, random)
        for line in tool.page.log(step.before, step.seat, step.move, step.after):
            for language in LANGUAGES:
                assert LIBRARY.words(language, tool.name)(f"log.{line.code}", **line.facts)


@each_tool
@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_that_an_aid_offers_has_a_text(tool: Game[Any], language: str) -> None:
    words, random = LIBRARY.words(language, tool.name), Random(tool.name)
    assert words("name") != LIBRARY.words(language, "siege")("name")
    for step in playout(tool, tool.rules.setup({}, (USER,)), random, longest=80):
        for seat in (USER, CHANCE):
            for choice in tool.rules.choices(step.after, seat):
                assert words(f"choice.{choice.key}", **choice.facts)
        if due := tool.rules.chance(step.after):
            assert words(f"due.{due.key}", **due.facts)


def test_events_take_an_aztec_on_one_to_three_and_an_ally_on_more() -> None:
    """Ruling S5."""
    tool, state = opened("events")
    state = after(tool, state, Move("events"), Move("event", (3,)), Move("event", (4,)))
    assert [roll["whom"] for roll in tool.page.view(state, None)["rolls"]] == ["aztecs", "allies"]  # type: ignore[index,union-attr,call-overload]
    assert tool.rules.to_act(state) == (USER,)


def test_modifiers_and_throws_stand_in_the_order_of_the_guide_and_of_a_turn() -> None:
    tool, state = opened("dice")
    offered = [choice.move.args[0] for choice in tool.rules.choices(state, USER) if choice.move]
    assert offered == [
        "conquistador", "routed", "leader", "wall", "boat", "against_conquistador",
        "march", "force", "attack", "fate", "flight", "panic", "rally",
    ]  # fmt: skip


def test_ticked_modifiers_add_up_to_the_exact_odds() -> None:
    """Rulings S20 and S21."""
    tool, state = opened("dice")
    state = after(tool, state, Move("tick", ("wall",)), Move("tick", ("boat",)))
    assert tool.page.view(state, None)["odds"] == {"win": 0, "none": 3, "lose": 3}
    state = after(tool, state, Move("tick", ("wall",)), Move("tick", ("boat",)), Move("tick", ("leader",)))
    assert tool.page.view(state, None)["odds"] == {"win": 3, "none": 2, "lose": 1}
    thrown = after(tool, state, Move("throw", ("attack",)), Move("die", (4,)))
    assert tool.page.view(thrown, None)["means"] == "defender"


def test_a_forced_march_rolls_two_dice_and_a_retreat_half_a_one() -> None:
    """Rulings S6 and S16."""
    tool, state = opened("dice")
    assert len(tool.rules.moves(after(tool, state, Move("throw", ("force",))), CHANCE)) == 11
    assert len(tool.rules.moves(after(tool, state, Move("throw", ("flight",))), CHANCE)) == 3


def test_the_roster_keeps_every_people_whole() -> None:
    tool, state = opened("roster")
    state = after(tool, state, Move("rout", ("warrior",)), Move("lose", ("warrior",)), Move("kill", ("boat",)))
    peoples = tool.page.view(state, None)["peoples"]
    assert peoples["warrior"] == {"fit": 44, "routed": 0, "dead": 1}  # type: ignore[index,call-overload]
    assert peoples["boat"]["fit"] == 12  # type: ignore[index,call-overload]
    third = after(tool, state, Move("begin", ("third",)))
    assert tool.page.view(third, None)["peoples"]["warrior"]["fit"] == 15  # type: ignore[index,call-overload]


def test_fires_are_rolled_for_one_by_one_and_go_out_on_one_or_two() -> None:
    tool, state = opened("fires")
    state = after(tool, state, Move("light"), Move("light"), Move("light"), Move("fires"))
    state = after(tool, state, Move("fire", (2,)), Move("fire", (3,)), Move("fire", (1,)))
    assert tool.page.view(state, None)["burning"] == [2]


def test_the_editor_begins_with_a_sound_map_and_says_what_a_tap_breaks() -> None:
    """Ruling S1."""
    tool, state = opened("editor")
    assert tool.page.view(state, None)["faults"] == []
    broken = after(tool, state, Move("brush", ("ground_water",)), Move("paint", ("b2",)))
    faults = tool.page.view(broken, None)["faults"]
    assert [fault["code"] for fault in faults] == ["map_pond"]  # type: ignore[index,union-attr,call-overload]
    mended = after(tool, broken, Move("brush", ("ground_clear",)), Move("paint", ("b2",)))
    assert tool.page.view(mended, None)["faults"] == []


def test_a_map_that_was_drawn_can_be_played_on() -> None:
    tool, state = opened("editor")
    drawn = after(tool, state, Move("brush", ("gate",)), Move("side", ("d5", "e")))
    text = str(tool.page.view(drawn, None)["text"])
    option = next(option for option in GAME.options if option.key == "map")
    assert option.accepts(text)
    assert option.reader is not None
    assert [code for code, _ in option.reader.contents(text)] == ["map", "room", "quarters"]
    options = {each.key: each.default for each in GAME.options} | {"map": text}
    begun = GAME.rules.setup(options, ("aztecs", "spaniards"))
    check_value(GAME, begun)


def test_a_wall_that_is_painted_again_goes_and_a_gate_takes_its_place() -> None:
    tool, state = opened("editor")
    walls = set(state.walls)
    walled = after(tool, state, Move("brush", ("wall",)), Move("side", ("f6", "e")))
    assert len(set(walled.walls) - walls) == 1
    assert after(tool, walled, Move("side", ("g6", "w"))).walls == state.walls
    gated = after(tool, walled, Move("brush", ("gate",)), Move("side", ("g6", "w")))
    assert gated.walls == state.walls
    assert len(gated.gates) == len(state.gates) + 1


def test_a_blank_map_becomes_sound_with_a_city_its_walls_and_a_camp() -> None:
    tool, state = opened("editor")
    state = after(tool, state, Move("begin", ("blank",)), Move("brush", ("zone_6",)))
    state = after(tool, state, *(Move("paint", (f"{c}{r}",)) for c in "ghijkl" for r in range(3, 11)))
    state = after(tool, state, Move("brush", ("zone_1",)))
    state = after(tool, state, *(Move("paint", (f"{c}{r}",)) for c in "abcop" for r in range(1, 14)))
    assert {fault["code"] for fault in tool.page.view(state, None)["faults"]} == {
        "map_open_wall",
        "map_no_inner_wall",
    }  # type: ignore[index,union-attr,call-overload]
    state = after(tool, state, Move("enclose"), Move("brush", ("wall",)), Move("side", ("i6", "e")))
    assert tool.page.view(state, None)["faults"] == []


def test_the_phase_track_goes_through_eight_phases_to_the_next_turn() -> None:
    tool, state = opened("phases")
    state = after(tool, state, *[Move("next")] * 8)
    assert tool.page.view(state, None)["turn"] == 2
    assert tool.page.view(after(tool, state, Move("back")), None)["stage"] == "fire"
