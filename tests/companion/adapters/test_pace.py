"""The app plays for absent players at a pace that eyes can follow, and a table says which."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from companion.adapters.pacer import Pacer, seconds
from companion.games.kit import CHANCE
from companion.model.entries import PACES
from companion.model.table import ServiceError, Table
from companion.service import automatic
from templo.liveness import IDLE_S
from tests.companion.conftest import Home
from tests.waiting import eventually


@pytest.fixture
def home(url: str) -> Iterator[Home]:
    home = Home(url, paced=True)
    yield home
    home.store.close()


def opened(home: Home, mode: str = "app") -> tuple[Table, str]:
    """Begin a game whose second player is away; the first is on turn."""
    table = home.services.tables.open("mexica", "Sunday", 2, "classic")
    token = home.seated(table, "east")
    home.services.seats.begin(table.id, token)
    home.services.play.let_app_roll(table.id, token, True)
    home.services.seats.away(table.id, token, "west", mode)
    return home.services.tables.get(table.id), token


def end_turn(home: Home, table: Table, token: str) -> Table:
    while (now := home.services.tables.get(table.id)).on_turn == "east":
        move = next(each for each in now.game.rules.moves(now.state, "east"))
        home.play(table, token, "east", move.name, *move.args)
    return now


def moves(home: Home, table: Table, seat: str) -> int:
    return sum(entry.by == seat for entry in home.services.tables.entries(table.id))


def play_until_west_has_moved(home: Home, table: Table, token: str) -> None:
    while moves(home, table, "west") == 0:
        move = next(iter(table.game.rules.moves(home.services.tables.get(table.id).state, "east")))
        home.play(table, token, "east", move.name, *move.args)


def test_a_turn_that_comes_to_the_app_waits(home: Home) -> None:
    table, token = opened(home)
    now = end_turn(home, table, token)
    assert now.awaits_app
    assert moves(home, table, "west") == 0


def test_going_on_makes_one_move_with_what_chance_brings_to_it(home: Home) -> None:
    table, token = opened(home)
    end_turn(home, table, token)
    for made in (1, 2):
        now = home.services.play.go_on(table.id)
        assert moves(home, table, "west") == made
        assert now.chance() is None
    assert moves(home, table, CHANCE)


def test_nothing_goes_on_at_a_table_that_waits_for_a_person(home: Home) -> None:
    table, _ = opened(home)
    before = home.services.tables.get(table.id).version
    assert home.services.play.go_on(table.id).version == before


def test_without_waiting_the_whole_turn_follows_at_once(home: Home) -> None:
    table, token = opened(home)
    home.services.play.set_pace(table.id, token, "at_once")
    play_until_west_has_moved(home, table, token)
    assert home.services.tables.get(table.id).on_turn == "east"


def test_whoever_passes_each_turn_keeps_nobody_waiting(home: Home) -> None:
    table, token = opened(home, "pass")
    play_until_west_has_moved(home, table, token)
    assert home.services.tables.get(table.id).on_turn == "east"


def test_the_thread_makes_the_moves_one_by_one_until_a_person_must_act(home: Home) -> None:
    table, token = opened(home)
    pacer = Pacer(home.services, lambda table: 0.0)
    home.services.tables._workspace.on_change = pacer.notice  # the daemon wires it so
    pacer.start()
    try:
        end_turn(home, table, token)
        eventually(lambda: home.services.tables.get(table.id).on_turn == "east")
    finally:
        pacer.stop()
    assert moves(home, table, "west") > 1


def test_after_a_restart_the_thread_goes_on_where_the_app_was_on_turn(home: Home) -> None:
    table, token = opened(home)
    end_turn(home, table, token)
    home.restart()
    pacer = Pacer(home.services, lambda table: 0.0)
    pacer.start()
    try:
        eventually(lambda: moves(home, table, "west") == 1)
    finally:
        pacer.stop()


@pytest.mark.parametrize("pace", PACES)
def test_a_pace_is_kept_over_a_restart_and_stands_in_the_log(home: Home, pace: str) -> None:
    table, token = opened(home)
    home.services.play.set_pace(table.id, token, "at_once" if pace != "at_once" else "fast")
    now = home.services.play.set_pace(table.id, token, pace)
    assert now.log()[0].lines[0].code == f"pace_{pace}"
    home.restart()
    assert seconds(home.services.tables.get(table.id)) == PACES[pace]


def test_only_whoever_sits_at_the_table_sets_a_pace_and_only_one_that_there_is(home: Home) -> None:
    table, token = opened(home)
    with pytest.raises(ServiceError, match="not_seated"):
        home.services.play.set_pace(table.id, "0" * 32, "fast")
    with pytest.raises(ServiceError, match="unknown_pace"):
        home.services.play.set_pace(table.id, token, "soon")


@pytest.mark.parametrize("pace", ["at_once", "fast"])
def test_a_siege_that_the_app_plays_for_both_sides_runs_to_its_end(
    home: Home, pace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The app stops after so many moves, before a die as well, and goes on from there."""
    monkeypatch.setattr(automatic, "AT_ONCE", 7)
    table = home.services.tables.open("siege", "Sunday", 2, "skirmish")
    keys = [home.seated(table, seat) for seat in table.charter.seats]
    home.services.seats.begin(table.id, keys[0])
    home.services.play.set_pace(table.id, keys[0], pace)
    pacer = Pacer(home.services, lambda table: 0.0)
    home.services.tables._workspace.on_change = pacer.notice
    pacer.start()
    try:
        for seat in table.charter.seats:
            home.services.seats.away(table.id, keys[0], seat, "app")
        eventually(lambda: home.services.tables.get(table.id).phase == "over")
    finally:
        pacer.stop()


