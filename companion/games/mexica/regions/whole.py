"""Names the regions of the full game and where each of them is cut."""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kernel import Json
from companion.games.mexica.regions import deeds, ground, people, temple
from companion.games.mexica.regions.parts import View


def cut(view: View) -> dict[str, Mapping[str, Json]]:
    """Return the regions of a table whose board, hands and ledger the app keeps."""
    return {
        "turn": temple.turn(view),
        "clock": temple.clock(view),
        "steps": deeds.steps(view),
        "board": ground.board(view),
        "lake": temple.lake(view),
        "ring": temple.ring(view),
        "gods": ground.gods(view),
        "omen": temple.omen(view),
        "battle": deeds.battle(view),
        "offering": deeds.offering(view),
        "next": deeds.coming(view),
        "hand": people.hand(view),
        "tribes": people.tribes(view),
        "unclaimed": temple.unclaimed(view),
        "correction": temple.correction(view),
        "given": temple.given(view),
        "spaces": ground.spaces(view),
        "stores": ground.stores(view),
        "outcome": temple.outcome(view),
    }
