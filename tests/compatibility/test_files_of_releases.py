"""A file that a release wrote opens in every later one, and means what it meant; a newer one's is left as it is."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from companion.adapters.database.opening import StoreError, opened
from companion.appliance import archive
from companion.appliance.archive import ArchiveError
from companion.games import registry
from companion.model.exports import ExportError, read
from controller.adapters.sqlite_ledger import FILE_NAME, Ledger, NewerError
from templo import __version__
from tests.compatibility.reading import FACTS, facts, missing
from tests.compatibility.write import FILES

RELEASES = sorted(folder.name for folder in FILES.iterdir())


@pytest.mark.parametrize("release", RELEASES)
def test_what_a_release_wrote_is_read_as_it_was_meant(release: str, tmp_path: Path) -> None:
    expected = json.loads((FILES / release / FACTS).read_text("utf-8"))
    assert missing(expected, facts(FILES / release, tmp_path)) == []


def test_this_release_wrote_its_files_down() -> None:
    assert __version__ in RELEASES


def test_what_a_later_release_changes_is_found() -> None:
    assert missing({"a": [1]}, {"a": [1], "more": 2}) == []
    assert missing({"a": [1]}, {"a": [1, 2]}) == [".a: [1, 2]; expected [1]"]
    assert missing({"a": None}, {}) == []
    assert missing({"a": 1}, {}) == [".a: None; expected 1"]


def changed(file: Path, sql: str) -> Path:
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute(sql)
    return file


def newer_ledger(files: Path) -> str:
    file = changed(files / "temple" / FILE_NAME, "UPDATE meta SET schema = schema + 1")
    with pytest.raises(NewerError) as refused:
        Ledger.open(file, str)
    return str(refused.value)


def newer_store(files: Path) -> str:
    file = changed(files / "companion.sqlite", "UPDATE about SET value = value + 1 WHERE key = 'schema'")
    with pytest.raises(StoreError) as refused:
        opened(f"sqlite:///{file}")
    return str(refused.value)


def newer_backup_of_everything(files: Path) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "FORMAT", archive.FORMAT - 1)
        with pytest.raises(ArchiveError) as refused:
            archive.unpack(files / "everything.tar.gz", files / "unpacked")
    return str(refused.value)


def newer_export(files: Path) -> str:
    table = json.loads((files / "table.json").read_text("utf-8"))
    (files / "table.json").write_text(json.dumps(table | {"version": table["version"] + 1}), "utf-8")
    with pytest.raises(ExportError) as refused:
        read((files / "table.json").read_text("utf-8"), registry.load(()))
    return str(refused.value)


@pytest.mark.parametrize(
    ("written", "todo"),
    [
        (newer_ledger, "update this program"),
        (newer_store, "Install that one, or restore a backup of this one"),
        (newer_backup_of_everything, "install that release or a later one"),
        (newer_export, "a newer release wrote it, and can read it"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_newer_release_s_file_is_refused_with_what_to_do(
    written: Callable[[Path], str], todo: str, tmp_path: Path
) -> None:
    shutil.copytree(FILES / __version__, tmp_path / "files")
    said = written(tmp_path / "files")
    assert todo in said
    assert "newer release" in said or "later" in said
