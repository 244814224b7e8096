"""What regions are filled from: a view with what the platform adds to it, the acting seat and its choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from companion.games.kit.moves import Json

View: TypeAlias = Mapping[str, Any]
"""What a seat may see of a state, as `Page.view` returns it."""
Slice: TypeAlias = dict[str, Json]
"""The part of a view that one region of a page shows."""
Choices: TypeAlias = list[Mapping[str, Any]]
"""The moves that a page offers, one level of them."""


def whose_turn(view: View) -> Slice:
    """Return whose turn it is, its number, and whether this phone is only that seat's.

    >>> whose_turn({"on_turn": "red", "turn": 3, "acting": "red", "also": {}})
    {'seat': 'red', 'turn': 3, 'mine': True}
    """
    seat = view["on_turn"] or ""
    mine = bool(seat) and view.get("acting") == seat and not view.get("also")
    return {"seat": seat, "turn": view["turn"], "mine": mine}


def chosen(view: View, group: str) -> Choices:
    """Return the acting seat's choices of one group.

    >>> chosen({"choices": [{"group": "tap", "key": "stop"}, {"group": "turn", "key": "end"}]}, "turn")
    [{'group': 'turn', 'key': 'end'}]
    """
    return [choice for choice in view.get("choices", []) if choice["group"] == group]


def only(whole: Mapping[str, Any] | None, *keys: str) -> Slice | None:
    """Return some of a mapping's entries, or None if there is no mapping.

    >>> only({"god": "tlaloc", "doubt": "jam"}, "god")
    {'god': 'tlaloc'}
    """
    return None if whole is None else {key: whole[key] for key in keys}
