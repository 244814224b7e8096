"""Divides a view of the siege into the regions of its page, each with exactly what its template draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.games.kit import Json, Slice, View, whose_turn
from companion.games.siege.page import board
from companion.games.siege.page.guide import next_hexes
from companion.games.siege.rules.geometry import Grid, grid

TRACK = (
    ("event", ""),
    ("move", "spaniards"),
    ("attack", "spaniards"),
    ("rally", "spaniards"),
    ("move", "aztecs"),
    ("attack", "aztecs"),
    ("rally", "aztecs"),
    ("fire", ""),
)
"""The phases of a turn, each with the side whose it is."""

AZTECS = ("cuauhtemoc", "warrior")

BUTTONS = ("all", "rest", "ready", "hold", "done", "claim")
"""What has a button of its own; all else is tapped on the map, or found in the list."""

MAIN = ("all", "ready", "rest", "done", "hold")
"""Of the buttons, the first that there is now is the one thing to do: it is dark."""


def regions(view: View) -> Mapping[str, Mapping[str, Json]]:
    """Return the view cut into its regions. What the platform adds to a view may be missing: then none may act."""
    drawn = dict(board.drawing(view["map"]))
    return {
        "turn": _turn(view),
        "track": _track(view),
        "ground": {"name": view["map"]["name"], "columns_n": view["map"]["width"], "rows_n": view["map"]["height"]}
        | {key: value for key, value in drawn.items() if key not in ("columns", "rows")},
        "pieces": _pieces(view),
        "labels": {key: drawn[key] for key in ("width", "height", "letters", "columns", "rows")},
        "marks": _marks(view),
        "dice": _dice(view),
        "deeds": _deeds(view),
        "odds": _odds(view),
        "strength": {"peoples": view["strength"]},
    }


def _acting(view: View) -> str:
    """Return the seat that this page decides for now, or an empty text."""
    acting = str(view.get("acting") or "")
    return acting if acting and acting == view["decider"] else ""


def _turn(view: View) -> Slice:
    return {
        **whose_turn(view),
        "stage": view["stage"],
        "limit": view["turn_limit"] if isinstance(view["turn_limit"], int) else 0,
        "quiet": view["quiet"]
        if isinstance(view["quiet_limit"], int) and view["quiet"] >= view["quiet_limit"] // 2
        else 0,
        "waits": view["decider"] if view["decider"] in view["seats"] and view["decider"] != view["on_turn"] else "",
        "over": view["outcome"] is not None,
    }


def _track(view: View) -> Slice:
    """Return the phases of a turn with the one that it has come to; a deployment has none."""
    stage, side = view["stage"], view["side"]
    now = next((n for n, each in enumerate(TRACK) if each[0] == stage and each[1] in ("", side)), -1)
    return {
        "shown": stage != "deploy" and view["outcome"] is None,
        "track": [{"stage": name, "side": whose, "now": n == now} for n, (name, whose) in enumerate(TRACK)],
    }


def _board(view: View) -> Grid:
    return grid(view["map"]["width"], view["map"]["height"])


def _pieces(view: View) -> Slice:
    """Return the positions of counters: each people's, those that are done, and the flags of routed ones."""
    hexes = _board(view)
    width, height = board.size(hexes)
    rows: dict[tuple[str, bool], list[str]] = {}
    routed = []
    at: dict[str, int] = {}
    for unit in view["units"]:
        if not unit["hex"]:
            continue
        x, y = board.middle(hexes, hexes.numbers[unit["hex"]])
        # A boat is drawn lower than its rider, and two riders beside each other.
        aboard = at.get(unit["hex"], 0)
        at[unit["hex"]] = aboard + 1
        afloat = unit["people"] == "boat"
        place = board.point(x + (0 if afloat else 6 * aboard), y + (3 if afloat else 0))
        rows.setdefault((unit["people"], _still(view, unit)), []).append(place)
        if unit["routed"]:
            routed.append(place)
    return {
        "width": width,
        "height": height,
        "rows": [
            {"people": people, "still": still, "places": board.line(rows[people, still])}
            for people, still in sorted(rows, key=lambda row: (row[0] != "boat", row))
        ],
        "routed": board.line(routed),
        "fires": board.marks(hexes, view["fires"], board.FLAME),
    }


def _marks(view: View) -> Slice:
    """Return where the unit in hand can go and what it costs, what is due where, and what a tap means."""
    hexes, active = _board(view), view["active"]
    width, height = board.size(hexes)
    in_hand = active is not None and _placed(view, active)
    costs: dict[int, list[str]] = {}
    for name, cost in view["reach"].items():
        costs.setdefault(cost, []).append(board.point(*board.middle(hexes, hexes.numbers[name])))
    return {
        "width": width,
        "height": height,
        "active": board.outline(hexes, [view["units"][active]["hex"]]) if in_hand else "",
        "reach": board.outline(hexes, view["reach"]),
        "costs": [{"cost": cost, "places": board.line(costs[cost])} for cost in sorted(costs)],
        "target": board.outline(hexes, _targets(view)),
        "state": _state(view),
    }


