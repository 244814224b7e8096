"""A disk that cannot be written at the start: its tokens are delivered, and the status says what is wrong."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from templo.contract import State, Status, Trouble
from tests.brokers import mosquitto
from tests.controller.program import ROOT, Companion, command, environment

APART = ("unshare", "--mount", "--propagation", "private")
LEAVE = {
    "after an orderly end": "ledger.close()",
    "after a kill": "import os; os.kill(os.getpid(), 9)",
}
RECORD = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from controller.adapters.sqlite_ledger import Ledger
from controller.core.ports import UnnumberedToken
from templo.contract import God
ledger = Ledger.open(Path(sys.argv[1]) / "ledger.sqlite3", lambda: "5" * 32)
for number in range(1, 31):
    ledger.record([UnnumberedToken(f"{number:032x}", God.TLALOC, datetime.now(UTC), 12_000_000)])
"""
HUMBLED = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner")
"""Runs a command as root without its capabilities, so that permissions apply."""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir()
    return folder


def mounts(state: Path) -> None:
    """Skip the test where nobody may mount."""
    tried = [*APART, "mount", "-t", "tmpfs", "none", str(state)]
    if shutil.which("unshare") is None or subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody mount a disk of its own here; root may, outside a container")


@contextmanager
def running(words: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a temple by a command, and end it."""
    with log.open("wb") as output:
        temple = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=output, stderr=output, env=environment(), bufsize=0
        )
        assert temple.stdin is not None
        try:
            yield temple
        finally:
            temple.kill()
            temple.wait()
            temple.stdin.close()


def run(state: Path, port: int) -> list[str]:
    return command("run", "--simulate", "--keys", "--state", str(state), "--broker", f"127.0.0.1:{port}")


def the_alert(companion: Companion) -> Status:
    found: list[Status] = companion.until(
        lambda: [each for each in companion.statuses() if each.state is State.ALERT and each.source]
    )
    return found[0]


@pytest.mark.parametrize("left", LEAVE)
def test_a_full_disk_at_the_start_holds_back_no_token_that_is_on_it(tmp_path: Path, state: Path, left: str) -> None:
    mounts(state)
    fill = f'mount -t tmpfs -o size=600k none "{state}"; "{sys.executable}" -c \'{RECORD}{LEAVE[left]}\' "{state}"; '
    fill += f'cat /dev/zero > "{state}/filler" 2>/dev/null; exec "$@"'
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        words = [*APART, "sh", "-c", fill, "sh", *run(state, broker.port)]
        with running(words, tmp_path / "log") as temple:
            assert the_alert(companion).trouble is Trouble.LEDGER_FULL
            companion.until(lambda: len(companion.kept) == 30)
            assert sorted(seq for _, seq in companion.kept) == list(range(1, 31))
            assert temple.stdin is not None
            temple.stdin.write(b"tt")
            with suppress(AssertionError):
                companion.until(lambda: len(companion.kept) > 30, 2)
            assert len(companion.kept) == 30
            Path(f"/proc/{temple.pid}/root{state}/filler").unlink()
            companion.until(lambda: len(companion.kept) == 32)
            companion.until(lambda: companion.statuses()[-1].state is State.READY)
            assert not companion.clashes
            os.kill(temple.pid, signal.SIGTERM)
            assert temple.wait(180) == 0


@pytest.mark.parametrize("left", LEAVE)
def test_a_disk_that_is_read_only_at_the_start_is_an_alert_and_its_tokens_are_delivered(
    tmp_path: Path, state: Path, left: str
) -> None:
    mounts(state)
    fill = f'mount -t tmpfs none "{state}"; "{sys.executable}" -c \'{RECORD}{LEAVE[left]}\' "{state}"; '
    fill += f'mount -o remount,ro "{state}"; exec "$@"'
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        words = [*APART, "sh", "-c", fill, "sh", *run(state, broker.port)]
        with running(words, tmp_path / "log") as temple:
            assert the_alert(companion).trouble is Trouble.LEDGER_READ_ONLY
            companion.until(lambda: len(companion.kept) == 30)
            again = ["nsenter", "-t", str(temple.pid), "-m", "mount", "-o", "remount,rw", str(state)]
            subprocess.run(again, check=True)
            assert temple.stdin is not None
            temple.stdin.write(b"t")
            companion.until(lambda: len(companion.kept) == 31)
            companion.until(lambda: companion.statuses()[-1].state is State.READY)
            os.kill(temple.pid, signal.SIGTERM)
            assert temple.wait(180) == 0


@pytest.mark.parametrize("mode", [0o755, 0o000])
def test_a_folder_that_the_temple_may_not_write_is_an_alert_and_not_an_exit(
    tmp_path: Path, state: Path, mode: int
) -> None:
    tried = subprocess.run([*HUMBLED, "true"], capture_output=True, check=False) if shutil.which("setpriv") else None
    if os.geteuid() != 0 or tried is None or tried.returncode:
        pytest.skip("only root can give a folder to another user")
    subprocess.run([sys.executable, "-c", RECORD + LEAVE["after an orderly end"], str(state)], cwd=ROOT, check=True)
    for each in (state, state / "ledger.sqlite3"):
        os.chown(each, 65534, 65534)
    (state / "ledger.sqlite3").chmod(0o644)
    state.chmod(mode)
    with (
        mosquitto(tmp_path) as broker,
        Companion(broker.port) as companion,
        running([*HUMBLED, *run(state, broker.port)], tmp_path / "log") as temple,
    ):
        alerts = companion.until(lambda: [each for each in companion.statuses() if each.state is State.ALERT])
        assert alerts[-1].trouble is Trouble.LEDGER_READ_ONLY
        if mode:
            companion.until(lambda: len(companion.kept) == 30)
        assert temple.poll() is None
        state.chmod(0o777)
        (state / "ledger.sqlite3").chmod(0o666)
        companion.until(lambda: companion.statuses()[-1].state is State.READY)
        companion.until(lambda: len(companion.kept) == 30)
