"""Each ruling of Mexica that the temple's scope plays by, under its id."""

from __future__ import annotations

import pytest

from companion.games.kit import Mood
from companion.games.mexica import GAME
from tests.games.sitting import RAIN_GOD, WAR_GOD, Sitting, counted, even, triggered

# M22: the win


def test_m22_a_tribe_that_shows_the_three_signs_wins_at_once_even_in_anothers_turn() -> None:
    sitting = Sitting(4).do("settle", "west", by="east")
    assert sitting.view["outcome"] == {"kind": "settled", "seat": "west"}
    assert GAME.rules.on_turn(sitting.state) is None
    assert sitting.codes == ["settled"]


def test_m22_a_tribe_may_still_win_during_the_countdown() -> None:
    sitting = triggered().end_turns(13)
    assert sitting.left == 1
    assert sitting.do("settle", "east").view["outcome"] == {"kind": "settled", "seat": "east"}


# M23: the trigger


def test_m23_260_sacrifices_trigger_the_apocalypse() -> None:
    sitting = Sitting().give(WAR_GOD, 259)
    assert sitting.view["left"] == 1
    assert sitting.left is None
    sitting.do("sacrifice", RAIN_GOD, 1)
    assert sitting.left == 13
    assert sitting.codes == ["gave", "triggered"]
    assert sitting.lines[-1].facts == {"cause": "tokens"}


def test_m23_all_20_week_cards_trigger_it_where_they_come_first() -> None:
    sitting = Sitting()
    for _ in range(19):
        sitting.do("issue")
    assert sitting.left is None
    assert sitting.do("issue").left == 13
    assert sitting.lines[-1].facts == {"cause": "week_cards"}
    assert sitting.refused("issue") == "all_issued"


@pytest.mark.parametrize(("trigger", "cards"), [("disc1", 1), ("disc2", 2), ("disc3", 3), ("all_week", 20)])
def test_m23_a_table_may_let_discs_alone_trigger_it(trigger: str, cards: int) -> None:
    sitting = Sitting(apocalypse_trigger=trigger, apocalypse_tokens=13).give(WAR_GOD, 30)
    assert sitting.view["threshold"] is None
    assert sitting.view["left"] is None
    assert sitting.view["week_threshold"] == cards
    for _ in range(cards):
        assert sitting.left is None
        sitting.do("issue")
    assert sitting.left == 13


def test_m23_a_table_may_let_tokens_alone_trigger_it() -> None:
    sitting = Sitting(apocalypse_trigger="tokens", apocalypse_tokens=52)
    for _ in range(20):
        sitting.do("issue")
    assert sitting.left is None
    assert sitting.view["week_threshold"] is None
    assert sitting.give(WAR_GOD, 52).left == 13


@pytest.mark.parametrize("tokens", [13, 52, 104, 360])
def test_m23_a_table_may_choose_how_many_tokens(tokens: int) -> None:
    sitting = Sitting(apocalypse_tokens=tokens).give(WAR_GOD, tokens - 1)
    assert sitting.left is None
    assert sitting.give(WAR_GOD, 1).left == 13


def test_m23_once_triggered_it_stays_so_whatever_is_corrected() -> None:
    sitting = triggered().do("propose", "east", RAIN_GOD, -5, by="east").do("confirm", by="west")
    assert sitting.view["total"] == 8
    assert sitting.left == 13


def test_m23_a_claim_and_a_confirmed_correction_trigger_it_too() -> None:
    sitting = Sitting(apocalypse_tokens=13).give(WAR_GOD, 12)
    token = sitting.falls(RAIN_GOD, "jam")
    assert sitting.left is None
    assert sitting.do("claim", token, "west").left == 13

    sitting = Sitting(apocalypse_tokens=13).give(WAR_GOD, 12).do("propose", "west", WAR_GOD, 1)
    assert sitting.left is None
    assert sitting.do("confirm", by="west").left == 13


