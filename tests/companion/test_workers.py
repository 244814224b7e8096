"""Several companions on one PostgreSQL: each follows the others, and a lease lets one at a time act."""

from __future__ import annotations

import hashlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from companion.adapters.database import leases as lease_adapter
from companion.adapters.database.announcements import Announcements
from companion.adapters.database.leases import Leases
from companion.adapters.database.schema import LEASES
from companion.games.kit import Move
from companion.model.ports import HISTORY, LEFT_OUT, KnownTokens, OldTokens
from companion.model.table import ServiceError, Table
from templo import contract
from templo.liveness import DISK_S
from tests.companion.conftest import OTHER, SOURCE, Home
from tests.companion.test_intake import status
from tests.databases import Postgres, postgres

PATIENCE_S = 180


@pytest.fixture
def database() -> str:
    return "postgresql"


class Own:
    """Bytes that no other companion of the test draws, but for join codes: those are drawn alike."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._count = itertools.count(1)

    def __call__(self, size: int) -> bytes:
        return hashlib.shake_128(f"{self._name} {next(self._count)}".encode()).digest(size)


def companion(url: str, name: str) -> Home:
    return Home(url, entropy=Own(name), shared=True)  # type: ignore[arg-type]  # it is called alike


@pytest.fixture
def pair(url: str) -> Iterator[tuple[Home, Home]]:
    """Two companions on one database, which receive no announcements unless they are `listening`."""
    homes = companion(url, "one"), companion(url, "two")
    yield homes
    for home in homes:
        home.store.close()


@contextmanager
def listening(*homes: Home) -> Iterator[None]:
    """Let these companions follow what others announce."""
    threads = [
        Announcements(home.url, home.workspace.origin, home.workspace.follow, home.workspace.follow_all)
        for home in homes
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.stop()


def eventually(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, "it never became true"
        time.sleep(0.02)


# -- pages follow --


def test_a_move_at_one_companion_reaches_the_pages_of_the_other(pair: tuple[Home, Home]) -> None:
    one, two = pair
    with listening(one, two):
        table = one.table()
        phone = one.seated(table)
        eventually(lambda: table.id in two.workspace.tables)
        eventually(lambda: two.services.tables.get(table.id) == one.services.tables.get(table.id))
        two.changes.clear()
        one.play(table, phone, "east", "end_turn")
        eventually(lambda: f"table:{table.id}" in two.changes)
        assert two.services.tables.get(table.id).on_turn == "north"
        assert two.services.seats.held(table.id, phone) == ("east",)


def test_the_organiser_s_message_at_one_companion_is_announced_to_the_other(pair: tuple[Home, Home]) -> None:
    one, two = pair
    with listening(one, two):
        eventually(lambda: "message" in two.changes)  # the first look at everything
        two.changes.clear()
        one.services.messages.send("Pizza", 10)
        eventually(lambda: "message" in two.changes)
        two.services.messages.read()
        assert two.services.messages.text == "Pizza"


def test_a_setup_that_was_finished_at_one_companion_is_finished_at_the_other(pair: tuple[Home, Home]) -> None:
    one, two = pair
    with listening(two):
        eventually(lambda: "setup" in two.changes)  # the first look at everything
        one.services.setup.rename("The hall")
        one.services.setup.finish()
        eventually(lambda: two.services.setup.finished)
        assert two.services.setup.name == "The hall"


def test_the_end_of_an_event_at_one_companion_is_announced_to_the_other(pair: tuple[Home, Home]) -> None:
    one, two = pair
    one.services.rounds.start("mexica", "temple_only", 2, "swiss", "Ana\nBen", lambda *_: "First table")
    with listening(one, two):
        eventually(lambda: "message" in two.changes)  # the first look at everything
        two.changes.clear()
        one.services.rounds.end()
        eventually(lambda: "tables" in two.changes)
        assert two.services.rounds.page() is None


def test_a_companion_is_not_given_its_own_announcements(pair: tuple[Home, Home]) -> None:
    one, two = pair
    table = one.table()
    received: list[str] = []
    listens = threading.Event()
    announcements = Announcements(one.url, one.workspace.origin, received.extend, listens.set)
    announcements.start()
    try:
        assert listens.wait(PATIENCE_S)
        one.seated(table)
        two.seated(table, "north", "Beto")
        eventually(lambda: received)
        assert received == [f"table:{table.id}"]
    finally:
        announcements.stop()


def test_a_table_at_which_nobody_looks_is_not_read(pair: tuple[Home, Home], monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = pair
    read: list[str] = []
    entries = two.store.entries

    def counted(table_id: str, after: int = 0) -> object:
        read.append(table_id)
        return entries(table_id, after)

    monkeypatch.setattr(two.store, "entries", counted)
    with listening(two):
        table = one.table()
        phone = one.seated(table)
        one.play(table, phone, "east", "end_turn")
        last = one.table()  # announcements come in the order of the commits
        eventually(lambda: f"table:{last.id}" in two.changes)
        assert read == []
        assert two.services.tables.by_code(table.code).on_turn == "north"
        assert read == [table.id]
        assert two.services.tables.get(table.id).on_turn == "north"
        assert read == [table.id]  # nothing has changed since


def test_a_companion_that_starts_reads_no_log_before_somebody_looks(
    pair: tuple[Home, Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = pair
    table = one.table()
    one.seated(table)
    monkeypatch.setattr("companion.adapters.database.sql_store.SqlStore._log", None)
    two.restart()
    assert table.id in two.workspace.tables
    monkeypatch.undo()
    assert two.services.tables.all() == one.services.tables.all()


def test_tokens_that_one_companion_stores_are_on_the_other_s_pages(pair: tuple[Home, Home]) -> None:
    one, two = pair
    with listening(one, two):
        table = one.table(temple="templo")
        eventually(lambda: two.services.temples.find("templo"))
        one.services.temples.intake.receive([("templo", one.token(n)) for n in (1, 2, 3)])
        eventually(lambda: len(two.services.temples.get("templo").recent) == 3)
        # What was read for the announcement before may lack the mark that was entered with these tokens.
        eventually(lambda: two.services.temples.ledgers.mark(SOURCE) == one.services.temples.ledgers.mark(SOURCE))
        temple, other = one.services.temples.get("templo"), two.services.temples.get("templo")
        assert (temple.recent, temple.totals, temple.falls) == (other.recent, other.totals, other.falls)
        assert two.services.tables.get(table.id) == one.services.tables.get(table.id)


def test_after_a_restart_of_the_database_nothing_is_missed(tmp_path: object) -> None:
    with postgres() as server:
        _check_restart(server)


def _check_restart(server: Postgres) -> None:
    url = server.url()
    one, two = companion(url, "one"), companion(url, "two")
    with listening(two):
        table = one.table()
        eventually(lambda: table.id in two.workspace.tables)
        server.kill()
        server.start()
        phone = one.seated(table)
        one.play(table, phone, "east", "end_turn")
        late = one.table()
        eventually(lambda: late.id in two.workspace.tables and two.services.tables.get(table.id).on_turn == "north")
    one.store.close()
    two.store.close()


# -- nothing depends on an announcement's arrival --


def test_a_token_falls_at_the_table_to_which_another_companion_moved_its_temple(pair: tuple[Home, Home]) -> None:
    one, two = pair
    before = one.table(temple="templo")
    two.workspace.follow_all()
    after = one.table()
    one.services.temples.serving.serve(after.id, "templo")
    two.services.temples.intake.receive([("templo", two.token(1))])
    assert [each.token.seq for each in one.store.table_tokens(after.id)] == [1]
    assert one.store.table_tokens(before.id) == ()
    assert two.services.temples.get("templo").table_id == after.id


def test_a_temple_that_two_companions_move_at_once_serves_one_table(pair: tuple[Home, Home]) -> None:
    one, two = pair
    tables = [one.table(temple="templo"), one.table()]
    two.workspace.follow_all()

    def move(home: Home) -> None:
        for n in range(8):
            home.services.temples.serving.serve(tables[n % 2].id, "templo")

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(move, home) for home in pair]:
            done.result(PATIENCE_S)
    one.restart()
    serving = one.services.temples.get("templo").table_id
    assert [table.id for table in one.services.tables.all() if table.temple == "templo"] == [serving]


def test_a_mark_that_another_companion_raised_is_not_lowered(pair: tuple[Home, Home]) -> None:
    one, two = pair
    one.table(temple="templo")
    two.workspace.follow_all()
    one.services.temples.intake.receive([("templo", one.token(n)) for n in range(1, 6)])
    (receipt,) = two.services.temples.intake.receive([("templo", two.token(1))])
    assert receipt.seq == 5
    assert one.store.marks()[SOURCE].seq == 5


def test_two_companions_that_draw_one_code_open_tables_with_two(url: str) -> None:
    one, two = companion(url, "same"), companion(url, "same")
    first, second = one.table(), two.table()
    assert first.code != second.code
    assert first.id != second.id
    two.workspace.follow_all()
    assert {table.id for table in two.services.tables.all()} == {first.id, second.id}
    one.store.close()
    two.store.close()


def test_one_post_to_two_companions_opens_one_table(pair: tuple[Home, Home]) -> None:
    for home in pair:
        home.services.temples.expect("templo")

    def opened(home: Home, table_id: str) -> str:
        return home.services.tables.open("mexica", "Sunday", 4, "temple_only", {}, "templo", table_id=table_id).id

    for n in range(10):
        table_id = f"{n:032x}"
        with ThreadPoolExecutor(4) as threads:
            found = [threads.submit(opened, home, table_id) for home in pair * 2]
        assert {each.result(PATIENCE_S) for each in found} == {table_id}
        assert [home.services.tables.get(table_id).temple for home in pair] == ["templo", "templo"]
        pair[n % 2].services.tables.close_for_players(table_id)


def test_a_seat_that_another_companion_gave_away_is_taken(pair: tuple[Home, Home]) -> None:
    one, two = pair
    table = one.table()
    two.workspace.follow_all()
    ana = one.seated(table)
    with pytest.raises(ServiceError, match="seat_taken"):
        two.seated(table)
    version = two.services.tables.get(table.id).version
    assert two.services.play.move(table.id, ana, "east", Move("end_turn"), version, "tap").accepted


OLD = 200
"""Tokens that fell before either companion knew the temple."""


@pytest.fixture
def knowing(pair: tuple[Home, Home]) -> tuple[Home, Home, Table, str]:
    """The same two, who know that a temple has old tokens; with a table that it serves, and a phone there."""
    one, two = pair
    count = contract.Count(SOURCE, OLD, {contract.God.TLALOC: OLD, contract.God.HUITZILOPOCHTLI: 0})
    for home in pair:
        home.services.temples.receive_status("templo", status())
        home.services.temples.ledgers.receive_count("templo", count)
    table = one.table(temple="templo")
    phone = one.seated(table)
    receive_old(two, 1, OLD // 2)
    for home in pair:
        home.workspace.follow_all()
    return one, two, table, phone


def receive_old(home: Home, first: int, last: int) -> None:
    arrivals = [("templo", home.token(n, replayed=True)) for n in range(first, last + 1)]
    home.services.temples.intake.receive(arrivals)


def test_old_tokens_count_where_another_companion_has_just_counted_them(
    knowing: tuple[Home, Home, Table, str],
) -> None:
    one, two, table, phone = knowing
    one.services.temples.decisions.count_old(table.id, phone)
    receive_old(two, OLD // 2 + 1, OLD)
    assert two.services.tables.get(table.id).tokens == OLD
    assert len(one.store.table_tokens(table.id)) == OLD


def test_old_tokens_that_arrive_while_another_companion_counts_them_are_counted(
    knowing: tuple[Home, Home, Table, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, table, phone = knowing
    read = one.store.old_tokens

    def outrun(old: OldTokens) -> object:
        found = read(old)
        monkeypatch.undo()
        receive_old(two, OLD // 2 + 1, OLD)
        return found

    monkeypatch.setattr(one.store, "old_tokens", outrun)
    temple = one.services.temples.decisions.count_old(table.id, phone)
    assert temple.old is not None
    assert one.services.tables.get(table.id).tokens == OLD
    assert len(one.store.table_tokens(table.id)) == OLD
    assert one.store.old_tokens(temple.old) == ()


def test_old_tokens_are_decided_once_whichever_companion_is_asked(knowing: tuple[Home, Home, Table, str]) -> None:
    one, two, _, _ = knowing
    one.services.temples.decisions.choose_old("templo", LEFT_OUT, "Ana")
    with pytest.raises(ServiceError, match="old_decided"):
        two.services.temples.decisions.choose_old("templo", HISTORY, "Ben")
    (old,) = two.store.old()
    assert (old.choice, old.by) == (LEFT_OUT, "Ana")


def test_a_companion_that_learns_of_a_source_later_keeps_what_was_decided_about_it(pair: tuple[Home, Home]) -> None:
    one, two = pair
    count = contract.Count(SOURCE, OLD, {contract.God.TLALOC: OLD, contract.God.HUITZILOPOCHTLI: 0})
    for home in pair:
        home.services.temples.receive_status("templo", status())
    one.services.temples.ledgers.receive_count("templo", count)
    one.services.temples.decisions.choose_old("templo", LEFT_OUT, "Ana")
    two.services.temples.ledgers.receive_count("templo", count)
    receive_old(two, 1, 3)
    assert [old.choice for old in two.store.old()] == [LEFT_OUT]


def test_a_choice_is_not_refused_because_its_companion_has_not_followed(pair: tuple[Home, Home]) -> None:
    one, two = pair
    for home in pair:
        home.services.temples.receive_status("templo", status())
    count = contract.Count(SOURCE, OLD, {contract.God.TLALOC: OLD, contract.God.HUITZILOPOCHTLI: 0})
    one.services.temples.ledgers.receive_count("templo", count)
    old = two.services.temples.decisions.choose_old("templo", LEFT_OUT, "Ana").old
    assert old is not None
    assert old.choice == LEFT_OUT


def test_a_token_counts_at_a_table_that_another_companion_has_just_begun(pair: tuple[Home, Home]) -> None:
    one, two = pair
    one.services.temples.expect("templo")
    table = one.services.tables.open("mexica", "Sunday", 4, "temple_only", {}, "templo")
    two.workspace.follow_all()
    assert two.services.tables.get(table.id).phase == "lobby"
    one.services.seats.begin(table.id, table.code)
    two.services.temples.intake.receive([("templo", two.token(1))])
    assert [each.token.seq for each in one.store.table_tokens(table.id)] == [1]


def test_a_token_that_two_companions_receive_under_two_numbers_at_once_is_stored_once(
    alive: tuple[Home, Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = alive
    token, again = one.token(1), one.token(1, source=OTHER, token=one.token(1).token)
    read = two.store.known

    def outrun(tokens: Sequence[contract.Token]) -> KnownTokens:
        found = read(tokens)
        monkeypatch.undo()
        one.services.temples.intake.receive([("templo", token)])
        return found

    monkeypatch.setattr(two.store, "known", outrun)
    (receipt,) = two.services.temples.intake.receive([("templo", again)])
    assert (receipt.source, receipt.seq) == (OTHER, 1)
    assert one.store.totals("templo")[contract.God.TLALOC] == 1
    assert two.services.temples.get("templo").totals[contract.God.TLALOC] == 1


def test_the_next_round_begins_though_its_companion_has_not_followed_the_end_of_the_last(
    pair: tuple[Home, Home],
) -> None:
    one, two = pair
    one.services.rounds.start("mexica", "temple_only", 2, "swiss", "Ana\nBen", lambda n, k: f"R{n} T{k}")
    page = two.services.rounds.page()
    assert page is not None
    (table_id,) = page.tables
    one.services.tables.close_for_players(table_id)
    two.services.rounds.next_round(2, "Ana\nBen", lambda n, k: f"R{n} T{k}")


# -- requests to temples --


def send(home: Home, post: str) -> contract.Command:
    """Send a request to the temple; return the command that went out."""
    sent: list[contract.Command] = []
    home.services.temples.requests.connect(lambda name, command: sent.append(command))
    home.services.temples.requests.send("templo", contract.CommandName.IDENTIFY, post)
    return sent[0]


@pytest.fixture
def alive(pair: tuple[Home, Home]) -> tuple[Home, Home]:
    """The same two, of which each has received a temple's status."""
    for home in pair:
        home.services.temples.receive_status("templo", status())
    return pair


