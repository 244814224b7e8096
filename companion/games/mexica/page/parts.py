"""What all modules that fill regions share: types, and which choices belong to which region."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from companion.games.kit import Choices, Seat, Slice, View
from companion.games.mexica.page import card_view
from companion.games.mexica.rules.cards import played


def held(view: View) -> Iterator[tuple[str, Choices]]:
    """Yield each seat that this phone holds with its choices, the acting one first."""
    if view.get("acting"):
        yield view["acting"], view.get("choices", [])
    yield from view.get("also", {}).items()


def held_by(view: View, seat: Seat) -> Choices:
    """Return the choices of a seat, if the phone that looks holds it."""
    return next((choices for each, choices in held(view) if each == seat), [])


def face(view: View, card: str) -> Slice:
    """Return the face of a card of the table's deck, of one that may be seen."""
    return dict(_face(card, *view["deck"]))


@lru_cache(maxsize=2048)
def _face(card: str, deck: str, flowers: int, copies: int, day_signs: str) -> Slice:
    return card_view.face(played(deck, flowers, copies, day_signs), card)
