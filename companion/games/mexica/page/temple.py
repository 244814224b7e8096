"""The regions of both scopes: the turn, the age, the lake, what waits for an answer, and who gave what."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from companion.games.kit import LEFT_TO_RIGHT, Choices, Json, Slice, View, chosen, only, whose_turn
from companion.games.mexica.page import board
from companion.games.mexica.page.parts import held
from companion.games.mexica.rules.apocalypse import COUNTDOWN, GOD_OF

HANDY = (1, 7)
"""What a table without a temple taps most: one token, and the price of a card (rulings M1, M3)."""

DOOMS = frozenset(GOD_OF)
"""The ends that come over the page."""

_ROOM = 130
"""Tokens of one god for which the lake has room where no number of them ends the age."""


def cut(view: View) -> dict[str, Mapping[str, Json]]:
    """Return the regions of a table with a wooden board."""
    return {
        "turn": turn(view),
        "clock": clock(view),
        "lake": lake(view),
        "ring": ring(view),
        "tally": tally(view),
        "taps": _taps(view),
        "omen": omen(view),
        "unclaimed": unclaimed(view),
        "correction": correction(view),
        "action": _action(view),
        "given": given(view),
        "people": _people(view),
        "drawer": _drawer(view),
        "tide": tide(view),
    }


def turn(view: View) -> Slice:
    """Return whose turn it is, whether this phone is only that tribe's, and what is due from whom."""
    due = view.get("due") or {"task": "give", "seat": view["on_turn"] or "", "args": []}
    return {
        **whose_turn(view),
        "over": view["outcome"] is not None,
        "due": due["task"],
        "by": due["seat"],
        "pile": str(due["args"][0]) if due["task"] == "draw" else "",
    }


def clock(view: View) -> Slice:
    """Return how much of the age has passed, or what is left of the countdown."""
    countdown = view["countdown"] if view["outcome"] is None else None
    return {
        "total": view["total"] if view["left"] is None else view["threshold"] - view["left"],
        "threshold": view["threshold"],
        "week_cards": view["week_cards"],
        "week_threshold": view["week_threshold"],
        "countdown": only(countdown, "left", "unit", "forestalled", "doom"),
    }


def lake(view: View) -> Slice:
    """Return the lake with a bead for each token."""
    threshold = view["threshold"]
    # A lake whose age ends early has fewer, larger beads; one god may have been given up to two thirds of them.
    expected = _ROOM if threshold is None else threshold * 13 // 20
    beads = board.lake(view["lake"], expected)
    newest = beads.newest
    return {
        "shown": view["outcome"] is None,
        "gods": dict(view["gods"]),
        "size": beads.size,
        "beads": {"huitzilopochtli": beads.war, "tlaloc": beads.rain},
        "newest": None
        if newest is None
        else {
            "x": round(newest.x, 1),
            "y": round(newest.y, 1),
            "turned": round(newest.angle),
            "god": beads.newest_god,
        },
    }


def ring(view: View) -> Slice:
    """Return the ring of the age, or the stones of the countdown."""
    threshold, countdown = view["threshold"], view["countdown"]
    slice_: Slice = {
        "shown": view["outcome"] is None,
        "total": view["total"],
        "threshold": threshold,
        "thirteenths": board.thirteenths(),
        "beads": None,
        "stones": [],
        "countdown": None,
    }
    if countdown is not None:
        slice_["stones"] = list(board.stones())
        slice_["countdown"] = only(countdown, "left", "of", "unit", "forestalled", "doom")
    elif threshold is not None:
        slice_["beads"] = _ring(view["lake"], threshold)
    else:
        slice_["stones"] = list(board.stones())
    return slice_


@lru_cache(maxsize=64)
def _ring(lake: str, threshold: int) -> dict[str, Json]:
    return board.ring(lake, threshold)._asdict()


@lru_cache(maxsize=256)
def _numeral(number: int) -> dict[str, Json]:
    return board.numeral(number)._asdict()


def tally(view: View) -> Slice:
    """Return the two gods' numbers, written twice."""
    gods = view["gods"]
    return {
        "gods": [
            {
                "god": god,
                "count": gods[god],
                "numeral": _numeral(gods[god]),
                "ahead": max(0, gods[god] - min(gods.values())),
            }
            for god in LEFT_TO_RIGHT
        ],
    }


def _taps(view: View) -> Slice:
    """Return what a table taps under the numbers; with a temple it is in the drawer."""
    handy = [] if view.get("temple") else [tap for tap in chosen(view, "tap") if tap["facts"]["n"] in HANDY]
    return {**_giver(view), "gods": _by_god(handy)}


def _giver(view: View) -> Slice:
    """Return for whom a phone taps tokens in, and whether that is its own seat."""
    acting = view.get("acting", "")
    return {"acting": acting, "seat": view["on_turn"] or "", "mine": acting == view["on_turn"]}


def omen(view: View) -> Slice:
    """Return what is about to happen."""
    cards = view["week_threshold"]
    return {
        "over": view["outcome"] is not None,
        "left": view["left"],
        "cards_left": None if cards is None else max(0, cards - view["week_cards"]),
        "doom_god": view["doom_god"],
        "empty": view["total"] == 0,
        "countdown": only(view["countdown"], "left", "unit", "forestalled", "doom"),
        "bite": bite(view),
    }


