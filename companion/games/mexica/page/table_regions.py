"""The regions for what is on the table: the calendar board, the two gods, the spaces, and the supplies."""

from __future__ import annotations

from functools import lru_cache

from companion.games.kit import Json, Slice, View, only
from companion.games.mexica.page import calendar_board as drawing
from companion.games.mexica.page import temple
from companion.games.mexica.page.parts import face
from companion.games.mexica.rules.calendar import WEEK


def board(view: View) -> Slice:
    """Return the calendar: each space with its tokens, its week card's holder and the tribes on it."""
    over, clock = view["outcome"] is not None, view["countdown"]
    standing = _standing(view)
    biting = clock["biting"] if clock and not over else ""
    return {
        "shown": not over,
        "biting": biting or "",
        "says": temple.bite(view) if biting else "",
        "bite": {"flood": drawing.flood, "war": drawing.war}[biting]() if biting else "",
        "edges": [quadrant.edge for quadrant in drawing.quadrants()],
        "stripes": [{"seat": each.seat, "path": each.stripe} for each in drawing.quadrants()],
        "spaces": [
            _space(place, space["tokens"], space["holder"] or "", bool(here), view["on_turn"] in here)
            for place, space in enumerate(view["spaces"])
            for here in [standing.get(space["sign"], [])]
        ],
        "pieces": _pieces(view, standing),
        "turn": view["on_turn"] or "",
        "issued": view["week_cards"],
        "tokens": sum(space["tokens"] for space in view["spaces"]),
    }


def gods(view: View) -> Slice:
    """Return the two gods' numbers, and what Tonantzin was given."""
    return {**temple.tally(view), "tonantzin": view["tonantzin"]}


def spaces(view: View) -> Slice:
    """Return the spaces one by one, in words, for screen readers and for what cannot be tapped on the board."""
    standing = _standing(view)
    return {
        "spaces": [
            {
                "sign": space["sign"],
                "place": place,
                "day": WEEK - space["tokens"],
                "left": space["tokens"],
                "holder": space["holder"] or "",
                "here": standing.get(space["sign"], []),
                "week": only(face(view, f"week-{space['sign']}"), "says", "facts", "counts"),
            }
            for place, space in enumerate(view["spaces"], start=1)
        ],
    }


def stores(view: View) -> Slice:
    """Return what is beside the board: reserve, Tonantzin's pile, what is lost, the piles of cards, the debts."""
    used = {pile: sum(1 for each in view["discards"] if each.startswith(f"{pile}-")) for pile in view["piles"]}
    return {
        "reserve": view["reserve"],
        "tonantzin": view["tonantzin"],
        "lost": view["lost"],
        "piles": [{"pile": pile, "left": left, "used": used[pile]} for pile, left in view["piles"].items()],
        "debts": [{"debtor": debtor, "creditor": creditor} for debtor, creditor in view["debts"]],
        "over": view["outcome"] is not None,
    }


@lru_cache(maxsize=4096)
def _space(place: int, left: int, holder: str, held: bool, now: bool) -> Json:
    """Return one of the twenty spaces, the first 0: its drawing, the tokens left on it, and whether it is held."""
    shape = drawing.spaces()[place]
    lying, taken = drawing.pips(shape.place, left)
    return {
        "sign": shape.sign,
        "outline": shape.outline,
        "glyph": _corner(shape.glyph, drawing.SIGN_SIZE),
        "name": {"x": shape.name.x, "y": shape.name.y, "room": round(shape.room) - 6},
        "count": {"x": shape.count.x, "y": shape.count.y},
        "holder_at": _corner(shape.holder, drawing.HOLDER_SIZE),
        "day": WEEK - left,
        "left": left,
        "pips": lying,
        "gone": taken,
        "holder": holder,
        "held": held,
        "now": now,
    }


def _pieces(view: View, standing: dict[str, list[Json]]) -> list[Json]:
    """Return where each tribe stands: the space, and which of how many it is there."""
    pieces: list[Json] = []
    for seat in view["seats"]:
        sign = view["tribes"][seat]["place"]
        here = standing[sign]
        day = WEEK - next(space["tokens"] for space in view["spaces"] if space["sign"] == sign)
        pieces.append({"seat": seat, "sign": sign, "day": day, "nth": here.index(seat) + 1, "of": len(here)})
    return pieces


def _standing(view: View) -> dict[str, list[Json]]:
    """Return the tribes on each occupied space, in the order of the seats."""
    tribes = view["tribes"]
    standing: dict[str, list[Json]] = {}
    for seat in view["seats"]:
        standing.setdefault(tribes[seat]["place"], []).append(seat)
    return standing


def _corner(spot: drawing.Spot, size: float) -> dict[str, Json]:
    return {"x": round(spot.x - size / 2, 1), "y": round(spot.y - size / 2, 1), "size": size}
