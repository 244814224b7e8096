"""Acting for another seat: who may, who is shown it, and who takes it back."""

from __future__ import annotations

from companion.games.kit import CHANCE
from companion.model.table import Table
from tests.companion.conftest import Home


def _table(home: Home) -> tuple[Table, str, str]:
    table = home.table()
    return table, home.seated(table, "east", "Ana"), home.seated(table, "north", "Beto")


def _acted_for(home: Home, table: Table) -> dict[str, tuple[str, list[str]]]:
    found = home.services.tables.get(table.id).acted_for
    return {seat: (each.by, [line.code for line in each.lines]) for seat, each in found.items()}


def _undo(home: Home, table: Table, token: str, seat: str) -> bool:
    now = home.services.tables.get(table.id).version
    return home.services.play.undo(table.id, token, seat, now, f"undo-{now}").accepted


def test_a_turn_that_another_ended_is_taken_back_by_the_seat_whose_turn_it_was(home: Home) -> None:
    table, ana, beto = _table(home)
    assert home.play(table, beto, "north", "end_turn").accepted
    assert _acted_for(home, table) == {"east": ("north", ["turn_ended_for"])}
    assert _undo(home, table, ana, "east")
    assert home.services.tables.get(table.id).on_turn == "east"
    assert _acted_for(home, table) == {}


def test_who_acted_for_another_may_take_it_back_too(home: Home) -> None:
    table, _, beto = _table(home)
    home.play(table, beto, "north", "sacrifice", "tlaloc", 2)
    assert _undo(home, table, beto, "north")
    assert _acted_for(home, table) == {}


def test_nobody_else_takes_back_what_was_done_for_a_seat(home: Home) -> None:
    table, _, beto = _table(home)
    west = home.seated(table, "west", "Caro")
    home.play(table, beto, "north", "end_turn")
    assert not _undo(home, table, west, "west")


def test_what_was_done_for_a_seat_is_named_until_that_seat_acts(home: Home) -> None:
    table, ana, beto = _table(home)
    home.play(table, beto, "north", "sacrifice", "tlaloc", 2)
    home.play(table, beto, "north", "propose", "east", "tlaloc", -1)
    assert _acted_for(home, table) == {"east": ("north", ["gave"])}
    home.play(table, ana, "east", "withdraw")
    home.play(table, ana, "east", "sacrifice", "tlaloc", 1)
    assert _acted_for(home, table) == {}


def test_a_seat_that_acts_for_itself_is_named_nowhere(home: Home) -> None:
    table, ana, _ = _table(home)
    home.play(table, ana, "east", "end_turn")
    assert _acted_for(home, table) == {}


def test_what_another_did_for_a_seat_is_known_after_a_restart(home: Home) -> None:
    table, ana, beto = _table(home)
    home.play(table, beto, "north", "end_turn")
    home.restart()
    assert _acted_for(home, table) == {"east": ("north", ["turn_ended_for"])}
    assert _undo(home, table, ana, "east")


def _of_dice(home: Home) -> tuple[Table, str, str]:
    table = home.services.tables.open("beans", "Kitchen", 2, "short")
    red, blue = home.seated(table, "red", "Ana"), home.seated(table, "blue", "Beto")
    return home.services.seats.begin(table.id, red), red, blue


def test_who_stands_in_for_an_absent_player_is_named_to_that_player(beans: Home) -> None:
    table, red, blue = _of_dice(beans)
    beans.services.seats.away(table.id, red, "red", "anyone")
    beans.play(table, blue, "red", "throw")
    assert _acted_for(beans, table)["red"][0] == "blue"


def test_what_a_real_die_showed_is_under_the_name_of_who_typed_it(beans: Home) -> None:
    table, red, blue = _of_dice(beans)
    beans.play(table, red, "red", "throw")
    beans.play(table, blue, CHANCE, "shows", 6)
    assert _acted_for(beans, table)["red"][0] == "blue"
    assert not _undo(beans, table, red, "red"), "a die stands, whoever typed it"
    beans.play(table, red, "red", "throw")
    beans.play(table, red, CHANCE, "shows", 6)
    assert _acted_for(beans, table) == {}
