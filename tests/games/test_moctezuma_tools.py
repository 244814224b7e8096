"""The tools of Moctezuma's Revenge: sheets beside real decks and chits, by the laws of every game."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from companion.games.kit import USER, Game, Move, Refusal
from companion.games.moctezuma import GAME
from tests.games.playouts import accepted, check_value, drawn, fuzzed, is_arg, leaves

every = pytest.mark.parametrize("tool", GAME.tools.values(), ids=lambda tool: tool.name)


class Tapped:
    """One tool, as somebody taps on it."""

    def __init__(self, name: str, **chosen: str | int) -> None:
        self.tool: Game[Any] = GAME.tools[name]
        self.state = self.tool.rules.setup(
            {option.key: option.default for option in self.tool.options} | chosen, (USER,)
        )

    def tap(self, name: str, *args: str | int) -> Tapped:
        self.state = accepted(self.tool.rules.play(self.state, USER, Move(name, args)), Move(name, args))
        return self

    @property
    def page(self) -> Any:
        return self.tool.page.view(self.state, USER)

    def may(self, name: str, *args: str | int) -> bool:
        return Move(name, args) in self.tool.rules.moves(self.state, USER)


@every
def test_a_tool_keeps_the_laws_of_every_game(tool: Game[Any]) -> None:
    random = Random(tool.name)
    for _ in range(3):
        options = {option.key: random.choice(option.values) for option in tool.options}
        state = tool.rules.setup(options, (USER,))
        for _ in range(60):
            moves = tool.rules.moves(state, USER)
            assert moves == sorted(set(moves))
            assert bool(moves) == (tool.rules.to_act(state) == (USER,)) == (tool.rules.on_turn(state) == USER)
            assert sorted(leaves(tool, state, USER)) == moves
            check_value(tool, state)
            view = tool.page.view(state, None)
            assert json.loads(json.dumps(view)) == view
            assert tool.page.regions(view)["sheet"]["taps"] == {}
            if not moves:
                break
            for _ in range(4):
                move = fuzzed(moves, random)
                if not (all(is_arg(arg) for arg in move.args) and move in moves):
                    assert isinstance(tool.rules.play(state, USER, move), Refusal)
            assert isinstance(tool.rules.play(state, "nobody", moves[0]), Refusal)
            move = drawn(moves, random)
            assert tool.rules.undoable(state, USER, move)
            state = accepted(tool.rules.play(state, USER, move), move)


def test_points_are_spent_and_given_anew() -> None:
    tool = Tapped("points").tap("spend", "study_5").tap("spend", "walk")
    assert (tool.page["left"], tool.page["done"]) == (1, ["study_5", "walk"])
    assert not tool.may("spend", "explore_2")
    assert tool.tap("next").page["left"] == 5


def test_the_schedule_asks_for_a_chit_after_everybody_had_a_turn() -> None:
    tool = Tapped("schedule", players=3)
    for player in (1, 2, 3):
        assert (tool.page["player"], tool.page["due"]) == (player, False)
        tool.tap("done")
    assert tool.page["due"]
    assert tool.page["next"] == {"king": "chimalpopoca", "column": 1}
    tool.tap("turned", "cursed")
    assert (tool.page["round"], tool.page["player"], tool.page["cursed"]) == (2, 1, 1)


def test_the_schedule_ends_with_moctezumas_third_chit() -> None:
    tool = Tapped("schedule", players=2, flip="turn", third_chit="first")
    kings = []
    while not tool.page["over"]:
        tool.tap("done")
        kings.append((tool.page["next"]["king"], tool.page["next"]["column"]))
        tool.tap("turned", "safe" if len(kings) <= 9 else "cursed")
    assert len(kings) == 15
    assert kings[-1] == ("moctezuma_i", 3)
    assert tool.tool.rules.moves(tool.state, USER) == []


CURSED = (0, 1, 2, 7, 8, 9)
"""The chits of the first three kings. A chart with these cursed and nine safe ones may be."""


def _charted(players: int) -> Tapped:
    """Return a scorer with a chart that may be."""
    tool = Tapped("score", players=players)
    for chit in CURSED:
        tool.tap("chit", chit)
    return tool


def test_the_schedule_refuses_more_cursed_chits_than_the_box_holds() -> None:
    """Ruling Z27."""
    tool = Tapped("schedule", players=2, flip="turn")
    for _ in range(7):
        tool.tap("done").tap("turned", "cursed")
    tool.tap("done")
    assert not tool.may("turned", "cursed")
    assert tool.may("turned", "safe")
    assert tool.page["used_up"] == [{"face": "cursed", "n": 7}]


def test_the_schedule_knows_the_bag_of_the_later_edition() -> None:
    tool = Tapped("schedule", players=2, flip="turn", curse_rule="two_plus")
    for _ in range(14):
        tool.tap("done").tap("turned", "cursed")
    assert not tool.tap("done").may("turned", "cursed")


def test_the_final_scorer_refuses_a_chart_with_more_safe_chits_than_the_box_holds() -> None:
    """Ruling Z27."""
    tool = Tapped("score", players=2).tap("name", 1, "tizoc").tap("card", 1, 1, 2)
    assert tool.page["too_safe"] == {"n": 15, "most": 9}
    assert tool.page["winners"] == []
    for chit in CURSED[:5]:
        tool.tap("chit", chit)
    assert (tool.page["too_safe"], tool.page["winners"]) == ({"n": 10, "most": 9}, [])
    tool.tap("chit", CURSED[5])
    assert (tool.page["too_safe"], tool.page["winners"]) == (None, ["red"])


def test_the_record_sheet_counts_from_what_was_tapped() -> None:
    tool = Tapped("record").tap("chit", 4, "safe").tap("chit", 11, "safe").tap("name", 3, "tizoc")
    tizoc = next(king for king in tool.page["kings"] if king["king"] == "tizoc")
    assert tizoc["chance"] == 0
    assert tool.page["temples"][2]["worth"] == 1.0
    tool.tap("chit", 11, "safe").tap("chit", 11, "cursed")
    assert tool.page["temples"][2]["chance"] == 1
    tool.tap("keep", 3, 5)
    assert not tool.may("keep", 3, 5), "there is one five in a deck"
    assert tool.tap("unkeep", 3, 5).page["temples"][2]["kept"] == []


def test_the_scorer_counts_line_by_line_and_says_who_won() -> None:
    tool = _charted(2)
    for temple, name in enumerate(("chimalpopoca", "moctezuma_ii", "clue", "clue", "clue"), start=1):
        tool.tap("name", temple, name)
    for temple, worth in ((1, 5), (2, 3), (2, 2)):
        tool.tap("card", 1, temple, worth)
    for temple in (3, 4, 5):
        tool.tap("card", 2, temple, 1)
    red, blue = tool.page["players"]
    assert [(line["factor"], line["score"]) for line in red["lines"]] == [(-1, -5), (2, 10)]
    assert (red["total"], blue["gold"], blue["total"]) == (5, True, 12)
    assert tool.page["winners"] == ["blue"]


def test_the_scorer_breaks_a_tie_by_treasure_cards_and_shares_the_rest() -> None:
    tool = _charted(3).tap("name", 1, "tizoc").tap("name", 2, "clue")
    tool.tap("card", 1, 1, 2).tap("card", 2, 1, 1).tap("card", 2, 1, 1)
    assert tool.page["winners"] == ["blue"]
    assert tool.page["by_cards"]
    tool.tap("card", 1, 2, 5)
    assert tool.page["winners"] == ["red", "blue"]


def test_the_scorer_waits_for_names_of_temples_that_were_entered() -> None:
    tool = _charted(2).tap("card", 1, 7, 3)
    assert tool.page["nameless"] == [7]
    assert tool.page["winners"] == []
    assert tool.tap("name", 7, "axayacatl").page["winners"] == ["red"]


def test_an_aids_rules_are_changed_by_a_tap_while_that_is_possible() -> None:
    tool = Tapped("score").tap("choose", "players", 2)
    assert len(tool.page["players"]) == 2
    tool.tap("card", 1, 1, 1)
    assert not tool.may("choose", "players", 3)
    assert tool.may("choose", "curse_rule", "all")
