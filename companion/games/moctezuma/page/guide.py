"""The guide of a first turn: what action points are spent on, and what a beginner does first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.games.kit import Guide, next_tap

_TURN = ("study", "walk", "explore", "end")
_FIRST_CHOICE = {"explore": "explore", "walk": "walk", "walk_library": "walk", "end_turn": "end"}


def guide(view: Mapping[str, Any]) -> Guide:
    """Return what a turn is made of, what the seat on turn is about, and the next tap."""
    kind = view["doing"]["kind"]
    if kind == "study":
        return Guide(_TURN, "study", "peek", next_tap(view, "peek"))
    if kind in ("explore", "put"):
        return Guide(
            _TURN,
            "explore",
            "keep" if kind == "explore" else "put",
            next_tap(view, "keep", "put", "put_name", "leave"),
        )
    if kind != "turn":
        return Guide(_TURN, "", kind, next_tap(view, "ready"))
    keys = [each["key"] for each in view.get("choices") or []]
    if "study" in keys and not (view["notebook"] or {}).get("chits"):
        return Guide(_TURN, "study", "study", next_tap(view, "study"))
    key = next((key for key in _FIRST_CHOICE if key in keys), "")
    phase = _FIRST_CHOICE.get(key, "")
    return Guide(_TURN, phase, phase, next_tap(view, key))