def replied(command: contract.Command) -> contract.Reply:
    return contract.Reply(command.id, True, {"software": "1"})


def test_a_temple_answers_one_request_at_a_time_whichever_companion_sends_it(alive: tuple[Home, Home]) -> None:
    one, two = alive
    command = send(one, "first")
    with pytest.raises(ServiceError, match="temple_busy"):
        send(two, "second")
    assert [home.services.temples.get("templo").request.command for home in alive] == [command] * 2  # type: ignore[union-attr]
    for home in alive:  # the broker carries what a temple says to all
        home.services.temples.requests.receive_reply("templo", replied(command))
    assert send(two, "second").id != command.id


def test_a_request_of_one_companion_and_its_reply_are_on_the_other_s_pages(alive: tuple[Home, Home]) -> None:
    one, two = alive
    with listening(two):
        command = send(one, "first")
        # The reply is quicker than the announcement: the other companion knows of no request yet.
        two.services.temples.requests.receive_reply("templo", contract.Reply("f" * 32, True))
        one.services.temples.requests.receive_reply("templo", replied(command))

        def is_answered() -> bool:
            request = two.services.temples.get("templo").request
            return request is not None and request.stage == "answered"

        eventually(is_answered)
    assert two.services.temples.get("templo").request == one.services.temples.get("templo").request


