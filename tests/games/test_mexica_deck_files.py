"""A deck of one's own for Mexica, as a file: it changes what it names; a wrong one says the line and the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games import registry
from companion.games.mexica.rules.cards import game_deck
from companion.games.mexica.rules.cards.deck import GOD_CARDS, Deck, DeckError, read
from companion.games.mexica.rules.cards.effects import KINDS, Gain, parameters
from tests.games.texts import LIBRARY

DECK = game_deck()

ENGLISH = LIBRARY.words("en", "mexica")


def test_a_deck_of_ones_own_changes_the_cards_that_it_names_and_no_other() -> None:
    text = """
    [day]
    day-rabbit-2 = { effect = "gain", tokens = 5 }
    [words.en]
    day-rabbit-2 = { title = "Five at once" }
    """
    deck = read({"mine.toml": text}, DECK)
    assert deck.card("day-rabbit-2").effect == Gain(5)
    assert [card for card in deck if card.id != "day-rabbit-2"] == [
        card for card in DECK if card.id != "day-rabbit-2"
    ]
    assert deck.words["en"]["card.day-rabbit-2.title"] == "Five at once"
    assert deck.words["en"]["card.day-rabbit-2.story"] == DECK.words["en"]["card.day-rabbit-2.story"]
    assert DECK.card("day-rabbit-2").effect == Gain(1)


def test_the_same_deck_by_another_way_of_writing_toml_is_the_same_deck() -> None:
    line = read({"a": '[week]\nweek-dog = { effect = "standing", what = "range", by = 2 }'}, DECK)
    table = read({"b": '[week.week-dog]\neffect = "standing"\nwhat = "range"\nby = 2\n'}, DECK)
    assert line == table


def _faults(text: str, base: Deck | None = DECK) -> list[str]:
    with pytest.raises(DeckError) as caught:
        read({"mine.toml": text}, base)
    return [
        f"{file}:{each.line}: {ENGLISH(f'fault.{each.code}', **each.facts)}" for file, each in caught.value.faults
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[day]\nday-dog-1 = ", "mine.toml:2: this is not TOML: Invalid value"),
        ("[day]\n\nday-dog-1 = 3", "mine.toml:3: day-dog-1 is 3; expected { effect = ... }"),
        (
            '[day]\nday-dog-14 = { effect = "another_turn" }',
            "mine.toml:2: 'day-dog-14' is not a day card; expected day-",
        ),
        (
            '[day.day-dog-1]\neffect = "gain"\ntokens = 99',
            "mine.toml:1: day-dog-1: gain: tokens is 99; expected 1 … 13",
        ),
        ('[war]\nwar-1 = { effect = "walk", spaces = 1 }', "mine.toml:2: war-1: walk is not an effect of a war card"),
        (
            '[rain]\nrain-1 = { effect = "boost", what = "attack", by = 1 }',
            "mine.toml:2: rain-1: boost: what is 'attack'; expected defence | gather | tribute on a rain card",
        ),
        (
            '[war]\nwar-1 = { effect = "ward", against = "day" }',
            "mine.toml:2: war-1: ward: against is 'day'; expected attack",
        ),
        (
            '[war]\nwar-1 = { effect = "sign", of = "serpent", plain = { effect = "reroll", whose = "mine" } }',
            "mine.toml:2: war-1: sign: of is 'serpent'; expected eagle on a war card",
        ),
        (
            '[rain]\nrain-1 = { effect = "boost", what = "gather", by = 1, whose = "other" }',
            "mine.toml:2: rain-1: boost: whose is 'other'; expected mine on a rain card",
        ),
        ("[day]\nday-dog-1 = " + "[" * 900, "mine.toml:2: the brackets are nested more than 16 deep"),
        ("[day]\r\n\r\nday-dog-1 = 3\r\n", "mine.toml:3: day-dog-1 is 3"),
        ('[day]\nday-dog-1 = { effect = "sign", of = "eagle" }', "mine.toml:2: day-dog-1: a sign lacks plain"),
        (
            '[day]\nday-dog-1 = { effect = "gain", tokens = 1, sign = "eagle" }',
            "mine.toml:2: day-dog-1: sign is 'eagle'",
        ),
        (
            '[day]\nday-dog-1 = { effect = "gain", tokens = 1, plain = 2 }',
            "mine.toml:2: day-dog-1: plain is 2; expected",
        ),
        (
            "[cards]\n",
            "mine.toml:1: 'cards'; expected a table [day], [week], [war], [rain], [words.en] or [words.es]",
        ),
        ("day = 1", "mine.toml:1: 'day'; expected a table"),
        ('[words.fr]\nwar-1 = { title = "x" }', "mine.toml:1: words.'fr'; expected [words.en] or [words.es]"),
        ('[words.en]\nwar-41 = { title = "x" }', "mine.toml:2: 'war-41' is not a card"),
        ('[words.en]\nwar-1 = { titel = "x" }', "mine.toml:2: war-1: words are {'titel': 'x'}; expected { title"),
        ('[words.en]\nwar-1 = { title = "{n}" }', "mine.toml:2: war-1: title is '{n}'; expected one line of text"),
        (
            '[words.en]\nwar-1 = { title = "a\\nb" }',
            "mine.toml:2: war-1: title is 'a\\nb'; expected one line of text",
        ),
        (
            f'[words.en]\nwar-1 = {{ title = "{"x" * 41}" }}',
            "mine.toml:2: war-1: title has 41 characters; expected 40 at",
        ),
    ],
)
def test_a_wrong_deck_says_the_line_and_the_reason(text: str, fault: str) -> None:
    (only,) = _faults(text)
    assert only.startswith(fault)


@pytest.mark.parametrize(
    ("entry", "faults"),
    [
        (
            '[day]\nday-dog-1 = { effect = "gain", tokens = 99, coins = 1, sign = "cat", plain = 2 }',
            ["gain has the parameter 'coins'", "tokens is 99", "sign is 'cat'", "plain is 2"],
        ),
        (
            '[war]\nwar-1 = { effect = "sign", of = "dog", plain = { effect = "fly" } }',
            ["of is 'dog'", "effect is 'fly'"],
        ),
        ('[words.en]\nwar-1 = { title = "{n}", story = "" }', ["title is '{n}'", "story is ''"]),
    ],
)
def test_all_faults_of_one_entry_are_reported_at_once(entry: str, faults: list[str]) -> None:
    found = _faults(entry)
    assert len(found) == len(faults)
    assert all(words in each for words, each in zip(faults, found, strict=True)), found


def test_all_faults_of_a_deck_are_reported_at_once() -> None:
    faults = _faults('[day]\nday-dog-1 = 3\n[war]\n"war-1" = { effect = "fly" }\n')
    assert [fault.split(": ")[0] for fault in faults] == ["mine.toml:2", "mine.toml:4"]


def test_a_deck_without_a_base_names_every_card() -> None:
    faults = _faults('[war]\nwar-1 = { effect = "reroll", whose = "mine" }', None)
    assert len(faults) == 260 + 20 + 2 * GOD_CARDS - 1
    assert faults[0] == "mine.toml:1: day-crocodile-1 is missing; expected all 360 cards"


def test_a_card_named_in_two_files_is_a_fault() -> None:
    card = '[rain]\nrain-1 = { effect = "gain", tokens = 1 }'
    with pytest.raises(DeckError, match="b:2:1: twice"):
        read({"a": card, "b": card}, DECK)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="[]{}=\n\"'.,# adywrn-1", max_size=60))
def test_whatever_a_file_holds_it_is_a_deck_or_faults_with_lines(text: str) -> None:
    lines = [1]
    try:
        read({"mine.toml": text}, DECK)
    except DeckError as error:
        lines = [fault.line for _, fault in error.faults]
    assert lines
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)


GUIDE = Path(registry.__file__).parents[2] / "docs" / "your-own-deck.md"


def test_the_page_on_ones_own_deck_names_every_effect_and_its_examples_are_decks() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    for kind in KINDS:
        of: Any = KINDS[kind]
        assert f"`{kind}`" in text, kind
        assert all(f"`{name}`" in text for name in parameters(of)), kind
    examples = [block.partition("```")[0] for block in text.split("```toml\n")[1:]]
    assert len(examples) == 2
    for example in examples:
        read({"example": example}, DECK)


def test_all_faults_of_a_file_are_reported_at_once_also_where_it_is_not_toml() -> None:
    text = """[day]
day-dog-1 =
day-dog-2 = 3
day-dog-3 = { effect = "gain, tokens = 5 }
[war
war-1 = { effect = "walk", spaces = 1 }
war-2 = 7
[rain]
rain-1 = { effect = "walk", spaces = 99 }
rain-1 = { effect = "nothing" }
[words.en]
rain-2 = { titel = "x", story = "{n}" }
"""
    lines = [fault.split(": ")[0].removeprefix("mine.toml:") for fault in _faults(text)]
    assert lines == ["2", "3", "4", "5", "9", "9", "10", "12", "12"]
    assert any("rain-1: walk is not an effect of a rain card" in fault for fault in _faults(text))


def test_an_error_of_several_lines_is_reported_once() -> None:
    assert len(_faults('[day]\nday-dog-1 = """\nwithout end\n')) == 1


def test_a_file_that_is_wrong_everywhere_is_read_in_a_bounded_time() -> None:
    assert len(_faults("x =\n" * 9_000)) == 20
