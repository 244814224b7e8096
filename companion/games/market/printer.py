"""What the market's printable pages show: its pieces, the turn card and the score pad."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from companion.games.kit import Json, Piece, Pieces
from companion.games.market.rules.board import COINS, COMMODITIES, COPIES, KIND_OF, KINDS, PER_COMMODITY

SHEETS: tuple[str, ...] = ("tiles", "buyers", "tokens", "coins", "turn_card", "score_pad")

START = "start"
"""The page that holds the start marker alone, which is printed with the coins."""

TILE, TOKEN, MARKER, TURN_CARD = 45, 18, 36, (95, 130)
"""Sizes of the pieces in millimetres."""

BUYERS = 16
PLAYERS = 4


def sheet(name: str, language: str) -> Mapping[str, Json]:
    """Return the slice of one page; raises `KeyError` for a name that is neither in `SHEETS` nor `START`."""
    slices: Mapping[str, Mapping[str, Json]] = {
        "tiles": {"tiles": list(KIND_OF), "goods": list(COMMODITIES)},
        "buyers": {"n": BUYERS},
        "tokens": {"tokens": [name for name in COMMODITIES for _ in range(PER_COMMODITY)]},
        "coins": {"n": COINS},
        START: {},
        "turn_card": {
            "cards": PLAYERS,
            "steps": ["draw", "shift", "money", "king"],
            "kinds": [kind for kind in KINDS if kind not in COMMODITIES],
            "copies": dict(COPIES),
        },
        "score_pad": {"pads": 4, "rows": PLAYERS, "goods": list(COMMODITIES)},
    }
    return slices[name]


def _tiles(language: str) -> list[Piece]:
    return [Piece(kind, f"tile.{kind}") for kind in KIND_OF]


def _tokens(language: str) -> list[Piece]:
    return [Piece(name, f"commodity.{name}") for name in COMMODITIES for _ in range(PER_COMMODITY)]


def _alike(face: str, copies: int) -> Callable[[str], Sequence[Piece]]:
    return lambda language: [Piece(face, f"piece.{face}")] * copies


PIECES: Mapping[str, Pieces] = {
    "tiles": Pieces(width=TILE, height=TILE, inset=1, pieces=_tiles),
    "buyers": Pieces(width=TILE, height=TILE, inset=1.5, pieces=_alike("buyer", BUYERS)),
    "tokens": Pieces(width=TOKEN, height=TOKEN, inset=1, pieces=_tokens),
    "coins": Pieces(width=TOKEN, height=TOKEN, inset=1, pieces=_alike("coin", COINS)),
    START: Pieces(width=MARKER, height=MARKER, inset=1.5, pieces=_alike("start", 1)),
    "turn_card": Pieces(
        width=TURN_CARD[0],
        height=TURN_CARD[1],
        inset=4,
        pieces=_alike("turn", PLAYERS),
        cards=True,
        backs=True,
    ),
}
