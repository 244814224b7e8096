"""The tables that the security tests look at."""

from __future__ import annotations

import pytest

from templo import contract
from tests.companion.web.conftest import WebHome


@pytest.fixture
def rooms(home: WebHome) -> list[str]:
    """Tables of every kind: a lobby, and each game under way, the temple's own with tokens that wait for a word."""
    home.beams("table", contract.Beam.CLEAR, contract.Beam.CLEAR)
    table = home.table(temple="table")
    home.services.temples.intake.receive([("table", home.token(1)), ("table", home.token(2, "tlaloc", "jam"))])
    rooms = [table.id, home.lobby().id]
    for name, game in home.services.tables.games.items():
        if name in home.app.extensions["site"].games:
            opened = home.services.tables.open(name, "Sunday", max(game.seatings), next(iter(game.presets)))
            rooms.append(home.services.seats.begin(opened.id, opened.code).id)
    return rooms