def test_m24_what_is_given_to_tonantzin_does_not_go_through_the_temple_and_does_not_count() -> None:
    sitting = Sitting(apocalypse_tokens=13).give(WAR_GOD, 12)
    assert sitting.refused("sacrifice", "tonantzin", 7) == "unknown_god"
    assert sitting.left is None


# M25, M43: the countdown


def test_m25_the_turn_that_triggers_does_not_tick_and_then_13_turns_follow() -> None:
    sitting = triggered(players=3).do("end_turn")
    assert (sitting.left, sitting.codes) == (13, ["turn_ended"])
    for left in range(12, 0, -1):
        assert sitting.do("end_turn").left == left
        assert sitting.codes == ["turn_ended", "tick"]
    assert sitting.do("end_turn").state.over
    assert sitting.codes == ["turn_ended", "tick", "ended"]
    assert sitting.view["turn"] == 14


def test_m25_by_the_authors_later_notes_13_rounds_tick_at_the_triggering_seats_turn() -> None:
    sitting = Sitting(4, apocalypse_tokens=13, countdown="rounds13").end_turns(1).give(WAR_GOD, 13)
    assert sitting.state.seat == "north"
    assert sitting.view["countdown"]["unit"] == "rounds"
    sitting.end_turns(4)
    assert (sitting.state.seat, sitting.left) == ("north", 13)
    assert sitting.do("end_turn").left == 12
    sitting.end_turns(3)
    assert sitting.left == 12
    sitting.end_turns(1 + 4 * 10)
    assert sitting.left == 1
    sitting.end_turns(3)
    assert not sitting.state.over
    assert sitting.do("end_turn").view["outcome"] == {"kind": "war", "seat": None}


def test_m43_every_turn_that_ends_ticks_whoever_ends_it() -> None:
    sitting = triggered().do("end_turn")
    for n, by in enumerate(("west", "west", "east", "east"), start=1):
        assert sitting.do("end_turn", by=by).left == 13 - n


# M26: forestalled


def test_m26_a_tick_while_both_gods_are_even_is_skipped_and_the_count_resumes() -> None:
    sitting = triggered(WAR_GOD).end_turns(3).give(RAIN_GOD, 13)
    assert sitting.left == 11
    assert sitting.view["countdown"]["forestalled"]
    assert sitting.end_turns(5).left == 11
    assert sitting.codes == ["turn_ended", "forestalled"]
    sitting.do("sacrifice", RAIN_GOD, 1)
    assert not sitting.view["countdown"]["forestalled"]
    assert sitting.do("end_turn").left == 10


def test_m26_even_at_the_trigger_is_forestalled_from_the_start() -> None:
    sitting = even()
    assert (sitting.left, sitting.view["countdown"]["forestalled"]) == (13, True)
    assert sitting.end_turns(4).left == 13


def test_m26_the_doom_follows_the_balance_until_it_comes() -> None:
    sitting = triggered(WAR_GOD).end_turns(13)
    assert sitting.view["countdown"]["doom"] == "war"
    sitting.give(RAIN_GOD, 14)
    assert sitting.view["countdown"]["doom"] == "flood"
    assert sitting.do("end_turn").view["outcome"] == {"kind": "flood", "seat": None}


def test_m26_a_table_may_lock_the_doom_at_the_trigger() -> None:
    sitting = triggered(WAR_GOD, apocalypse_locks_type="on").give(RAIN_GOD, 26).end_turns(13)
    assert sitting.view["leader"] == RAIN_GOD
    assert sitting.view["doom_god"] == WAR_GOD
    assert sitting.do("end_turn").view["outcome"] == {"kind": "war", "seat": None}


def test_m26_a_lock_waits_for_the_balance_where_the_trigger_found_it_even() -> None:
    sitting = even(apocalypse_locks_type="on")
    assert sitting.view["countdown"]["doom"] == "even"
    sitting.do("sacrifice", RAIN_GOD, 1)
    sitting.do("sacrifice", WAR_GOD, 5)
    assert sitting.view["countdown"]["doom"] == "flood"


