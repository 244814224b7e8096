"""What the guide of a first turn says: deployment, then the phases of a turn; most of it is tapped on the map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.games.kit import Guide, next_tap

_SETUP = ("deploy",)
_TURN = ("event", "move", "attack", "rally", "fire")
_MAP = "map"


def guide(view: Mapping[str, Any]) -> Guide:
    """Return the phases of a turn, the one that runs, and the next tap: a button, or the map."""
    stage, due, chance = view["stage"], view["due"], view.get("chance")
    phases = _SETUP if stage == "deploy" else _TURN
    if chance and chance["mine"]:
        return Guide(phases, stage, chance["key"], next_tap(view))
    if due is not None:
        return Guide(phases, stage, due["task"], _MAP)
    keys = {each["key"] for each in view.get("choices") or []}
    if stage == "deploy":
        return Guide(phases, stage, "rest" if "rest" in keys else "ready", next_tap(view, "rest", "ready"))
    if stage == "move" and view["reach"]:
        return Guide(phases, stage, "go", _MAP)
    if stage == "move" and "march_any" in keys:
        return Guide(phases, stage, "march", _MAP)
    if stage == "attack" and view["attacks"]:
        return Guide(phases, stage, "attack", _MAP)
    return Guide(phases, stage, "done", next_tap(view, "done"))
