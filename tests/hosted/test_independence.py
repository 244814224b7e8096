"""What fails at one tenant leaves every other one served, and is tried again."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from companion.adapters import mqtt_intake, pacer
from companion.adapters.database import tenants
from companion.adapters.database.tenants import lease_of
from companion.adapters.mqtt_intake import Intake
from companion.adapters.pacer import Pacer
from companion.cli.hosting import hosted, in_use, retained
from companion.model.table import ServiceError
from companion.model.tenants import MEBIBYTE, Limits
from templo import contract
from tests.companion.conftest import OTHER, SOURCE
from tests.hosted.conftest import PATIENCE_S, TEMPLE, A, B, Companion, eventually, status, token


def spoil(companion: Companion) -> None:
    """Give tenant A, which is not in use, a table whose row cannot be read."""
    with companion.hosted.visit(A) as site:
        assert site
        site.services.tables.open("market", "Late", 3, "classic")
    engine = sa.create_engine(companion.tenants.url(companion.tenants.get(A)))
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE game_table SET seats = '7'"))
    engine.dispose()
    companion.hosted._close(companion.hosted._open[A])


def stored(companion: Companion, tenant: str) -> int:
    """Return how many tokens are stored at a tenant that its temple's tokens opened."""
    opened = companion.hosted._open.get(tenant)
    known = opened.services.temples.find(TEMPLE) if opened else None
    return sum(known.totals.values()) if known else 0


def arrives(companion: Companion, tenant: str, source: str = SOURCE) -> Callable[[], bool]:
    def look() -> bool:
        companion.publish(tenant, token(1, source, companion.clock.now))
        return stored(companion, tenant) == 1

    return look


def test_a_tenant_whose_rows_cannot_be_read_leaves_the_others_served(companion: Companion) -> None:
    spoil(companion)
    companion.publish(A, token(1, OTHER, companion.clock.now))
    companion.publish(B, status(SOURCE), retained=True)
    eventually(lambda: companion.hosted._attempts.is_failing(A, "opening it"))
    eventually(arrives(companion, B))
    assert A not in companion.hosted._open
    companion.tenants.set_limits(B, Limits(tables=3))
    eventually(lambda: companion.hosted._open[B].tenant.limits.tables == 3)
    companion.tenants.delete(B)
    eventually(lambda: B not in companion.hosted._open)


def test_a_tenant_whose_changes_cannot_be_read_keeps_them_from_no_other(companion: Companion) -> None:
    broken, other = (companion.of(tenant) and companion.hosted._open[tenant] for tenant in (A, B))
    fails = True
    followed = []
    real = broken.workspace.follow_all

    def follow_all() -> None:
        if fails:
            raise ValueError("a row that is none")
        followed.append(A)
        real()

    broken.workspace.follow_all = follow_all  # type: ignore[method-assign]
    other.workspace.follow_all = lambda: followed.append(B)  # type: ignore[method-assign]
    companion.hosted.follow_all()
    assert followed == [B]
    fails = False
    eventually(lambda: followed == [B, A])


