"""A damaged database is recognised by reading it, whatever is damaged, and what can be read of it is counted."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from companion.adapters.database import backup
from companion.adapters.database.damage import Count, Damage, find_damage
from companion.adapters.database.opening import PAGE, StoreError
from companion.adapters.database.sql_store import SqlStore
from companion.model.table import ServiceError
from tests.companion.conftest import EVENING, Home


@cache
def evening() -> bytes:
    """Return the database of an evening with three tables, each with a temple and its tokens."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "companion.sqlite"
        home = Home(f"sqlite:///{path}")
        for number in range(3):
            name = f"temple-{number}"
            home.seated(home.table(temple=name))
            source = f"{number}" * 32
            home.services.temples.intake.receive([(name, home.token(seq, source=source)) for seq in range(1, 40)])
        home.store.close()
        return path.read_bytes()


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def served(path: Path) -> list[str]:
    """Start on a database; return the titles of its tables, those that stay closed among them."""
    home = Home(url(path))
    try:
        open_tables = [table.charter.title for table in home.services.tables.all()]
        return [*open_tables, *(title for title, _ in home.workspace.tables.unreadable)]
    finally:
        home.store.close()


def with_page(content: bytes, number: int) -> bytes:
    """Return a database with random bytes in place of a page, counted from 0."""
    noise = random.Random(number).randbytes(PAGE)
    return content[: number * PAGE] + noise + content[(number + 1) * PAGE :]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "companion.sqlite"
    path.write_bytes(evening())
    return path


def test_a_sound_database_has_no_damage(path: Path) -> None:
    assert find_damage(url(path)) is None


def test_there_is_no_damage_where_there_is_no_file_or_no_sqlite(tmp_path: Path) -> None:
    assert find_damage(url(tmp_path / "companion.sqlite")) is None
    assert find_damage("postgresql://nobody@localhost/nothing") is None
    assert find_damage("this is no URL") is None


def test_a_database_of_a_newer_release_is_not_damaged(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("UPDATE about SET value = '999' WHERE key = 'schema'")
        store.execute("ALTER TABLE entry RENAME COLUMN move TO moved")
    assert find_damage(url(path)) is None


def test_a_database_that_another_program_holds_is_not_damaged(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        assert find_damage(f"{url(path)}") is None


def test_after_any_page_is_overwritten_every_game_is_served_or_the_damage_is_found(path: Path) -> None:
    for number in range(len(evening()) // PAGE):
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        path.write_bytes(with_page(evening(), number))
        try:
            titles = served(path)
        except Exception:
            assert find_damage(url(path)) is not None, f"page {number}"
        else:
            assert titles == ["Sunday"] * 3, f"page {number}"


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def emptied(content: bytes) -> bytes:
    return content[:0]


def no_database(content: bytes) -> bytes:
    return b"<this is no database>" * (len(content) // 21)


def replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Return what replaces some bytes by as many others, everywhere: older pages may still have them."""
    assert len(old) == len(new)
    return lambda content: content.replace(old, new)


SPOILED: Mapping[str, Callable[[bytes], bytes]] = {
    "a cut file": cut,
    "an empty file": emptied,
    "no database": no_database,
    "another name of a table": replaced(b"tableentryentry", b"tableentsyentsy"),
    "another name of a column": replaced(b"opened_at BIGINT", b"opened_au BIGINT"),
    "a schema that is no statement": replaced(b"CREATE TABLE temple", b"CREATE TABLD temple"),
    "a schema that is no text": replaced(b"VARCHAR(32)", b"VARC\xc8AR(32)"),
    "options that are no JSON": replaced(b'{"scope"', b'{"scope$'),
    "a title that is no text": replaced(b"Sunday", b"Sund\xe1y"),
}


@pytest.mark.parametrize("how", SPOILED)
def test_damage_of_any_form_is_found(path: Path, how: str) -> None:
    spoiled = SPOILED[how](evening())
    assert spoiled != evening()
    path.write_bytes(spoiled)
    found = find_damage(url(path))
    assert found is not None
    assert found.file == path
    assert found.problem.strip()
    assert len(found.problem.splitlines()) == 1


def damage(path: Path, *pages: int) -> Damage:
    content = evening()
    for number in pages:
        content = with_page(content, number)
    path.write_bytes(content)
    found = find_damage(url(path))
    assert found is not None
    return found


def root_of(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as store:
        (root,) = store.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    return int(root) - 1


def test_each_kind_is_counted_for_itself(path: Path) -> None:
    found = damage(path, root_of(path, "game_table"))
    assert found.readable["tables"] == Count(0, is_all=False)
    assert found.readable["temples"] == Count(3, is_all=True)
    assert found.readable["tokens"] == Count(117, is_all=True)
    assert found.readable["entries"].is_all
    assert found.readable["entries"].rows > 3


def test_rows_before_and_after_a_damaged_page_are_counted(path: Path) -> None:
    with closing(sqlite3.connect(path)) as store:
        inner = [row[0] - 1 for row in store.execute("SELECT pageno FROM dbstat WHERE name = 'token' ORDER BY path")]
    found = damage(path, inner[len(inner) // 2])
    assert not found.readable["tokens"].is_all
    assert 0 < found.readable["tokens"].rows < 117


def test_a_store_that_lost_a_table_is_refused_at_each_start(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("DROP TABLE doubted_token")
    for _ in range(2):
        with pytest.raises(StoreError, match="lacks doubted_token"):
            SqlStore(url(path))


def test_a_store_that_lost_the_number_of_its_schema_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("DROP TABLE about")
    with pytest.raises(StoreError, match="no number of its schema"):
        SqlStore(url(path))
    assert find_damage(url(path)) is not None


def test_damage_that_a_query_meets_later_is_reported(path: Path) -> None:
    root = root_of(path, "token")
    store = SqlStore(url(path))
    problems: list[str] = []
    store.on_damage = problems.append
    try:
        with path.open("r+b") as file:
            file.seek(root * PAGE)
            file.write(random.Random(1).randbytes(PAGE))
        with pytest.raises(ServiceError, match="store_failing"):
            store.totals("temple-0")
    finally:
        store.close()
    assert problems == ["database disk image is malformed"]


def test_the_newest_backup_is_the_undamaged_one_that_was_made_last(path: Path, tmp_path: Path) -> None:
    assert backup.newest(tmp_path, url(path)) is None
    for day in (20, 22, 21, 23):
        backup.back_up(url(path), tmp_path / f"of-{day}.sqlite", EVENING.replace(day=day))
    for day, spoil in ((22, lambda content: with_page(content, 3)), (23, SPOILED["options that are no JSON"])):
        spoiled = tmp_path / f"of-{day}.sqlite"
        spoiled.write_bytes(spoil(spoiled.read_bytes()))
    found = backup.newest(tmp_path, url(path))
    assert found is not None
    assert (found[0].name, found[1].made_at) == ("of-21.sqlite", EVENING.replace(day=21))
