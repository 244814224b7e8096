"""What the market's pages for the printer show: its pieces, the turn card, the score pad. Pure; it knows no paper."""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kit import Json
from companion.games.market.rules.board import COINS, COMMODITIES, COPIES, KIND_OF, KINDS, PER_COMMODITY

SHEETS: tuple[str, ...] = ("tiles", "buyers", "tokens", "coins", "turn_card", "score_pad")

BUYERS = 16
PLAYERS = 4


def sheet(name: str, language: str) -> Mapping[str, Json]:
    """Return the slice of one page; raises `KeyError` for a name that is not in `SHEETS`."""
    slices: Mapping[str, Mapping[str, Json]] = {
        "tiles": {"tiles": list(KIND_OF), "goods": list(COMMODITIES)},
        "buyers": {"n": BUYERS},
        "tokens": {"tokens": [name for name in COMMODITIES for _ in range(PER_COMMODITY)]},
        "coins": {"n": COINS},
        "turn_card": {
            "cards": PLAYERS,
            "steps": ["draw", "shift", "money", "king"],
            "kinds": [kind for kind in KINDS if kind not in COMMODITIES],
            "copies": dict(COPIES),
        },
        "score_pad": {"pads": 4, "rows": PLAYERS, "goods": list(COMMODITIES)},
    }
    return slices[name]
