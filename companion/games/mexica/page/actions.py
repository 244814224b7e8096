"""The regions for what is being done: the step of the turn, a battle, a sacrifice, and the next decision."""

from __future__ import annotations

from typing import Any

from companion.games.kit import LEFT_TO_RIGHT, Choices, Json, Slice, View, only
from companion.games.mexica.page.parts import face, held, held_by

PILE_OF = {"huitzilopochtli": "war", "tlaloc": "rain"}


def steps(view: View) -> Slice:
    """Return the steps of a turn, and which of them runs."""
    return {"steps": view["steps"], "step": view["step"] if view["outcome"] is None else ""}


def battle(view: View) -> Slice:
    """Return both sides of a battle with dice and bonuses, what is at stake, and what is awaited of each side."""
    fought, due = view["battle"], view["due"]
    if fought is None or view["outcome"] is not None:
        return {"sides": [], "stake": "", "loot": "", "space": ""}
    awaited = due["seat"] if due else ""
    return {
        "sides": [
            {
                "seat": seat,
                "role": "defender" if n else "attacker",
                "die": die,
                "bonus": bonus,
                "sum": max(0, die + bonus) if die else None,
                "awaited": seat == awaited,
                "tokens": view["tribes"][seat]["tokens"] if seat in view["tribes"] else None,
            }
            for n, (seat, die, bonus) in enumerate(
                zip(fought["sides"], fought["dice"], fought["bonuses"], strict=True)
            )
        ],
        "stake": fought["stake"] or "",
        "loot": fought["loot"] if fought["loot"] == "one" else f"{fought['loot']}.{fought['loot_die']}",
        "space": view["tribes"][fought["sides"][0]]["place"],
    }


def offering(view: View) -> Slice:
    """Return the running sacrifice step: what each god was given of the next price, and what may still be given."""
    step = view["offering"]
    if step is None or view["outcome"] is not None:
        return {"seat": "", "tokens": 0, "gods": [], "tonantzin": None, "mine": False, "temple": False}
    seat = step["seat"]
    tribe, choices = view["tribes"][seat], held_by(view, seat)
    return {
        "seat": seat,
        "tokens": tribe["tokens"],
        "mine": bool(choices),
        "temple": bool(view.get("temple")),
        "gods": [_god(view, god, choices) for god in LEFT_TO_RIGHT],
        "tonantzin": {
            "price": tribe["prices"]["day"],
            "choice": next((dict(each) for each in choices if each["key"] == "tonantzin"), None),
            "why": "" if step["tonantzin"] and not step["bought"] else "bought" if step["bought"] else "temple",
            "short": max(0, tribe["prices"]["day"] - tribe["tokens"]),
        },
    }


def coming(view: View) -> Slice:
    """Return the one next step: what this phone does, or whom everybody waits for, and why nothing else goes."""
    due, chance = view["due"], view.get("chance")
    if due is None or view["outcome"] is not None:
        return {"due": ""}
    seat, mine = due["seat"], [each for each, _ in held(view)]
    choices: Choices = held_by(view, seat) if seat in mine else []
    typed = list(chance["choices"]) if chance and chance["may"] else []
    args = due["args"]
    return {
        "due": due["task"],
        "seat": seat,
        "acting": view.get("acting", ""),
        "mine": seat in mine,
        "shared": len(mine) > 1,
        "may": bool(chance and chance["may"]),
        "pile": str(args[0]) if due["task"] == "draw" else "",
        "victor": str(args[0]) if due["task"] == "forfeit" else "",
        "card": _open_card(view, due),
        "last": bool(args and args[0] == 1) if due["task"] in ("sacrifice", "cards") else False,
        "dice": [dict(each) for each in typed if each["key"] == "roll"],
        "typed": next((dict(each) for each in typed if each["key"] == "drew"), None),
        "picks": [dict(each) for each in choices if each["group"] in ("tribe", "week")],
        "cards": sum(1 for each in choices if each["group"] == "card"),
        "main": next((dict(each) for each in choices if each["group"] == "turn"), None),
    }


def _open_card(view: View, due: dict[str, Any]) -> Json:
    """Return the face of the card that asks for a tribe; it is open."""
    if due["task"] != "choose":
        return None
    return only(face(view, due["args"][0]), "space", "number", "pile", "says", "facts")


def _god(view: View, god: str, choices: Choices) -> Json:
    step = view["offering"]
    tribe = view["tribes"][step["seat"]]
    price, toward = tribe["prices"]["god"], tribe["toward"][god]
    missing = max(0, price - toward)
    handy = sorted({1, missing} if missing <= tribe["tokens"] else {1})
    return {
        "god": god,
        "pile": PILE_OF[god],
        "toward": toward,
        "price": price,
        "missing": missing,
        "earned": step["earned"][god],
        "open": step["temple"],
        "taps": [
            dict(each)
            for each in choices
            if each["key"] == "sacrifice" and each["facts"]["god"] == god and each["facts"]["n"] in handy
        ],
    }
