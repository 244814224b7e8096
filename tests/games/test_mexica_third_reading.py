"""The third reading of Mexica's rules (M53 to M55)."""

from __future__ import annotations

import pytest

from companion.games.kit import Move
from companion.games.mexica import GAME
from companion.games.mexica.rules.board import Boost
from companion.games.mexica.rules.cards.effects import Boost as Raise
from tests.games.full_sitting import RAIN_GOD, WAR_GOD, Full, find, quiet

TO_A_DAY, WALK_TWO = "rain-32", "day-crocodile-2"
GATHER = find(Raise, "rain", what="gather")
BARE, SPACE = 0, 3


# -- M53 --


def test_m53_a_second_turn_collects_first_though_it_is_in_round_one() -> None:
    sitting = quiet(turn_order="tester").lay(again=("east",)).roll(3).finish_turn()
    assert (sitting.state.turn, sitting.state.round, sitting.state.seat) == (2, 1, "east")
    assert sitting.tokens("east") == 1


def test_m53_the_first_turn_of_a_tribe_does_not_collect_though_it_is_an_extra_one() -> None:
    sitting = quiet(turn_order="tester").lay(again=("west",)).roll(3).finish_turn()
    assert (sitting.state.turn, sitting.state.seat, sitting.tokens("west")) == (2, "west", 0)
    sitting.roll(2).finish_turn()
    assert (sitting.state.turn, sitting.state.seat, sitting.tokens("west")) == (3, "west", 1)


# -- M54 --


@pytest.mark.parametrize("gather_from", ["reserve", "space"])
def test_m54_on_a_bare_space_a_gather_card_pays_from_the_reserve(gather_from: str) -> None:
    sitting = quiet(gather_from=gather_from).space(SPACE, BARE).lay("east", boosts=(Boost("gather", 3),))
    reserve = sitting.board.reserve
    sitting.land(SPACE)
    assert (sitting.tokens("east"), sitting.board.reserve) == (3, reserve - 3)
    assert (sitting.board.spaces[SPACE - 1], sitting.tribe("east").boosts) == (BARE, ())


@pytest.mark.parametrize(("there", "was"), [(13, 1), (BARE, 0)])
def test_m54_the_preview_of_a_gather_card_says_how_many_tokens_it_brings(there: int, was: int) -> None:
    sitting = quiet().space(SPACE, there).lay("east", hand=(GATHER, TO_A_DAY)).land(SPACE)
    effect = sitting.state.rules.cards.card(GATHER).effect
    assert isinstance(effect, Raise)
    by = effect.by
    (line,) = GAME.preview(sitting.state, "east", Move("play", (GATHER,))).certain
    assert (line.code, line.facts) == ("collects", {"seat": "east", "was": was, "n": was + by})
    assert sitting.do("play", GATHER).do("pass").tokens("east") == was + by


def test_m54_the_preview_counts_no_more_tokens_than_the_reserve_holds() -> None:
    sitting = quiet().space(SPACE, BARE).lay("east", hand=(GATHER,)).lay("west", tokens=112).land(SPACE)
    assert sitting.board.reserve == 1
    (line,) = GAME.preview(sitting.state, "east", Move("play", (GATHER,))).certain
    assert line.facts["n"] == 1


def test_m54_a_bare_space_gives_no_day_card_in_the_flood_either() -> None:
    sitting = Full(first_landing="per_player", flood_day_card="on").space(SPACE, BARE).bite(RAIN_GOD).land(SPACE)
    assert sitting.due == ("cards", "east")


# -- M55 --


def _moved_by_a_prize(forced_landing: str) -> Full:
    """Return a sitting in war in which East beat West and its Day card took it two spaces on."""
    sitting = (
        quiet(war="cortez5", forced_landing=forced_landing)
        .bite(WAR_GOD)
        .lay("west", place=SPACE)
        .lay("east", tokens=9)
    )
    return sitting.land(SPACE).roll(6, 1).draw(WALK_TWO)


@pytest.mark.parametrize("forced_landing", ["all", "battle_only"])
def test_m55_cortez_is_fought_once_where_a_battles_prize_took_the_tribe(forced_landing: str) -> None:
    sitting = _moved_by_a_prize(forced_landing)
    assert sitting.tribe("east").place == SPACE + 2
    assert sitting.view["battle"]["sides"] == ["east", "cortez"]
    sitting.roll(6)
    assert (sitting.board.battle, sitting.due) == (None, ("sacrifice", "east"))


def test_m55_cortez_is_fought_after_the_tribes_that_were_met() -> None:
    sitting = quiet(war="cortez5").bite(WAR_GOD).lay("west", place=SPACE, tokens=5).lay("east", tokens=9).land(SPACE)
    assert sitting.view["battle"]["sides"] == ["east", "west"]
    assert sitting.roll(6, 1).view["battle"]["sides"] == ["east", "cortez"]
    assert sitting.roll(6).due == ("sacrifice", "east")
