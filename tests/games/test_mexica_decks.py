"""Mexica's cards: the effects cover the author's lists, the decks are whole, a wrong deck says where and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import companion.web
from companion.games import registry
from companion.games.mexica.cards import DECK
from companion.games.mexica.cards.deck import (
    GOD_CARDS,
    LANGUAGES,
    LONGEST,
    NUMBERS,
    PILES,
    Card,
    Deck,
    DeckError,
    ids,
    may_do,
    read,
)
from companion.games.mexica.cards.effects import (
    KINDS,
    SPACES,
    AnotherTurn,
    Attack,
    Boost,
    Demand,
    Draw,
    Effect,
    EffectError,
    Gain,
    Give,
    GoTo,
    GoToStart,
    Lose,
    Pay,
    Reroll,
    ReturnCard,
    Sign,
    Standing,
    TakeWeek,
    Walk,
    Ward,
    Whole,
    from_table,
    parameters,
    to_table,
)
from companion.games.mexica.cards.words import counts, sentence, story, title
from companion.web.texts import Library
from tests.games.playouts import GAMES

LIBRARY = Library(
    Path(companion.web.__file__).parent / "texts",
    {name: registry.folder(game) / "texts" for name, game in GAMES.items()},
)


ENGLISH = LIBRARY.words("en", "mexica")


def _said(error: EffectError) -> str:
    return ENGLISH(f"fault.{error.code}", **{"card": "", **error.facts})


def _boost(*what: str, other: bool) -> Callable[[Effect], bool]:
    return lambda effect: isinstance(effect, Boost) and effect.what in what and (effect.whose == "other") == other


ROWS: dict[str, Callable[[Effect], bool]] = {
    "1 go to a space for a bonus": lambda e: isinstance(e, GoTo) and e.bonus > 0,
    "2 forward": lambda e: isinstance(e, Walk) and e.spaces > 0,
    "3 back": lambda e: isinstance(e, Walk) and e.spaces < 0,
    "4 another turn": lambda e: isinstance(e, AnotherTurn),
    "5 gain tokens": lambda e: isinstance(e, Gain),
    "6 lose tokens": lambda e: isinstance(e, Lose),
    "7 pay each player": lambda e: isinstance(e, Pay) and e.to == "each",
    "8 pay one player": lambda e: isinstance(e, Pay) and e.to == "one",
    "9 demand tokens": lambda e: isinstance(e, Demand) and e.to == "me",
    "9 force a sacrifice to war": lambda e: isinstance(e, Demand) and e.to == "huitzilopochtli",
    "9 force a sacrifice to rain": lambda e: isinstance(e, Demand) and e.to == "tlaloc",
    "10 draw a War card": lambda e: e == Draw("war"),
    "11 draw a Rain card": lambda e: e == Draw("rain"),
    "12 draw a Day card": lambda e: e == Draw("day"),
    "13 get a Week card": lambda e: isinstance(e, TakeWeek),
    "14 attack the nearest": lambda e: isinstance(e, Attack) and e.whom == "nearest",
    "15 attack the East": lambda e: isinstance(e, Attack) and e.whom == "east",
    "16 attack the North": lambda e: isinstance(e, Attack) and e.whom == "north",
    "17 attack the West": lambda e: isinstance(e, Attack) and e.whom == "west",
    "18 attack the South": lambda e: isinstance(e, Attack) and e.whom == "south",
    "19 give tokens to War": lambda e: isinstance(e, Give) and e.god == "huitzilopochtli",
    "20 give tokens to Rain": lambda e: isinstance(e, Give) and e.god == "tlaloc",
    "21 go to the East's start": lambda e: e == GoToStart("east"),
    "22 go to the North's start": lambda e: e == GoToStart("north"),
    "23 go to the West's start": lambda e: e == GoToStart("west"),
    "24 go to the South's start": lambda e: e == GoToStart("south"),
    "25 go to the cactus": lambda e: isinstance(e, GoTo) and e.space == "flower",
    "26 return a card to the deck": lambda e: isinstance(e, ReturnCard) and e.pile in ("war", "rain", "any"),
    "26 return a card to its space": lambda e: e == ReturnCard("week"),
    "27 negate an attack": lambda e: e == Ward("attack"),
    "28 negate a card of one type": lambda e: isinstance(e, Ward) and e.against in ("day", "war", "rain"),
    "28 negate any card": lambda e: e == Ward("any"),
    "29 give a player a bonus": lambda e: isinstance(e, Boost) and e.whose == "other" and e.by > 0,
    "30 add to a roll in battle": _boost("attack", "defence", "battle", other=False),
    "31 tokens sacrificed, one's own": _boost("price", other=False),
    "31 tokens sacrificed, another's": _boost("price", other=True),
    "32 tokens gained, one's own": _boost("gather", other=False),
    "32 tokens gained, another's": _boost("gather", other=True),
    "33 spaces moved, one's own": _boost("movement", other=False),
    "33 spaces moved, another's": _boost("movement", other=True),
}

STANDING = {
    "+1 combat range": Standing("range", 1),
    "+1 defence": Standing("defence", 1),
    "+1 attack": Standing("attack", 1),
    "+1 movement": Standing("movement", 1),
    "+1 token a turn": Standing("income", 1),
    "-1 sacrifice cost": Standing("price", -1),
}


def test_the_list_of_the_33_day_effects_is_whole() -> None:
    assert {int(row.split()[0]) for row in ROWS} == {*range(1, 34)}


@pytest.mark.parametrize("row", ROWS)
def test_each_of_the_33_day_effects_is_on_a_day_card(row: str) -> None:
    assert [card.id for card in DECK.day if ROWS[row](card.effect)]


@pytest.mark.parametrize("bonus", STANDING)
def test_each_of_the_six_standing_bonuses_is_on_a_week_card(bonus: str) -> None:
    assert [card.id for card in DECK.week if card.effect == STANDING[bonus]]


def test_every_day_card_is_of_one_of_the_33() -> None:
    rest = [card.id for card in DECK.day if not any(fits(card.effect) for fits in ROWS.values())]
    assert rest == [f"day-flower-{number}" for number in range(1, NUMBERS + 1)]


def test_ruling_m18_the_day_deck_is_the_count_of_days_with_the_nopal_on_thirteen() -> None:
    assert [(card.space, card.number) for card in DECK.day] == [*product(SPACES, range(1, 14))]
    assert [card.id for card in DECK.day if card.sign] == [f"day-flower-{number}" for number in range(1, 14)]


def test_ruling_m19_one_eagle_one_serpent_and_three_week_cards_that_count_as_signs() -> None:
    signs = {card.id: card.sign for pile in (DECK.week, DECK.war, DECK.rain) for card in pile if card.sign}
    assert signs == {
        "week-serpent": "serpent",
        "week-eagle": "eagle",
        "week-flower": "flower",
        "war-40": "eagle",
        "rain-40": "serpent",
    }


def test_ruling_m20_war_is_for_battle_and_rain_for_landings() -> None:
    assert {type(card.effect) for card in DECK.war} == {Boost, Attack, Reroll, Ward, Sign}
    assert {type(card.effect) for card in DECK.rain} == {Boost, Gain, Draw, Ward, Sign}


@pytest.mark.parametrize("flowers", [1, 13, 39, 65])
@pytest.mark.parametrize("copies", [1, 5, 10])
@pytest.mark.parametrize("day_signs", ["flower_only", "all"])
def test_rulings_m18_and_m19_a_table_has_as_many_signs_as_it_wants(flowers: int, copies: int, day_signs: str) -> None:
    deck = DECK.with_signs(flowers, copies, day_signs)
    assert [card.id for card in deck] == [card.id for card in DECK]
    day = Counter(card.sign for card in deck.day)
    assert day["flower"] == flowers
    assert day["eagle"] == day["serpent"] == (13 if day_signs == "all" else 0)
    assert Counter(card.sign for card in deck.war)["eagle"] == copies
    assert Counter(card.sign for card in deck.rain)["serpent"] == copies
    assert all(card.sign == card.effect.of for card in deck if isinstance(card.effect, Sign))
    assert deck.card("war-40").sign == "eagle"


def test_the_usual_number_of_signs_is_the_deck_as_it_lies_in_the_box() -> None:
    assert DECK.with_signs() == DECK
    for more in (65, 10, "all"), (39, 5, "flower_only"):
        assert DECK.with_signs(*more).with_signs() == DECK


@pytest.mark.parametrize("wanted", [(2, 1, "all"), (13, 0, "all"), (13, 1, "none")])
def test_a_number_of_signs_that_no_deck_has_is_refused(wanted: tuple[int, int, str]) -> None:
    with pytest.raises(ValueError, match="expected 1, 13, 39 or 65 flowers"):
        DECK.with_signs(*wanted)


def test_a_card_is_found_by_the_id_that_is_printed_on_it() -> None:
    assert DECK.card("day-rain-13").effect == Draw("rain")
    assert DECK.card("rain-13") in DECK.rain
    with pytest.raises(KeyError):
        DECK.card("day-rain-14")


# Effects


def _corners(kind: str) -> Iterator[Effect]:
    """Every word and both ends of every range, and one step inside."""
    of: Any = KINDS[kind]
    known = parameters(of)
    values = [
        [n for n in (each.low, -1, 0, 1, each.high) if n in each] if isinstance(each, Whole) else each
        for each in known.values()
    ]
    for chosen in product(*values):
        yield from_table({"effect": kind, **dict(zip(known, chosen, strict=True))})


EVERYTHING = [effect for kind in KINDS for effect in _corners(kind)]


@pytest.mark.parametrize("effect", EVERYTHING, ids=str)
def test_an_effect_reads_back_as_a_deck_writes_it(effect: Effect) -> None:
    assert from_table(to_table(effect)) == effect


@settings(deadline=None, max_examples=300)
@given(
    st.dictionaries(st.sampled_from(["effect", "spaces", "tokens", "to", "by", "what"]), st.integers() | st.text())
)
def test_whatever_a_table_holds_it_is_an_effect_or_a_reason(table: dict[str, Any]) -> None:
    try:
        effect = from_table(table)
    except EffectError as error:
        reason = _said(error)
    else:
        reason = f"none was expected: {to_table(effect)}"
    assert "expected" in reason


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({}, "effect is -; expected go_to | go_to_start | "),
        ({"effect": "fly"}, "effect is 'fly'; expected go_to | "),
        ({"effect": "walk"}, "walk lacks spaces; expected -13 … 13, ≠ 0"),
        ({"effect": "walk", "spaces": 0}, "walk: spaces is 0; expected -13 … 13, ≠ 0"),
        ({"effect": "gain", "tokens": True}, "gain: tokens is True; expected 1 … 13"),
        ({"effect": "gain", "tokens": 14}, "gain: tokens is 14; expected"),
        ({"effect": "give", "god": "mary", "tokens": 1}, "god is 'mary'; expected huitzilopochtli | tlaloc"),
        ({"effect": "another_turn", "turns": 2}, "another_turn has the parameter 'turns'; expected -"),
    ],
)
def test_a_wrong_effect_says_what_was_found_and_what_was_expected(table: dict[str, object], reason: str) -> None:
    with pytest.raises(EffectError) as caught:
        from_table(table)
    assert reason in _said(caught.value)


def test_an_effect_out_of_its_range_cannot_exist() -> None:
    with pytest.raises(EffectError):
        Lose(0)


# Words


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("pile", PILES)
def test_whatever_a_card_of_a_pile_may_do_can_be_said(language: str, pile: Any) -> None:
    words = LIBRARY.words(language, "mexica")
    possible = [effect for effect in EVERYTHING if not may_do(pile, effect)]
    assert possible
    for effect in possible:
        key, facts = sentence(Card("x", pile, None, 1, effect))
        assert words(key, **facts).endswith("."), key


def test_a_sentence_says_the_numbers_of_its_effect() -> None:
    for card in DECK:
        _, facts = sentence(card)
        numbers = {abs(value) for value in to_table(card.effect).values() if isinstance(value, int)} - {0}
        assert numbers <= {*facts.values()}, card.id


def test_a_card_says_what_it_does_in_plain_words() -> None:
    english, spanish = (LIBRARY.words(language, "mexica") for language in LANGUAGES)

    def said(card_id: str) -> tuple[str, str]:
        key, facts = sentence(DECK.card(card_id))
        return english(key, **facts), spanish(key, **facts)

    assert said("day-deer-7") == (
        "Go to the Flower and land there. Take 3 tokens from the reserve, twice that if you win a battle there.",
        "Ve a la Flor y detente ahí. Toma 3 fichas de la reserva, o el doble si ganas ahí una batalla.",
    )
    assert said("week-death") == (
        "While you hold it: take 1 from the price of each card you buy.",
        "Mientras la tengas: resta 1 a lo que cuesta cada carta que compres.",
    )
    assert said("day-movement-12") == (
        "Choose a tribe: add 3 to the price of the next card it buys.",
        "Elige una tribu: suma 3 a lo que cueste la próxima carta que compre.",
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_week_card_that_counts_as_a_sign_says_so(language: str) -> None:
    words = LIBRARY.words(language, "mexica")
    says = {card.id: key for card in DECK if (key := counts(card))}
    assert {*says} == {"week-serpent", "week-eagle", "week-flower"}
    assert all(words(key) for key in says.values())


def test_no_sentence_joins_a_preposition_and_an_article_that_spanish_contracts() -> None:
    words = LIBRARY.words("es", "mexica")
    for effect, pile in product(EVERYTHING, PILES):
        if not may_do(pile, effect):
            key, facts = sentence(Card("x", pile, None, 1, effect))
            said = words(key, **facts)
            assert " a el " not in said, key
            assert " de el " not in said, key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_space_has_a_name_in_the_language_and_in_nahuatl(language: str) -> None:
    words = LIBRARY.words(language, "mexica")
    for stem in ("space", "nahuatl", "effect.the"):
        assert len({words(f"{stem}.{space}") for space in SPACES}) == len(SPACES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_of_the_360_cards_has_its_own_title_and_its_own_line_of_the_wandering(language: str) -> None:
    words = DECK.words[language]
    assert {*words} == {key for card in DECK for key in (title(card), story(card))}
    for part in LONGEST:
        told = [text for key, text in words.items() if key.endswith(part)]
        assert len(told) == 360
        assert [text for text, times in Counter(told).items() if times > 1] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_story_is_a_sentence_and_a_title_is_none(language: str) -> None:
    for key, text in DECK.words[language].items():
        if key.endswith("story"):
            assert text.endswith((".", "!", "?", "”")), key
        else:
            assert not text.endswith("."), key


def test_both_languages_tell_the_same_cards_and_not_in_the_same_words() -> None:
    english, spanish = (DECK.words[language] for language in LANGUAGES)
    assert [key for key in english if key.endswith("story") and english[key] == spanish[key]] == []


# A deck of one's own


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
        ("[day]\nday-dog-1 = ", "mine.toml:2: this is no TOML: Invalid value"),
        ("[day]\n\nday-dog-1 = 3", "mine.toml:3: day-dog-1 is 3; expected { effect = ... }"),
        (
            '[day]\nday-dog-14 = { effect = "another_turn" }',
            "mine.toml:2: 'day-dog-14' is no day card; expected day-",
        ),
        (
            '[day.day-dog-1]\neffect = "gain"\ntokens = 99',
            "mine.toml:1: day-dog-1: gain: tokens is 99; expected 1 … 13",
        ),
        ('[war]\nwar-1 = { effect = "walk", spaces = 1 }', "mine.toml:2: war-1: walk is no effect of a war card"),
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
        ("[day]\nday-dog-1 = " + "[" * 900, "mine.toml:1: the brackets stand too deep in each other"),
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
        ('[words.en]\nwar-41 = { title = "x" }', "mine.toml:2: 'war-41' is no card"),
        ('[words.en]\nwar-1 = { titel = "x" }', "mine.toml:2: war-1: words are {'titel': 'x'}; expected { title"),
        ('[words.en]\nwar-1 = { title = "{n}" }', "mine.toml:2: war-1: title is '{n}'; expected one line of words"),
        (
            '[words.en]\nwar-1 = { title = "a\\nb" }',
            "mine.toml:2: war-1: title is 'a\\nb'; expected one line of words",
        ),
        (
            f'[words.en]\nwar-1 = {{ title = "{"x" * 41}" }}',
            "mine.toml:2: war-1: title has 41 letters; expected 40 at",
        ),
    ],
)
def test_a_wrong_deck_says_the_line_and_the_reason(text: str, fault: str) -> None:
    (only,) = _faults(text)
    assert only.startswith(fault)


def test_all_faults_of_a_deck_are_told_at_once() -> None:
    faults = _faults('[day]\nday-dog-1 = 3\n[war]\n"war-1" = { effect = "fly" }\n')
    assert [fault.split(": ")[0] for fault in faults] == ["mine.toml:2", "mine.toml:4"]


def test_a_deck_without_a_base_names_every_card() -> None:
    faults = _faults('[war]\nwar-1 = { effect = "reroll", whose = "mine" }', None)
    assert len(faults) == 260 + 20 + 2 * GOD_CARDS - 1
    assert faults[0] == "mine.toml:1: day-crocodile-1 is missing; expected all 360 cards"


def test_a_card_named_in_two_files_is_a_fault() -> None:
    card = '[rain]\nrain-1 = { effect = "gain", tokens = 1 }'
    with pytest.raises(DeckError, match="b:2: twice"):
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


def test_every_id_is_one_card() -> None:
    every = [each for pile in PILES for each in ids(pile)]
    assert len({*every}) == len(every) == 360


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
