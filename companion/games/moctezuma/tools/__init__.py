"""Tools for a table that plays with real decks and chits: each is a small game with one seat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.games.kit import Game
from companion.games.moctezuma.tools.points import PointCounter
from companion.games.moctezuma.tools.record import RecordSheet
from companion.games.moctezuma.tools.schedule import ChitSchedule
from companion.games.moctezuma.tools.score import FinalScore

TOOLS: Mapping[str, Game[Any]] = {
    "record": RecordSheet().game(),
    "points": PointCounter().game(),
    "schedule": ChitSchedule().game(),
    "score": FinalScore().game(),
}