def test_two_requests_sent_at_once_by_two_companions_are_one(alive: tuple[Home, Home]) -> None:
    def outcome(home: Home) -> str:
        try:
            return send(home, home.workspace.origin).id
        except ServiceError as error:
            return error.code

    with ThreadPoolExecutor(2) as threads:
        outcomes = sorted(each.result(PATIENCE_S) for each in [threads.submit(outcome, home) for home in alive])
    assert outcomes.count("temple_busy") == 1


def test_a_table_opened_elsewhere_is_found_by_its_code_before_any_announcement(pair: tuple[Home, Home]) -> None:
    one, two = pair
    table = one.table()
    assert two.services.tables.by_code(table.code).id == table.id
    with pytest.raises(ServiceError, match="wrong_code"):
        two.services.tables.by_code("ZZZZZZ")


def test_a_round_that_another_companion_began_runs_here_as_well(pair: tuple[Home, Home]) -> None:
    one, two = pair
    one.services.rounds.start("mexica", "temple_only", 2, "swiss", "Ana\nBen\nCleo\nDia", lambda n, k: f"R{n} T{k}")
    page = two.services.rounds.page()
    assert page is not None
    assert page.waits_for == 2
    assert len(page.tables) == 2
    with pytest.raises(ServiceError, match="round_runs"):
        two.services.rounds.next_round(2, "Ana\nBen", lambda n, k: f"R{n} T{k}")


