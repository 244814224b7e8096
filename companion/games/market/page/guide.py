"""The guide of a first turn: how the market is laid out, the steps of a Pass, and how to buy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.games.kit import Guide, next_tap

_SETUP = ("start", "deal", "lay", "coin")
_TURN = ("turn", "draw", "shift", "money", "king")


def guide(view: Mapping[str, Any]) -> Guide:
    """Return the steps of the turn, or of setting up, and the tap that a beginner makes."""
    step = view["step"]
    if step in _SETUP:
        return Guide(_SETUP, step, step, next_tap(view))
    if step == "turn" and view["played"]:
        bought = view["bought"]
        return Guide(_TURN, step, "bought" if bought else "playing", next_tap(view, "commit" if bought else "buy"))
    if step == "king":
        return Guide(_TURN, step, step, next_tap(view, "take", "leave"))
    return Guide(_TURN, step, step, next_tap(view, "pass"))
