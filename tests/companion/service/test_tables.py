"""Tables are closed, renamed and put away by those who sit at them."""

from __future__ import annotations

import pytest

from companion.model.evenings import plays
from companion.model.plays import result_of
from companion.model.table import ServiceError, Table
from tests.companion.conftest import Home


def seated(home: Home, temple: str | None = "templo") -> tuple[Table, str]:
    table = home.table(2, temple)
    return table, home.seated(table)


def test_a_closed_table_is_over_without_a_winner_and_lets_its_temple_go(home: Home) -> None:
    table, token = seated(home)
    home.clock.pass_(minutes=30)
    closed = home.services.tables.close(table.id, token)
    assert (closed.phase, closed.ended_at, closed.on_turn, closed.temple) == ("over", home.clock.now, None, None)
    assert (result_of(closed).kind, result_of(closed).winners) == ("closed", ())
    assert home.services.temples.get("templo").table_id is None
    home.restart()
    assert home.services.tables.get(table.id) == closed


def test_nothing_is_played_at_a_closed_table_and_nothing_taken_back(home: Home) -> None:
    table, token = seated(home)
    home.play(table, token, "east", "sacrifice", "tlaloc", 2)
    home.services.tables.close(table.id, token)
    refused = home.play(table, token, "east", "end_turn").refusal
    assert refused is not None
    assert refused.code == "table_closed"
    version = home.services.tables.get(table.id).version
    taken_back = home.services.play.undo(table.id, token, "east", version, "undo")
    assert taken_back.refusal is not None
    assert taken_back.refusal.code == "table_closed"
    assert home.services.tables.close(table.id, token).version == version


def test_the_app_plays_on_at_no_closed_table(home: Home) -> None:
    table, token = seated(home, None)
    home.services.tables.close(table.id, token)
    version = home.services.seats.away(table.id, token, "west", "app").version
    assert home.services.play.go_on(table.id).version == version


def test_a_token_that_falls_after_a_table_was_closed_counts_nowhere_and_is_kept(home: Home) -> None:
    table, token = seated(home)
    home.services.tables.close(table.id, token)
    home.services.temples.intake.receive([("templo", home.token(1))])
    assert home.services.tables.get(table.id).audit == table.audit
    assert sum(home.services.temples.get("templo").totals.values()) == 1


def test_a_lobby_is_closed_too(home: Home) -> None:
    table = home.services.tables.open("siege", "Sunday", 2, "skirmish")
    token = home.seated(table, table.charter.seats[0])
    assert home.services.tables.close(table.id, token).phase == "over"


def test_a_closed_table_stands_in_no_record_and_can_be_set_up_again(home: Home) -> None:
    table, token = seated(home)
    home.services.tables.close(table.id, token)
    assert plays(home.services.tables.all()) == []
    assert home.services.tables.again(table.id, token).phase == "lobby"


def test_a_table_is_renamed_by_a_name_that_can_be_shown(home: Home) -> None:
    table, token = seated(home)
    assert home.services.tables.rename(table.id, token, "  Kitchen \u202e table").title == "Kitchen table"
    with pytest.raises(ServiceError, match="bad_name"):
        home.services.tables.rename(table.id, token, " ")
    home.restart()
    assert home.services.tables.get(table.id).title == "Kitchen table"


def test_only_a_table_whose_game_is_over_is_put_away_and_it_comes_back(home: Home) -> None:
    table, token = seated(home)
    with pytest.raises(ServiceError, match="not_over"):
        home.services.tables.archive(table.id, token)
    home.services.tables.close(table.id, token)
    assert home.services.tables.archive(table.id, token).is_archived
    assert not home.services.tables.archive(table.id, token, False).is_archived


def test_a_stranger_keeps_no_table(home: Home) -> None:
    table, _ = seated(home)
    tables = home.services.tables
    for attempt in (tables.close, tables.archive, lambda *who: tables.rename(*who, "Mine")):
        with pytest.raises(ServiceError, match="not_seated"):
            attempt(table.id, "0" * 32)
