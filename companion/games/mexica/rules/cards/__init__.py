"""The cards of Mexica: what they may do, the four decks and the words on them. They are data; the rules play them.

The game's own deck is part of its code. A deck of a table's own is a text among its options (ruling M20). Both are
read when they are first needed.
"""

from __future__ import annotations

from functools import cache, lru_cache

from companion.games.kit import Facts, Fault, Reader, data_file, replace
from companion.games.mexica.rules.cards.deck import LANGUAGES, PILES, Deck, DeckError, read, to_toml
from companion.games.mexica.rules.cards.effects import Nothing

_FILES = (*(f"{pile}.toml" for pile in PILES), *(f"cards.{language}.toml" for language in LANGUAGES))

DEFAULT = "default"
"""What a table's option ``deck`` says instead of a text where the table plays with `game_deck`."""


@cache
def game_deck() -> Deck:
    """Return the deck that a table plays with unless it brings its own."""
    return read({name: data_file("mexica", name) for name in _FILES})


@lru_cache(maxsize=16)
def written(deck: str) -> Deck:
    """Return the deck that a table's option holds, before it has a table's signs; raises `DeckError`."""
    return game_deck() if deck == DEFAULT else read({"deck": deck}, game_deck())


@lru_cache(maxsize=128)
def played(deck: str, flowers: int, copies: int, day_signs: str) -> Deck:
    """Return the deck that a table plays: its option's, with as many signs as it wants (rulings M18 to M20)."""
    return written(deck).with_signs(flowers, copies, day_signs)


def blanked(deck: str, card_id: str) -> str:
    """Return the text of a deck like another, but with a card that does nothing; raises `KeyError` for no card.

    Only signs that the table's options make of it stay: what a card is worth as a sign is those options' matter.
    """
    blank = replace(written(deck).card(card_id), effect=Nothing(), sign=None, plain=None)
    cards = [blank if card.id == card_id else card for card in written(deck)]
    return to_toml([card for card in cards if card != game_deck().card(card.id)])


@lru_cache(maxsize=16)
def faults(text: str) -> tuple[Fault, ...]:
    """Return what is wrong in a deck of one's own, in order."""
    try:
        written(text)
    except DeckError as error:
        return tuple(fault for _, fault in error.faults)
    return ()


def contents(text: str) -> list[tuple[str, Facts]]:
    """Return what a deck of one's own holds and where it differs from the game's, as codes under ``contents``."""
    deck = written(text)
    found: list[tuple[str, Facts]] = [(f"pile.{pile}", {"n": len(deck.pile(pile))}) for pile in PILES]
    changed = [card.id for card in deck if card != game_deck().card(card.id)]
    reworded = sorted(
        {
            key.split(".")[1]
            for language in LANGUAGES
            for key, sentence in deck.words[language].items()
            if sentence != game_deck().words[language][key]
        },
        key=[card.id for card in deck].index,
    )
    found.append(("changed", {"n": len(changed), "cards": _some(changed)}) if changed else ("changed_none", {}))
    found.append(("reworded", {"n": len(reworded), "cards": _some(reworded)}) if reworded else ("reworded_none", {}))
    signs = [card.sign for card in deck.with_signs() if card.sign]
    found += [(f"sign.{sign}", {"n": signs.count(sign)}) for sign in ("eagle", "serpent", "flower")]
    return found


def _some(ids: list[str]) -> str:
    return ", ".join([*ids[:12], *["…"] * (len(ids) > 12)])


READER = Reader(faults, contents)
"""How a table's own deck is checked and described, for the option ``deck``."""
