"""The guide of a first turn: the whole game step by step, or only the temple's part."""

from __future__ import annotations

from companion.games.kit import Guide, View, next_tap
from companion.games.mexica.rules.options import FULL

_AT_TABLE = ("board", "sacrifice", "end")


def guide(view: View) -> Guide:
    """Return the steps of a turn, the one that runs and what to tap in it."""
    if view["scope"] == FULL:
        due = view["due"]
        why = due["task"] if due else ""
        if why == "sacrifice" and _gave(view, due["seat"]):
            return Guide(tuple(view["steps"]), view["step"], "given", next_tap(view, "pass", "end_turn"))
        taps = ("sacrifice",) if why == "sacrifice" else ("pass", "end_turn") if why == "cards" else ()
        return Guide(tuple(view["steps"]), view["step"], why, next_tap(view, *taps))
    if view["temple"]:
        return Guide(_AT_TABLE, "sacrifice", "temple", next_tap(view, "end_turn"))
    gave = _gave(view, view["on_turn"] or "")
    return Guide(_AT_TABLE, "sacrifice", *(("end", "end_turn") if gave else ("by_hand", "sacrifice")))


def _gave(view: View, seat: str) -> bool:
    return any(view["given"].get(seat, {}).values())
