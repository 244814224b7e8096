"""The aids of Moctezuma's Revenge: sheets beside real decks and chits, by the laws of every game."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from companion.games.kernel import Game, Move, Refusal
from companion.games.moctezuma import GAME
from companion.games.moctezuma.aids.aid import KEEPER
from tests.games.playouts import accepted, drawn, fuzzed, is_arg, leaves

every = pytest.mark.parametrize("aid", GAME.aids.values(), ids=lambda aid: aid.name)


class Tapped:
    """One aid, as somebody taps on it."""

    def __init__(self, name: str, **chosen: str | int) -> None:
        self.aid: Game[Any] = GAME.aids[name]
        self.state = self.aid.setup({option.key: option.default for option in self.aid.options} | chosen, (KEEPER,))

    def tap(self, name: str, *args: str | int) -> Tapped:
        self.state = accepted(self.aid.play(self.state, KEEPER, Move(name, args)), Move(name, args))
        return self

    @property
    def page(self) -> Any:
        return self.aid.view(self.state, KEEPER)

    def may(self, name: str, *args: str | int) -> bool:
        return Move(name, args) in self.aid.moves(self.state, KEEPER)


@every
def test_an_aid_keeps_the_laws_of_every_game(aid: Game[Any]) -> None:
    random = Random(aid.name)
    for _ in range(3):
        options = {option.key: random.choice(option.values) for option in aid.options}
        state = aid.setup(options, (KEEPER,))
        for _ in range(60):
            moves = aid.moves(state, KEEPER)
            assert moves == sorted(set(moves))
            assert bool(moves) == (aid.to_act(state) == (KEEPER,)) == (aid.on_turn(state) == KEEPER)
            assert sorted(leaves(aid, state, KEEPER)) == moves
            assert aid.parse(aid.notation(state)) == state
            view = aid.view(state, None)
            assert json.loads(json.dumps(view)) == view
            assert aid.regions(view)["sheet"]["taps"] == {}
            if not moves:
                break
            for _ in range(4):
                move = fuzzed(moves, random)
                if not (all(is_arg(arg) for arg in move.args) and move in moves):
                    assert isinstance(aid.play(state, KEEPER, move), Refusal)
            assert isinstance(aid.play(state, "nobody", moves[0]), Refusal)
            move = drawn(moves, random)
            assert aid.undoable(state, KEEPER, move)
            state = accepted(aid.play(state, KEEPER, move), move)


@every
@pytest.mark.parametrize("text", ["", "x", "moctezuma.points 1", "moctezuma.score 4 any second s ? -", "\0"])
def test_text_that_is_no_sheet_is_a_value_error(aid: Game[Any], text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        aid.parse(text)


def test_points_are_spent_and_given_anew() -> None:
    aid = Tapped("points").tap("spend", "study_5").tap("spend", "walk")
    assert (aid.page["left"], aid.page["done"]) == (1, ["study_5", "walk"])
    assert not aid.may("spend", "explore_2")
    assert aid.tap("next").page["left"] == 5


def test_the_schedule_asks_for_a_chit_after_everybody_had_a_turn() -> None:
    aid = Tapped("schedule", players=3)
    for player in (1, 2, 3):
        assert (aid.page["player"], aid.page["due"]) == (player, False)
        aid.tap("done")
    assert aid.page["due"]
    assert aid.page["next"] == {"king": "chimalpopoca", "column": 1}
    aid.tap("turned", "cursed")
    assert (aid.page["round"], aid.page["player"], aid.page["cursed"]) == (2, 1, 1)


def test_the_schedule_ends_with_moctezumas_third_chit() -> None:
    aid = Tapped("schedule", players=2, flip="turn", third_chit="first")
    kings = []
    while not aid.page["over"]:
        aid.tap("done")
        kings.append((aid.page["next"]["king"], aid.page["next"]["column"]))
        aid.tap("turned", "safe")
    assert len(kings) == 15
    assert kings[-1] == ("moctezuma_i", 3)
    assert aid.aid.moves(aid.state, KEEPER) == []


def test_the_record_sheet_counts_from_what_was_tapped() -> None:
    aid = Tapped("record").tap("chit", 4, "safe").tap("chit", 11, "safe").tap("name", 3, "tizoc")
    tizoc = next(king for king in aid.page["kings"] if king["king"] == "tizoc")
    assert tizoc["chance"] == 0
    assert aid.page["temples"][2]["worth"] == 1.0
    aid.tap("chit", 11, "safe").tap("chit", 11, "cursed")
    assert aid.page["temples"][2]["chance"] == 100
    aid.tap("keep", 3, 5)
    assert not aid.may("keep", 3, 5), "there is one five in a deck"
    assert aid.tap("unkeep", 3, 5).page["temples"][2]["kept"] == []


def test_the_scorer_counts_line_by_line_and_says_who_won() -> None:
    aid = Tapped("score", players=2).tap("chit", 0)
    for temple, name in enumerate(("chimalpopoca", "moctezuma_ii", "clue", "clue", "clue"), start=1):
        aid.tap("name", temple, name)
    for temple, worth in ((1, 5), (2, 3), (2, 2)):
        aid.tap("card", 1, temple, worth)
    for temple in (3, 4, 5):
        aid.tap("card", 2, temple, 1)
    red, blue = aid.page["players"]
    assert [(line["factor"], line["score"]) for line in red["lines"]] == [(-1, -5), (2, 10)]
    assert (red["total"], blue["gold"], blue["total"]) == (5, True, 12)
    assert aid.page["winners"] == ["blue"]


def test_the_scorer_breaks_a_tie_by_treasure_cards_and_shares_the_rest() -> None:
    aid = Tapped("score", players=3).tap("name", 1, "tizoc").tap("name", 2, "clue")
    aid.tap("card", 1, 1, 2).tap("card", 2, 1, 1).tap("card", 2, 1, 1)
    assert aid.page["winners"] == ["blue"]
    assert aid.page["by_cards"]
    aid.tap("card", 1, 2, 5)
    assert aid.page["winners"] == ["red", "blue"]


def test_the_scorer_waits_for_names_of_temples_that_were_entered() -> None:
    aid = Tapped("score", players=2).tap("card", 1, 7, 3)
    assert aid.page["nameless"] == [7]
    assert aid.page["winners"] == []
    assert aid.tap("name", 7, "axayacatl").page["winners"] == ["red"]


def test_an_aids_rules_are_changed_by_a_tap_while_that_is_possible() -> None:
    aid = Tapped("score").tap("choose", "players", 2)
    assert len(aid.page["players"]) == 2
    aid.tap("card", 1, 1, 1)
    assert not aid.may("choose", "players", 3)
    assert aid.may("choose", "curse_rule", "all")
