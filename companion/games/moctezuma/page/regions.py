"""Divides a view into the regions of the page, each with exactly what its template draws.

A view without the platform's additions (who acts, and their choices) is one in which nobody acts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from companion.games.kit import Choices, Json, Slice, View, chosen, whose_turn
from companion.games.moctezuma.page import board
from companion.games.moctezuma.rules.pieces import DOUBLED, KINGS, LAST, TEMPLES, chits_of
from companion.games.moctezuma.rules.state import POINTS

ROUNDS = 15


def regions(view: View) -> Mapping[str, Mapping[str, Json]]:
    """Return the view cut into its regions."""
    return {
        "turn": _turn(view),
        "points": _points(view),
        "board": _board(view),
        "chart": _chart(view),
        "begin": _begin(view),
        "hand": _hand(view),
        "acts": _acts(view),
        "end": _end(view),
        "treasure": _treasure(view),
        "reckoning": _reckoning(view),
        "notebook": _notebook(view),
        "hold": {"shown": view["notebook"] is not None and view["stage"] == "playing"},
    }


def _turn(view: View) -> Slice:
    return {
        **whose_turn(view),
        "stage": view["stage"],
        "doing": dict(view["doing"]),
        "points": view["points"],
        "round": view["round"],
        "of": ROUNDS,
        "by_turn": view["rules"]["flip"] == "turn",
    }


def _points(view: View) -> Slice:
    return {"shown": view["stage"] == "playing", "points": view["points"], "of": POINTS}


def _board(view: View) -> Slice:
    layout = board.shape(view["rules"]["board"])
    spots = board.spots(layout)
    own = (view["notebook"] or {"names": {}})["names"]
    reach = [choice["facts"]["place"] for choice in chosen(view, "walk")]
    pairs = [(a, b) for a, near in enumerate(view["ways"]) for b in near if a < b]
    places = [view["places"][seat] for seat in view["seats"]]
    return {
        "height": board.HEIGHT[layout],
        "tile": board.tile(layout),
        "layout": layout,
        "ways": [[*spots[a], *spots[b]] for a, b in pairs],
        "tiles": [
            {
                "place": place,
                "x": round(x, 1),
                "y": round(y, 1),
                "count": view["decks"][place - 1] if place else 0,
                "name": (view["names"][place - 1] if place else None) or "",
                "known": own.get(str(place), ""),
                "reach": place in reach,
                "here": [seat for seat in view["seats"] if view["places"][seat] == place],
            }
            for place, (x, y) in enumerate(spots)
        ],
        "pawns": [
            {"seat": seat, "place": place, "x": spot.x, "y": spot.y}
            for seat, place, spot in zip(view["seats"], places, board.pawns(layout, places), strict=True)
        ],
        "on_turn": view["on_turn"] or "",
    }


def _chart(view: View) -> Slice:
    """Return the chart of kings: what is open, what this seat has seen, who looked where, what may be picked."""
    notebook = view["notebook"]
    picks = {int(choice["element"].removeprefix("chit-")): dict(choice) for choice in chosen(view, "peek")}
    third = KINGS.index(view["chits"][LAST]["king"])
    rows: list[Json] = []
    for king, name in enumerate(KINGS):
        chits: list[Json] = [
            {
                "space": space,
                "column": n + 1,
                "face": view["chits"][space]["face"] or "",
                "known": (notebook or {"chits": {}})["chits"].get(str(space), ""),
                "next": space == view["shown"],
                "seen_by": [seat for seat, seen in (view["peeked"] or {}).items() if space in seen],
                "pick": picks.get(space),
            }
            for n, space in enumerate(chits_of(king, "second" if third == DOUBLED[1] else "first"))
        ]
        help_ = notebook and notebook["deduction"]
        rows.append(
            {
                "king": name,
                "doubled": king in DOUBLED,
                "chits": chits,
                "chance": help_["kings"][name] if help_ else None,
            }
        )
    return {"kings": rows, "acting": view.get("acting", ""), "left": view["doing"]["left"] if picks else 0}


def _begin(view: View) -> Slice:
    """Return what chance asks the table for: who begins, or the next temple's name; or the board to be laid."""
    due = view.get("chance")
    key = due["key"] if due and due["key"] in ("first", "reveal") else ""
    return {
        "key": key,
        "may": bool(key and due and due["may"]),
        "temple": due["facts"]["temple"] if due and key == "reveal" else 0,
        "choices": [dict(choice) for choice in due["choices"]] if due and key == "first" and due["may"] else [],
        "laying": view["stage"] == "laying",
        "paths": [dict(choice) for choice in chosen(view, "path")],
        "acting": view.get("acting", ""),
    }


