"""Helpers for a table that plays with real decks and chits: each a small game with one seat, usable alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.games.kernel import Game
from companion.games.moctezuma.aids.points import PointCounter
from companion.games.moctezuma.aids.record import RecordSheet
from companion.games.moctezuma.aids.schedule import ChitSchedule
from companion.games.moctezuma.aids.score import FinalScore

AIDS: Mapping[str, Game[Any]] = {
    "record": RecordSheet(),
    "points": PointCounter(),
    "schedule": ChitSchedule(),
    "score": FinalScore(),
}
