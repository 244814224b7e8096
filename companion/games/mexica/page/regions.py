"""Divides a view of Mexica into the regions of its page, each with exactly what its template draws.

A table with a wooden board has the regions of `temple`; the full game also has a board, hands and battles.
"""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kit import Json, View
from companion.games.mexica.page import full_game, temple
from companion.games.mexica.page.temple import HANDY
from companion.games.mexica.rules.options import FULL

__all__ = ["HANDY", "regions"]


def regions(view: View) -> Mapping[str, Mapping[str, Json]]:
    """Return the view cut into its regions. What the platform adds to a view may be missing: then none may act."""
    return full_game.cut(view) if view["scope"] == FULL else temple.cut(view)
