"""Cuts a view into the regions of its page, each with all that its template draws and nothing more."""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kernel import Json


def regions(view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
    """Return the view cut into its regions."""
    return {"turn": {"seat": view["on_turn"]}}
