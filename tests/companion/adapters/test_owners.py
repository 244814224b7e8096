"""Several companions on one PostgreSQL: each table has one owner at a time, and the others follow."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from companion.adapters.database import owners
from companion.games.kit import Move
from companion.model.history import replay_log
from companion.model.ports import HISTORY, LEFT_OUT, Conflict, KnownTokens, OldTokens, Transaction
from companion.model.table import Entry, ServiceError, Table
from companion.service.play import Played
from companion.service.services import Services
from companion.service.tables import Opening
from templo import contract
from tests.companion.adapters.test_intake import status
from tests.companion.conftest import OTHER, SOURCE, Home
from tests.databases import postgres

PATIENCE_S = 180
EACH = 30


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
    """Two companions on one database, which follow each other when they `look`."""
    homes = companion(url, "one"), companion(url, "two")
    yield homes
    for home in homes:
        home.close()


# -- pages follow --


def test_a_move_at_one_companion_reaches_the_pages_of_the_other(pair: tuple[Home, Home]) -> None:
    one, two = pair
    table = one.table()
    phone = one.seated(table)
    two.look()
    assert two.services.tables.get(table.id) == one.services.tables.get(table.id)
    two.changes.clear()
    one.play(table, phone, "east", "end_turn")
    assert two.services.tables.get(table.id).on_turn == "east"  # until it looks again
    two.look()
    assert f"table:{table.id}" in two.changes
    assert two.services.tables.get(table.id).on_turn == "north"
    assert two.services.seats.held(table.id, phone) == ("east",)


def test_the_organiser_s_message_at_one_companion_is_on_the_pages_of_the_other(pair: tuple[Home, Home]) -> None:
    one, two = pair
    assert two.services.messages.text == ""
    one.services.messages.send("Pizza", 10)
    two.look()
    assert "note:message" in two.changes
    assert two.services.messages.text == "Pizza"


def test_a_setup_that_was_finished_at_one_companion_is_finished_at_the_other(pair: tuple[Home, Home]) -> None:
    one, two = pair
    assert not two.services.setup.finished
    one.services.setup.rename("The hall")
    one.services.setup.finish()
    two.look()
    assert two.services.setup.finished
    assert two.services.setup.name == "The hall"


def test_the_end_of_an_event_at_one_companion_is_its_end_at_the_other(pair: tuple[Home, Home]) -> None:
    one, two = pair
    one.services.rounds.start("mexica", "temple_only", 2, "swiss", "Ana\nBen", lambda *_: "First table")
    two.look()
    assert two.services.rounds.page() is not None
    one.services.rounds.end()
    two.look()
    assert two.services.rounds.page() is None


def test_a_table_at_which_nobody_looks_is_not_read(pair: tuple[Home, Home], monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = pair
    two.look()
    read: list[str] = []
    entries = two.store.entries

    def counted(table_id: str, after: int = 0) -> object:
        read.append(table_id)
        return entries(table_id, after)

    monkeypatch.setattr(two.store, "entries", counted)
    table = one.table()
    phone = one.seated(table)
    one.play(table, phone, "east", "end_turn")
    two.look()
    assert read == []
    assert two.services.tables.by_code(table.code).on_turn == "north"
    assert read == [table.id]
    two.look()
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
    table = one.table(temple="templo")
    two.look()
    one.services.temples.intake.receive([("templo", one.token(n)) for n in (1, 2, 3)])
    two.look()
    temple, other = one.services.temples.get("templo"), two.services.temples.get("templo")
    assert len(other.recent) == 3
    assert (temple.recent, temple.totals, temple.falls) == (other.recent, other.totals, other.falls)
    assert two.services.temples.ledgers.mark(SOURCE) == one.services.temples.ledgers.mark(SOURCE)
    assert two.services.tables.get(table.id) == one.services.tables.get(table.id)


def test_after_a_restart_of_the_database_nothing_is_missed() -> None:
    with postgres() as server:
        url = server.url()
        one, two = companion(url, "one"), companion(url, "two")
        table = one.table()
        two.look()
        server.kill()
        server.start()
        phone = one.seated(table)
        one.play(table, phone, "east", "end_turn")
        late = one.table()
        two.look()
        assert late.id in two.workspace.tables
        assert two.services.tables.get(table.id).on_turn == "north"
        one.close()
        two.close()


# -- nothing depends on when one looks at the others --


def test_a_token_falls_at_the_table_to_which_another_companion_moved_its_temple(pair: tuple[Home, Home]) -> None:
    one, two = pair
    before = one.table(temple="templo")
    two.look()
    after = one.table()
    one.services.temples.serving.serve(after.id, "templo")
    two.services.temples.intake.receive([("templo", two.token(1))])
    assert [each.token.seq for each in one.store.table_tokens(after.id)] == [1]
    assert one.store.table_tokens(before.id) == ()
    assert two.services.temples.get("templo").table_id == after.id


def test_a_temple_that_two_companions_move_at_once_serves_one_table(pair: tuple[Home, Home]) -> None:
    one, two = pair
    tables = [one.table(temple="templo"), one.table()]
    two.look()

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
    two.look()
    one.services.temples.intake.receive([("templo", one.token(n)) for n in range(1, 6)])
    (receipt,) = two.services.temples.intake.receive([("templo", two.token(1))])
    assert receipt.seq == 5
    assert one.store.marks()[SOURCE].seq == 5


def test_two_companions_that_draw_one_code_open_tables_with_two(url: str) -> None:
    one, two = companion(url, "same"), companion(url, "same")
    first, second = one.table(), two.table()
    assert first.code != second.code
    assert first.id != second.id
    two.look()
    assert {table.id for table in two.services.tables.all()} == {first.id, second.id}
    one.close()
    two.close()


def test_one_post_to_two_companions_opens_one_table(pair: tuple[Home, Home]) -> None:
    for home in pair:
        home.services.temples.expect("templo")

    def opened(home: Home, table_id: str) -> str:
        opening = Opening(table_id=table_id)
        return home.services.tables.open("mexica", "Sunday", 4, "temple_only", {}, "templo", opening).id

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
    two.look()
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
        home.look()
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
    one.services.temples.expect("templo")
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
    one.services.temples.expect("templo")
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
    two.look()
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


# -- both change one table --


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


def test_two_companions_on_one_database_lose_no_move_and_leave_no_gap(pair: tuple[Home, Home]) -> None:
    home, other = pair[0], pair[1].services
    table = home.table()
    phone = home.seated(table)

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


def test_a_post_that_another_companion_made_stale_is_refused_by_the_true_table(pair: tuple[Home, Home]) -> None:
    home, other = pair[0], pair[1].services
    table = home.table()
    east, north = home.seated(table), home.seated(table, "north", "Beto")
    version = home.services.tables.get(table.id).version
    assert home.services.play.move(table.id, east, "east", Move("end_turn"), version, "ends").accepted
    late = other.play.move(table.id, east, "east", Move("end_turn"), version, "late")
    assert (late.accepted, late.stale, late.table.on_turn) == (False, True, "north")
    assert give(other, table, north, "north", 2, "then").accepted
    assert [entry.request for entry in check_log(home, table)][-2:] == ["ends", "then"]


def test_a_post_that_only_the_other_companion_s_moves_allow_is_accepted(pair: tuple[Home, Home]) -> None:
    home, other = pair[0], pair[1].services
    table = home.table()
    east, north = home.seated(table), home.seated(table, "north", "Beto")
    home.play(table, east, "east", "end_turn")
    version = home.services.tables.get(table.id).version
    played = other.play.move(table.id, north, "north", Move("end_turn"), version, "north-ends")
    assert played.accepted
    assert played.table.on_turn == "west"


def test_one_post_that_reaches_both_companions_is_one_move(pair: tuple[Home, Home]) -> None:
    home, other = pair[0], pair[1].services
    table = home.table()
    phone = home.seated(table)
    version = home.services.tables.get(table.id).version
    move = Move("sacrifice", ("tlaloc", 1))

    with ThreadPoolExecutor(2) as threads:
        posts = [
            threads.submit(services.play.move, table.id, phone, "east", move, version, "tap")
            for services in (home.services, other)
        ]
        assert [post.result(PATIENCE_S).accepted for post in posts] == [True, True]
    assert [entry.request for entry in check_log(home, table)].count("tap") == 1


def test_one_seat_is_given_to_one_phone_by_two_companions(pair: tuple[Home, Home]) -> None:
    home, other = pair[0], pair[1].services
    table = home.table()
    ana = home.seated(table)
    with pytest.raises(ServiceError, match="seat_taken"):
        other.seats.sit(table.id, table.code, "east", "Beto")
    assert other.seats.held(table.id, ana) == ("east",)


def test_a_token_and_another_companion_s_move_are_both_in_the_log(pair: tuple[Home, Home]) -> None:
    home, other = pair[0], pair[1].services
    table = home.table(temple="templo")
    phone = home.seated(table)
    assert give(home.services, table, phone, "east", 1, "before").accepted
    other.temples.intake.receive([("templo", home.token(1))])
    assert give(home.services, table, phone, "east", 1, "after").accepted
    assert [entry.by for entry in check_log(home, table)][-3:] == ["east", "temple", "east"]


def test_one_token_that_two_companions_receive_is_stored_once(pair: tuple[Home, Home]) -> None:
    home, other = pair[0], pair[1].services
    table = home.table(temple="templo")
    for services in (home.services, other):
        (receipt,) = services.temples.intake.receive([("templo", home.token(1)), ("templo", home.token(2))])
        assert (receipt.seq, receipt.gap) == (2, False)
    assert [entry.by for entry in check_log(home, table)].count("temple") == 2


def test_a_pairing_code_that_two_companions_use_at_once_is_used_once(pair: tuple[Home, Home]) -> None:
    code = pair[0].services.pairing.issue("attic", "")

    def use(home: Home) -> str:
        try:
            home.services.pairing.use(code)
        except ServiceError as error:
            return error.code
        return ""

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(use, pair)) == ["", "used_pairing_code"]


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


def test_the_reply_to_a_request_reaches_the_companion_that_sent_it(alive: tuple[Home, Home]) -> None:
    one, two = alive
    command = send(one, "first")
    two.services.temples.intake.receive([("templo", two.token(1))])  # it owns the temple from now on
    one.look()
    for home in alive:  # the broker carries what a temple says to all
        home.services.temples.requests.receive_reply("templo", replied(command))
    request = one.services.temples.get("templo").request
    assert request is not None
    assert request.stage == "answered"
    assert two.services.temples.get("templo").request is None


def test_a_table_opened_elsewhere_is_found_by_its_code_at_once(pair: tuple[Home, Home]) -> None:
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


# -- owners --


def test_a_table_has_the_owner_at_which_it_was_changed_last(pair: tuple[Home, Home]) -> None:
    one, two = pair
    table = one.table()
    assert one.services.tables.is_own(table.id)
    phone = two.seated(table)
    assert two.services.tables.is_own(table.id)
    one.look()
    assert not one.services.tables.is_own(table.id)
    assert one.play(table, phone, "east", "end_turn").accepted
    two.look()
    assert (one.services.tables.is_own(table.id), two.services.tables.is_own(table.id)) == (True, False)


def test_a_table_goes_to_the_companion_where_somebody_opens_its_page(pair: tuple[Home, Home]) -> None:
    one, two = pair
    table = one.table(temple="templo")
    two.look()
    assert two.services.tables.visit(table.id).id == table.id
    one.look()
    assert (one.services.tables.is_own(table.id), two.services.tables.is_own(table.id)) == (False, True)


def test_a_temple_and_its_table_have_one_owner(pair: tuple[Home, Home]) -> None:
    one, two = pair
    table = one.table(temple="templo")
    two.seated(table)
    assert two.services.temples.is_own("templo")
    one.services.temples.intake.receive([("templo", one.token(1))])
    assert one.services.tables.is_own(table.id)
    assert one.services.temples.is_own("templo")


def test_an_owner_that_stands_still_between_reading_and_committing_changes_nothing(
    pair: tuple[Home, Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = pair
    table = one.table()
    phone = one.seated(table)
    version = one.services.tables.get(table.id).version
    refused: list[str] = []
    begin = one.store.transaction

    @contextmanager
    def stand_still() -> Iterator[Transaction]:
        monkeypatch.undo()
        assert two.play(table, phone, "east", "end_turn", version=version).accepted  # two takes over, and plays
        try:
            with begin() as transaction:
                yield transaction
        except Conflict as conflict:
            refused.append(str(conflict))
            raise

    monkeypatch.setattr(one.store, "transaction", stand_still)
    played = one.services.play.move(table.id, phone, "east", Move("end_turn"), version, "late")
    assert len(refused) == 1
    assert "have another owner" in refused[0]
    assert (played.accepted, played.stale) == (False, True)
    assert [entry.n for entry in two.store.entries(table.id)] == list(range(1, played.table.version + 1))


def test_a_companion_whose_lease_has_ended_owns_nothing_until_it_has_read_it_again(
    pair: tuple[Home, Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = pair
    table = one.table()
    phone = one.seated(table)
    later = time.monotonic() + owners.LASTS_S + 1
    monkeypatch.setattr(owners, "time", SimpleNamespace(monotonic=lambda: later))
    assert not one.services.tables.is_own(table.id)
    one.look()
    assert one.services.tables.is_own(table.id)
    assert one.play(table, phone, "east", "end_turn").accepted


def test_what_a_dead_companion_owned_goes_to_another(pair: tuple[Home, Home]) -> None:
    one, two = pair
    table = one.table(temple="templo")
    taken: list[str] = []
    two.workspace.on_taken.append(taken.append)
    two.look()
    assert taken == []
    one.owners.stop()  # type: ignore[union-attr]  # its lease ends at once
    two.look()
    assert {f"table:{table.id}", "temple:templo"} <= {*taken}
    assert two.services.tables.is_own(table.id)
    assert two.services.temples.is_own("templo")


def test_a_temple_that_no_companion_owns_goes_to_one_of_them(alive: tuple[Home, Home]) -> None:
    one, _ = alive
    assert [each.services.temples.is_own("templo") for each in alive] == [False, False]
    for home in alive * 2:
        home.look()
    assert sorted(each.services.temples.is_own("templo") for each in alive) == [False, True]
    assert [temple.name for temple in one.store.temples()] == ["templo"]


def test_tables_of_a_restored_backup_have_an_owner_when_a_companion_starts(pair: tuple[Home, Home]) -> None:
    one, two = pair
    table = one.table()
    one.owners.release(f"table:{table.id}")  # type: ignore[union-attr]
    two.restart()
    two.look()
    assert two.services.tables.is_own(table.id)


def test_running_companions_are_known_by_their_names(url: str) -> None:
    first, second = companion(url, "one"), companion(url, "two")
    first.services.temples.expect("templo")
    assert first.owners
    assert second.owners
    second.look()
    listed = second.owners.companions()
    assert sorted((each.temples, each.is_own) for each in listed) == [(0, True), (1, False)]
    first.close()
    second.look()
    assert [each.is_own for each in second.owners.companions()] == [True]
    second.close()


def test_a_wrong_code_at_one_companion_is_counted_by_the_others(pair: tuple[Home, Home]) -> None:
    one, two = pair
    assert one.owners
    assert two.owners
    counted: list[str] = []
    one.owners.count_wrong = two.owners.count_wrong = counted.append
    one.owners.announce_wrong("192.0.2.1")
    one.owners.announce_wrong("192.0.2.1")
    for each in (one, two, two):
        each.look()
    assert counted == ["192.0.2.1", "192.0.2.1"]


def test_a_dead_owner_s_lease_ends_within_ten_seconds() -> None:
    assert owners.LASTS_S + owners.LOOK_S < 10
    assert owners.ADOPT_S + owners.LOOK_S < owners.LASTS_S
