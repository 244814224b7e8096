"""Units of work: a slow commit holds no lock of others, and the second writer tries again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from companion.adapters.database.sql_store import SqlStore
from companion.games.kit import Move
from companion.model.ports import Conflict, TempleRecord, Transaction
from companion.model.table import ServiceError, Table
from companion.service import workspace as module
from companion.service.change import Change
from companion.service.messages import NOTE
from companion.service.play import Played
from companion.service.services import Services
from companion.service.tables import Opening
from companion.service.workspace import ATTEMPTS, Workspace
from tests.companion.conftest import DATABASES, OTHER, Home

PATIENCE_S = 60
EACH = 30
"""Moves that each phone posts."""


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# -- a lock for each table --


class SlowStore:
    """A store in which the commit of one thing, such as a table's entries, waits until a test lets it go.

    `slow` is an argument of the call that enters it: a table's id, or what is stored of a temple.
    """

    def __init__(self, store: SqlStore, slow: object) -> None:
        self._store = store
        self._slow = slow
        self.is_waiting = threading.Event()
        self.may_go = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        calls = _Calls()
        yield calls  # type: ignore[misc]  # it takes any call of a transaction
        if any(self._slow in call.args for call in calls.made):
            self.is_waiting.set()
            assert self.may_go.wait(PATIENCE_S)
        with self._store.transaction() as transaction:
            for call in calls.made:
                getattr(transaction, call.name)(*call.args)


@dataclass
class _Call:
    name: str
    args: tuple[Any, ...]


class _Calls:
    """Remembers what is entered."""

    def __init__(self) -> None:
        self.made: list[_Call] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args: self.made.append(_Call(name, args))


@dataclass
class Slow:
    """Two tables, each with its temple and a phone; a post at the first waits in the middle of its commit."""

    services: Services
    store: SlowStore
    home: Home
    first: Table
    second: Table
    phone: str
    post: Any

    def play(self) -> Played:
        version = self.services.tables.get(self.second.id).version
        return self.services.play.move(self.second.id, self.phone, "east", Move("end_turn"), version, "second")


@pytest.fixture
def slow(home: Home) -> Iterator[Slow]:
    first, second = home.table(temple="first"), home.table(temple="second")
    phones = [home.seated(table) for table in (first, second)]
    store = SlowStore(home.store, first.id)
    services = Services.over(Workspace(store, home.games, home.clock, home.entropy))  # type: ignore[arg-type]
    version = services.tables.get(first.id).version
    with ThreadPoolExecutor(1) as thread:
        post = thread.submit(services.play.move, first.id, phones[0], "east", Move("end_turn"), version, "first")
        assert store.is_waiting.wait(PATIENCE_S)
        try:
            yield Slow(services, store, home, first, second, phones[1], post)
        finally:
            store.may_go.set()
        assert post.result(PATIENCE_S).accepted
        assert services.tables.get(first.id).on_turn == "north"


def test_a_post_at_another_table_does_not_wait_for_a_slow_commit(slow: Slow) -> None:
    assert slow.play().accepted
    assert slow.services.tables.get(slow.second.id).on_turn == "north"
    assert not slow.post.done()


def test_a_temple_that_is_entered_while_the_broker_comes_within_reach_is_reachable(home: Home) -> None:
    store = SlowStore(home.store, TempleRecord("late"))
    temples = Services.over(Workspace(store, home.games, home.clock, home.entropy)).temples  # type: ignore[arg-type]
    temples.set_reachable(False)
    with ThreadPoolExecutor(2) as threads:
        entering = threads.submit(temples.expect, "late")
        assert store.is_waiting.wait(PATIENCE_S)
        connecting = threads.submit(temples.set_reachable, True)
        wait([connecting], timeout=0.2)  # it may finish before the temple is entered, or wait for it
        store.may_go.set()
        entering.result(PATIENCE_S)
        connecting.result(PATIENCE_S)
    assert temples.get("late").reachable


def test_the_broker_s_state_does_not_wait_for_a_temple_that_is_entered(home: Home) -> None:
    store = SlowStore(home.store, TempleRecord("late"))
    temples = Services.over(Workspace(store, home.games, home.clock, home.entropy)).temples  # type: ignore[arg-type]
    with ThreadPoolExecutor(2) as threads:
        entering = threads.submit(temples.expect, "late")
        assert store.is_waiting.wait(PATIENCE_S)
        try:
            threads.submit(temples.set_reachable, False).result(PATIENCE_S)
        finally:
            store.may_go.set()
        assert not entering.result(PATIENCE_S).reachable


def test_a_read_of_the_organiser_s_message_does_not_wait_for_a_slow_commit(home: Home) -> None:
    store = SlowStore(home.store, NOTE)
    messages = Services.over(Workspace(store, home.games, home.clock, home.entropy)).messages  # type: ignore[arg-type]
    with ThreadPoolExecutor(2) as threads:
        sending = threads.submit(messages.send, "Pizza", 10)
        assert store.is_waiting.wait(PATIENCE_S)
        try:
            assert threads.submit(lambda: messages.text).result(PATIENCE_S) == ""
        finally:
            store.may_go.set()
        sending.result(PATIENCE_S)
    assert messages.text == "Pizza"


def test_everybody_reads_during_a_slow_commit_and_nobody_sees_what_is_not_durable(slow: Slow) -> None:
    assert slow.services.tables.get(slow.first.id).on_turn == "east"
    assert {table.id for table in slow.services.tables.all()} == {slow.first.id, slow.second.id}
    assert slow.services.tables.by_code(slow.first.code).id == slow.first.id
    assert not slow.post.done()


def test_a_token_of_another_temple_does_not_wait_for_a_slow_commit(slow: Slow) -> None:
    (receipt,) = slow.services.temples.intake.receive([("second", slow.home.token(1, source=OTHER))])
    assert receipt.seq == 1
    assert [each.token.seq for each in slow.services.tables.tokens(slow.second.id)] == [1]
    assert not slow.post.done()


def test_a_table_is_opened_seated_and_begun_during_a_slow_commit(slow: Slow) -> None:
    table = slow.services.tables.open("mexica", "Monday", 2, "temple_only")
    slow.services.seats.sit(table.id, table.code, "east", "Ana")
    assert slow.services.seats.begin(table.id, table.code).phase == "running"
    assert not slow.post.done()


def test_locks_are_taken_in_one_order_or_not_at_all(home: Home) -> None:
    first, second = home.table(temple="templo"), home.table()
    workspace = Workspace(home.store, home.games, home.clock, home.entropy)

    def work(change: Change) -> None:
        with pytest.raises(RuntimeError, match="locked late"):
            change.lock_notes("message")
        with pytest.raises(RuntimeError, match="locked late"):
            change.lock_temples("templo")
        with pytest.raises(RuntimeError, match="locked late"):
            change.lock_tables(second.id)
        with pytest.raises(RuntimeError, match="not locked"):
            change.table(second.id)
        with pytest.raises(RuntimeError, match="begins within another"):
            workspace.run(work)

    workspace.run(work, tables=[first.id])


def test_temples_that_change_tables_both_ways_at_once_never_wait_for_each_other(home: Home) -> None:
    tables = [home.table(temple="one").id, home.table(temple="two").id]

    def swap(turn: int) -> None:
        for n in range(10):
            home.services.temples.serving.serve(tables[(turn + n) % 2], ("one", "two")[turn])

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(swap, turn) for turn in (0, 1)]:
            done.result(PATIENCE_S)
    serving = {temple.name: temple.table_id for temple in home.services.temples.all()}
    home.restart()
    assert {temple.name: temple.table_id for temple in home.services.temples.all()} == serving
    for name, table_id in serving.items():
        assert table_id is None or home.services.tables.get(table_id).temple == name


# -- a commit whose answer is lost --


def lose_an_answer(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next commit be made, and then fail as if the connection had ended before its answer."""
    begin = home.store.transaction

    @contextmanager
    def transaction() -> Iterator[Transaction]:
        with begin() as transaction:
            yield transaction
        monkeypatch.undo()
        raise ServiceError("store_failing", reason="the server closed the connection")

    monkeypatch.setattr(home.store, "transaction", transaction)


