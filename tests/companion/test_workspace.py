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
from companion.model.history import replay_log
from companion.model.ports import Conflict, TempleRecord, Transaction
from companion.model.table import Entry, ServiceError, Table
from companion.service.change import Change
from companion.service.messages import NOTE
from companion.service.play import Played
from companion.service.services import Services
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
            threads.submit(messages.read).result(PATIENCE_S)
            assert messages.text == ""
        finally:
            store.may_go.set()
        sending.result(PATIENCE_S)
    assert messages.text == "Pizza"


def test_a_read_that_began_before_a_message_was_stored_does_not_hide_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages, read = home.services.messages, home.store.note

    def outrun(name: str) -> str:
        found = read(name)
        monkeypatch.undo()
        messages.send("Pizza", 10)
        return found

    monkeypatch.setattr(home.store, "note", outrun)
    messages.read()
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
    with workspace.change(tables=[first.id]) as change:
        with pytest.raises(RuntimeError, match="locked late"):
            change.lock_temples("templo")
        with pytest.raises(RuntimeError, match="locked late"):
            change.lock_tables(second.id)
        with pytest.raises(RuntimeError, match="not locked"):
            change.table(second.id)
        with pytest.raises(RuntimeError, match="begins within another"), workspace.change():
            pass


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


# -- the second writer tries again --


@pytest.fixture
def second(home: Home) -> Iterator[Callable[[], Services]]:
    """Return what opens a second companion over the same database, with a store of its own."""
    stores: list[SqlStore] = []

    def open_() -> Services:
        stores.append(SqlStore(home.url))
        return Services.over(Workspace(stores[-1], home.games, home.clock, home.entropy))

    yield open_
    for store in stores:
        store.close()


def give(services: Services, table: Table, phone: str, seat: str, n: int, request: str) -> Played:
    """Post a sacrifice against the table as this companion knows it."""
    version = services.tables.get(table.id).version
    return services.play.move(table.id, phone, seat, Move("sacrifice", ("tlaloc", n)), version, request)


def check_log(home: Home, table: Table) -> list[Entry]:
    """Return a table's log, which has no gap and stands."""
    entries = list(home.store.entries(table.id))
    assert [entry.n for entry in entries] == list(range(1, len(entries) + 1))
    assert len(list(replay_log(table.charter, table.game, entries))) == len(entries)
    return entries


def test_two_companions_on_one_database_lose_no_move_and_leave_no_gap(
    home: Home, second: Callable[[], Services]
) -> None:
    table = home.table()
    phone = home.seated(table)
    other = second()

    def post(services: Services, name: str) -> list[str]:
        accepted = []
        for n in range(EACH):
            while not (played := give(services, table, phone, "east", 1, f"{name}{n}")).accepted:
                assert played.stale, played.refusal
            accepted.append(f"{name}{n}")
        return accepted

    with ThreadPoolExecutor(2) as threads:
        posts = [threads.submit(post, services, name) for services, name in ((home.services, "a"), (other, "b"))]
        accepted = [request for each in posts for request in each.result(10 * PATIENCE_S)]
    entries = check_log(home, table)
    assert sorted(entry.request for entry in entries if entry.request) == sorted(accepted)
    assert len(accepted) == 2 * EACH


def test_a_post_that_another_companion_made_stale_is_refused_by_the_true_table(
    home: Home, second: Callable[[], Services]
) -> None:
    table = home.table()
    east, north = home.seated(table), home.seated(table, "north", "Beto")
    other = second()
    version = home.services.tables.get(table.id).version
    assert home.services.play.move(table.id, east, "east", Move("end_turn"), version, "ends").accepted
    late = other.play.move(table.id, east, "east", Move("end_turn"), version, "late")
    assert (late.accepted, late.stale, late.table.on_turn) == (False, True, "north")
    assert other.tables.get(table.id) == home.services.tables.get(table.id)
    assert give(other, table, north, "north", 2, "then").accepted
    assert [entry.request for entry in check_log(home, table)][-2:] == ["ends", "then"]


def test_a_post_that_only_the_other_companion_s_moves_allow_is_accepted(
    home: Home, second: Callable[[], Services]
) -> None:
    table = home.table()
    east, north = home.seated(table), home.seated(table, "north", "Beto")
    other = second()
    home.play(table, east, "east", "end_turn")
    version = home.services.tables.get(table.id).version
    played = other.play.move(table.id, north, "north", Move("end_turn"), version, "north-ends")
    assert played.accepted
    assert played.table.on_turn == "west"


def test_one_post_that_reaches_both_companions_is_one_move(home: Home, second: Callable[[], Services]) -> None:
    table = home.table()
    phone = home.seated(table)
    other = second()
    version = home.services.tables.get(table.id).version
    move = Move("sacrifice", ("tlaloc", 1))

    with ThreadPoolExecutor(2) as threads:
        posts = [
            threads.submit(services.play.move, table.id, phone, "east", move, version, "tap")
            for services in (home.services, other)
        ]
        assert [post.result(PATIENCE_S).accepted for post in posts] == [True, True]
    assert [entry.request for entry in check_log(home, table)].count("tap") == 1


def test_one_seat_is_given_to_one_phone_by_two_companions(home: Home, second: Callable[[], Services]) -> None:
    table = home.table()
    other = second()
    ana = home.seated(table)
    with pytest.raises(ServiceError, match="seat_taken"):
        other.seats.sit(table.id, table.code, "east", "Beto")
    assert other.seats.held(table.id, ana) == ("east",)


def test_a_token_and_another_companion_s_move_are_both_in_the_log(home: Home, second: Callable[[], Services]) -> None:
    table = home.table(temple="templo")
    phone = home.seated(table)
    other = second()
    assert give(home.services, table, phone, "east", 1, "before").accepted
    other.temples.intake.receive([("templo", home.token(1))])
    assert give(home.services, table, phone, "east", 1, "after").accepted
    assert [entry.by for entry in check_log(home, table)][-3:] == ["east", "temple", "east"]


def test_one_token_that_two_companions_receive_is_stored_once(home: Home, second: Callable[[], Services]) -> None:
    table = home.table(temple="templo")
    other = second()
    for services in (home.services, other):
        (receipt,) = services.temples.intake.receive([("templo", home.token(1)), ("templo", home.token(2))])
        assert (receipt.seq, receipt.gap) == (2, False)
    assert [entry.by for entry in check_log(home, table)].count("temple") == 2


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
    lose_an_answer(home, monkeypatch)
    with pytest.raises(ServiceError, match="store_failing"):
        home.services.tables.open("mexica", "Sunday", 4, "temple_only", {}, "templo", table_id="a" * 32)
    table = home.services.tables.open("mexica", "Sunday", 4, "temple_only", {}, "templo", table_id="a" * 32)
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
    assert "message" in home.changes


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


def test_a_writer_that_is_always_second_gives_up_with_a_reason(home: Home) -> None:
    workspace = Workspace(home.store, home.games, home.clock, home.entropy)
    tries = []

    def work(change: object) -> None:
        tries.append(change)
        raise Conflict("somebody was first")

    with pytest.raises(ServiceError, match=f"others were first {ATTEMPTS} times.*somebody was first"):
        workspace.run(work)
    assert len(tries) == ATTEMPTS
