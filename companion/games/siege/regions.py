"""Cuts a view of the siege into the regions of its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.games.kernel import Json


def regions(view: Mapping[str, Any]) -> Mapping[str, Mapping[str, Json]]:
    """Return the view cut into its regions."""
    return {"turn": {"turn": view["turn"]}}
