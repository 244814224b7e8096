"""A deck of one's own in play: whole games, in one line and back, and another deck in the middle of a game."""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import Any

import pytest

from companion.games.kit import CHANCE, LONGEST_LINE, LONGEST_TEXT, Option, Refusal
from companion.games.mexica import GAME
from companion.games.mexica.rules import events, hands
from companion.games.mexica.rules.cards import DEFAULT, blanked, contents, faults, game_deck, played, written
from companion.games.mexica.rules.cards.effects import Gain, GoTo, Nothing
from companion.games.mexica.rules.cards.words import story, title
from companion.games.mexica.rules.options import OPTIONS, SEATINGS
from tests.games.playouts import Combination, check_value, playout

DECK = game_deck()

EVENING = Combination(GAME, "evening", SEATINGS[3])

MINE = """
# Every second day is a gift, and one has other words.
[day]
day-dog-2 = { effect = "gain", tokens = 5 }
day-flower-1 = { effect = "go_to", space = "eagle", bonus = 2 }
day-dog-3 = { effect = "sign", of = "eagle", plain = { effect = "another_turn" } }
[week]
week-dog = { effect = "standing", what = "income", by = 2, sign = "flower" }
[war]
war-40 = { effect = "reroll", whose = "theirs" }
[words.en]
day-dog-2 = { title = "Five at once" }
"""

GIFTS = "[day]\n" + "".join(
    f'{card.id} = {{ effect = "gain", tokens = {card.number} }}\n' for card in DECK.day if card.sign is None
)


def test_ruling_m20_a_tables_deck_is_the_text_among_its_options() -> None:
    state = GAME.rules.setup(EVENING.options(deck=MINE), EVENING.seats)
    assert hands.card(state, "day-dog-2").effect == Gain(5)
    assert hands.card(state, "day-rabbit-1") == DECK.with_signs(65, 10).card("day-rabbit-1")


def test_rulings_m18_and_m19_the_table_says_which_cards_are_signs_whatever_the_deck_makes_of_them() -> None:
    deck = played(MINE, 1, 1, "flower_only")
    assert [card.id for card in deck.day if card.sign] == ["day-flower-1"]
    assert deck.card("war-40").sign == "eagle"
    assert deck.card("week-dog").sign == "flower"
    assert played(MINE, 65, 1, "flower_only").card("day-flower-1").plain == GoTo("eagle", 2)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("deck", [MINE, GIFTS], ids=["a few cards", "every day a gift"])