# -- leases --


@contextmanager
def leasing(url: str, holder: str, wanted: list[str], taken: list[str] | None = None) -> Iterator[Leases]:
    leases = Leases(url, holder, lambda: wanted, ([] if taken is None else taken).append)
    leases.start()
    try:
        yield leases
    finally:
        leases.stop()


def test_each_lease_has_one_holder_and_no_two_shares_differ_by_more_than_one(home: Home) -> None:
    names = [f"temple:{n}" for n in range(7)]
    with leasing(home.url, "one", names) as one:
        eventually(lambda: all(map(one.holds, names)))
        with leasing(home.url, "two", names) as two, leasing(home.url, "three", names) as three:

            def shares() -> list[int]:
                return sorted(sum(map(each.holds, names)) for each in (one, two, three))

            eventually(lambda: shares() == [2, 2, 3])
            assert all(sum(each.holds(name) for each in (one, two, three)) == 1 for name in names)
        eventually(lambda: all(map(one.holds, names)))  # the others gave theirs back


def test_leases_are_renewed_while_others_are_taken_over(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each take-over lasts a second, by the clocks of the companion and of the database."""
    names, taken, beats = [f"temple:{n}" for n in range(10)], [], []
    engine = sa.create_engine(home.url)

    def now() -> float:
        return time.monotonic() + len(taken)

    def take_over(name: str) -> None:
        taken.append(name)
        with engine.begin() as connection:
            connection.execute(sa.update(LEASES).values(until=LEASES.c.until - timedelta(seconds=1)))

    monkeypatch.setattr(lease_adapter, "time", SimpleNamespace(monotonic=now))
    one = Leases(home.url, "one", lambda: names, take_over, lambda within_s: beats.append(now()))
    one.start()
    try:
        eventually(lambda: all(map(one.holds, names)))
        assert sorted(taken) == names
        assert max(later - earlier for earlier, later in itertools.pairwise(beats)) < DISK_S
    finally:
        one.stop()
        engine.dispose()


def test_companions_at_work_are_known_by_their_names(home: Home) -> None:
    one = Leases(home.url, "1" * 16, lambda: ["temple:templo"], lambda name: None, name="hall-1:8001")
    one.start()
    try:
        eventually(lambda: one.holds("temple:templo"))
        with leasing(home.url, "2" * 16, []) as two:
            eventually(lambda: len(one.workers()) == len(two.workers()) == 2)
            assert [(each.name, each.holder[0]) for each in two.workers()] == [("", "2"), ("hall-1:8001", "1")]
            assert "temple:templo" in two.workers()[1].leases
    finally:
        one.stop()


def test_the_leases_of_a_companion_that_stands_still_go_to_another(home: Home) -> None:
    may_go, stands = threading.Event(), threading.Event()
    taken: list[str] = []
    names = ["temple:templo"]

    def wanted() -> list[str]:
        if stands.is_set():
            assert may_go.wait(PATIENCE_S)
        return names

    frozen = Leases(home.url, "frozen", wanted, lambda name: None)
    frozen.start()
    try:
        eventually(lambda: frozen.holds("temple:templo"))
        stands.set()
        with leasing(home.url, "other", names, taken) as other:
            eventually(lambda: other.holds("temple:templo"))
            assert not frozen.holds("temple:templo")
            assert taken == names
            may_go.set()
    finally:
        may_go.set()
        frozen.stop()


def test_a_lease_lasts_until_it_is_renewed_and_is_taken_over_within_ten_seconds() -> None:
    assert lease_adapter.RENEW_S < lease_adapter.LASTS_S
    assert lease_adapter.LASTS_S + lease_adapter.LOOK_S < 10
