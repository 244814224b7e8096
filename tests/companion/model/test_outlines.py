"""Tables whose games are over are read without their logs at the start, and whole when somebody opens them."""

from __future__ import annotations

import threading

import pytest
import sqlalchemy as sa

from companion.adapters.pacer import Pacer
from companion.adapters.shelving import Shelving
from companion.model.evenings import by_game, by_person, by_temple, plays
from companion.model.outline import Outline, outlined, summarized
from companion.model.table import ServiceError, Table
from tests.companion.conftest import DATABASES, Home
from tests.companion.model.test_evenings import played


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def listed(home: Home, table: Table) -> Table:
    return next(each for each in home.services.tables.all() if each.id == table.id)


def restarted_twice(home: Home) -> None:
    """Start twice: the first start stores the outlines, the second reads them."""
    home.restart()
    home.restart()


def test_after_a_second_start_a_finished_table_is_listed_without_its_log_and_opened_whole(home: Home) -> None:
    table = played(home, "Ana", "Ben", tokens=3)
    before = home.services.tables.get(table.id)
    restarted_twice(home)
    assert isinstance(listed(home, table), Outline)
    assert home.services.tables.get(table.id) == before
    assert listed(home, table) == before


def test_lists_and_records_are_the_same_of_outlines_as_of_whole_tables(home: Home) -> None:
    for names in (("Ana", "Ben"), ("Carla", "Ana")):
        played(home, *names, tokens=2, temple="templo")
    siege = home.services.tables.open("siege", "Sunday", 2, "skirmish")
    token = home.services.seats.share(siege.id, siege.code, {"aztecs": "Ana"})
    home.services.seats.begin(siege.id, token)
    home.services.tables.close(siege.id, token)
    home.services.tables.rename(siege.id, token, "Kitchen")
    home.services.temples.serving.serve(home.table().id, "templo")

    def seen() -> list[object]:
        every = home.services.tables.all()
        shown = plays(every)
        return [
            [(each.id, each.title, each.phase, each.temple, each.chairs, each.keys, each.ended_at) for each in every],
            [(each.table.id, each.result, each.minutes, each.tokens, each.table.turn) for each in shown],
            [(each.game, each.played, each.minutes) for each in by_game(shown)],
            by_person(shown),
            by_temple(shown),
        ]

    whole = seen()
    restarted_twice(home)
    assert sum(isinstance(each, Outline) for each in home.services.tables.all()) == 3
    assert seen() == whole


def test_a_table_that_a_temple_serves_is_read_whole(home: Home) -> None:
    table = played(home, "Ana", "Ben", temple="templo")
    restarted_twice(home)
    assert not isinstance(listed(home, table), Outline)


def test_what_happened_to_a_table_after_its_end_is_in_no_stale_outline(home: Home) -> None:
    table = played(home, "Ana", "Ben")
    restarted_twice(home)
    home.services.seats.free(table.id, table.code, "east")
    token = home.services.seats.sit(table.id, table.code, "east", "Dora")
    home.services.tables.rename(table.id, token, "Kitchen")
    home.restart()
    assert not isinstance(listed(home, table), Outline)
    home.restart()
    outline = listed(home, table)
    assert isinstance(outline, Outline)
    assert (outline.title, outline.chair("east").name) == ("Kitchen", "Dora")


def test_the_code_of_a_finished_table_leads_to_the_whole_of_it(home: Home) -> None:
    table = played(home, "Ana", "Ben")
    restarted_twice(home)
    assert not isinstance(home.services.tables.by_code(table.code), Outline)


def test_a_finished_table_that_nobody_asks_for_any_more_is_put_away_and_opened_whole_again(home: Home) -> None:
    table = played(home, "Ana", "Ben", tokens=3)
    before = home.services.tables.get(table.id)
    home.services.tables.shelve()
    assert listed(home, table) == before, "it was asked for a moment ago"
    home.services.tables.shelve()
    assert isinstance(listed(home, table), Outline)
    assert home.services.tables.get(table.id) == before
    home.services.tables.shelve()
    home.services.tables.shelve()
    assert isinstance(listed(home, table), Outline)
    home.restart()
    assert isinstance(listed(home, table), Outline), "what was put away is read as that at the next start"


def test_what_is_put_away_is_what_the_table_has_become_since_it_was_opened(home: Home) -> None:
    table = played(home, "Ana", "Ben")
    restarted_twice(home)
    home.services.seats.free(table.id, table.code, "east")
    token = home.services.seats.sit(table.id, table.code, "east", "Dora")
    home.services.tables.rename(table.id, token, "Kitchen")
    home.services.tables.shelve()
    home.services.tables.shelve()
    assert isinstance(listed(home, table), Outline)
    assert listed(home, table).title == "Kitchen"
    home.restart()
    assert listed(home, table).title == "Kitchen"


def test_a_table_that_is_played_or_that_a_temple_serves_is_never_put_away(home: Home) -> None:
    running, over = home.table(), played(home, "Ana", "Ben", temple="templo")
    for _ in range(3):
        home.services.tables.shelve()
    assert not isinstance(listed(home, running), Outline)
    assert not isinstance(listed(home, over), Outline)


def test_tables_are_put_away_from_time_to_time_and_a_store_that_fails_is_tried_again() -> None:
    calls: list[int] = []
    called = threading.Event()

    def shelve() -> None:
        calls.append(len(calls))
        if len(calls) == 1:
            raise ServiceError("store_failing", reason="as a test wants it")
        called.set()

    shelving = Shelving(shelve, every_s=0.01)
    shelving.start()
    assert called.wait(60)
    shelving.stop()


def test_who_makes_the_moves_of_absent_players_opens_no_finished_table_at_the_start(home: Home) -> None:
    table = played(home, "Ana", "Ben")
    restarted_twice(home)
    pacer = Pacer(home.services)
    pacer.start()
    pacer.stop()
    assert isinstance(listed(home, table), Outline)


@pytest.mark.parametrize("kept", ["", "{}", "null"])
def test_an_outline_that_cannot_be_read_is_made_anew_from_the_log(home: Home, kept: str) -> None:
    table = played(home, "Ana", "Ben")
    before = home.services.tables.get(table.id)
    home.restart()
    engine = sa.create_engine(home.url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE outline SET summary = :kept"), {"kept": kept})
    engine.dispose()
    home.restart()
    assert listed(home, table) == before
    home.restart()
    assert isinstance(listed(home, table), Outline)


def test_a_log_that_cannot_be_played_any_more_is_named_when_its_table_is_opened(home: Home) -> None:
    table = played(home, "Ana", "Ben")
    home.restart()
    engine = sa.create_engine(home.url)
    with engine.begin() as connection:
        spoilt = """UPDATE entry SET move = '["no-such-move"]' WHERE n = 4"""
        connection.execute(sa.text(spoilt))
    engine.dispose()
    home.restart()
    assert home.services.tables.find(table.id) is None
    assert [title for title, _ in home.services.tables.unreadable] == [table.title]


def test_only_what_is_over_and_settled_has_an_outline(home: Home) -> None:
    open_table = home.table(2)
    assert summarized(open_table) is None
    over = played(home, "Ana", "Ben")
    summary = summarized(over)
    assert summary is not None
    outline = outlined(over.charter, over.game, over.version, summary)
    assert outline is not None
    assert (outline.result, outline.turn, outline.tokens, outline.last_at) == (
        over.result,
        over.turn,
        over.tokens,
        over.last_at,
    )