def test_the_connection_to_the_broker_never_waits_for_a_size(
    companion: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    companion.of(B)
    companion.publish(B, status(SOURCE), retained=True)
    asked = []
    registry = companion.hosted._registry
    monkeypatch.setattr(registry, "size", lambda tenant: asked.append(threading.current_thread().name) or 0)
    companion.publish(B, token(1, SOURCE, companion.clock.now))
    assert threading.current_thread().name not in asked


def test_a_size_that_cannot_be_measured_stays_what_it_was(
    companion: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    companion.of(A)
    companion.hosted._open[A].stored = 7 * MEBIBYTE

    def fails(tenant: Any) -> int:
        raise ServiceError("store_failing", reason="no answer")

    monkeypatch.setattr(companion.hosted._registry, "size", fails)
    companion.hosted.measure()
    assert companion.hosted._open[A].stored == 7 * MEBIBYTE


def test_what_arrives_while_a_tenant_is_opened_is_not_replaced_by_what_was_remembered(
    companion: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    companion.publish(A, status(SOURCE), retained=True)
    lost = replace(status(SOURCE), state=contract.State.LOST)
    real, live = Intake.start, []

    def start(intake: Intake) -> None:
        real(intake)
        live.append(threading.Thread(target=lambda: companion.publish(A, lost)))
        live[0].start()
        live[0].join(1)  # the connection's thread may have to wait until the tenant is open

    seen = []
    put = Intake.on_message

    def on_message(intake: Intake, topic: str, payload: bytes, retained: bool) -> None:
        seen.append(contract.decode("status", payload))
        put(intake, topic, payload, retained)

    monkeypatch.setattr(Intake, "start", start)
    monkeypatch.setattr(Intake, "on_message", on_message)
    companion.of(A)
    live[0].join()
    assert seen[-1] == lost


def test_a_tenant_that_could_not_be_opened_is_opened_anew(
    companion: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failing = Pacer.start, [True]

    def start(pacer: Pacer) -> None:
        if failing:
            failing.pop()
            raise ServiceError("store_failing", reason="a moment's trouble")
        real(pacer)

    monkeypatch.setattr(Pacer, "start", start)
    companion.publish(A, status(SOURCE), retained=True)
    companion.publish(A, token(1, SOURCE, companion.clock.now))
    eventually(lambda: stored(companion, A) == 1)  # nobody sends it again
    assert companion.hosted._open[A].pacer._thread.is_alive()


def test_what_is_remembered_is_bounded_in_bytes_and_a_tenant_that_floods_loses_its_own(companion: Companion) -> None:
    companion.publish(A, status(SOURCE), retained=True)
    for n in range(1000):
        topic = contract.tenant_topic(B, contract.topic(f"t{n}", "status"))
        companion.hosted.on_message(topic, os.urandom(contract.MAX_PAYLOAD), True)
    kept = companion.hosted._retained
    assert sum(len(payload) for _, payload in kept.of(B)) <= retained.MOST_BYTES_REMEMBERED
    assert len(list(kept.of(A))) == 1


def test_nothing_is_remembered_of_a_tenant_that_does_not_exist(
    companion: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted, "SIZED_S", 0.0)
    companion.publish("nobody", status(SOURCE), retained=True)
    companion.tenants.add("club-c", Limits(), secrets.token_bytes)
    companion.publish("club-c", status(SOURCE), retained=True)
    companion.publish(A, status(SOURCE), retained=True)
    companion.tenants.delete(A)
    kept = companion.hosted._retained
    eventually(lambda: not list(kept.of("nobody")) and not list(kept.of(A)))
    assert len(list(kept.of("club-c"))) == 1


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads that ended by an exception: at each of these the companion stops."""
    names: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda last: names.append(last.thread.name))
    return names


def fail(companion: Companion, thread: str) -> None:
    """Let one of tenant A's threads meet what nobody expected."""
    services = companion.of(A)

    def fails(*_: object) -> Any:
        raise ZeroDivisionError("what nobody expected")

    if thread == "intake":
        services.temples.pass_time = fails  # type: ignore[method-assign]
    else:
        services.tables.find = fails  # type: ignore[method-assign]
        companion.hosted._open[A].pacer.notice("pace:x")


@pytest.mark.parametrize("thread", ["intake", "pacer"])
def test_a_tenant_whose_thread_fails_is_begun_again_alone(
    companion: Companion, ended: list[str], thread: str, caplog: pytest.LogCaptureFixture
) -> None:
    companion.of(B)
    companion.of(A)
    first, other = companion.hosted._open[A], companion.hosted._open[B]
    fail(companion, thread)
    eventually(lambda: ended or companion.hosted._open.get(A) not in (None, first))
    assert not ended, "the whole companion stops"
    eventually(arrives(companion, A))
    eventually(arrives(companion, B, OTHER))
    assert companion.hosted._open[B] is other
    assert "tenant 'club-a': storing its tokens and making the app's moves failed, trying again in 1 s" in caplog.text


def test_a_tenant_whose_threads_cannot_be_started_again_is_opened_again(
    companion: Companion, ended: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, refused = Intake.start, []

    def start(intake: Intake) -> None:
        if not refused:
            refused.append(intake)
            raise RuntimeError("can't start new thread")
        real(intake)

    companion.of(A)
    monkeypatch.setattr(Intake, "start", start)
    fail(companion, "pacer")
    eventually(lambda: refused)
    eventually(arrives(companion, A))
    eventually(arrives(companion, B))
    assert not ended


def test_a_tenant_that_fails_again_and_again_is_tried_after_longer_pauses_and_its_pages_stay(
    companion: Companion, ended: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = Intake._take

    def take(intake: Intake, arrivals: list[Any]) -> bool:
        opened = companion.hosted._open.get(A)
        if opened is not None and opened.intake is intake:
            raise ZeroDivisionError("whatever its rows are like")
        return real(intake, arrivals)

    monkeypatch.setattr(Intake, "_take", take)
    companion.of(A)
    table = companion.of(A).tables.open("market", "Sunday", 3, "classic")
    eventually(lambda: ended or "trying again in 4 s" in caplog.text)
    assert not ended
    assert companion.ask("GET", f"/h/{A}/t/{table.id}").status_code == 200
    eventually(arrives(companion, B))
    monkeypatch.setattr(Intake, "_take", real)
    eventually(arrives(companion, A))


def test_a_tenant_that_failed_says_so_and_another_s_pages_do_not(companion: Companion, ended: list[str]) -> None:
    fail(companion, "intake")
    proofs = {tenant: f"organiser={companion.tenants.get(tenant).proof}" for tenant in (A, B)}

    def shown(tenant: str, language: str) -> str:
        answer = companion.ask("GET", f"/h/{tenant}/organiser", proofs[tenant], **{"Accept-Language": language})
        return answer.get_data(as_text=True)

    eventually(lambda: ended or "are not being stored" in shown(A, "en"))
    assert not ended
    assert "no se guardan" in shown(A, "es")
    for language, words in (("en", "are not being stored"), ("es", "no se guardan")):
        assert words not in shown(B, language)
    assert "templo_tenant_failing 1" in companion.ask("GET", f"/h/{A}/metrics").get_data(as_text=True)
    assert "templo_tenant_failing 0" in companion.ask("GET", f"/h/{B}/metrics").get_data(as_text=True)
    own = companion.ask("GET", "/metrics").get_data(as_text=True)
    assert "templo_tenants_failing 1" in own
    assert A not in own


def test_a_tenant_that_works_for_a_minute_is_well_again(
    companion: Companion, ended: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(companion, "intake")
    eventually(lambda: ended or companion.hosted.hosting().failing)
    assert not ended
    monkeypatch.setattr(hosted, "WELL_AFTER_S", 0.0)
    eventually(lambda: "templo_tenant_failing 0" in companion.ask("GET", f"/h/{A}/metrics").get_data(as_text=True))
    assert not companion.hosted.hosting().failing


def test_a_tenant_whose_thread_is_stuck_is_reported_until_it_goes_on_and_the_others_are_served(
    companion: Companion, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(mqtt_intake, "DISK_S", 2.0)
    go_on = threading.Event()
    services = companion.of(A)
    services.temples.pass_time = lambda: go_on.wait(PATIENCE_S) and None  # type: ignore[method-assign]

    def failing() -> bool:
        return "templo_tenant_failing 1" in companion.ask("GET", f"/h/{A}/metrics").get_data(as_text=True)

    try:
        eventually(lambda: "tenant 'club-a': no progress from: intake" in caplog.text)
        assert failing()
        assert lease_of(companion.tenants.get(A)) not in companion.hosted.leases()
        eventually(arrives(companion, B))
    finally:
        go_on.set()
    eventually(lambda: "tenant 'club-a' makes progress again" in caplog.text)
    eventually(lambda: not failing())


@contextmanager
def stuck_pacer(companion: Companion) -> Iterator[None]:
    """Let tenant A's pacer wait for something for as long as the context lasts."""
    go_on, waits = threading.Event(), threading.Event()
    services = companion.of(A)

    def find(table_id: str | None) -> None:
        waits.set()
        go_on.wait(2 * PATIENCE_S)

    services.tables.find = find  # type: ignore[method-assign]
    companion.hosted._open[A].pacer.notice("pace:x")
    try:
        assert waits.wait(PATIENCE_S)
        yield
    finally:
        go_on.set()


def test_a_tenant_that_is_deleted_while_its_pacer_is_stuck_keeps_nobody_waiting(companion: Companion) -> None:
    with stuck_pacer(companion):
        companion.tenants.delete(A)
        eventually(lambda: companion.ask("GET", f"/h/{A}/").status_code == 404)
        eventually(arrives(companion, B))
        eventually(lambda: companion.hosted.hosting().failing == 1)
    eventually(lambda: companion.hosted.hosting().failing == 0)


def test_a_tenant_whose_pacer_is_stuck_is_not_closed_when_nobody_uses_it(
    companion: Companion, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pacer, "DISK_S", 1.0)
    with stuck_pacer(companion):
        companion.of(B)
        eventually(lambda: "tenant 'club-a': no progress from: pacer" in caplog.text)
        monkeypatch.setattr(in_use, "IDLE_S", 0.2)
        eventually(lambda: B not in companion.hosted._open)
        assert companion.ask("GET", f"/h/{A}/").status_code == 200
    eventually(lambda: A not in companion.hosted._open)


def test_a_tenant_whose_pacer_is_stuck_is_not_begun_again_beside_it(
    companion: Companion, monkeypatch: pytest.MonkeyPatch, ended: list[str]
) -> None:
    """Services that know nothing of each other would both write its rows."""
    monkeypatch.setattr(pacer, "DISK_S", 10 * PATIENCE_S)  # it is stuck, and nobody has noticed
    with stuck_pacer(companion):
        fail(companion, "intake")
        eventually(lambda: companion.ask("GET", f"/h/{A}/").status_code == 503)
        eventually(arrives(companion, B))
    eventually(lambda: companion.ask("GET", f"/h/{A}/").status_code == 200)
    eventually(arrives(companion, A))
    assert not ended


def test_a_failure_beside_a_stuck_pacer_leaves_the_pages(
    companion: Companion, monkeypatch: pytest.MonkeyPatch, ended: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pacer, "DISK_S", 1.0)
    with stuck_pacer(companion):
        eventually(lambda: "tenant 'club-a': no progress from: pacer" in caplog.text)
        fail(companion, "intake")
        eventually(lambda: "moves failed, trying again in 1 s" in caplog.text)
        eventually(arrives(companion, B))
        assert companion.ask("GET", f"/h/{A}/").status_code == 200
    eventually(arrives(companion, A))
    assert not ended


def test_a_list_of_tenants_that_does_not_come_keeps_only_one_waiting(
    companion: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    companion.of(A)
    registry, answers, waits = companion.hosted._registry, threading.Event(), threading.Event()
    every = registry.all

    def wait() -> Any:
        waits.set()
        answers.wait(2 * PATIENCE_S)
        return every()

    monkeypatch.setattr(registry, "all", wait)
    try:
        assert waits.wait(PATIENCE_S)  # the thread that looks after all tenants asks for it every second
        found: list[int] = []
        page = threading.Thread(
            target=lambda: found.append(companion.ask("GET", f"/h/{A}/").status_code), daemon=True
        )
        page.start()
        page.join(PATIENCE_S)
        assert found == [200]
    finally:
        answers.set()


def test_a_tenant_that_takes_long_to_open_keeps_no_other_waiting(
    companion: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, waits = threading.Event(), threading.Event()

    def slow(real: Callable[..., Any]) -> Callable[..., Any]:
        def open_slowly(*given: Any, **named: Any) -> Any:
            if A in str(given[0]) or "club_a" in str(given[0]):
                waits.set()
                goes_on.wait(2 * PATIENCE_S)
            return real(*given, **named)

        return open_slowly

    for name in ("SqlStore", "opened"):
        monkeypatch.setattr(tenants, name, slow(getattr(tenants, name)))
    first = threading.Thread(target=lambda: companion.of(A), daemon=True)
    first.start()
    try:
        assert waits.wait(PATIENCE_S)
        eventually(arrives(companion, B))
    finally:
        goes_on.set()
        first.join(PATIENCE_S)
