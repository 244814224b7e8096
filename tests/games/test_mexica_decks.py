"""Mexica's cards as they lie in the box: the decks are whole, cover the author's lists, and have all their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest

from companion.games.mexica.rules.cards import game_deck
from companion.games.mexica.rules.cards.deck import LANGUAGES, LONGEST, NUMBERS, PILES, ids
from companion.games.mexica.rules.cards.effects import (
    SPACES,
    AnotherTurn,
    Attack,
    Boost,
    Demand,
    Draw,
    Effect,
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
)
from companion.games.mexica.rules.cards.words import story, title
from tests.games.texts import LIBRARY

DECK = game_deck()


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


def test_every_id_is_one_card() -> None:
    every = [each for pile in PILES for each in ids(pile)]
    assert len({*every}) == len(every) == 360


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
        written = [text for key, text in words.items() if key.endswith(part)]
        assert len(written) == 360
        assert [text for text, times in Counter(written).items() if times > 1] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_story_is_a_sentence_and_a_title_is_none(language: str) -> None:
    for key, text in DECK.words[language].items():
        if key.endswith("story"):
            assert text.endswith((".", "!", "?", "”")), key
        else:
            assert not text.endswith("."), key


def test_both_languages_have_the_same_cards_and_not_the_same_words() -> None:
    english, spanish = (DECK.words[language] for language in LANGUAGES)
    assert [key for key in english if key.endswith("story") and english[key] == spanish[key]] == []