def test_a_whole_game_is_played_with_a_deck_of_ones_own(deck: str, seed: int) -> None:
    random = Random(f"{deck} {seed}")
    opening = GAME.rules.setup(EVENING.options(deck=deck, apocalypse_tokens=26), EVENING.seats)
    steps = list(playout(GAME, opening, random))
    assert GAME.rules.on_turn(steps[-1].after) is None
    drawn = {str(step.move.args[1]) for step in steps if step.seat == CHANCE and step.move.name == "draw"}
    assert drawn & {card.id for card in played(deck, 65, 10, "flower_only") if card not in {*DECK}}
    for step in steps[:: max(1, len(steps) // 40)]:
        check_value(GAME, step.after)


def test_the_line_of_a_state_holds_the_whole_deck() -> None:
    for text in (MINE, "# ñ ≠ 日, a=b:c~d\n" + MINE, "[day]"):
        state = GAME.rules.setup(EVENING.options(deck=text), EVENING.seats)
        line = GAME.rules.notation(state)
        assert "\n" not in line
        check_value(GAME, state)
    state = GAME.rules.setup(EVENING.options(), EVENING.seats)
    assert "deck:" not in GAME.rules.notation(state)


def test_the_view_says_which_deck_the_cards_are_from() -> None:
    state = GAME.rules.setup(EVENING.options(deck=MINE), EVENING.seats)
    view: Any = GAME.page.view(state, None)
    assert played(*view["deck"]) is state.rules.cards


def test_a_card_has_its_own_words_and_where_the_deck_has_none_those_of_the_game() -> None:
    deck, card = played(MINE, 13, 1, "flower_only"), DECK.card("day-dog-2")
    assert deck.words["en"][title(card)] == "Five at once"
    assert deck.words["en"][story(card)] == DECK.words["en"][story(card)]
    assert deck.words["es"] == DECK.words["es"]


# Another deck in the middle


def test_another_deck_changes_the_cards_and_nothing_else() -> None:
    random = Random("another deck")
    opening = GAME.rules.setup(EVENING.options(apocalypse_tokens=26), EVENING.seats)
    for step in islice(playout(GAME, opening, random), 60):
        for deck in (MINE, GIFTS):
            after = GAME.rules.amended(step.after, {**step.after.rules.chosen(), "deck": deck})
            assert not isinstance(after, Refusal)
            assert after.rules.cards.card("day-dog-2") != hands.card(step.after, "day-dog-2")
            assert GAME.rules.amended(after, step.after.rules.chosen()) == step.after


@pytest.mark.parametrize("seed", range(2))
def test_a_game_goes_on_to_its_end_however_often_its_deck_changes(seed: int) -> None:
    random = Random(f"changing decks {seed}")
    state: Any = GAME.rules.setup(EVENING.options(apocalypse_tokens=26, card_timing="hold_all"), EVENING.seats)
    for n in range(4_000):
        if n % 7 == 0:
            deck = random.choice((MINE, GIFTS, DEFAULT))
            state = GAME.rules.amended(state, {**state.rules.chosen(), "deck": deck})
            assert not isinstance(state, Refusal)
            check_value(GAME, state)
        acting = GAME.rules.to_act(state)
        if not acting:
            break
        seat = random.choice(acting)
        moves = GAME.rules.moves(state, seat)
        assert moves, GAME.rules.notation(state)
        state = GAME.rules.play(state, seat, random.choice(moves))
        assert not isinstance(state, Refusal)
    assert n > 100


def test_nothing_but_the_deck_changes_while_a_game_runs() -> None:
    state = GAME.rules.setup(EVENING.options(), EVENING.seats)
    refused = GAME.rules.amended(state, EVENING.options(battle_loot="one"))
    assert refused == Refusal("not_amendable")
    plain = GAME.rules.setup({option.key: option.default for option in GAME.options}, SEATINGS[2])
    assert GAME.rules.amended(plain, plain.rules.chosen()) == plain


# What an option takes


DECK_OPTION = next(option for option in OPTIONS if option.key == "deck")


def test_an_option_takes_a_sound_text_or_one_of_its_values() -> None:
    assert DECK_OPTION.accepts(DEFAULT)
    assert DECK_OPTION.accepts(MINE)
    assert not DECK_OPTION.accepts("[day]\nday-dog-1 = 3")
    assert not DECK_OPTION.accepts(3)
    assert not DECK_OPTION.accepts("")
    assert not Option("plain", 1, "", (1, 2)).accepts(MINE)
    with pytest.raises(ValueError, match="option plain was given a text"):
        Option("plain", 1, "", (1, 2)).faults(MINE)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "empty_text", 1),
        (" \n\t\n", "empty_text", 1),
        ("#" * LONGEST_LINE + "\n#" + "#" * LONGEST_LINE, "long_line", 2),
        ("#\n" * LONGEST_TEXT, "long_text", 1),
        ("#\n#\x00", "control", 2),
        ("#\ud800", "control", 1),
        ("#\r\n", "control", 1),
    ],
)
def test_no_game_is_given_a_text_that_could_exhaust_it(text: str, code: str, line: int) -> None:
    def read(text: str) -> list[Any]:
        raise AssertionError("the game was asked")

    assert DECK_OPTION.reader
    option = Option("deck", DEFAULT, "", (DEFAULT,), reader=type(DECK_OPTION.reader)(read, lambda text: []))
    assert [(fault.code, fault.line) for fault in option.faults(text)] == [(code, line)]


def test_the_longest_deck_of_nothing_but_faults_is_reported_in_a_moment() -> None:
    text = "[day]\n" + "".join(f"{n:x} = 3\n" for n in range(11_000))
    found = faults(text)
    assert len(found) == 1_000
    assert found[-1].line == 1_001


def test_what_a_deck_holds_is_reported_by_pile_by_change_and_by_sign() -> None:
    held = dict(contents(MINE))
    assert [held[f"pile.{pile}"]["n"] for pile in ("day", "week", "war", "rain")] == [260, 20, 40, 40]
    assert (
        held["changed"] == {"n": 5, "cards": "day-dog-3, day-dog-2, day-flower-1, week-dog, war-40"}
        or held["changed"]["n"] == 5
    )
    assert held["reworded"] == {"n": 1, "cards": "day-dog-2"}
    assert dict(contents("[day]")) | {"changed_none": {}, "reworded_none": {}} == dict(contents("[day]"))
    assert str(dict(contents(GIFTS))["changed"]["cards"]).endswith("…")


@pytest.mark.parametrize("deck", [DEFAULT, MINE])
def test_a_deck_with_one_card_blank_differs_in_that_card_alone(deck: str) -> None:
    for card_id in ("day-dog-2", "day-dog-3", "week-dog", "week-flower", "war-17", "rain-40"):
        blank = blanked(deck, card_id)
        assert not faults(blank)
        changed = [card.id for card in written(blank) if card != written(deck).card(card.id)]
        assert changed == [card_id]
        assert written(blank).card(card_id).effect == Nothing()


def test_a_blank_card_changes_nothing_when_it_is_drawn() -> None:
    state: Any = GAME.rules.setup(EVENING.options(deck=blanked(DEFAULT, "day-dog-2")), EVENING.seats)
    after = events.happen(state, "east", hands.card(state, "day-dog-2"))
    assert after == state
