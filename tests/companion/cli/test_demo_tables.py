"""The tables that a demo opens at its start, and again when its companion is started again."""

from __future__ import annotations

import pytest

from companion.cli import demo
from companion.service.tables import Opening
from tests.companion.conftest import Home


def tables(home: Home, capsys: pytest.CaptureFixture[str], *temples: str) -> list[str]:
    """Return the ids of the tables that a start says."""
    demo.tables(home.services, demo.Demo(temples))
    lines = capsys.readouterr().out.splitlines()
    return [line.rpartition("/")[2] for line in lines if line.startswith("table ")]


def test_a_second_start_opens_nothing_more(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    opened = tables(home, capsys, "one", "two")
    assert tables(home, capsys, "one", "two") == opened
    assert len(home.services.tables.all()) == 2


@pytest.mark.parametrize("temples", [("one",), ("one", "two")])
def test_a_start_takes_no_temple_from_the_table_that_people_moved_it_to(
    home: Home, capsys: pytest.CaptureFixture[str], temples: tuple[str, ...]
) -> None:
    before = home.services.tables.get(tables(home, capsys, *temples)[0])
    evening = home.services.tables.open("market", "Ana's", 4, "short", {}, "one", Opening(before.code))
    home.services.seats.begin(evening.id, evening.code)
    assert tables(home, capsys, *temples)[0] == evening.id
    assert home.services.temples.get("one").table_id == evening.id
    assert len(home.services.tables.all()) == len(temples) + 1


def test_a_temple_whose_game_is_over_gets_a_new_table(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    (first,) = tables(home, capsys, "one")
    home.services.tables.close_for_players(first)
    (second,) = tables(home, capsys, "one")
    assert second != first
    assert home.services.temples.get("one").table_id == second
