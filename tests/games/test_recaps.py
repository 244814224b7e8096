"""How a game went, seen from its end: of every game, preset and number of seats, after random play."""

from __future__ import annotations

from itertools import groupby
from random import Random

import pytest

from companion.games import registry
from companion.games.kit import Curve, Played
from companion.games.kit.recap import Feat, awarded, turning
from companion.web.rendering.renderer import SHELL
from companion.web.rendering.texts import LANGUAGES, Library
from tests.games.playouts import COMBINATIONS, Combination, playout

ENDING = [each for each in COMBINATIONS if not each.lasting]
LONG = 6_000


@pytest.fixture(scope="module")
def library() -> Library:
    games = {each.game.name: each.game for each in ENDING}
    return Library(SHELL / "texts", {name: registry.folder(game) / "texts" for name, game in games.items()})


def played(here: Combination) -> list[Played]:
    game = here.game
    opening = game.rules.setup(here.options(), here.seats)
    steps = playout(game, opening, Random(str(here)), LONG)
    return [Played(game.rules.turn(each.before), each.seat, each.move, each.before, each.after) for each in steps]


@pytest.mark.parametrize("here", ENDING, ids=str)
def test_every_end_has_its_reason_its_curve_and_an_award_for_each_seat_in_words(
    here: Combination, library: Library
) -> None:
    game, line = here.game, played(here)
    end = line[-1].after
    result, recap = game.rules.result(end), game.page.recap(line)
    assert result is not None
    assert result.because is not None
    assert {*recap.awards} == {*here.seats}
    assert {*recap.deeds} == {*here.seats}
    turns = len(list(groupby(each.turn for each in line)))
    assert recap.curves
    assert {len(curve.values) for curve in recap.curves} == {turns}
    for language in LANGUAGES:
        words = library.words(language, game.name)
        assert words(f"ending.because.{result.because.code}", **result.because.facts)
        if recap.turning:
            assert words(f"recap.turning.{recap.turning.code}", **recap.turning.facts)
        for seat in here.seats:
            assert words(f"recap.award.{recap.awards[seat].code}", **recap.awards[seat].facts)
            for label, n in zip(recap.labels, recap.deeds[seat], strict=True):
                assert words(f"recap.{label}", n=n)
    codes = [award.code for award in recap.awards.values() if award.code != "there"]
    facts = [(award.code, *sorted(award.facts.items())) for award in recap.awards.values() if award.code != "there"]
    assert len(facts) == len(codes) == len({*facts})


def test_the_turning_point_is_the_first_turn_of_the_last_lead() -> None:
    east, west = Curve((1, 4, 4, 6), ("east",)), Curve((2, 3, 4, 5), ("west",))
    assert turning([east, west]) == 4
    assert turning([Curve((1, 2)), Curve((0, 1))]) == 1
    assert turning([Curve((1, 2)), Curve((0, 2))]) == 0
    assert turning([Curve((1, 2))]) == 0


def test_an_award_is_for_nobody_where_all_are_level_and_only_once() -> None:
    seats = ["east", "north", "west"]
    feats = [
        Feat("level", {"east": 2, "north": 2, "west": 2}),
        Feat("nothing", {"east": 0, "north": 0, "west": 0}),
        Feat("most", {"east": 3, "north": 1, "west": 0}),
        Feat("again", {"east": 5, "north": 5, "west": 0}),
        Feat("least", {"east": 5, "north": 4, "west": 0}, least=True),
    ]
    awards = awarded(seats, feats, [])
    assert {seat: award.code for seat, award in awards.items()} == {"east": "most", "north": "again", "west": "least"}
    assert awards["west"].facts == {"n": 0}
