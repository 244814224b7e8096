"""What stands on a card for whoever may see it: the key of its sentence, its title and story, when it may be played.

It holds no words of its own and decides nothing; who may see which card is `view`'s.
"""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kernel import Json
from companion.games.mexica.cards import DECK
from companion.games.mexica.cards.deck import LANGUAGES, Card
from companion.games.mexica.cards.effects import Attack, Boost, Reroll, Ward
from companion.games.mexica.cards.words import counts, sentence, story, title
from companion.games.mexica.options import HouseRules
from companion.games.mexica.rules.hands import deck

_LANDING = ("gather", "tribute")


def face(rules: HouseRules, card_id: str) -> dict[str, Json]:
    """Return a card's face at a table: codes, but for the words that a deck of the table's own brings."""
    cards = deck(rules)
    card = cards.card(card_id)
    says, facts = sentence(card)
    found: dict[str, Json] = {
        "pile": card.pile,
        "space": card.space or "",
        "number": card.number,
        "sign": card.sign or "",
        "when": when(card),
        "says": says,
        "facts": dict(facts),
        "counts": counts(card) or "",
    }
    if cards.words is not DECK.words:
        found["words"] = {language: _said(cards.words[language], card) for language in LANGUAGES}
    return found


def words_of(card_id: str) -> dict[str, Json]:
    """Return the title and the story of a card of the game's own deck, by language."""
    card = DECK.card(card_id)
    return {language: _said(DECK.words[language], card) for language in LANGUAGES}


def when(card: Card) -> str:
    """Return the moment in which a held card serves: what a page says while it cannot be played."""
    effect = card.effect
    if card.sign:
        return "sign"
    if card.pile == "week":
        return "held"
    if card.pile == "day" or isinstance(effect, Attack):
        return "cards"
    if isinstance(effect, Reroll):
        return "dice"
    if isinstance(effect, Boost):
        if effect.what in _LANDING:
            return "landing"
        return {"attack": "attacking", "defence": "defending"}.get(effect.what, "battle")
    return "defending" if isinstance(effect, Ward) else "landing"


def _said(words: Mapping[str, str], card: Card) -> dict[str, Json]:
    return {"title": words.get(title(card), ""), "story": words.get(story(card), "")}
