"""The regions of the full game, and the function that fills each of them."""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kit import Json, View
from companion.games.mexica.page import actions, hands, table_regions, temple


def cut(view: View) -> dict[str, Mapping[str, Json]]:
    """Return the regions of a full game, whose board and hands are in the app."""
    return {
        "turn": temple.turn(view),
        "clock": temple.clock(view),
        "steps": actions.steps(view),
        "board": table_regions.board(view),
        "lake": temple.lake(view),
        "ring": temple.ring(view),
        "gods": table_regions.gods(view),
        "omen": temple.omen(view),
        "battle": actions.battle(view),
        "offering": actions.offering(view),
        "next": actions.coming(view),
        "hand": hands.hand(view),
        "tribes": hands.tribes(view),
        "unclaimed": temple.unclaimed(view),
        "correction": temple.correction(view),
        "given": temple.given(view),
        "spaces": table_regions.spaces(view),
        "stores": table_regions.stores(view),
    }
