"""A folder is held by one program at a time, and no setting of a real temple reaches a simulated one."""

import fcntl
from pathlib import Path

import pytest

from companion.cli.programs import starting
from companion.cli.programs.starting import LaunchError, hold, without_settings


def test_a_folder_is_held_until_its_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with hold(path, "taken"), pytest.raises(LaunchError, match="taken"):
        hold(path, "taken")
    hold(path, "taken").close()


def test_a_lock_file_removed_between_opening_and_holding_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, flock, removed = tmp_path / "lock", fcntl.flock, []

    def remove_first(lock: int, operation: int) -> None:
        if not removed:
            removed.append(path.unlink())
        flock(lock, operation)

    monkeypatch.setattr(starting.fcntl, "flock", remove_first)
    with hold(path, "taken"), pytest.raises(LaunchError, match="taken"):
        hold(path, "taken")
    assert removed


def test_of_all_settings_only_the_folders_of_games_reach_a_simulated_temple(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEMPLO_GAMES", "/home/you/beans")
    monkeypatch.setenv("TEMPLO_BROKER", "broker.example")
    settings = {name: value for name, value in without_settings().items() if name.startswith("TEMPLO_")}
    assert settings == {
        "TEMPLO_GAMES": "/home/you/beans",
        "TEMPLO_CONTROLLER_CONFIG": "/dev/null",
        "TEMPLO_COMPANION_CONFIG": "/dev/null",
    }