def test_tokens_whose_commit_was_not_answered_are_on_the_pages_once_they_are_acknowledged(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1))])
    lose_an_answer(home, monkeypatch)
    with pytest.raises(ServiceError, match="store_failing"):
        home.services.temples.intake.receive([("templo", home.token(2))])
    home.changes.clear()
    (receipt,) = home.services.temples.intake.receive([("templo", home.token(2))])
    assert receipt.seq == 2
    assert home.services.tables.get(table.id).tokens == 2
    temple = home.services.temples.get("templo")
    assert (sum(temple.totals.values()), len(temple.recent)) == (2, 2)
    assert {f"table:{table.id}", "temple:templo"} <= set(home.changes)


def test_a_move_whose_commit_was_not_answered_is_on_the_pages_though_nobody_repeats_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.paced = True
    home.restart()
    table = home.table()
    phone = home.seated(table)
    lose_an_answer(home, monkeypatch)
    with pytest.raises(ServiceError, match="store_failing"):
        home.play(table, phone, "east", "end_turn")
    assert home.services.tables.get(table.id).on_turn == "east"
    home.changes.clear()
    home.services.temples.pass_time()
    assert home.services.tables.get(table.id).on_turn == "north"
    assert {f"table:{table.id}", f"pace:{table.id}"} <= set(home.changes)
    assert home.services.tables.written()[table.id] == home.services.tables.get(table.id).version
    home.changes.clear()
    home.services.temples.pass_time()
    assert home.changes == []


