"""Mexica's moves one by one: what each does, who may make it, and what is refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from companion.games.kit import TEMPLE, Move, Refusal, TokenDrop
from companion.games.mexica import GAME
from tests.games.sitting import GODS, RAIN_GOD, WAR_GOD, Sitting, all_options, triggered

HUGE = pytest.param(10**5000, id="huge")
LONG = pytest.param("x" * 10**6, id="long")


def test_a_tap_is_credited_to_the_tribe_on_turn_whoever_taps() -> None:
    sitting = Sitting(4).do("sacrifice", RAIN_GOD, 7, by="south")
    assert sitting.view["given"]["east"] == {WAR_GOD: 0, RAIN_GOD: 7}
    assert sitting.lines[0].facts == {"seat": "east", "god": RAIN_GOD, "n": 7, "by": "south"}
    assert sitting.lines[0].mark == RAIN_GOD


def test_gifts_of_one_tribe_to_one_god_are_reported_as_one_and_others_are_not() -> None:
    sitting = Sitting()
    sitting.falls(RAIN_GOD)
    first = sitting.lines[0]
    sitting.falls(RAIN_GOD)
    both = first.with_next(sitting.lines[0])
    assert both is not None
    assert both.facts["n"] == 2
    sitting.falls(WAR_GOD)
    assert both.with_next(sitting.lines[0]) is None
    assert both.with_next(sitting.do("end_turn").lines[0]) is None


def test_the_story_names_who_ends_a_turn_for_another() -> None:
    assert Sitting().do("end_turn").codes == ["turn_ended"]
    sitting = Sitting().do("end_turn", by="west")
    assert sitting.codes == ["turn_ended_for"]
    assert sitting.lines[0].facts == {"seat": "east", "by": "west"}


def test_the_lake_keeps_the_order_in_which_tokens_entered() -> None:
    sitting = Sitting().do("sacrifice", WAR_GOD, 2)
    sitting.falls(RAIN_GOD)
    sitting.do("end_turn").do("sacrifice", WAR_GOD, 1)
    assert sitting.view["lake"] == "hhth"


@pytest.mark.parametrize("n", [0, 14, -1, HUGE, "3", 1.0, True, None])
def test_a_tap_is_of_1_to_13_tokens(n: Any) -> None:
    assert Sitting().refused("sacrifice", RAIN_GOD, n) == "bad_number"


@pytest.mark.parametrize("god", ["tonantzin", "", "Tlaloc", 3, None, ["tlaloc"], LONG])
def test_sacrifices_go_to_the_two_gods_of_the_temple(god: Any) -> None:
    assert Sitting().refused("sacrifice", god, 1) == "unknown_god"


def test_a_seat_cannot_enter_a_token_and_the_temple_nothing_else() -> None:
    sitting = Sitting()
    assert sitting.refused("token", "a1", RAIN_GOD, "", by="east") == "temple_only"
    assert sitting.refused("end_turn", by=TEMPLE) == "players_only"


@pytest.mark.parametrize("seat", ["north", "chance", "", None, 3, ["east"]])
def test_only_seats_of_this_table_act(seat: Any) -> None:
    assert Sitting(2).refused("end_turn", by=seat or "-") == "not_seated"


@pytest.mark.parametrize("move", [Move("settle", ()), Move("end_turn", (1,)), Move("claim", ("a",))])
def test_a_move_has_as_many_arguments_as_it_needs(move: Move) -> None:
    assert Sitting().refused(move.name, *move.args) == "misfit"


def test_the_legal_list_is_exact_among_all_moves_that_could_be_written() -> None:
    sitting = Sitting(3, apocalypse_tokens=14).give(WAR_GOD, 7).give(RAIN_GOD, 7)
    token = sitting.falls(WAR_GOD, "jam")
    states = [sitting.state, sitting.do("propose", "east", WAR_GOD, -7).state, sitting.do("bare").state]
    states += [Sitting().state, sitting.do("settle", "west").state]
    for state, seat in product(states, ("east", "north", "west", "south")):
        written = _all_written(token)
        legal = [move for move in written if not isinstance(GAME.rules.play(state, seat, move), Refusal)]
        assert GAME.rules.moves(state, seat) == sorted(legal)


def _all_written(token: str) -> list[Move]:
    seats, gods = ("east", "north", "west", "south", "centre"), (*GODS, "tonantzin")
    bare = [Move(name) for name in ("bare", "confirm", "end_turn", "issue", "withdraw", "claim", "token", "pass")]
    taps = [Move("sacrifice", args) for args in product(gods, range(-1, 16))]
    claims = [Move("claim", args) for args in product((token, "a9"), seats)]
    dismissals = [Move("dismiss", (each,)) for each in (token, "a9")]
    corrections = [Move("propose", args) for args in product(seats, gods, range(-15, 16))]
    return [*bare, *taps, *claims, *dismissals, *corrections, *(Move("settle", (seat,)) for seat in seats)]


# Tokens


def test_one_token_is_never_counted_twice() -> None:
    sitting = Sitting()
    counted = sitting.falls(RAIN_GOD)
    assert sitting.refused("token", counted, RAIN_GOD, "", by=TEMPLE) == "known_token"
    waiting = sitting.falls(RAIN_GOD, "jam")
    assert sitting.refused("token", waiting, RAIN_GOD, "", by=TEMPLE) == "known_token"
    sitting.do("dismiss", waiting)
    assert sitting.refused("token", waiting, RAIN_GOD, "", by=TEMPLE) == "known_token"
    assert sitting.view["total"] == 1


def test_a_dismissed_token_counts_for_nobody_and_stays_known() -> None:
    sitting = Sitting()
    token = sitting.falls(RAIN_GOD, "jam")
    sitting.do("dismiss", token, by="west")
    assert sitting.state.dismissed == (token,)
    assert sitting.view["total"] == 0
    assert sitting.refused("claim", token, "east") == "unknown_token"
    assert sitting.lines[0].facts == {"god": RAIN_GOD, "n": 1, "by": "west"}


def test_a_claim_is_final() -> None:
    sitting = Sitting()
    token = sitting.falls(RAIN_GOD, "jam")
    sitting.do("claim", token, "west")
    assert sitting.refused("claim", token, "east") == "unknown_token"
    assert sitting.refused("dismiss", token) == "unknown_token"


def test_a_token_that_falls_after_the_end_waits_and_its_claim_changes_tallies_only() -> None:
    sitting = triggered(WAR_GOD).end_turns(14)
    assert GAME.rules.to_act(sitting.state) == ()
    tokens = [sitting.falls(RAIN_GOD) for _ in range(2)]
    assert [each["doubt"] for each in sitting.view["unclaimed"]] == ["over", "over"]
    assert GAME.rules.to_act(sitting.state) == ("east", "west")
    assert {move.name for move in GAME.rules.moves(sitting.state, "west")} == {"claim", "dismiss"}
    sitting.do("claim", tokens[0], "west").do("dismiss", tokens[1])
    assert sitting.view["gods"] == {WAR_GOD: 13, RAIN_GOD: 1}
    assert sitting.view["outcome"] == {"kind": "war", "seat": None}
    assert GAME.rules.to_act(sitting.state) == ()


def test_claims_after_the_end_neither_start_the_clock_nor_turn_the_doom_that_came() -> None:
    sitting = Sitting(apocalypse_tokens=13).give(WAR_GOD, 12).do("settle", "east")
    sitting.do("claim", sitting.falls(WAR_GOD), "east")
    assert sitting.left is None

    sitting = triggered(WAR_GOD).end_turns(14)
    for _ in range(14):
        sitting.do("claim", sitting.falls(RAIN_GOD), "west")
    assert sitting.view["leader"] == RAIN_GOD
    assert sitting.view["countdown"]["doom"] == "war"
    assert not sitting.view["countdown"]["forestalled"]


def test_every_doubt_enters_in_every_state() -> None:
    for sitting in (Sitting(), triggered().end_turns(3), Sitting().do("settle", "west")):
        for doubt in ("", "earlier", "elsewhere", "jam", "stranger", "a_doubt_of_tomorrow"):
            sitting.falls(WAR_GOD, doubt)


@pytest.mark.parametrize("token", ["", "-", "a,b", "a:b", "a b", "a=b", "é", "x" * 65, 7, None, ["a"]])
def test_a_token_has_an_id_that_can_be_written(token: Any) -> None:
    assert Sitting().refused("token", token, RAIN_GOD, "", by=TEMPLE) == "bad_token"


@pytest.mark.parametrize("doubt", ["Jam", "a b", "x" * 40, None, 0])
def test_a_doubt_is_a_code(doubt: Any) -> None:
    assert Sitting().refused("token", "a1", RAIN_GOD, doubt, by=TEMPLE) == "bad_doubt"


def test_what_the_table_knows_of_a_fall_becomes_its_move() -> None:
    state = Sitting().state
    assert GAME.temple.drop(state, TokenDrop("a1", WAR_GOD, "jam")) == Move("token", ("a1", WAR_GOD, "jam"))


# Corrections


def test_a_correction_counts_when_a_second_seat_confirms_it() -> None:
    sitting = Sitting(4).do("sacrifice", WAR_GOD, 3).do("propose", "east", WAR_GOD, -2, by="north")
    assert sitting.view["total"] == 3
    assert sitting.view["correction"] == {"by": "north", "seat": "east", "god": WAR_GOD, "delta": -2}
    assert sitting.refused("confirm", by="north") == "own_correction"
    sitting.do("confirm", by="south")
    assert (sitting.view["total"], sitting.view["lake"], sitting.view["correction"]) == (1, "h", None)
    assert sitting.lines[0].facts == {"seat": "east", "god": WAR_GOD, "delta": -2, "by": "south"}


def test_a_correction_takes_the_latest_tokens_of_its_god_out_of_the_lake() -> None:
    sitting = Sitting().do("sacrifice", WAR_GOD, 2).do("sacrifice", RAIN_GOD, 2).do("sacrifice", WAR_GOD, 1)
    sitting.do("propose", "east", WAR_GOD, -2, by="west").do("confirm", by="east")
    assert sitting.view["lake"] == "htt"


def test_a_correction_changes_what_was_corrected_and_not_what_was_credited() -> None:
    sitting = Sitting().do("sacrifice", WAR_GOD, 3).do("propose", "east", WAR_GOD, 2).do("confirm", by="west")
    tally = sitting.state.tallies.tribes[0]
    assert (tally.credited.huitzilopochtli, tally.corrected.huitzilopochtli) == (3, 2)


def test_there_is_one_open_correction_at_a_time_and_anybody_may_withdraw_it() -> None:
    sitting = Sitting(4).do("propose", "east", WAR_GOD, 1, by="east")
    assert sitting.refused("propose", "west", WAR_GOD, 1, by="west") == "correction_open"
    sitting.do("withdraw", by="south")
    assert sitting.refused("withdraw") == "no_correction"
    assert sitting.refused("confirm", by="west") == "no_correction"
    sitting.do("propose", "west", WAR_GOD, 1, by="west")


@pytest.mark.parametrize("delta", [0, 14, -14, "1", 1.0, True, None, HUGE])
def test_a_correction_is_of_1_to_13_tokens_either_way(delta: Any) -> None:
    assert Sitting().give(WAR_GOD, 30).refused("propose", "east", WAR_GOD, delta) == "bad_delta"


def test_no_correction_takes_more_than_was_given() -> None:
    sitting = Sitting().do("sacrifice", WAR_GOD, 2)
    assert sitting.refused("propose", "east", WAR_GOD, -3) == "below_nothing"
    assert sitting.refused("propose", "east", RAIN_GOD, -1) == "below_nothing"
    sitting.do("propose", "east", WAR_GOD, -2)


def test_an_open_correction_lapses_with_the_end() -> None:
    sitting = Sitting().do("propose", "east", WAR_GOD, 1).do("settle", "west")
    assert sitting.view["correction"] is None
    assert sitting.refused("confirm", by="west") == "over"


# The end, and what may be taken back


def test_after_the_end_nothing_but_claims_and_dismissals_is_legal() -> None:
    sitting = Sitting().do("settle", "west")
    for move in (Move("end_turn"), Move("sacrifice", (WAR_GOD, 1)), Move("issue"), Move("settle", ("east",))):
        assert sitting.refused(move.name, *move.args) == "over"
    assert GAME.rules.moves(sitting.state, "east") == []
    assert sitting.refused("claim", "a1", "east") == "unknown_token"


@pytest.mark.parametrize(
    ("move", "undoable"),
    [
        (Move("sacrifice", (WAR_GOD, 3)), True),
        (Move("issue"), True),
        (Move("bare"), True),
        (Move("settle", ("east",)), True),
        (Move("end_turn"), True),
        (Move("claim", ("a1", "east")), False),
        (Move("dismiss", ("a1",)), False),
        (Move("propose", ("east", WAR_GOD, 1)), False),
        (Move("confirm"), False),
        (Move("withdraw"), False),
    ],
)
def test_a_slip_of_ones_own_is_taken_back_and_what_others_saw_or_shared_is_not(move: Move, undoable: bool) -> None:
    assert GAME.rules.undoable(Sitting().state, "east", move) is undoable


def test_a_token_is_never_taken_back() -> None:
    assert not GAME.rules.undoable(Sitting().state, TEMPLE, Move("token", ("a1", WAR_GOD, "")))


# Choices


def test_corrections_of_one_token_are_at_hand_and_larger_ones_a_few_levels_deeper() -> None:
    state = Sitting().do("sacrifice", WAR_GOD, 2).state
    first = GAME.rules.choices(state, "west")
    near = [choice.move.args for choice in first if choice.key == "propose" and choice.move]
    assert ("east", WAR_GOD, -1) in near
    assert ("west", WAR_GOD, -1) not in near
    assert [choice.facts["pick"] for choice in first if choice.move is None] == ["propose"]
    assert [choice.facts["pick"] for choice in GAME.rules.choices(state, "west", ("propose",))] == ["east", "west"]
    deltas = [choice.facts["delta"] for choice in GAME.rules.choices(state, "west", ("propose", "east", WAR_GOD))]
    assert deltas == [-2, -1, *range(1, 14)]


def test_the_suggested_tribe_comes_first_among_those_who_may_claim() -> None:
    sitting = Sitting(4).end_turns(3)
    sitting.falls(WAR_GOD, "earlier")
    claims = [choice for choice in GAME.rules.choices(sitting.state, "east") if choice.key == "claim"]
    assert [choice.facts["seat"] for choice in claims] == ["west", "east", "north", "south"]


def test_a_costly_choice_asks_for_a_second_tap() -> None:
    sitting = Sitting(apocalypse_tokens=14).give(WAR_GOD, 7).give(RAIN_GOD, 7)
    sitting.falls(WAR_GOD, "jam")
    confirmed = {choice.key for choice in GAME.rules.choices(sitting.state, "east") if choice.confirm}
    assert confirmed == {"settle", "dismiss", "bare", "sacrifice"}  # at even gods any sacrifice lets the clock go on


@pytest.mark.parametrize(
    "picked", [("sacrifice",), ("propose", "north"), ("propose", "east", "x"), (3,), ("", "", "")]
)
def test_a_path_that_leads_nowhere_offers_nothing(picked: tuple[int | str, ...]) -> None:
    assert GAME.rules.choices(Sitting().state, "east", picked) == []


# Options


@pytest.mark.parametrize(
    "wrong", [{"countdown": "weeks"}, {"apocalypse_tokens": 12}, {"apocalypse_tokens": "260"}, {"no_such": 1}]
)
def test_setup_names_the_option_that_it_cannot_accept(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        GAME.rules.setup(all_options(**wrong), ("east", "west"))


def test_setup_names_an_option_that_is_missing() -> None:
    options = all_options()
    del options["forestall"]
    with pytest.raises(ValueError, match="forestall is missing"):
        GAME.rules.setup(options, ("east", "west"))


def test_a_refusal_of_junk_is_short() -> None:
    refusal = GAME.rules.play(Sitting().state, "east", Move("x" * 10**6, ("y" * 10**6,)))
    assert isinstance(refusal, Refusal)
    assert refusal.code == "unknown_move"
    assert len(str(refusal)) < 200
