"""A tenant is exported and deleted alone: every other one, and the installation itself, is left byte for byte."""

from __future__ import annotations

import hashlib
import io
import secrets
import sqlite3
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from companion.adapters.database.backup import BackupError
from companion.adapters.database.opening import StoreError, sqlite_path
from companion.adapters.database.tenants import FILE, TenantError, Tenants
from companion.cli.command_line import main
from companion.cli.data import tenants as commands
from companion.cli.settings import Settings
from companion.model.ports import StoredToken
from companion.model.table import ServiceError
from companion.model.tenants import Limits, Tenant
from tests.brokers import HOST, free_port
from tests.cases import every_case
from tests.companion.conftest import EVENING
from tests.hosted.conftest import OWN, TEMPLE, TENANTS, A, B, Companion, Populated, eventually, populate, token
from tests.hosted.test_apart import rows
from tests.path.conftest import Program


@pytest.fixture
def everybody(companion: Companion) -> dict[str, Populated]:
    return {tenant: populate(companion, tenant, number) for number, tenant in enumerate(TENANTS)}


@pytest.fixture
def settings(url: str, tmp_path: Path) -> Settings:
    return Settings(store=url, state=str(tmp_path), hosted="on")


def do(
    settings: Settings,
    what: str,
    name: str = "",
    typed: str = "",
    file: Path | None = None,
    entropy: Callable[[int], bytes] = secrets.token_bytes,
    **limits: int,
) -> str:
    out = io.StringIO()
    world = commands.World(lambda: EVENING, entropy, lambda: typed, out)
    assert commands.tenant(settings, commands.Wanted(what, name, file, limits), world) == 0
    return out.getvalue()


def files(settings: Settings, but: str = "") -> dict[str, str]:
    """Return a digest of every database's file, but those of one tenant; none on PostgreSQL."""
    path = sqlite_path(settings.store_url)
    if path is None:
        return {}
    found = [path, *(path.parent / "tenants").glob("*.sqlite")]
    kept = [each for each in found if not each.name.startswith(f"{but}.") and each.name != "tenants.sqlite"]
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in kept}


def test_an_export_holds_one_tenant_whole_and_becomes_another_installation_s(
    companion: Companion, everybody: dict[str, Populated], settings: Settings, tmp_path: Path
) -> None:
    before = {tenant: rows(companion, tenant) for tenant in TENANTS}
    with unchanged(companion, settings):
        assert "1 temple, 1 token" in do(settings, "export", A, file=tmp_path / "a.sqlite")
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as exported:
        text = "\n".join(exported.iterdump())
    assert everybody[A].marks[0] in text
    assert not [mark for each in (OWN, B) for mark in everybody[each].marks if mark in text]
    do(settings, "add", "club-c", file=tmp_path / "a.sqlite")
    assert rows(companion, "club-c") == before[A]
    eventually(lambda: companion.ask("GET", f"/h/club-c/t/{everybody[A].table.id}").status_code == 200)
    with pytest.raises(Exception, match="there already"):
        do(settings, "export", B, file=tmp_path / "a.sqlite")


def test_the_story_of_a_table_is_its_own_although_a_copied_tenant_has_the_same_table(
    companion: Companion, everybody: dict[str, Populated], settings: Settings, tmp_path: Path
) -> None:
    table = everybody[A].table
    do(settings, "export", A, file=tmp_path / "a.sqlite")
    do(settings, "add", "club-c", file=tmp_path / "a.sqlite")
    path = f"t/{table.id}/story"
    eventually(lambda: companion.ask("GET", f"/h/club-c/{path}").status_code == 200)
    for tenant, name in ((A, "Xochitl"), ("club-c", "Yaotl")):
        companion.of(tenant).seats.sit(table.id, table.code, "north", name)
    assert "Xochitl" in companion.ask("GET", f"/h/{A}/{path}").get_data(as_text=True)
    copied = companion.ask("GET", f"/h/club-c/{path}").get_data(as_text=True)
    assert ("Xochitl" in copied, "Yaotl" in copied) == (False, True)


@contextmanager
def unchanged(companion: Companion, settings: Settings) -> Iterator[None]:
    before, of_files = {tenant: rows(companion, tenant) for tenant in TENANTS}, files(settings)
    yield
    assert {tenant: rows(companion, tenant) for tenant in TENANTS} == before
    assert files(settings) == of_files


