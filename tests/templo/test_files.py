"""Private files, whole files, and the lock that one process holds."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from templo import files


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_file_is_written_whole_and_private_in_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "learned.json"
    path.write_text("before")
    path.chmod(0o644)
    files.write_whole(path, b"after")
    assert path.read_bytes() == b"after"
    assert mode(path) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["learned.json"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "learned.json"
    path.write_text("before")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write_whole(path, b"after")
    assert path.read_text() == "before"


def test_a_private_file_is_made_only_where_there_is_none(tmp_path: Path) -> None:
    files.create_private(tmp_path / "new")
    assert mode(tmp_path / "new") == 0o600
    with pytest.raises(FileExistsError):
        files.create_private(tmp_path / "new")


def test_everything_in_a_folder_becomes_private_and_nothing_that_a_link_names_elsewhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "state"
    folder.mkdir()
    for path in (elsewhere, folder / "ledger"):
        path.write_text("")
        path.chmod(0o644)
    (folder / "link").symlink_to(elsewhere)
    files.make_folder_private(folder)
    assert (mode(folder / "ledger"), mode(elsewhere)) == (0o600, 0o644)
    assert f"{folder / 'ledger'} could be opened by other users" in caplog.text


def test_a_second_holder_learns_who_has_the_lock(tmp_path: Path) -> None:
    first, second = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT, 0o600) for _ in range(2))
    try:
        files.lock(first)
        with pytest.raises(files.HeldError) as caught:
            files.lock(second)
        assert caught.value.holder == str(os.getpid())
    finally:
        os.close(first)
    files.lock(second)
    os.close(second)
