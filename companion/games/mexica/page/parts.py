"""What all modules that fill regions share: types, and which choices belong to which region."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from companion.games.kit import Json, Seat
from companion.games.mexica.page import card_view
from companion.games.mexica.rules.cards import played

View: TypeAlias = Mapping[str, Any]
Slice: TypeAlias = dict[str, Json]
Choices: TypeAlias = list[Mapping[str, Any]]


def chosen(view: View, group: str) -> Choices:
    """Return the acting seat's choices of one group."""
    return [choice for choice in view.get("choices", []) if choice["group"] == group]


def held(view: View) -> Iterator[tuple[str, Choices]]:
    """Yield each seat that this phone holds with its choices, the acting one first."""
    if view.get("acting"):
        yield view["acting"], view.get("choices", [])
    yield from view.get("also", {}).items()


def only(whole: Mapping[str, Any] | None, *keys: str) -> dict[str, Json] | None:
    """Return some of a mapping's entries, or None if there is no mapping."""
    return None if whole is None else {key: whole[key] for key in keys}


def held_by(view: View, seat: Seat) -> Choices:
    """Return the choices of a seat, if the phone that looks holds it."""
    return next((choices for each, choices in held(view) if each == seat), [])


def face(view: View, card: str) -> Slice:
    """Return the face of a card of the table's deck, of one that may be seen."""
    return dict(_face(card, *view["deck"]))


@lru_cache(maxsize=2048)
def _face(card: str, deck: str, flowers: int, copies: int, day_signs: str) -> Slice:
    return card_view.face(played(deck, flowers, copies, day_signs), card)
