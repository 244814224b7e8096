"""One companion to a database: a second is refused at its start with a sentence, and a dead one locks nobody out."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from companion.adapters.database import store_lock
from companion.adapters.database.opening import StoreError
from tests.brokers import free_port
from tests.companion.conftest import DATABASES
from tests.controller.program import ROOT
from tests.databases import PASSWORD, postgres


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextmanager
def companion(url: str, state: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a companion on a database, at a port of its own and with a broker that is not there."""
    words = ["--host", "127.0.0.1", "--port", str(free_port()), "--broker", "127.0.0.1:1"]
    words += ["--state", str(state), "--store", url]
    command = [sys.executable, "-m", "companion", "run", *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        try:
            yield program
        finally:
            program.kill()


def is_ready(program: subprocess.Popen[str]) -> bool:
    assert program.stdout
    return program.stdout.readline().startswith("ready")


def test_a_second_companion_is_refused_with_a_sentence(url: str, tmp_path: Path) -> None:
    with companion(url, tmp_path / "one") as first:
        assert is_ready(first)
        with companion(url, tmp_path / "two") as second:
            _, said = second.communicate(timeout=120)
        assert second.returncode == 2
        sentence = said.strip().splitlines()[-1]
        assert sentence.startswith("templo-companion: store is '")
        assert "which another companion" in sentence
        assert "end that companion, or give this one another database" in sentence
        assert PASSWORD not in said
        assert first.poll() is None


def test_a_companion_that_was_killed_shuts_nobody_out(url: str, tmp_path: Path) -> None:
    with companion(url, tmp_path / "one") as first:
        assert is_ready(first)
        first.kill()
        first.wait(60)
    with companion(url, tmp_path / "two") as second:
        assert is_ready(second)


def test_one_database_under_two_names_is_still_one(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "state")
    with store_lock.hold(f"sqlite:///{tmp_path / 'state' / 'companion.sqlite'}"):
        with pytest.raises(StoreError, match=rf"another companion \(process {os.getpid()}\) uses"):
            store_lock.hold(f"sqlite:///{tmp_path / 'link' / 'companion.sqlite'}")
        with store_lock.hold(f"sqlite:///{tmp_path / 'state' / 'another.sqlite'}"):
            pass


def test_the_file_that_locks_is_its_owner_s_alone(tmp_path: Path) -> None:
    lock = tmp_path / "companion.sqlite.lock"
    lock.touch(0o644)
    with store_lock.hold(f"sqlite:///{tmp_path / 'companion.sqlite'}"):
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def test_a_postgresql_that_was_started_anew_is_locked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_lock, "LOOK_EVERY_S", 0.1)
    monkeypatch.setattr(store_lock, "PATIENCE_S", 0.1)
    with postgres() as server:
        url = server.url()
        with store_lock.hold(url):
            server.kill()
            server.start()
            until = time.monotonic() + 120
            while True:
                assert time.monotonic() < until, "it never became locked again"
                try:
                    with store_lock.hold(url):
                        pass
                except StoreError:
                    break
                time.sleep(0.1)