def test_a_table_whose_opening_was_not_answered_is_listed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.services.temples.expect("templo")
    lose_an_answer(home, monkeypatch)
    with pytest.raises(ServiceError, match="store_failing"):
        home.services.tables.open("mexica", "Sunday", 4, "temple_only", {}, "templo")
    home.services.temples.pass_time()
    (table,) = home.services.tables.all()
    assert table.temple == "templo"
    assert home.services.temples.get("templo").table_id == table.id
    assert "tables" in home.changes


def test_who_repeats_an_opening_that_was_not_answered_is_led_to_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.services.temples.expect("templo")
    same = Opening(table_id="a" * 32)
    lose_an_answer(home, monkeypatch)
    with pytest.raises(ServiceError, match="store_failing"):
        home.services.tables.open("mexica", "Sunday", 4, "temple_only", {}, "templo", same)
    table = home.services.tables.open("mexica", "Sunday", 4, "temple_only", {}, "templo", same)
    assert [each.id for each in home.store.charters()] == [table.id]
    assert home.services.temples.get("templo").table_id == table.id


def test_who_repeats_a_rematch_that_was_not_answered_is_led_to_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = home.table()
    phone = home.seated(table)
    home.services.tables.close(table.id, phone)
    lose_an_answer(home, monkeypatch)
    with pytest.raises(ServiceError, match="store_failing"):
        home.services.tables.again(table.id, phone)
    again = home.services.tables.again(table.id, phone)
    assert {charter.id for charter in home.store.charters()} == {table.id, again.id}


def test_a_message_that_was_not_answered_is_shown(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    lose_an_answer(home, monkeypatch)
    with pytest.raises(ServiceError, match="store_failing"):
        home.services.messages.send("Pizza", 10)
    home.services.temples.pass_time()
    assert home.services.messages.text == "Pizza"
    assert "note:message" in home.changes


def test_what_is_being_changed_is_not_waited_for_to_read_it_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, other = home.table(), home.table()
    may_go, begun = threading.Event(), threading.Event()

    def work(change: Change) -> None:
        begun.set()
        assert may_go.wait(PATIENCE_S)
        raise ServiceError("refused")

    for each in (table, other):
        lose_an_answer(home, monkeypatch)
        with pytest.raises(ServiceError, match="store_failing"):
            home.seated(each)
    with ThreadPoolExecutor(2) as threads:
        changing = threads.submit(lambda: home.workspace.run(work, tables=[table.id]))
        assert begun.wait(PATIENCE_S)
        try:
            threads.submit(home.services.temples.pass_time).result(PATIENCE_S)
            assert home.services.tables.get(other.id).chair("east").taken
        finally:
            may_go.set()
        with pytest.raises(ServiceError, match="refused"):
            changing.result(PATIENCE_S)


def test_a_failed_change_is_read_again_when_the_store_works_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = home.table()
    phone = home.seated(table)
    lose_an_answer(home, monkeypatch)
    with pytest.raises(ServiceError, match="store_failing"):
        home.play(table, phone, "east", "end_turn")

    def fails(table_id: str, after: int = 0) -> None:
        raise ServiceError("store_failing", reason="gone")

    monkeypatch.setattr(home.store, "entries", fails)
    home.services.temples.pass_time()
    assert home.services.tables.get(table.id).on_turn == "east"
    monkeypatch.undo()
    home.services.temples.pass_time()
    assert home.services.tables.get(table.id).on_turn == "north"


def test_a_writer_that_is_always_second_gives_up_with_a_reason(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PAUSE_S", 0.01)
    workspace = Workspace(home.store, home.games, home.clock, home.entropy)
    tries = []

    def work(change: object) -> None:
        tries.append(change)
        raise Conflict("somebody was first")

    with pytest.raises(ServiceError, match=f"others were first {ATTEMPTS} times.*somebody was first"):
        workspace.run(work)
    assert len(tries) == ATTEMPTS
