"""The limits of each tenant: refused in players' words with the number, and no other tenant is slowed or stopped."""

from __future__ import annotations

import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace

import pytest
import sqlalchemy as sa

from companion.adapters.database import tenants
from companion.model.table import ServiceError
from companion.model.tenants import Limits
from companion.web import set_limits
from templo import contract
from tests.companion.conftest import SOURCE
from tests.hosted.conftest import PATIENCE_S, TEMPLE, A, B, Companion, eventually, populate, status, token

OPENING = {"game": "market", "title": "Late", "players": "3", "preset": "classic"}


def limit(companion: Companion, tenant: str, **limits: int) -> None:
    """Change limits as the command does, and use the tenant until they hold."""
    found = companion.tenants.get(tenant)
    changed = replace(found.limits, **limits)
    companion.tenants.set_limits(tenant, changed)

    def holds() -> bool:
        with companion.hosted.visit(tenant) as site:
            assert site
            return bool(site.config.tenant.limits == changed)

    eventually(holds)


def counted(companion: Companion, tenant: str) -> int:
    """Return the tokens of a tenant's temple, which may not be known yet."""
    known = companion.of(tenant).temples.find(TEMPLE)
    return known.totals[contract.God.TLALOC] if known else 0


def test_no_more_tables_are_opened_than_a_tenant_may_have(companion: Companion) -> None:
    limit(companion, A, tables=2)
    for _ in range(2):
        assert companion.ask("POST", f"/h/{A}/tables", "", OPENING).status_code == 303
    for language, words in (("en", "2 tables may be in use"), ("es", "puede haber 2 mesas")):
        refused = companion.ask("POST", f"/h/{A}/tables", "", OPENING, **{"Accept-Language": language})
        assert refused.status_code == 422
        assert words in refused.get_data(as_text=True)
    assert companion.ask("POST", f"/h/{B}/tables", "", OPENING).status_code == 303
    assert companion.ask("POST", "/tables", "", OPENING).status_code == 303
    first = companion.of(A).tables.all()[0]
    companion.of(A).tables.close_for_players(first.id)
    assert companion.ask("POST", f"/h/{A}/tables", "", OPENING).status_code == 303


def test_a_table_that_was_left_behind_a_day_ago_does_not_count(companion: Companion) -> None:
    limit(companion, A, tables=1)
    assert companion.ask("POST", f"/h/{A}/tables", "", OPENING).status_code == 303
    companion.clock.pass_(hours=25)
    assert companion.ask("POST", f"/h/{A}/tables", "", OPENING).status_code == 303


def test_a_round_that_would_open_too_many_tables_opens_none(companion: Companion) -> None:
    limit(companion, A, tables=2)
    services = companion.of(A)
    players = "\n".join(f"Player {n}" for n in range(9))
    with pytest.raises(ServiceError) as refused:
        services.rounds.start("moctezuma", "classic", 3, "swiss", players, lambda round_, at: f"{round_}.{at}")
    assert (refused.value.code, refused.value.facts) == ("house_tables", {"most": 2})
    assert not services.tables.all()


def test_no_more_temples_are_admitted_than_a_tenant_may_have(companion: Companion) -> None:
    limit(companion, A, temples=2)
    for tenant in (A, B):
        companion.of(tenant)
        admitted = []
        for n in range(4):
            try:
                companion.publish(tenant, status(f"{n:032x}"), temple=f"temple-{n}")
                admitted.append(n)
            except contract.WireError:
                continue
        assert admitted == ([0, 1] if tenant == A else [0, 1, 2, 3])
    eventually(lambda: len(companion.of(B).temples.all()) == 4)
    eventually(lambda: len(companion.of(A).temples.all()) == 2)


def test_posts_beyond_a_tenant_s_rate_are_refused_and_others_go_on(companion: Companion) -> None:
    with companion.hosted.visit(A) as site:
        assert site
        set_limits(site, replace(site.config.tenant, limits=Limits(posts=1)), lambda: 0.0)
    form = {"code": "ABCDEF"}
    path = f"/h/{A}/organiser/message/end"
    assert [companion.ask("POST", path, "", form).status_code for _ in range(10)] == [403] * 10
    for language, words in (("en", "1 tap a second"), ("es", "1 toque por segundo")):
        refused = companion.ask("POST", path, "", form, **{"Accept-Language": language})
        assert refused.status_code == 429
        assert words in refused.get_data(as_text=True)
        assert refused.headers["Retry-After"] == "1"
    assert companion.ask("GET", f"/h/{A}/").status_code == 200
    assert companion.ask("POST", f"/h/{B}/organiser/message/end", "", form).status_code == 403


