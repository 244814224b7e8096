"""What a card of Mexica may do: every effect reads back, a wrong one says why, and each can be said."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games.mexica.rules.cards import game_deck
from companion.games.mexica.rules.cards.deck import LANGUAGES, PILES, Card, may_do
from companion.games.mexica.rules.cards.effects import (
    KINDS,
    Effect,
    EffectError,
    Lose,
    Whole,
    from_table,
    name_of,
    parameters,
)
from companion.games.mexica.rules.cards.words import counts, sentence
from tests.cases import every_case
from tests.games.texts import LIBRARY

DECK = game_deck()

ENGLISH = LIBRARY.words("en", "mexica")


def _said(error: EffectError) -> str:
    return ENGLISH(f"fault.{error.code}", **{"card": "", **error.facts})


def to_table(effect: Effect) -> dict[str, int | str]:
    """Return an effect as a deck writes it, every parameter named."""
    kind: Any = type(effect)
    return {"effect": name_of(effect), **{each: getattr(effect, each) for each in parameters(kind)}}


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


@every_case("effect", EVERYTHING)
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
