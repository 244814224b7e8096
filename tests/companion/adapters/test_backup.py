"""A backup is the whole store in one file, from a database of either kind and into one of either kind."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from companion.adapters.database import backup, store_lock
from companion.adapters.database.backup import BackupError
from companion.adapters.database.opening import StoreError
from tests.companion.conftest import DATABASES, EVENING, Home
from tests.controller.program import ROOT
from tests.databases import Postgres


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=DATABASES)
def other_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a second database, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'other' / 'companion.sqlite'}"
    server: Postgres = request.getfixturevalue("postgresql")
    return server.url()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "evening.backup"


def played(home: Home) -> str:
    """Let an evening happen: a table, a seat, moves and tokens, one of them held apart; return the table's id."""
    table = home.table(temple="templo")
    home.seated(table)
    home.services.temples.intake.receive([("templo", home.token(seq)) for seq in range(1, 6)])
    home.services.temples.intake.receive([("templo", home.token(3, token="f" * 32))])
    return table.id


def known(home: Home, table_id: str) -> tuple[object, ...]:
    """Return all that a companion knows of an evening."""
    table, temple = home.services.tables.get(table_id), home.services.temples.get("templo")
    kept = home.store.table_tokens(table_id)
    return (
        table.state, table.charter, table.keys, home.services.tables.entries(table_id), kept, temple.totals,
        temple.quarantined, temple.stored(), home.store.marks(),
    )  # fmt: skip


def test_a_backup_made_while_the_companion_runs_brings_everything_back(
    home: Home, file: Path, other_url: str, tmp_path: Path
) -> None:
    table_id = played(home)
    before = known(home, table_id)
    made = backup.back_up(home.url, file, EVENING)
    assert made.rows == {"tables": 1, "temples": 1, "tokens": 5, "held apart": 1}
    home.services.temples.intake.receive([("templo", home.token(6))])
    (tmp_path / "other").mkdir()
    assert backup.restore(file, other_url, tmp_path, EVENING).backup == made
    there = Home(other_url)
    try:
        assert known(there, table_id) == before
        there.services.temples.intake.receive([("templo", home.token(6))])
        assert len(there.store.table_tokens(table_id)) == 6
    finally:
        there.store.close()


def test_a_backup_is_one_file_that_its_owner_alone_reads(home: Home, file: Path) -> None:
    played(home)
    os.umask(os.umask(0o022))
    backup.back_up(home.url, file, EVENING)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir() if "backup" in path.name] == [file.name]
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_restore_keeps_the_database_that_it_replaces(home: Home, file: Path, tmp_path: Path) -> None:
    table_id = played(home)
    backup.back_up(home.url, file, EVENING)
    home.services.temples.intake.receive([("templo", home.token(seq)) for seq in range(6, 9)])
    home.store.close()
    done = backup.restore(file, home.url, tmp_path, EVENING)
    assert done.replaced is not None
    assert stat.S_IMODE(done.replaced.stat().st_mode) == 0o600
    with closing(sqlite3.connect(done.replaced)) as connection:
        assert connection.execute("SELECT count(*) FROM token").fetchone() == (8,)
    home.restart()
    assert len(home.store.table_tokens(table_id)) == 5


def test_a_restore_is_refused_while_a_companion_runs_on_the_database(home: Home, file: Path, tmp_path: Path) -> None:
    table_id = played(home)
    backup.back_up(home.url, file, EVENING)
    with store_lock.hold(home.url), pytest.raises(StoreError, match="which another companion"):
        backup.restore(file, home.url, tmp_path, EVENING)
    assert len(home.store.table_tokens(table_id)) == 5


def test_a_restore_in_place_of_a_damaged_database_keeps_the_damage_for_a_look(tmp_path: Path, file: Path) -> None:
    home = Home(f"sqlite:///{tmp_path / 'companion.sqlite'}")
    table_id = played(home)
    backup.back_up(home.url, file, EVENING)
    home.store.close()
    (tmp_path / "companion.sqlite").write_bytes(b"no database at all" * 100)
    done = backup.restore(file, home.url, tmp_path, EVENING)
    assert done.replaced
    assert done.replaced.read_bytes().startswith(b"no database")
    home.restart()
    assert len(home.store.table_tokens(table_id)) == 5
    home.store.close()


def _text(file: Path) -> None:
    file.write_text("my diary\n" * 200)


def _cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _newer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE about SET value = '99' WHERE key = 'schema'")


def _live(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM about WHERE key = ?", (backup.MADE_AT,))


def _gone(file: Path) -> None:
    file.unlink()


@pytest.mark.parametrize("spoil", [_text, _cut, _newer, _live, _gone])
def test_what_is_no_backup_is_refused_and_changes_nothing(
    tmp_path: Path, file: Path, spoil: Callable[[Path], None]
) -> None:
    home = Home(f"sqlite:///{tmp_path / 'companion.sqlite'}")
    table_id = played(home)
    backup.back_up(home.url, file, EVENING)
    spoil(file)
    home.store.close()
    with pytest.raises(BackupError, match=r"evening\.backup .*expected"):
        backup.restore(file, home.url, tmp_path, EVENING)
    home.restart()
    assert len(home.store.table_tokens(table_id)) == 5
    assert not [path for path in tmp_path.iterdir() if "replaced" in path.name or "draft" in path.name]
    home.store.close()


def test_a_backup_writes_over_nothing(home: Home, file: Path) -> None:
    file.write_text("an older backup")
    with pytest.raises(BackupError, match="there already"):
        backup.back_up(home.url, file, EVENING)
    assert file.read_text() == "an older backup"


def test_the_commands_say_what_they_did_and_what_happens_next(tmp_path: Path, file: Path) -> None:
    home = Home(f"sqlite:///{tmp_path / 'companion.sqlite'}")
    played(home)
    home.store.close()

    def templo(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "companion", *words, "--state", str(tmp_path)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)

    made = templo("backup", str(file))
    assert (made.returncode, made.stdout) == (0, f"Wrote {file}: 1 table, 1 temple, 5 tokens, 1 held apart.\n")
    with store_lock.hold(home.url):
        refused = templo("restore", str(file))
    assert refused.returncode == 2
    assert f"which another companion (process {os.getpid()}) uses" in refused.stderr
    done = templo("restore", str(file))
    assert done.returncode == 0, done.stderr
    assert "1 table, 1 temple, 5 tokens, 1 held apart" in done.stdout
    assert f"kept as {tmp_path}/companion.sqlite.replaced-" in done.stdout
    assert "ask every temple for the tokens that this backup lacks" in done.stdout
    assert templo("restore", "/nowhere").stderr.startswith("templo-companion: /nowhere is not there; expected")
