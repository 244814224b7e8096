"""What Mexica's printable pages show: the calendar, the 360 cards, the tallies, the card temple and racks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from math import cos, pi, radians, sin

from companion.games.kit import LEFT_TO_RIGHT, Board, Json, Piece, Pieces
from companion.games.mexica.page import calendar_board as geometry
from companion.games.mexica.page import card_racks, card_temple
from companion.games.mexica.rules.calendar import AROUND, SIGNS, STARTS, WEEK
from companion.games.mexica.rules.cards import game_deck
from companion.games.mexica.rules.cards import words as say
from companion.games.mexica.rules.cards.deck import PILES, Card
from companion.games.mexica.rules.cards.effects import Attack, Boost, Draw, Effect, Gain, Reroll, Sign, Standing, Ward

CARDS: Mapping[str, str] = {f"{pile}_cards": pile for pile in PILES}
SHEETS: tuple[str, ...] = ("board", *CARDS, "boxes", "tallies", "temple", "racks")

CARD = (63, 88)
"""Width and height of a card, in millimetres."""

BOXES: Mapping[str, tuple[str, str]] = {
    "day": ("sun", "ochre"),
    "week": ("temple-front", "jade"),
    "war": ("huitzilopochtli", "war"),
    "rain": ("tlaloc", "rain"),
}
"""The drawing and the colour of each pile, as on the backs of its cards."""

FOOTPRINT: Mapping[str, float] = {"hole": 96.3, "half": 56, "front": 50, "back": 50, "stairs": 18, "foot": 59}
"""The printed temple on the table, in millimetres: the radius of the hole for its lake, whose shore hides the edge;
half the width of its base, how far that reaches to the front and the back, half of both stairs, their foot."""

GODS = ("huitzilopochtli", "tlaloc")
COUNTDOWN = 13


def sheet(name: str, language: str) -> Mapping[str, Json]:
    """Return the slice of one page for the printer; raises `KeyError` for a name that it does not know."""
    if name in CARDS:
        return _cards(CARDS[name], language)
    pages = {"board": _board, "boxes": _boxes, "tallies": _tallies, "temple": _temple, "racks": _racks}
    return (pages | {CALENDAR: _board})[name]()


def _named(pile: str, language: str) -> list[Piece]:
    texts = game_deck().words[language]
    cards = [card for card in game_deck() if card.pile == pile]
    return [Piece(card.id, "print.piece", {"name": texts[say.title(card)]}) for card in cards]


PIECES: Mapping[str, Pieces] = {
    sheet: Pieces(width=CARD[0], height=CARD[1], inset=2.7, pieces=partial(_named, pile), cards=True, backs=True)
    for sheet, pile in CARDS.items()
}
CALENDAR = "calendar"


def boards() -> Mapping[str, Board]:
    """Return the sheets that show a whole board."""
    return {CALENDAR: Board(400, 400, "sheet.board.name")}


"""The calendar board whole, as large as its four quarters are on A4."""


def _cards(pile: str, language: str) -> Mapping[str, Json]:
    return {"pile": pile, "cards": [_card(card, language) for card in game_deck() if card.pile == pile]}


def _card(card: Card, language: str) -> Mapping[str, Json]:
    effect, facts = say.sentence(card)
    motif, amount = ("", "") if card.pile == "day" else _motif(card.effect)
    texts = game_deck().words[language]
    return {
        "id": card.id,
        "pile": card.pile,
        "space": card.space or "",
        "number": card.number,
        "sign": card.sign or "",
        "title": texts[say.title(card)],
        "story": texts[say.story(card)],
        "effect": effect,
        "facts": facts,
        "counts": say.counts(card) or "",
        "motif": motif,
        "amount": amount,
        "times": min(3, abs(card.effect.by)) if isinstance(card.effect, Boost) else 1,
    }


def _motif(effect: Effect) -> tuple[str, str]:
    """Return the drawing that says what a card does, and how much of it."""
    match effect:
        case Boost(what, by, _) | Standing(what, by):
            return f"motif-{what}", f"{by:+d}".replace("-", "−")
        case Gain(tokens):
            return "motif-gain", f"+{tokens}"
        case Attack(_, bonus):
            return "motif-fight", f"+{bonus}" if bonus else ""
        case Sign(of):
            return f"sign-{of}", ""
        case Ward() | Reroll() | Draw():
            return f"motif-{type(effect).__name__.lower()}", ""
    return "", ""


def _boxes() -> Mapping[str, Json]:
    return {
        "emblem": "temple-front",
        "boxes": [
            {
                "name": f"pile.{pile}",
                "cards": sum(card.pile == pile for card in game_deck()),
                "width": CARD[0],
                "height": CARD[1],
                "drawing": drawing,
                "tint": tint,
            }
            for pile, (drawing, tint) in BOXES.items()
        ],
    }


def _tallies() -> Mapping[str, Json]:
    return {
        "gods": list(GODS),
        "flag": AROUND,
        "flags": WEEK,
        "countdown": COUNTDOWN,
        "signs": list(SIGNS),
        "week": WEEK,
    }


ROOM = (198.2, 254.0)
"""What both papers have room for, beside colour past the cut and the ruler."""


def _temple() -> Mapping[str, Json]:
    """Return the card temple: its plan as it is seen from above, the stairs below, and its nets leaf by leaf."""
    first, ring = card_temple.TIERS[0], card_temple.RING
    stairs, foot = card_temple.STAIR_HALF, card_temple.STAIR_FOOT
    outlines = {god: [(-x, y) for x, y in card_temple.footprint(god)] for god in card_temple.SIDES}
    return {
        "ring": ring,
        "shore": _path([*_half(ring, 1), *reversed(_half(ring, -1))]),
        "lakes": {god: _path(_half(ring, -side)) for god, side in card_temple.SIDES.items()},
        "base": f"M{-first.half} {first.back}H{first.half}V{first.front}H{stairs}V{foot}H{-stairs}V{first.front}"
        f"H{-first.half}z",
        "roads": f"M0 {-ring}V{first.back}M0 {foot}V{ring}",
        "cradles": {god: _path(outline) for god, outline in outlines.items()},
        "names": {
            god: [
                *(sum(each) / len(outline) for each in zip(*outline, strict=True)),
                -side * (90 - card_temple.turn()),
            ]
            for (god, side), outline in zip(card_temple.SIDES.items(), outlines.values(), strict=True)
        },
        **_leaves(card_temple.nets()),
    }


def _half(radius: float, side: int) -> list[tuple[float, float]]:
    """Return the outline of half a circle to one side, from above to below, so fine that it looks round."""
    turns = [pi * n / 90 for n in range(91)]
    return [(side * radius * sin(turn), -radius * cos(turn)) for turn in turns]


def _path(outline: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in outline) + "z"


def _racks() -> Mapping[str, Json]:
    """Return the racks of card, one for each space in the order of play, leaf by leaf."""
    return _leaves(map(card_racks.rack, SIGNS))


def _leaves(nets: Iterable[card_temple.Net]) -> Mapping[str, Json]:
    leaves = card_temple.leaves(nets, *ROOM)
    return {"room": list(ROOM), "leaves": [[[left, top, _net(net)] for left, top, net in leaf] for leaf in leaves]}


def _net(net: card_temple.Net) -> Mapping[str, Json]:
    kind, _, which = net.name.partition("-")
    return {
        "name": net.name,
        "sign": which if kind == "rack" else "",
        "god": net.god,
        "said": kind if kind in ("tier", "cradle", "shore", "road") else "",
        "number": int(which) if which.isdigit() else 0,
        "outline": net.outline,
        "cuts": net.cuts,
        "folds": net.folds,
        "glued": net.glued,
        "bands": net.bands,
        "face": list(net.face),
        "title": list(net.title),
    }


_QUARTERS = ((1, 0), (0, 0), (0, 1), (1, 1))
"""The place of each quarter of the board, in halves of the drawing from its left and upper edges."""

_TRACK = (481.0, 460.0)
"""Radii of the two rows of places on which a marker shows the day count."""


def _board() -> Mapping[str, Json]:
    """Return the board quarter by quarter, in the units of `calendar_board`; a space as it is seen from outside."""
    spaces = geometry.spaces()
    quarters: list[Json] = []
    for n, (quadrant, (right, lower)) in enumerate(zip(geometry.quadrants(), _QUARTERS, strict=True)):
        quarters.append(
            {
                "seat": quadrant.seat,
                "left": right * geometry.CENTRE,
                "top": lower * geometry.CENTRE,
                "stripe": quadrant.stripe,
                "spaces": [
                    {
                        "sign": space.sign,
                        "place": space.place,
                        "outline": space.outline,
                        "turned": space.turned,
                        "start": next((seat for seat, place in STARTS.items() if place == space.place), ""),
                    }
                    for space in spaces[5 * n : 5 * n + 5]
                ],
            }
        )
    return {
        "size": geometry.SIZE,
        "centre": geometry.CENTRE,
        "outer": geometry.OUTER,
        "inner": geometry.INNER,
        "shrines": list(LEFT_TO_RIGHT),
        "footprint": dict(FOOTPRINT),
        "quarters": quarters,
        "track": _track(),
    }


def _track() -> list[Json]:
    """Return the places of the day counts 0 to 13 for a space at the top: outer row first, from left to right."""
    places: list[Json] = []
    for count in range(WEEK + 1):
        row, column = divmod(count, (WEEK + 1) // 2)
        angle = radians((column - 3) * geometry.STEP * 0.135)
        x, y = _TRACK[row] * sin(angle), -_TRACK[row] * cos(angle)
        places.append({"count": count, "x": round(x, 1), "y": round(y, 1)})
    return places