def test_posts_of_strangers_silence_nobody_who_has_a_seat_or_is_the_organiser(companion: Companion) -> None:
    """They open nothing by posting where no route is, either."""
    own = populate(companion, A, 1)
    with companion.hosted.visit(A) as site:
        assert site
        set_limits(site, replace(site.config.tenant, limits=Limits(posts=1)), lambda: 0.0)
    for path in ("/nothing", "/t/x/nothing", "/metrics"):
        for _ in range(11):
            assert companion.ask("POST", f"/h/{A}{path}", "", {}).status_code in (404, 405)
    forged = f"seat-{own.table.id}={'0' * 32}; organiser={'0' * 32}"
    rename, end = f"/h/{A}/t/{own.table.id}/rename", f"/h/{A}/organiser/message/end"
    answers = [companion.ask("POST", rename, forged, {"title": "Mine"}).status_code for _ in range(11)]
    assert answers == [403] * 10 + [429]
    assert companion.ask("POST", rename, own.cookies, {"title": "Ours"}).status_code == 303
    assert companion.ask("POST", end, forged).status_code == 429
    assert companion.ask("POST", end, own.cookies).status_code == 303
    answers = [companion.ask("POST", rename, own.cookies, {"title": "Ours"}).status_code for _ in range(9)]
    assert answers == [303] * 8 + [429]


def test_streams_beyond_a_tenant_s_limit_are_refused_and_others_open(companion: Companion) -> None:
    limit(companion, A, streams=2)
    paths = {}
    for tenant in (A, B):
        table = companion.of(tenant).tables.open("market", "Sunday", 3, "classic")
        paths[tenant] = f"/h/{tenant}/t/{table.id}/stream"
    hub = companion.site(A).hub
    held = [hub.open(["table:x"], who=f"10.0.0.{n}") for n in range(2)]
    for language, words in (("en", "2 pages may be open"), ("es", "puede haber 2 páginas")):
        refused = companion.ask("GET", paths[A], **{"Accept-Language": language})
        assert refused.status_code == 503
        assert words in refused.get_data(as_text=True)
    assert companion.ask("GET", paths[B]).status_code == 200
    held[0].leave()
    assert companion.ask("GET", paths[A]).status_code == 200


def test_a_tenant_that_has_stored_all_it_may_stores_no_more_and_its_tokens_wait(companion: Companion) -> None:
    limit(companion, A, mebibytes=1)
    for tenant in (A, B):
        services = companion.of(tenant)
        for n in range(3):  # SQLAlchemy would keep what is equal
            services.tables.open("market", f"{n}", 3, "classic")
        companion.publish(tenant, status(SOURCE))
        with companion.store_of(tenant).transaction() as transaction:
            transaction.set_note("filling", secrets.token_hex(1_200_000))
    companion.forget_sizes()
    for language in ("en", "es"):
        refused = companion.ask("POST", f"/h/{A}/tables", "", OPENING, **{"Accept-Language": language})
        assert refused.status_code == 403
        assert "1 MB" in refused.get_data(as_text=True)
    assert companion.ask("POST", f"/h/{A}/language", "", {"language": "es"}).status_code == 303
    assert companion.ask("GET", f"/h/{A}/tables").status_code == 200
    assert companion.ask("POST", f"/h/{B}/tables", "", OPENING).status_code == 303
    for tenant in (A, B):
        companion.publish(tenant, token(1, SOURCE, companion.clock.now))
    eventually(lambda: counted(companion, B) == 1)
    acknowledged = [each.seq for each in companion.link.under(A, "ack") if isinstance(each, contract.Ack)]
    assert set(acknowledged) <= {0}, "its token stays in the temple's ledger"
    limit(companion, A, mebibytes=100)
    companion.publish(A, token(1, SOURCE, companion.clock.now))
    eventually(lambda: counted(companion, A) == 1)


