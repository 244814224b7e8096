"""The regions for what the tribes hold: a hand for its own phone alone, and what everybody may see of each tribe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.games.kit import Json, Slice, View
from companion.games.mexica.page.parts import face, held_by

_ORDER = {"sign": 0, "war": 1, "rain": 2, "day": 3}


def hand(view: View) -> Slice:
    """Return the hand of the seat that acts on this phone; on a shared one it is covered."""
    seat = view.get("acting", "")
    if not seat or seat not in view["hands"]:
        return {"seat": "", "cards": [], "covered": False, "playable": 0, "weeks": [], "acting": seat}
    choices = {each["facts"]["card"]: each for each in held_by(view, seat) if each["group"] == "card"}
    cards = [_card(view, each, choices.get(each)) for each in view["hands"][seat]]
    cards.sort(key=lambda card: (card["choice"] is None, _ORDER["sign" if card["sign"] else card["pile"]]))
    # A week card that has to be returned is no card of the hand, but is chosen among them.
    weeks = [
        {"card": card, "face": face(view, card), "choice": dict(choice)}
        for card, choice in choices.items()
        if card.startswith("week-")
    ]
    return {
        "seat": seat,
        "acting": seat,
        "cards": [dict(card) for card in cards],
        "weeks": weeks,
        "covered": bool(view.get("also")) and view["outcome"] is None,
        "playable": len(choices),
    }


def tribes(view: View) -> Slice:
    """Return every tribe as all see it, this phone's own first: tokens, backs of cards, week cards, what waits."""
    own = [view["acting"], *view.get("also", {})] if view.get("acting") else []
    seats = sorted(view["seats"], key=lambda seat: seat not in own)
    return {
        "tribes": [_tribe(view, seat, seat in own) for seat in seats],
        "over": view["outcome"] is not None,
    }


def _tribe(view: View, seat: str, own: bool) -> Json:
    tribe, due = view["tribes"][seat], view["due"]
    open_ = view["hands"].get(seat, []) if seat != view.get("acting") else []
    return {
        "seat": seat,
        "own": own,
        "on_turn": seat == view["on_turn"],
        "awaited": due is not None and due["seat"] == seat,
        "tokens": tribe["tokens"],
        "place": tribe["place"],
        "day": 13 - next(space["tokens"] for space in view["spaces"] if space["sign"] == tribe["place"]),
        "cards": [{"pile": pile, "n": n} for pile, n in tribe["cards"].items() if n],
        "weeks": [face(view, f"week-{sign}") for sign in tribe["week_cards"]],
        "boosts": tribe["boosts"],
        "wards": tribe["wards"],
        "prices": tribe["prices"],
        "open": [face(view, card) for card in open_],
        "owes": [creditor for debtor, creditor in view["debts"] if debtor == seat],
    }


def _card(view: View, card: str, choice: Mapping[str, Any] | None) -> dict[str, Any]:
    return {**face(view, card), "choice": dict(choice) if choice else None}
