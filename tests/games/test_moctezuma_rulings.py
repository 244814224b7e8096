"""The rulings Z1 to Z26 of Moctezuma's Revenge, each named by the test that holds it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from statistics import mean

import pytest

from companion.games.kit import Move
from companion.games.moctezuma import GAME
from companion.games.moctezuma.rules.boards import LIBRARY, distances, ways
from companion.games.moctezuma.rules.pieces import COPIES, DECK, KINGS, SPACES, chits, king_of
from companion.games.moctezuma.rules.scoring import cursed_kings, score, winners
from companion.games.moctezuma.rules.state import Deck
from tests.games.moctezuma_sitting import STANDARD_NAMES, Sitting
from tests.games.playouts import check_value
from tests.games.texts import LIBRARY as TEXTS

CURSED_AT_ONCE = {
    "any": {3: 1.2, 4: 20.8, 5: 51.4, 6: 24.9, 7: 1.7},
    "all": {0: 18.6, 1: 53.4, 2: 26.1, 3: 1.9},
    "majority": {0: 7.3, 1: 45.9, 2: 41.4, 3: 5.4},
}
MEANS = {"any": 5.05, "all": 1.11, "majority": 1.45}


@pytest.mark.parametrize("third_chit", ["second", "first"])
@pytest.mark.parametrize("rule", CURSED_AT_ONCE)
def test_z1_the_cursed_kings_are_spread_as_enumeration_says(rule: str, third_chit: str) -> None:
    """Z1, with Z2: over all 11,440 placements of 7 cursed among 16 chits, one of them out of play."""
    counts: Counter[int] = Counter()
    for placed in combinations(range(16), 7):
        faces = [int(space in placed) for space in range(SPACES)]
        counts[sum(cursed_kings(faces, rule, third_chit))] += 1
    assert counts.total() == 11_440
    shares = {cursed: round(100 * n / 11_440, 1) for cursed, n in sorted(counts.items())}
    assert shares == CURSED_AT_ONCE[rule]
    assert round(mean(counts.elements()), 2) == MEANS[rule]


def test_z1_one_cursed_chit_is_enough_by_default() -> None:
    one = [0] * SPACES
    one[4 + 7] = 1
    assert [cursed_kings(one, rule, "second")[4] for rule in ("any", "majority", "all", "two_plus")] == [
        True,
        False,
        False,
        False,
    ]


def test_z1_of_three_chits_two_are_a_majority_and_not_all() -> None:
    two = [0] * SPACES
    two[6] = two[14] = 1
    rules = ("any", "majority", "two_plus", "all")
    assert [cursed_kings(two, rule, "second")[6] for rule in rules] == [True, True, True, False]


def test_z1_the_later_rule_brings_its_own_bag_of_chits() -> None:
    assert chits("two_plus") == (14, 11)
    assert chits("any") == chits("all") == (7, 9)
    table = Sitting(curse_rule="two_plus").do("study", 2).do("peek", 0)
    assert table.chances() == {("cursed",): Fraction(14, 25), ("safe",): Fraction(11, 25)}


def test_z2_the_sixteenth_chit_stays_out_and_is_shown_after_the_game() -> None:
    table = Sitting().last_round(frozenset(range(6))).closed()
    assert table.view()["reckoning"]["out"] == {"cursed": 1, "safe": 0}


@pytest.mark.parametrize(("third_chit", "king"), [("second", "moctezuma_ii"), ("first", "moctezuma_i")])
def test_z3_the_third_chit_is_the_second_moctezumas_unless_the_table_says_otherwise(
    third_chit: str, king: str
) -> None:
    table = Sitting(third_chit=third_chit)
    assert table.view()["chits"][14]["king"] == king


def test_z4_seven_kings_in_succession_stand_on_the_chart() -> None:
    assert KINGS == (
        "chimalpopoca",
        "itzcoatl",
        "moctezuma_i",
        "axayacatl",
        "tizoc",
        "ahuitzotl",
        "moctezuma_ii",
    )


@pytest.mark.parametrize("players", [2, 4, 6])
def test_z5_a_chit_is_turned_once_a_round_so_there_are_fifteen_rounds(players: int) -> None:
    table, turns = Sitting(players), 0
    while table.state.stage == "playing":
        table.end()
        turns += 1
    assert turns == 15 * players
    assert table.state.round == 15


def test_z5_a_chit_may_be_turned_after_every_turn() -> None:
    table = Sitting(4, flip="turn")
    for turns in range(15):
        assert table.state.shown == turns
        table.end()
    assert table.state.stage == "reveal"


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_z26_turned_after_each_turn_the_chits_give_the_seats_as_many_turns_as_the_lobby_says(players: int) -> None:
    table, turns = Sitting(players, flip="turn"), [0] * players
    while table.state.stage == "playing":
        turns[(table.state.turn - 1) % players] += 1
        table.end()
    assert (sum(turns), max(turns) - min(turns)) == (15, int(15 % players > 0))
    presets = [f"preset.{name}.about" for name, chosen in GAME.presets.items() if chosen.get("flip") == "turn"]
    for language, joined in (("en", " and "), ("es", " y ")):
        listed = ", ".join(map(str, turns[:-1])) + f"{joined}{turns[-1]}"
        for key in ("option.flip.value.turn", *presets):
            said = TEXTS.words(language, "moctezuma")(key)
            assert (f" {turns[0]} " if len({*turns}) == 1 else listed) in said, f"{key} in {language}"


def test_z6_chits_are_turned_down_the_first_column_then_the_second_then_the_third() -> None:
    assert [king_of(space, "second") for space in range(SPACES)] == [*range(7), *range(7), 6]
    table = Sitting(flip="turn")
    for n, king in enumerate((*KINGS, *KINGS, "moctezuma_ii")):
        table.end()
        flipped = next(line for line in table.lines if line.code == "flipped")
        assert flipped.facts["king"] == king
        assert flipped.facts["column"] == n // 7 + 1


def test_z7_the_game_ends_at_once_when_the_third_chit_is_turned() -> None:
    table = Sitting(3).last_round()
    assert table.state.stage == "playing"
    while table.state.stage == "playing":
        table.end()
    assert table.state.stage == "reveal"
    assert table.state.turn == 45
    assert table.moves("red") == table.moves("blue") == []
    assert table.refused("end_turn") == "not_now"


def test_z8_the_same_action_may_be_taken_twice_so_seven_chits_are_seen_in_a_turn() -> None:
    table = Sitting().peek(0, 1, faces="ss").do("study", 5)
    for space in range(2, 7):
        table.do("peek", space).dealt("safe")
    assert len(table.notebook("red")["chits"]) == 7
    assert table.state.points == 0
    assert table.names_of_moves() == {"end_turn"}


def test_z9_the_researcher_chooses_different_chits_that_lie_face_down() -> None:
    table = Sitting().rounds(3).do("study", 2)
    assert table.moves() == [Move("peek", (space,)) for space in range(3, 15)]
    table.do("peek", 7).dealt("cursed")
    assert Move("peek", (7,)) not in table.moves()
    assert table.refused("peek", 7) == table.refused("peek", 2) == "no_such_chit"
    table.do("peek", 14).dealt("safe")
    assert table.notebook("red")["chits"] == {"7": "cursed", "14": "safe"}
    assert table.notebook("blue")["chits"] == {}
    assert "walk" in table.names_of_moves()


def test_z9_where_fewer_are_left_all_of_them_are_seen() -> None:
    table = Sitting().rounds(12).do("study", 5)
    assert table.state.queue == (12, 13, 14)
    table.dealt("cursed", "cursed", "cursed")
    assert table.notebook("red")["chits"] == {"12": "cursed", "13": "cursed", "14": "cursed"}
    assert table.names_of_moves() >= {"end_turn", "study"}


def test_z10_the_library_has_six_temples_beside_it_and_four_at_two_steps() -> None:
    steps = distances(ways("hex434"))
    assert Counter(steps[LIBRARY][1:]) == {1: 6, 2: 4}
    between = [steps[a][b] for a, b in combinations(range(1, 11), 2)]
    assert (mean(between), max(between)) == (2.0, 4)


def test_z10_hub_and_ring_is_closer_and_the_star_leads_through_the_library() -> None:
    ring, star = (distances(ways(board)) for board in ("hub_ring", "star"))
    assert {*ring[LIBRARY][1:], *star[LIBRARY][1:]} == {1}
    between = [ring[a][b] for a, b in combinations(range(1, 11), 2)]
    assert (round(mean(between), 2), max(between)) == (1.78, 2)
    assert {star[a][b] for a, b in combinations(range(1, 11), 2)} == {2}


def test_z10_a_table_may_lay_its_own_board_that_hangs_together() -> None:
    table = Sitting(board="custom")
    assert GAME.rules.to_act(table.state) == ("red", "blue")
    table.do("path", 0, 9, by="blue")
    assert Move("ready") not in table.moves("red")
    assert table.refused("ready", by="red") == "not_joined"
    table.do("path", 8, 9, by="red").do("ready", by="blue").deal("first", "red")
    assert table.do("walk", 8).do("walk", 9).state.places == (9, 0)
    assert table.refused("walk", 0) == "not_adjacent"


def test_z11_one_treasure_must_be_kept() -> None:
    table = Sitting().put(4).do("explore", 2).dealt(1, 3)
    assert table.moves() == [Move("keep", (1,)), Move("keep", (3,))]
    assert table.refused("leave") == "not_now"


def test_z11_a_table_may_allow_to_keep_none() -> None:
    table = Sitting(keep="may").put(4).do("explore", 2).dealt(1, 3)
    assert table.moves()[-1] == Move("leave")
    table.do("leave")
    assert table.view()["treasure"]["red"] == []
    assert table.view()["decks"][3] == DECK
    assert [line.code for line in table.lines] == ["left"]


def test_z11_a_short_deck_is_drawn_out_and_a_name_alone_cannot_be_explored() -> None:
    table = Sitting()
    while table.view()["decks"][6] > 3:
        table.dig(7, 2)
    table.dig(7, 5, keep=False)
    assert len(table.state.hand) == 3
    table.do("keep", max(table.state.hand)).end().dig(7, 2).put(7)
    assert table.view()["decks"][6] == 1
    assert "explore" not in table.names_of_moves()
    assert table.refused("explore", 2) == "nothing_left"


def test_z12_the_name_is_seen_in_private_never_kept_and_goes_to_the_bottom() -> None:
    table = Sitting().put(4).do("explore", 2).dealt("tizoc", 2)
    assert [line.code for line in table.lines] == []
    assert table.moves() == [Move("keep", (2,))]
    assert table.refused("keep", 0) == "not_drawn"
    table.do("keep", 2)
    assert table.notebook("red")["names"] == {"4": "tizoc"}
    assert table.notebook("blue")["names"] == {}
    assert table.view()["names"][3] is None
    assert table.state.decks[3].below[-1].cards == (0,)


def test_z13_the_rest_goes_under_the_deck_as_it_was_drawn() -> None:
    table = Sitting().explore(4, 5, 1, 3, "clue", 2, 1, keep=3)
    assert [lower.cards for lower in table.state.decks[3].below] == [(1,), (0,), (2,), (1,)]
    assert "put" not in table.names_of_moves()


def test_z13_the_explorer_may_choose_the_order() -> None:
    table = Sitting(bottom="choose").explore(4, 5, 1, 3, "clue", 2, 1, keep=3)
    assert table.moves() == [Move("put", (0,)), Move("put", (1,)), Move("put", (2,))]
    table.do("put", 2).do("put", 1).do("put", 0)
    assert [lower.cards for lower in table.state.decks[3].below] == [(2,), (1,), (0,), (1,)]
    assert "walk" in table.names_of_moves()


def test_z13_a_shuffled_rest_comes_up_in_any_order() -> None:
    table = Sitting(bottom="shuffle").dig(4, 5).dig(4, 5).dig(4, 2)
    rest = table.state.decks[3].below[0].cards
    assert len(rest) == 4
    table.put(4).do("explore", 2)
    found = table.chances()
    assert {args[0]: chance for args, chance in found.items()} == {
        each: Fraction(rest.count(each), 4) for each in {*rest}
    }


def test_z13_of_shuffled_cards_nobody_learns_which_of_his_another_draws() -> None:
    seen = []
    for card in (1, 2):
        table = Sitting(bottom="shuffle")
        table.put(4).do("explore", 5).dealt(5, 1, 2, 1, 2).do("keep", 5).end()
        table.dig(4, 5).end().dig(4, 2).end()
        table.put(4).do("explore", 2)
        table.deal("treasure", card)
        seen.append(table.notebook("red")["under"])
    assert seen[0] == seen[1]
    assert seen[0]["4"][0]["left"] == 3


def test_z14_where_treasure_was_kept_is_open_and_its_worth_is_not() -> None:
    table = Sitting().explore(4, 2, 5, 1, keep=5)
    assert table.view("blue")["treasure"]["red"] == [{"temple": 4, "worth": None}]
    assert table.notebook("red")["trips"] == [{"temple": 4, "cards": [5, 1], "kept": 5}]
    assert [(line.code, line.facts) for line in table.lines] == [("kept", {"seat": "red", "place": 4})]


def test_z14_treasure_may_lie_open() -> None:
    table = Sitting(open_treasure="on").explore(4, 2, 5, 1, keep=5)
    assert table.view("blue")["treasure"]["red"] == [{"temple": 4, "worth": 5}]
    assert table.lines[0].code == "kept_open"


def test_z15_a_clue_temple_is_never_cursed_and_worth_nothing() -> None:
    count = score([(1, 5)], [7] * 10, [True] * 7)
    assert count.lines[0].factor == count.total == 0


def test_z16_everyone_with_treasure_of_all_three_clue_temples_scores_twelve() -> None:
    names = [7, 7, 7, 0, 1, 2, 3, 4, 5, 6]
    safe = [False] * 7
    assert score([(1, 1), (2, 5), (3, 1)], names, safe).total == 12
    assert score([(1, 1), (2, 5), (2, 1)], names, safe).total == 0


@pytest.mark.parametrize(("cursed", "total"), [(False, 16), (True, -16)])
def test_z17_both_moctezumas_count_twice_for_good_and_ill(cursed: bool, total: int) -> None:
    names = [2, 6, 0, 1, 3, 4, 5, 7, 7, 7]
    assert score([(1, 5), (2, 3)], names, [cursed] * 7).total == total
    assert score([(3, 5)], names, [cursed] * 7).total == (-5 if cursed else 5)


def test_z18_a_tie_goes_to_more_treasure_of_any_kind_and_then_is_shared() -> None:
    names = [7, 0, 1, 2, 3, 4, 5, 6, 7, 7]
    safe = [False] * 7
    more = score([(2, 5), (1, 1)], names, safe)
    less = score([(2, 5)], names, safe)
    assert more.total == less.total == 5
    assert winners([less, more]) == (1,)
    assert winners([more, less, more]) == (0, 2)


def test_z18_the_end_says_that_cards_broke_the_tie() -> None:
    names = ["clue", "clue", "chimalpopoca", "itzcoatl", "clue", *KINGS[2:]]
    table = Sitting().explore(1, 2, 1, 2, keep=1).rounds(1).last_round(frozenset()).closed().names(*names)
    assert table.view()["reckoning"]["winners"] == ["red"]
    ended = GAME.rules.result(table.state)
    assert ended is not None
    assert (ended.kind, ended.winners, ended.points) == ("cards", ("red",), {"red": 0, "blue": 0})


def test_z19_points_that_are_not_spent_are_lost() -> None:
    table = Sitting().do("walk", 5).end()
    assert table.state.points == 5
    assert table.end().state.points == 5


def test_z20_research_is_done_in_the_library_and_exploring_where_one_stands() -> None:
    table = Sitting()
    assert "explore" not in table.names_of_moves()
    assert table.refused("explore", 2) == "not_here"
    table.do("walk", 5)
    assert "study" not in table.names_of_moves()
    assert table.refused("study", 2) == "not_here"
    table.do("explore", 2)
    assert table.view()["doing"] == {"kind": "explore", "left": 2, "drawn": 0}
    assert table.dealt(1, 1).do("keep", 1).view()["decks"][4] == DECK - 1


def test_z21_several_researchers_may_stand_in_one_place() -> None:
    table = Sitting().do("walk", 5).end().do("walk", 5)
    assert table.view()["places"] == {"red": 5, "blue": 5}


def test_z22_all_see_which_chits_are_looked_at_and_not_what_they_show() -> None:
    table = Sitting().do("study", 2).do("peek", 3)
    assert [(line.code, line.facts) for line in table.lines] == [
        ("peeked", {"seat": "red", "king": "axayacatl", "column": 1})
    ]
    table.dealt("cursed")
    assert table.view("blue")["peeked"] == {"red": [3], "blue": []}
    assert table.view("blue")["chits"][3]["face"] is None


def test_z22_a_table_may_hide_which_chits_are_looked_at() -> None:
    table = Sitting(peek_target_public="off").do("study", 2).do("peek", 3)
    assert table.lines == []
    assert table.dealt("cursed").view("blue")["peeked"] is None


def test_z23_all_begin_at_the_library_and_chance_says_who_begins() -> None:
    table = Sitting(4, first="green")
    assert set(table.view()["places"].values()) == {LIBRARY}
    assert table.state.seat == "green"
    assert table.end().state.seat == "red"
    opening = GAME.rules.setup(table.options, table.seats)
    due = GAME.rules.chance(opening)
    assert due
    assert not due.automatic
    assert set(due.outcomes.values()) == {Fraction(1, 4)}


def test_z24_all_names_are_shown_at_the_end_one_temple_at_a_time() -> None:
    table = Sitting().explore(1, 2, "itzcoatl", 2, keep=2).last_round().closed()
    assert table.view()["names"] == [None] * 10
    names = ["itzcoatl", "chimalpopoca", *STANDARD_NAMES[2:]]
    assert table.chances() == {("itzcoatl",): 1}
    for n, name in enumerate(names, start=1):
        assert not table.state.over
        table.names(name)
        assert table.view()["names"] == [*names[:n], *[None] * (10 - n)]
    assert table.state.over
    assert GAME.rules.to_act(table.state) == ()
    assert table.view()["reckoning"]["winners"]


def test_z25_the_record_sheet_fills_itself_with_a_seats_own_knowledge() -> None:
    table = Sitting().peek(0, 9, faces="cs").end().explore(3, 2, "clue", 5, keep=5)
    red, blue = table.notebook("red"), table.notebook("blue")
    assert (red["chits"], red["names"], red["trips"]) == ({"0": "cursed", "9": "safe"}, {}, [])
    assert (blue["chits"], blue["names"]) == ({}, {"3": "clue"})
    assert blue["trips"] == [{"temple": 3, "cards": [0, 5], "kept": 5}]
    table.rounds(12)
    assert table.notebook("red")["chits"]["0"] == "cursed", "what was seen is never forgotten"


def test_the_box_holds_ten_decks_of_twelve_and_ten_names() -> None:
    assert (DECK, Deck().size, sum(COPIES)) == (12, 12, 10)


def test_cards_come_with_the_chances_that_the_deck_has() -> None:
    table = Sitting().put(4).do("explore", 5)
    chances = table.chances()
    assert chances[5,] == Fraction(1, 12)
    assert chances[1,] == Fraction(5, 12)
    assert chances["clue",] == Fraction(3, 120)
    table.dealt("clue")
    assert table.chances() == {
        (1,): Fraction(5, 11),
        (2,): Fraction(3, 11),
        (3,): Fraction(2, 11),
        (5,): Fraction(1, 11),
    }
    table.dealt(1, 1, 1, 1).do("keep", 1).end().explore(5, 2, 1, 1, keep=1).end()
    table.put(6).do("explore", 2)
    assert table.chances()["clue",] == Fraction(2, 9 * 12)


def test_notes_are_kept_line_by_line_whoevers_turn_it_is() -> None:
    table = Sitting().do("note", 0, " Tizoc is safe ", by="blue").do("note", 1, "go to 4", by="blue")
    assert table.notebook("blue")["notes"] == ["Tizoc is safe", "go to 4"]
    table.do("note", 0, "", by="blue")
    assert table.notebook("blue")["notes"] == ["go to 4"]
    assert table.refused("note", 5, "x", by="blue") == "no_such_line"
    assert table.refused("note", 1, "x" * 121, by="blue") == "unwritable"
    assert table.refused("note", 1, "\n", by="blue") == table.refused("note", 1, 7, by="blue") == "unwritable"
    check_value(GAME, table.state)


def test_with_cards_in_hand_the_guide_says_to_keep_one_and_draws_no_more() -> None:
    table = Sitting().put(5).do("explore", 2).dealt(3, 1)
    choices = [each.to_json() for each in GAME.rules.choices(table.state, "red")]
    found = GAME.page.guide({**table.view("red"), "choices": choices})
    assert (found.phase, found.why, found.lit) == ("explore", "keep", "keep")
