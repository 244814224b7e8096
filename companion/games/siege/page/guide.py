"""The guide of a first turn: deployment, then the phases of a turn. Most of it is tapped on the map."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from companion.games.kit import Guide, next_tap
from companion.games.siege.rules.geometry import grid

_SETUP = ("deploy",)
_TURN = ("event", "move", "attack", "rally", "fire")
_MAP = "map"
_AZTECS = ("cuauhtemoc", "warrior")
_LEADERS = ("cortez", "cuauhtemoc")


def guide(view: Mapping[str, Any]) -> Guide:
    """Return the phases of a turn, the one that runs, and the next tap: a button, or the map.

    One unit marches and one attacks; then the phase may end.
    """
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
    if stage == "move" and "march_any" in keys and not any(unit["rolled"] for unit in view["units"]):
        return Guide(phases, stage, "march", _MAP)
    if stage == "attack" and view["attacks"] and not any(unit["spent"] for unit in view["units"]):
        return Guide(phases, stage, "attack", _MAP)
    return Guide(phases, stage, "done", next_tap(view, "done"))


def next_hexes(view: Mapping[str, Any]) -> list[str]:
    """Return the hexes that a first turn taps next: none, one, or of an attack the unit's and the enemy's.

    It is the unit nearest to the enemy's leader that marches, towards that leader, and the likeliest attack.
    """
    due, units = view["due"], view["units"]
    if due is not None:
        if due["task"] == "succumb":
            plain = [unit for unit in due["units"] if units[unit]["people"] not in _LEADERS] or due["units"]
            return [units[plain[-1]]["hex"]]
        return list(due.get("hexes", []))[:1]
    match guide(view).why:
        case "go":
            return _nearest(view, view["reach"])
        case "march":
            return _nearest(view, [unit["hex"] for unit in units if _marches(view, unit)])
        case "attack":
            best = max(view["attacks"], key=lambda each: int(each["modifier"]))
            return [units[best["unit"]]["hex"], best["hex"]]
    return []


def _marches(view: Mapping[str, Any], unit: Mapping[str, Any]) -> bool:
    own = (unit["people"] in _AZTECS) == (view["side"] == "aztecs")
    return bool(own and unit["hex"] and unit["people"] not in ("boat", *_LEADERS))


def _nearest(view: Mapping[str, Any], hexes: Iterable[str]) -> list[str]:
    leader = _LEADERS[0 if view["side"] == "aztecs" else 1]
    goal = next((unit["hex"] for unit in view["units"] if unit["people"] == leader and unit["hex"]), "")
    among, board = list(hexes), grid(view["map"]["width"], view["map"]["height"])
    if not among or not goal:
        return among[:1]
    return [min(among, key=lambda name: board.distance(board.numbers[name], board.numbers[goal]))]