def test_m26_a_locked_doom_is_forestalled_by_even_tallies_like_any_other() -> None:
    sitting = triggered(WAR_GOD, apocalypse_locks_type="on").end_turns(2).give(RAIN_GOD, 13)
    assert sitting.view["countdown"]["forestalled"]
    assert sitting.end_turns(3).left == 12


# M27, M28, M29, M30: who comes, and what it means


@pytest.mark.parametrize(("god", "doom"), [(WAR_GOD, "war"), (RAIN_GOD, "flood")])
def test_m27_the_god_with_the_most_tokens_intervenes(god: str, doom: str) -> None:
    sitting = triggered(god)
    assert sitting.view["doom_god"] == god
    assert sitting.end_turns(14).view["outcome"] == {"kind": doom, "seat": None}


@pytest.mark.parametrize(("god", "doom"), [(WAR_GOD, "flood"), (RAIN_GOD, "war")])
def test_m27_a_table_may_let_the_god_with_the_least_intervene(god: str, doom: str) -> None:
    sitting = triggered(god, doom_by="least")
    assert sitting.view["leader"] == god
    assert sitting.view["doom_god"] != god
    assert sitting.end_turns(14).view["outcome"] == {"kind": doom, "seat": None}


@pytest.mark.parametrize(("god", "doom"), [(WAR_GOD, "war"), (RAIN_GOD, "flood")])
def test_m28_while_flood_or_war_bites_turns_and_sacrifices_go_on(god: str, doom: str) -> None:
    sitting = triggered(god).do("end_turn")
    assert sitting.view["countdown"]["biting"] == doom
    sitting.do("sacrifice", god, 3).do("issue").do("end_turn")
    sitting.falls(god)
    assert counted(sitting, god) == 17


def test_m30_flood_and_war_leave_no_winner() -> None:
    assert triggered(WAR_GOD).end_turns(14).view["outcome"]["seat"] is None
    assert triggered(RAIN_GOD).end_turns(14).view["outcome"]["seat"] is None


# M31, M32: who sits where


def test_m31_two_tribes_are_east_and_west_three_have_north_between_and_east_begins() -> None:
    assert GAME.seatings == {2: ("east", "west"), 3: ("east", "north", "west"), 4: ("east", "north", "west", "south")}
    for players, seats in GAME.seatings.items():
        sitting = Sitting(players)
        order = [sitting.state.seat]
        order += [sitting.do("end_turn").state.seat for _ in range(players)]
        assert tuple(order) == (*seats, "east")
        assert sitting.view["round"] == 2


def test_m32_nothing_is_collected_given_or_issued_before_the_first_turn() -> None:
    view = Sitting(4).view
    assert (view["total"], view["lake"], view["week_cards"], view["turn"], view["on_turn"]) == (0, "", 0, 1, "east")


# M33: whose token it was


def test_m33_a_token_is_credited_to_the_tribe_on_turn() -> None:
    sitting = Sitting(4).end_turns(2)
    sitting.falls(RAIN_GOD)
    assert sitting.view["given"]["west"] == {WAR_GOD: 0, RAIN_GOD: 1}
    assert (sitting.lines[0].code, sitting.lines[0].facts["seat"]) == ("gave", "west")


@pytest.mark.parametrize(
    ("doubt", "suggested"), [("earlier", "east"), ("jam", "north"), ("elsewhere", None), ("stranger", None)]
)
def test_m33_a_token_in_doubt_waits_unclaimed_with_a_suggestion(doubt: str, suggested: str | None) -> None:
    sitting = Sitting(4).do("end_turn")
    token = sitting.falls(WAR_GOD, doubt)
    assert sitting.view["total"] == 0
    assert sitting.view["unclaimed"] == [{"id": token, "god": WAR_GOD, "doubt": doubt, "suggested": suggested}]
    assert sitting.codes == ["unclaimed"]


