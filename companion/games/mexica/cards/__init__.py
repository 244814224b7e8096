"""The cards of Mexica: what they may do, the four decks and the words on them. They are data; the rules play them.

The game's own deck is part of its code: it is read once, when the package is imported, and never again.
"""

from __future__ import annotations

import pkgutil

from companion.games.mexica.cards.deck import LANGUAGES, PILES, Deck, read


def _text(name: str) -> str:
    data = pkgutil.get_data(__name__, name)
    assert data is not None  # the package is a folder of files
    return data.decode("utf-8")


_FILES = (*(f"data/{pile}.toml" for pile in PILES), *(f"data/cards.{language}.toml" for language in LANGUAGES))

DECK: Deck = read({name: _text(name) for name in _FILES})
"""The deck that a table plays with unless it brings its own."""