def test_the_organiser_of_a_tenant_sees_what_it_uses_and_nothing_of_the_installation(companion: Companion) -> None:
    found = companion.tenants.get(A)
    for language, words in (("en", "0 of 50"), ("es", "0 de 50")):
        spoken = {"Accept-Language": language}
        answer = companion.ask("GET", f"/h/{A}/organiser", f"organiser={found.proof}", **spoken)
        text = answer.get_data(as_text=True)
        assert words in text
        assert "127.0.0.1" not in text
    assert companion.ask("POST", f"/h/{A}/setup/network", f"owner={found.proof}", {"wifi": "x"}).status_code == 422
    metrics = companion.ask("GET", f"/h/{A}/metrics").get_data(as_text=True)
    assert "templo_tables" in metrics
    assert not [each for each in ("process_cpu", "templo_broker", "templo_tenants") if each in metrics]
    own = companion.ask("GET", "/metrics").get_data(as_text=True)
    assert "templo_tenants 2" in own
    assert A not in own


def test_no_playtest_of_a_tenant_takes_a_processor(companion: Companion) -> None:
    form = {"game": "mexica", "players": "4", "preset": "classic", "title": "x"}
    answer = companion.ask("POST", f"/h/{A}/games/mexica/playtests", "", form)
    assert answer.status_code == 409
    assert "Playtests are not offered here" in answer.get_data(as_text=True)


def test_wrong_codes_of_one_tenant_lock_nobody_out_of_another(companion: Companion) -> None:
    lockout = companion.site(A).lockout
    for _ in range(700):
        lockout.wrong("10.9.9.9")
    assert companion.ask("GET", f"/h/{A}/j/ABCDEF").status_code == 429
    assert companion.ask("GET", f"/h/{B}/j/ABCDEF").status_code == 403
    assert companion.ask("GET", "/j/ABCDEF").status_code == 403


@pytest.mark.parametrize("tenant", ["", A])
def test_a_connection_that_does_not_become_free_in_time_is_a_failing_store(companion: Companion, tenant: str) -> None:
    """A thread that stores tokens or makes moves waits then, and tries again; anything else would end it."""
    store = companion.store_of(tenant) if tenant else companion.store
    pool = store._engine.pool
    assert isinstance(pool, sa.QueuePool)
    pool._timeout = 0.01
    with ExitStack() as held:
        for _ in range(15):
            held.enter_context(store._engine.connect())
        with pytest.raises(ServiceError, match="store_failing"):
            store.tables()
        with pytest.raises(ServiceError, match="store_failing"), store.transaction():
            pass
    assert store.tables() == []


def test_tables_that_are_opened_at_once_are_no_more_than_a_tenant_may_have(companion: Companion) -> None:
    limit(companion, A, tables=3)
    tables = companion.of(A).tables
    together = threading.Barrier(8)

    def open_one(n: int) -> str:
        together.wait(PATIENCE_S)
        try:
            tables.open("market", f"Table {n}", 3, "classic")
        except ServiceError as error:
            return error.code
        return "opened"

    with ThreadPoolExecutor(8) as pool:
        done = sorted(pool.map(open_one, range(8)))
    assert done == ["house_tables"] * 5 + ["opened"] * 3


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_tenants_that_are_opened_at_the_same_moment_use_a_few_connections(
    companion: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, real, counting = [f"club-{n}" for n in range(8)], tenants.opened, threading.Lock()
    opening = most = 0

    def count(url: str) -> sa.Engine:
        nonlocal opening, most
        with counting:
            opening += 1
            most = max(most, opening)
        time.sleep(0.2)  # long enough for all to come
        try:
            return real(url)
        finally:
            with counting:
                opening -= 1

    for name in names:
        companion.tenants.add(name, Limits(), secrets.token_bytes)
    eventually(lambda: companion.ask("GET", f"/h/{names[-1]}/").status_code == 200)
    monkeypatch.setattr(tenants, "opened", count)
    with ThreadPoolExecutor(len(names)) as pool:
        assert all(pool.map(companion.of, names))
    assert 1 < most < tenants.CONNECTIONS