def test_m33_a_suggestion_is_judged_when_the_token_comes_and_stays_when_turns_pass() -> None:
    sitting = Sitting(4).do("end_turn")
    sitting.falls(WAR_GOD, "earlier")
    assert sitting.end_turns(2).view["unclaimed"][0]["suggested"] == "east"


def test_m33_a_token_from_before_the_first_turn_suggests_nobody() -> None:
    sitting = Sitting(2)
    sitting.falls(WAR_GOD, "earlier")
    assert sitting.view["unclaimed"][0]["suggested"] is None


def test_m33_the_table_assigns_an_unclaimed_token_to_any_tribe() -> None:
    sitting = Sitting(4)
    token = sitting.falls(WAR_GOD, "jam")
    sitting.do("claim", token, "south", by="north")
    assert sitting.view["unclaimed"] == []
    assert sitting.view["given"]["south"][WAR_GOD] == 1
    assert sitting.view["lake"] == "h"


# M34: when it bites


def test_m34_flood_and_war_bite_from_the_turn_after_the_trigger() -> None:
    sitting = triggered(WAR_GOD)
    assert sitting.view["countdown"]["biting"] == ""
    assert sitting.do("end_turn").view["countdown"]["biting"] == "war"


def test_m34_while_the_gods_are_even_neither_bites() -> None:
    sitting = triggered(WAR_GOD).do("end_turn").give(RAIN_GOD, 13)
    assert sitting.view["countdown"]["biting"] == ""
    assert sitting.do("sacrifice", RAIN_GOD, 1).view["countdown"]["biting"] == "flood"


def test_m34_a_table_may_keep_them_for_the_end() -> None:
    sitting = triggered(WAR_GOD, doom_effects="doom").end_turns(5)
    assert sitting.view["countdown"]["biting"] == ""


# M35: even for ever


def test_m35_once_all_spaces_are_bare_even_ticks_count_and_at_zero_nobody_wins() -> None:
    sitting = even().do("end_turn").do("bare")
    assert not sitting.view["countdown"]["forestalled"]
    assert sitting.do("end_turn").left == 12
    assert sitting.view["countdown"]["biting"] == ""
    sitting.end_turns(12)
    assert sitting.view["outcome"] == {"kind": "stillness", "seat": None}
    assert sitting.lines[-1].facts == {"kind": "stillness"}


def test_m35_bare_spaces_do_not_save_from_a_god_who_leads_at_zero() -> None:
    sitting = even().do("end_turn").do("bare").end_turns(12).give(RAIN_GOD, 1).do("end_turn")
    assert sitting.view["outcome"] == {"kind": "flood", "seat": None}


def test_m35_bare_is_said_only_while_the_clock_is_forestalled() -> None:
    assert Sitting().refused("bare") == "not_forestalled"
    assert triggered().refused("bare") == "not_forestalled"
    assert even().do("bare").refused("bare") == "not_forestalled"


def test_m35_a_table_may_forestall_for_ever() -> None:
    sitting = even(forestall="forever")
    assert sitting.refused("bare") == "forestalled_forever"
    assert sitting.end_turns(100).left == 13


# What the temple's lamps show


def test_lamps_show_the_countdown_with_what_threatens_and_nothing_before_it() -> None:
    assert GAME.temple.mood(Sitting().state) == Mood()
    sitting = triggered()
    assert GAME.temple.mood(sitting.state) == Mood(("countdown", "flood"), 13)
    sitting.end_turns(13)
    assert GAME.temple.mood(sitting.state) == Mood(("countdown", "flood"), 1)
    sitting.end_turns(1)
    assert GAME.temple.mood(sitting.state) == Mood(("flood",))


def test_lamps_show_a_countdown_alone_while_no_god_prevails() -> None:
    assert GAME.temple.mood(even().state) == Mood(("countdown",), 13)


def test_a_game_that_a_tribe_won_is_calm() -> None:
    assert GAME.temple.mood(triggered().do("settle", "east").state) == Mood()