def test_a_deleted_tenant_is_gone_and_every_other_is_byte_identical(
    companion: Companion, everybody: dict[str, Populated], settings: Settings
) -> None:
    others = [OWN, B]
    before, of_files = {each: rows(companion, each) for each in others}, files(settings, but=A)
    stream = companion.site(A).hub.open(["tables"])
    assert "Deleted club-a" in do(settings, "delete", A, typed=f"{A}\n")
    eventually(lambda: companion.ask("GET", f"/h/{A}/").status_code == 404)
    eventually(lambda: stream.ended)
    assert {each: rows(companion, each) for each in others} == before
    assert files(settings, but=A) == of_files
    for each in others:
        prefix = f"/h/{each}" if each else ""
        assert companion.ask("GET", f"{prefix}/t/{everybody[each].table.id}").status_code == 200
    assert A not in do(settings, "list")
    nothing_left(settings, everybody[A])
    with pytest.raises(TenantError, match="was until it was deleted"):
        do(settings, "add", A)


def nothing_left(settings: Settings, gone: Populated) -> None:
    path = sqlite_path(settings.store_url)
    if path is None:
        engine = sa.create_engine(settings.store_url)
        with engine.connect() as connection:
            left = connection.exec_driver_sql(
                "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, 'tenant_club_a')"
            ).all()
            known = connection.exec_driver_sql("SELECT * FROM tenant").all()
        engine.dispose()
        assert not [each for each in left if each[0].endswith(key_of(known))]
        return
    eventually(lambda: not list((path.parent / "tenants").glob("club-a.*")))
    stored = b"".join(each.read_bytes() for each in path.parent.rglob("*.sqlite*"))
    assert not [mark for mark in gone.marks if mark.encode() in stored]


def size(settings: Settings, of: Tenant) -> int:
    with closing(Tenants(settings.store_url)) as tenants:
        return tenants.size(of)