def test_the_thread_goes_on_when_a_table_could_not_be_read_for_a_while(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, token = opened(home)
    find, failed = home.services.tables.find, threading.Event()

    def fail_once(table_id: str | None) -> Table | None:
        if failed.is_set():
            return find(table_id)
        failed.set()
        raise ServiceError("store_failing", reason="gone")

    monkeypatch.setattr(home.services.tables, "find", fail_once)
    pacer = Pacer(home.services, lambda table: 0.0)
    home.services.tables._workspace.on_change = pacer.notice
    pacer.start()
    try:
        end_turn(home, table, token)
        eventually(lambda: home.services.tables.get(table.id).on_turn == "east")
    finally:
        pacer.stop()
    assert failed.is_set()


def test_a_table_that_could_not_be_read_is_looked_at_again_and_then_waits_its_pace(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, token = opened(home)
    end_turn(home, table, token)
    find, read, played = home.services.tables.find, threading.Semaphore(0), threading.Event()
    failures = iter([ServiceError("store_failing", reason="gone")])

    def fail_once(table_id: str | None) -> Table | None:
        if failure := next(failures, None):
            raise failure
        read.release()
        return find(table_id)

    monkeypatch.setattr(home.services.tables, "find", fail_once)
    monkeypatch.setattr(home.services.play, "go_on", lambda table_id: played.set())
    pacer = Pacer(home.services, lambda table: 100 * IDLE_S)
    pacer.start()
    try:
        eventually(lambda: read.acquire(blocking=False) or played.is_set())
    finally:
        pacer.stop()
    assert not played.is_set()


def test_an_app_player_that_raises_stops_its_own_table_alone(
    home: Home, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, token = opened(home)
    other, other_token = opened(home)
    end_turn(home, table, token)
    end_turn(home, other, other_token)
    go_on = home.services.play.go_on

    def raises(table_id: str) -> Table:
        if table_id == table.id:
            raise KeyError("what its bot looked for")
        return go_on(table_id)

    monkeypatch.setattr(home.services.play, "go_on", raises)
    pacer = Pacer(home.services, wait=lambda _: 0.0)
    pacer.start()
    try:
        eventually(lambda: moves(home, other, "west") == 1)
        eventually(lambda: "the app's move at table" in caplog.text)
        assert "what its bot looked for" in caplog.text
        assert moves(home, table, "west") == 0
    finally:
        pacer.stop()