def _hand(view: View) -> Slice:
    """Return the cards that only the explorer sees, each with what may be done with it."""
    notebook = view["notebook"]
    spare = bool(notebook and notebook["spare"])
    held: Iterable[int] = (notebook["spare"] or notebook["hand"]) if notebook else ()
    offered = {choice["element"]: dict(choice) for choice in chosen(view, "put" if spare else "keep")}
    place = view["places"][view["me"]] if view["me"] else 0
    return {
        "acting": view.get("acting", ""),
        "kind": "put" if spare else "keep",
        "temple": place,
        "name": notebook["names"].get(str(place), "") if notebook else "",
        "cards": [{"worth": worth, "choice": offered.get(f"card-{worth}")} for worth in held],
        "leave": offered.get("leave"),
    }


def _acts(view: View) -> Slice:
    return {
        "acting": view.get("acting", ""),
        "acts": [dict(choice) for choice in chosen(view, "act")],
        "walks": [dict(choice) for choice in chosen(view, "walk")],
    }


def _end(view: View) -> Slice:
    choice = next((dict(choice) for choice in chosen(view, "end")), None)
    return {
        "choice": choice,
        "acting": view.get("acting", ""),
        **whose_turn(view),
        "points": view["points"],
    }


def _treasure(view: View) -> Slice:
    """Return from which temples everybody has kept treasure; this seat's own with what it is worth."""
    notebook = view["notebook"]
    own = [trip["kept"] for trip in notebook["trips"] if trip["kept"]] if notebook else []
    return {
        "seats": [
            {
                "seat": seat,
                "mine": seat == view["me"],
                "cards": [
                    {
                        "temple": card["temple"],
                        "worth": card["worth"] or 0,
                        "known": own[n] if seat == view["me"] else 0,
                    }
                    for n, card in enumerate(view["treasure"][seat])
                ],
            }
            for seat in view["seats"]
        ]
    }


def _reckoning(view: View) -> Slice:
    """Return the count at the end: the temple that showed its name last, and what everybody's treasure comes to."""
    found = view["reckoning"]
    if found is None:
        return {"shown": False}
    revealed = found["revealed"]
    last = view["names"][revealed - 1] if revealed else ""
    order = sorted(view["seats"], key=lambda seat: (-found["scores"][seat]["total"], -found["scores"][seat]["cards"]))
    return {
        "shown": True,
        "over": view["stage"] == "over",
        "revealed": revealed,
        "of": TEMPLES,
        "last": {
            "temple": revealed,
            "name": last,
            "cursed": bool(last in found["cursed"] and found["cursed"][last]),
            "who": [
                {"seat": seat, "cards": line["cards"], "factor": line["factor"], "score": line["score"]}
                for seat in view["seats"]
                for line in found["scores"][seat]["lines"]
                if line["temple"] == revealed
            ],
        },
        "out": dict(found["out"]),
        "winners": list(found["winners"]),
        "seats": [
            {
                "seat": seat,
                "won": seat in found["winners"],
                **found["scores"][seat],
                "lines": [
                    {**line, "name": view["names"][line["temple"] - 1]} for line in found["scores"][seat]["lines"]
                ],
            }
            for seat in order
        ],
    }


def _notebook(view: View) -> Slice:
    """Return one seat's notebook; nothing for those who have none."""
    found = view["notebook"]
    if found is None:
        return {"shown": False}
    help_ = found["deduction"]
    temples: list[Json] = []
    for n in range(TEMPLES):
        trips = [trip for trip in found["trips"] if trip["temple"] == n + 1]
        temples.append(
            {
                "temple": n + 1,
                "name": view["names"][n] or found["names"].get(str(n + 1), ""),
                "trips": trips,
                "under": _together(found["under"].get(str(n + 1), [])),
                "count": view["decks"][n],
                "help": help_["read"].get(str(n + 1)) if help_ else None,
                "left": help_["decks"].get(str(n + 1)) if help_ else None,
            }
        )
    return {
        "shown": True,
        "seat": view["me"],
        "acting": view.get("acting", ""),
        "seen": [
            {"king": view["chits"][int(space)]["king"], "column": int(space) // len(KINGS) + 1, "face": face}
            for space, face in found["chits"].items()
        ],
        "kings": [{"king": king, "chance": chance} for king, chance in (help_["kings"] if help_ else {}).items()],
        "temples": temples,
        "unread": help_["unread"] if help_ else None,
        "notes": found["notes"],
    }


def _together(under: Choices) -> list[Json]:
    """Return the cards under a deck, adjacent ones as one row."""
    rows: list[dict[str, Any]] = []
    for lower in under:
        follows = rows and rows[-1]["above"] + rows[-1]["left"] == lower["above"]
        if follows and rows[-1]["left"] == len(rows[-1]["cards"]) and len(lower["cards"]) == 1:
            rows[-1]["cards"] += lower["cards"]
            rows[-1]["left"] += 1
        else:
            rows.append({**lower, "cards": list(lower["cards"])})
    return list(rows)