def bite(view: View) -> str:
    """Return what flood or war does to the tribes already, or nothing: the flood, or the table's kind of war."""
    countdown = view["countdown"]
    biting = countdown["biting"] if countdown else ""
    return str(countdown["war"] if biting == "war" else biting)


def tide(view: View) -> Slice:
    """Return how far water or fire has come over the page: a step for each turn of the countdown, all at the end."""
    countdown, outcome = view["countdown"], view["outcome"]
    if outcome is not None:
        return {"doom": outcome["kind"] if outcome["kind"] in DOOMS else "", "step": COUNTDOWN, "last": False}
    if countdown is None:
        return {"doom": "", "step": 0, "last": False}
    step = COUNTDOWN - countdown["left"]
    return {"doom": countdown["doom"], "step": step, "last": step == COUNTDOWN - 1}


def unclaimed(view: View) -> Slice:
    """Return the token that waits longest, with who may have given it; the others are only counted."""
    waiting = view["unclaimed"]
    if not waiting:
        return {"waiting": 0, "acting": "", "token": None, "claims": [], "dismiss": []}
    first = waiting[0]
    choices = [each for each in chosen(view, "unclaimed") if each["facts"]["token"] == first["id"]]
    return {
        "waiting": len(waiting),
        "acting": view.get("acting", ""),
        "token": only(first, "god", "doubt", "suggested"),
        "claims": [each for each in choices if each["key"] == "claim"],
        "dismiss": [each for each in choices if each["key"] == "dismiss"],
    }


def correction(view: View) -> Slice:
    """Return the correction that waits for a second tribe; a phone with several seats may answer as each of them."""
    proposal = view["correction"]
    if proposal is None:
        return {"proposal": None, "answers": []}
    offered = [
        (seat, choice) for seat, choices in held(view) for choice in choices if choice["group"] == "correction"
    ]
    confirming = [(seat, choice) for seat, choice in offered if choice["key"] == "confirm"]
    withdrawing = [(seat, choice) for seat, choice in offered if choice["key"] == "withdraw"]
    return {
        "proposal": only(proposal, "by", "seat", "god", "delta"),
        "answers": [{"seat": seat, "choice": dict(choice)} for seat, choice in confirming + withdrawing[:1]],
    }


def _action(view: View) -> Slice:
    choice = next(iter(chosen(view, "turn")), None)
    return {
        **_giver(view),
        "choice": dict(choice) if choice else None,
        "shared": bool(view.get("also")),
    }


def given(view: View) -> Slice:
    """Return who gave what, and beside each number the corrections by one that a seat may propose."""
    steps = {}
    for choice in chosen(view, "correction"):
        if choice["key"] == "propose":
            facts = choice["facts"]
            steps[facts["seat"], facts["god"], facts["delta"]] = dict(choice)
    return {
        "acting": view.get("acting", ""),
        "tribes": [
            {
                "seat": seat,
                "gods": [
                    {
                        "god": god,
                        "given": view["given"][seat][god],
                        "less": steps.get((seat, god, -1)),
                        "more": steps.get((seat, god, 1)),
                    }
                    for god in LEFT_TO_RIGHT
                ],
            }
            for seat in view["seats"]
        ],
        "other": [dict(choice) for choice in chosen(view, "correction") if choice["key"] == "propose_other"],
    }


def _people(view: View) -> Slice:
    """Return who is on turn, who follows, and what each has given to which god, in the order of the seats."""
    seats, on_turn = view["seats"], view["on_turn"]
    follows = seats[(seats.index(on_turn) + 1) % len(seats)] if on_turn in seats else ""
    return {
        "people": [
            {
                "seat": seat,
                "on_turn": seat == on_turn,
                "follows": seat == follows,
                "given": [{"god": god, "n": view["given"][seat][god]} for god in LEFT_TO_RIGHT],
            }
            for seat in seats
        ]
        if view["outcome"] is None
        else []
    }


def _drawer(view: View) -> Slice:
    return {
        **_giver(view),
        "over": view["outcome"] is not None,
        "week_cards": view["week_cards"],
        "week": [dict(choice) for choice in chosen(view, "week")],
        "settle": [dict(choice) for choice in chosen(view, "end")],
        "guide": _guide(view),
        "taps": _by_god([tap for tap in chosen(view, "tap") if view.get("temple") or tap["facts"]["n"] not in HANDY]),
    }


def _guide(view: View) -> list[Json]:
    """Return the entries that say how the age ends at this table, each with its text."""
    entries = {
        "turn": "words",
        "trigger": "cards" if view["threshold"] is None else "words",
        "countdown": view["countdown_unit"],
    }
    if view["doom_effects"] == "countdown":
        entries |= {"flood": view["doom_by"], "war": view["doom_by"]}
    return [{"entry": entry, "text": text} for entry, text in {**entries, "win": "words"}.items()]


def _by_god(taps: Choices) -> list[Json]:
    if not taps:
        return []
    return [{"god": god, "taps": [dict(tap) for tap in taps if tap["facts"]["god"] == god]} for god in LEFT_TO_RIGHT]
