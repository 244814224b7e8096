"""A backup is one file, made while the temple runs; a restore begins a new source and keeps what it replaces."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from controller.adapters.control_socket import held
from controller.adapters.sqlite_ledger import FILE_NAME, Ledger
from tests.brokers import mosquitto
from tests.controller.program import Companion, Starter, call


def ledger(state: Path) -> Ledger:
    return Ledger.open(state / FILE_NAME, str, read_only=True)


def test_a_backup_of_a_running_temple_is_one_private_file_and_restores_what_it_had(
    tmp_path: Path, started: Starter
) -> None:
    file = tmp_path / "temple.backup"
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port)
        temple.drop("tlaloc", 5)
        (temple.state / "learned.json").write_text('{"v": 1, "learned": {}}')
        done = call("backup", str(file), "--state", str(temple.state))
        assert done.stdout == f"5 tokens backed up to {file}\n"
        assert file.stat().st_mode & 0o777 == 0o600
        again = call("backup", str(file), "--state", str(temple.state))
        assert again.returncode == 1
        assert "is there already" in again.stderr
        refused = call("restore", str(file), "--state", str(temple.state))
        assert refused.returncode == 1
        assert "already keeps" in refused.stderr
        assert "stop it, restore, and start it again" in refused.stderr
        companion.until(lambda: len(companion.kept) == 5)
        temple.drop("tlaloc", 3)
        temple.stop()
    (temple.state / "learned.json").unlink()
    with closing(ledger(temple.state)) as before:
        source = before.source
    done = call("restore", str(file), "--state", str(temple.state))
    assert "5 tokens restored from" in done.stdout, done.stderr
    assert json.loads((temple.state / "learned.json").read_text()) == {"v": 1, "learned": {}}
    with closing(ledger(temple.state)) as after:
        assert after.source != source
        assert [notice.code for notice in after.notices] == ["backup_restored"]
        assert len(list(after.tokens())) == 5
    (kept,) = temple.state.glob("ledger.replaced-*.sqlite3")
    with closing(Ledger.open(kept, str, read_only=True)) as old:
        assert len(list(old.tokens())) == 8


def test_a_file_that_is_no_backup_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    state, file = tmp_path / "state", tmp_path / "file"
    call("drop", "--new", "--state", str(state))
    content = (state / FILE_NAME).read_bytes()
    for wrong in (b"", b"a shopping list " * 100, content):
        file.write_bytes(wrong)
        done = call("restore", str(file), "--state", str(state))
        assert done.returncode == 1
        assert f"{file} is no backup of a temple" in done.stderr
        assert (state / FILE_NAME).read_bytes() == content
    missing = call("restore", str(tmp_path / "missing"), "--state", str(state))
    assert missing.returncode == 1
    assert "Traceback" not in missing.stderr


def test_a_backup_into_a_folder_that_is_not_there_is_refused_in_a_sentence(tmp_path: Path) -> None:
    state = tmp_path / "state"
    call("drop", "--new", "--state", str(state))
    done = call("backup", str(tmp_path / "absent" / "file"), "--state", str(state))
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    with held(state):
        pass
