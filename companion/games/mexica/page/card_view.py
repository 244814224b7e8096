"""What a card shows to a seat that may see it: its number and words, what it does, and when it may be played."""

from __future__ import annotations

from companion.games.kit import Json
from companion.games.mexica.rules.cards.deck import LANGUAGES, Card, Deck
from companion.games.mexica.rules.cards.effects import Attack, Boost, Reroll, Ward
from companion.games.mexica.rules.cards.words import counts, sentence, story, title

_LANDING = ("gather", "tribute")


def face(deck: Deck, card_id: str) -> dict[str, Json]:
    """Return a card's face: its sentence as a key with facts, its title and story in each language."""
    card = deck.card(card_id)
    key, facts = sentence(card)
    return {
        "id": card.id,
        "pile": card.pile,
        "space": card.space or "",
        "number": card.number,
        "sign": card.sign or "",
        "when": when(card),
        "says": key,
        "facts": dict(facts),
        "counts": counts(card) or "",
        "words": {
            language: {"title": texts.get(title(card), ""), "story": texts.get(story(card), "")}
            for language, texts in ((each, deck.words.get(each, {})) for each in LANGUAGES)
        },
    }


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