def test_copies_are_not_counted_as_stored_and_are_deleted_with_their_tenant(
    companion: Companion, settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "companion.toml"
    file.write_text(f'store = "{settings.store}"\nstate = "{settings.state}"\n')
    made = companion.tenants.get(A)
    assert main(["backup", str(tmp_path / "a.sqlite"), "--tenant", A, "--config", str(file)]) == 0
    before = size(settings, made)
    assert main(["restore", str(tmp_path / "a.sqlite"), "--tenant", A, "--config", str(file)]) == 0
    assert len(copies := list(tmp_path.rglob("*replaced-*"))) == 1
    assert size(settings, made) < before + 100_000
    do(settings, "delete", A, typed=A)
    assert not copies[0].exists()
    assert not [each for each in tmp_path.rglob("*") if made.place in each.name]


def test_a_command_works_on_one_tenant_and_on_no_other(
    companion: Companion, everybody: dict[str, Populated], settings: Settings, tmp_path: Path, capsys: Any
) -> None:
    file = tmp_path / "companion.toml"
    file.write_text(f'store = "{settings.store}"\nstate = "{settings.state}"\n')
    store = companion.store_of(A)
    assert main(["backup", str(tmp_path / "a.sqlite"), "--tenant", A, "--config", str(file)]) == 0
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as made:
        text = "\n".join(made.iterdump())
    assert everybody[A].marks[0] in text
    assert not [mark for each in (OWN, B) for mark in everybody[each].marks if mark in text]
    stranger = token(7, "e" * 32, EVENING)
    with store.transaction() as transaction:
        transaction.quarantine([StoredToken(TEMPLE, stranger, EVENING)])
    for tenant, held in ((A, True), (B, False), (OWN, False)):
        given = ["--tenant", tenant] if tenant else []
        capsys.readouterr()
        assert main(["held", "list", *given, "--config", str(file)]) == 0
        assert (stranger.token[:8] in capsys.readouterr().out) is held, tenant
    before = {each: rows(companion, each) for each in (OWN, B)}
    assert main(["held", "dismiss", "--all", "--tenant", A, "--config", str(file)]) == 0
    assert {each: rows(companion, each) for each in (OWN, B)} == before
    assert main(["held", "list", "--tenant", "club-x", "--config", str(file)]) == 2
    assert "expected one of club-a" in capsys.readouterr().err


def test_a_request_that_outlives_its_tenant_makes_no_file_again(companion: Companion, settings: Settings) -> None:
    services, store = companion.of(A), companion.store_of(A)
    do(settings, "delete", A, typed=A)
    eventually(lambda: A not in companion.hosted._open)
    store._engine.dispose()
    with pytest.raises(ServiceError, match="store_failing"):
        services.tables.open("market", "Late", 3, "classic")
    if path := sqlite_path(settings.store_url):
        assert not list((path.parent / "tenants").glob("club-a*"))


def test_a_tenant_that_an_earlier_list_does_not_name_keeps_what_it_has_stored(
    companion: Companion, everybody: dict[str, Populated], settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    path, page = sqlite_path(settings.store_url), f"/h/{B}/t/{everybody[B].table.id}"
    engine = sa.create_engine(f"sqlite:///{path.parent / 'tenants' / FILE}" if path else settings.store_url)
    with engine.begin() as connection:
        listed = connection.exec_driver_sql("SELECT * FROM tenant WHERE name = 'club-b'").mappings().one()
        connection.exec_driver_sql("DELETE FROM tenant WHERE name = 'club-b'")
    eventually(lambda: companion.ask("GET", page).status_code == 404)
    eventually(lambda: "tenant 'club-b' is in use and not in the list of tenants" in caplog.text)
    assert B not in companion.hosted._open
    with engine.begin() as connection:
        connection.execute(sa.table("tenant", *map(sa.column, listed)).insert(), [dict(listed)])
    engine.dispose()
    eventually(lambda: companion.ask("GET", page).status_code == 200)


def test_a_deletion_leaves_a_tenant_whose_name_begins_alike(companion: Companion, settings: Settings) -> None:
    for name in ("club", "club-a-b"):
        do(settings, "add", name)
    for name in ("club", A):
        do(settings, "delete", name, typed=name)
    for name in (B, "club-a-b"):
        eventually(lambda name=name: companion.ask("GET", f"/h/{name}/").status_code == 200)


def test_no_more_tenants_are_open_than_a_broker_s_connection_bears(
    companion: Companion, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("companion.adapters.database.tenants.MOST_FILES", 1)
    companion.of(A)
    if sqlite_path(settings.store_url) is None:
        companion.of(B)
        return
    with pytest.raises(ServiceError) as refused:
        companion.of(B)
    assert "1 tenants are in use; expected fewer at a time with SQLite" in str(refused.value.facts["reason"])
    assert companion.ask("GET", f"/h/{B}/").status_code == 503
    do(settings, "delete", A, typed=A)
    eventually(lambda: A not in companion.hosted._open)
    eventually(lambda: companion.ask("GET", f"/h/{B}/").status_code == 200)


def key_of(known: object) -> str:
    found = next(row for row in known if row[0] == A)  # type: ignore[attr-defined]
    return str(found[1])


@every_case("typed", ["", "\n", "club-b\n", "yes\n", "CLUB-A\n"], ids=repr)
def test_nothing_is_deleted_unless_the_name_is_typed(companion: Companion, settings: Settings, typed: str) -> None:
    with pytest.raises(TenantError, match="Nothing was deleted"):
        do(settings, "delete", A, typed=typed)
    assert companion.ask("GET", f"/h/{A}/").status_code == 200


def test_a_deletion_that_was_interrupted_is_finished_by_the_next(companion: Companion, settings: Settings) -> None:
    engine = companion.tenants._opened()
    assert engine
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE tenant SET state = 'changing' WHERE name = 'club-a'")
    eventually(lambda: companion.ask("GET", f"/h/{A}/").status_code == 404)
    assert "Deleted" in do(settings, "delete", A, typed=A)


@every_case("name", ["", "A", "a/b", "a.b", "../x", "x" * 33, "a b", "-a", 'a"; DROP TABLE tenant'], ids=repr)
def test_what_is_no_name_is_refused(settings: Settings, name: str) -> None:
    with pytest.raises(TenantError, match="expected 1 to 32"):
        do(settings, "add", name)


@every_case("limits", [{"tables": 0}, {"posts": -1}, {"streams": 1_000_001}])
def test_a_limit_that_is_none_is_refused(companion: Companion, settings: Settings, limits: dict[str, int]) -> None:
    with pytest.raises(TenantError, match="expected a whole number from 1"):
        do(settings, "limits", A, **limits)
    assert companion.tenants.get(A).limits == Limits()


def test_the_commands_say_what_they_did(companion: Companion, settings: Settings) -> None:
    added = do(settings, "add", "club-d", tables=3)
    code = do(settings, "code", "club-d").strip()
    assert code in added
    assert "/h/club-d/" in added
    assert "tables 3" in do(settings, "list")
    assert "posts 7" in do(settings, "limits", "club-d", posts=7)
    assert companion.tenants.get("club-d").limits == replace(Limits(), tables=3, posts=7)
    with pytest.raises(TenantError, match="expected one of club-a"):
        do(settings, "code", "club-x")


def test_a_tenant_that_cannot_be_made_of_an_export_leaves_its_name_free(
    companion: Companion, settings: Settings, tmp_path: Path
) -> None:
    do(settings, "export", A, file=tmp_path / "a.sqlite")
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as exported, exported:
        exported.execute("UPDATE about SET value = '9' WHERE key = 'schema'")
    with pytest.raises((StoreError, BackupError)):
        do(settings, "add", "club-c", file=tmp_path / "a.sqlite")
    assert "club-c" not in do(settings, "list")
    assert not list(tmp_path.rglob("*club-c*"))
    assert "Added club-c" in do(settings, "add", "club-c")


def test_a_tenant_without_a_place_is_a_plain_error_and_leaves_its_name_free(
    companion: Companion, settings: Settings, tmp_path: Path
) -> None:
    """The database's user may make no schema, or no file can be where the tenant's is to be."""
    role, key = f"weak_{secrets.token_hex(4)}", b"\1\2\3\4"
    refused = settings
    if sqlite_path(settings.store_url):
        (tmp_path / "tenants" / f"club-c.{key.hex()}.sqlite").mkdir()
    else:
        made = sa.make_url(settings.store_url)
        engine = sa.create_engine(made)
        with engine.begin() as connection:
            schema = connection.exec_driver_sql("SELECT current_schema()").scalar_one()
            connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN PASSWORD 'weak'")
            connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
            connection.exec_driver_sql(f"GRANT SELECT, INSERT, UPDATE, DELETE ON tenant TO {role}")
        engine.dispose()
        weak = made.set(username=role, password="weak")  # of a server that ends with this test
        refused = replace(settings, store=weak.render_as_string(hide_password=False))
    with pytest.raises(StoreError):
        do(refused, "add", "club-c", entropy=lambda size: key * (size // 4))
    assert "club-c" not in do(settings, "list")
    assert "Added club-c" in do(settings, "add", "club-c")


def test_the_first_tenants_may_be_added_at_the_same_moment(url: str) -> None:
    together, names = threading.Barrier(6), [f"club-{number}" for number in range(6)]

    def add(name: str) -> Tenant:
        with closing(Tenants(url)) as tenants:
            together.wait(60)
            return tenants.add(name, Limits(), secrets.token_bytes)

    with ThreadPoolExecutor(6) as pool:
        assert [tenant.name for tenant in pool.map(add, names)] == names


def test_an_installation_that_hosts_nobody_has_no_trace_of_tenants(url: str, tmp_path: Path) -> None:
    file, port = tmp_path / "companion.toml", free_port()
    broker = f'[broker]\nhost = "{HOST}"\nport = {free_port()}\n'
    file.write_text(f'hosted = "off"\nstore = "{url}"\nstate = "{tmp_path / "state"}"\n{broker}')
    program = Program(
        ["companion", "run", "--config", str(file), "--host", HOST, "--port", str(port)], "ready ", tmp_path / "log"
    )
    program.start()
    try:
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://{HOST}:{port}/h/{A}/", timeout=60)
    finally:
        program.stop()
    assert do(Settings(store=url, state=str(tmp_path)), "list") == "There are no tenants.\n"
    assert not [each.name for each in tmp_path.rglob("*tenant*")]
    engine = sa.create_engine(url)
    assert sa.inspect(engine).get_table_names()
    assert not [name for name in sa.inspect(engine).get_table_names() if "tenant" in name]
    engine.dispose()
