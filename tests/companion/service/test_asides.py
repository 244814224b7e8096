"""Asides: a player's own note makes no post stale, survives what others take back, and is shown to nobody else."""

from __future__ import annotations

import json

from companion.games.kit import CHANCE, Move
from companion.model.exports import exported, read, written
from companion.model.history import replay_log
from companion.model.table import Table
from companion.web.view_models.table import Audience, table_view_model
from tests.companion.conftest import Home

WORDS = "Tizoc is safe"


def begun(home: Home) -> tuple[Table, str, str]:
    """Return a table of two at which red is to move, and the tokens of its phones."""
    table = home.services.tables.open("moctezuma", "Sunday", 2, "classic", {})
    table = home.services.seats.begin(table.id, table.code)
    red, blue = home.seated(table, "red", "Ana"), home.seated(table, "blue", "Ben")
    assert home.play(table, red, CHANCE, "first", "red").accepted
    return home.services.tables.get(table.id), red, blue


def test_a_note_makes_nobodys_post_stale(home: Home) -> None:
    table, red, blue = begun(home)
    assert home.play(table, blue, "blue", "note", 0, WORDS).accepted
    assert home.play(table, red, "red", "walk", 5, version=table.version).accepted


def test_a_note_is_never_stale_itself(home: Home) -> None:
    table, red, blue = begun(home)
    home.play(table, red, "red", "walk", 5)
    assert home.play(table, blue, "blue", "note", 0, WORDS, version=table.version).accepted


def test_a_note_ends_nobodys_undo_and_outlives_it(home: Home) -> None:
    table, red, blue = begun(home)
    home.play(table, red, "red", "walk", 5)
    home.play(table, blue, "blue", "note", 0, WORDS)
    now = home.services.tables.get(table.id)
    assert now.undo_refused("red") is None
    assert home.services.play.undo(table.id, red, "red", now.version, "undo").accepted
    state = home.services.tables.get(table.id).state
    assert state.places == (0, 0)
    assert state.notes == ((), (WORDS,))
    home.restart()
    assert home.services.tables.get(table.id).state == state


def test_a_note_changes_nothing_that_another_is_shown(home: Home) -> None:
    table, red, blue = begun(home)
    home.play(table, red, "red", "walk", 5)
    audiences = [Audience("en", "phone", ("red",), True), Audience("en"), Audience("en", "screen")]
    before = [table_view_model(home.services, table.id, each).slices for each in audiences]
    own = table_view_model(home.services, table.id, Audience("en", "phone", ("blue",), True)).slices
    home.play(table, blue, "blue", "note", 0, WORDS)
    after = [table_view_model(home.services, table.id, each).slices for each in audiences]
    assert json.dumps(before) == json.dumps(after)
    assert WORDS in json.dumps(
        table_view_model(home.services, table.id, Audience("en", "phone", ("blue",), True)).slices
    )
    assert WORDS not in json.dumps(own)


def test_a_note_is_shown_to_nobody_who_stands_in_for_its_writer(home: Home) -> None:
    table, red, _ = begun(home)
    home.play(table, red, "red", "walk", 5)
    home.play(table, red, "red", "note", 0, WORDS)
    home.services.seats.away(table.id, red, "red", "anyone")
    own = table_view_model(home.services, table.id, Audience("en", "phone", ("red",), True)).slices
    for_red = table_view_model(home.services, table.id, Audience("en", "phone", ("red",), True, "red")).slices
    assert WORDS in json.dumps(own)
    assert WORDS not in json.dumps(for_red)
    assert {**for_red["notebook"], "notes": [WORDS]} == own["notebook"], "what red has seen, it needs"


def test_an_aside_that_is_refused_changes_nothing(home: Home) -> None:
    table, _, blue = begun(home)
    played = home.play(table, blue, "blue", "note", 7, WORDS)
    assert played.refusal
    assert played.refusal.code == "no_such_line"
    assert home.services.tables.get(table.id).version == table.version


def test_a_note_stays_its_writers_own_in_an_export_of_a_game_that_is_over(home: Home) -> None:
    table, _, blue = begun(home)
    home.play(table, blue, "blue", "note", 0, WORDS)
    for seat in ("red", "blue"):
        home.services.seats.away(table.id, blue, seat, "app")
    now = home.services.tables.get(table.id)
    assert now.phase == "over"
    stages = list(replay_log(now.charter, now.game, home.services.tables.entries(table.id)))
    for seats, shown in (((), False), (("red",), False), (("blue",), True)):
        export = exported(now.charter, now.game, stages, seats)
        text = written(export)
        assert (WORDS in text) == shown
        assert (WORDS.encode().hex() in text) == shown
        assert export["whole"]
        again = read(text, home.games)
        *_, last = replay_log(again.charter, now.game, again.entries)
        assert last.after.state.names == now.state.names, "it can be played again by whoever gets it"


def test_no_other_game_has_asides(home: Home) -> None:
    assert not home.games["mexica"].rules.aside(Move("note", (0, WORDS)))