def _placed(view: View, unit: int) -> bool:
    return bool(view["units"][unit]["hex"])


def _still(view: View, unit: Mapping[str, Any]) -> bool:
    """Return whether a unit of the side now acting has done what it may in this phase."""
    mine = (unit["people"] in AZTECS) == (view["side"] == "aztecs")
    if not mine or view["outcome"]:
        return False
    if view["stage"] == "move":
        return bool(unit["rolled"] and not unit["points"])
    return bool(view["stage"] == "attack" and (unit["spent"] or unit["forced"]))


def _targets(view: View) -> list[str]:
    """Return the hexes that what is due is about."""
    due = view["due"]
    if due is None:
        return []
    found = [str(name) for name in due.get("hexes", [])]
    if "unit" in due and _placed(view, int(due["unit"])):
        found.append(view["units"][int(due["unit"])]["hex"])
    return [*found, *([str(due["hex"])] if "hex" in due else [])]


def _state(view: View) -> Slice:
    """Return what a tap on the map means now, for the script: a list of moves for each hex, and the attacks."""
    seat = _acting(view)
    return {
        "seat": seat,
        "columns": view["map"]["width"],
        "rows": view["map"]["height"],
        "taps": _taps(view) if seat else {},
        "attacks": [
            [each["unit"], view["units"][each["unit"]]["hex"], each["hex"], each["modifier"], list(each["reasons"])]
            for each in view["attacks"]
            if seat and view["due"] is None
        ],
        "since": view["since"],
        "next": list(next_hexes(view)) if seat else [],
        "at": "" if view["active"] is None else view["units"][view["active"]]["hex"],
    }


def _taps(view: View) -> dict[str, Json]:
    due, deployment = view["due"], view["deployment"]
    taps: dict[str, list[list[str | int]]] = {}
    if due is not None:
        if due["task"] == "succumb":
            for unit in due["units"]:
                taps.setdefault(view["units"][unit]["hex"], []).append(["succumb", unit])
        elif "hexes" in due:
            name = "retreat" if due["task"] == "retreat" else "advance"
            taps |= {each: [[name, each]] for each in due["hexes"]}
    elif deployment is not None:
        own = [unit["hex"] for unit in view["units"] if unit["hex"] and _of(unit) == view["side"]]
        taps |= {each: [["lift", each]] for each in own}
        taps |= {each: [["place", each]] for each in deployment["hexes"]}
    elif view["stage"] == "move":
        ridden = {unit["hex"] for unit in view["units"] if unit["people"] != "boat" and _of(unit) == "spaniards"}
        for n, unit in enumerate(view["units"]):
            if unit["hex"] and _of(unit) == view["side"] and not (unit["people"] == "boat" and unit["hex"] in ridden):
                if not unit["rolled"]:
                    taps.setdefault(unit["hex"], []).extend([["march", n], ["force", n]])
                elif unit["points"] and n != view["active"]:
                    taps.setdefault(unit["hex"], []).append(["walk", n])
        for each in view["reach"]:
            taps[each] = [["go", each]]
    return dict(taps)


def _of(unit: Mapping[str, Any]) -> str:
    return "aztecs" if unit["people"] in AZTECS else "spaniards"


def _dice(view: View) -> Slice:
    due = view.get("chance")
    if not due:
        return {"due": None}
    return {
        "due": {"key": due["key"], "facts": dict(due["facts"]), "seat": due["seat"]},
        "may": due["may"],
        "mine": due["mine"],
        "choices": due["choices"],
        "two": due["key"] == "forced",
        "attack": next(iter(view["attacks"]), None) if due["key"] == "strike" else None,
        "odds": view["odds"],
    }


def _deeds(view: View) -> Slice:
    seat = _acting(view)
    choices = view.get("choices") or [] if seat else []
    active = view["active"]
    unit = None if active is None else view["units"][active]
    deployment = view["deployment"]
    names = view["map"]["quarters"]
    keys = {each["key"] for each in choices}
    return {
        "acting": seat,
        "main": next((key for key in MAIN if key in keys), ""),
        "stage": view["due"]["task"] if seat and view["due"] else view["stage"],
        "buttons": [each for each in choices if each["key"] in BUTTONS],
        "peoples": [each for each in choices if each["key"] == "take_any"],
        "list": [each for each in choices if each["key"] not in BUTTONS],
        "unit": {"people": unit["people"], "no": unit["no"], "points": unit["points"]}
        if unit and view["stage"] == "move"
        else None,
        "hand": deployment["people"] if deployment else None,
        "waiting": deployment["waiting"] if deployment else {},
        "lacking": [{"name": names[key], "n": n} for key, n in deployment["lacking"].items()] if deployment else [],
        "over": view["outcome"] is not None,
    }


def _odds(view: View) -> Slice:
    return {
        "shown": view["stage"] == "attack" and view["outcome"] is None,
        "table": view["odds"],
        "any": bool(view["attacks"]),
    }
