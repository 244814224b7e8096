"""A disk that refuses: nothing that it did not take is acknowledged, the temple says so, and it recovers with it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from controller.adapters.control_socket import send_request
from templo import contract
from templo.contract import State, Trouble
from tests.brokers import Broker, mosquitto
from tests.chaos.patient import EIO, FULL, READ_ONLY, SYNC
from tests.chaos.world import World, advice
from tests.controller.program import Companion, command, environment
from tests.waiting import eventually

TROUBLES = {
    FULL: {Trouble.LEDGER_FULL},
    EIO: {Trouble.LEDGER_FAILING},
    SYNC: {Trouble.LEDGER_FAILING},
    # A disk that is mounted read-only under an open file fails the write; the file opened again may only be read.
    READ_ONLY: {Trouble.LEDGER_FAILING, Trouble.LEDGER_READ_ONLY},
}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with mosquitto(tmp_path, config=advice()) as broker:
        yield broker


@contextmanager
def a_world(folder: Path, broker: Broker) -> Iterator[World]:
    folder.mkdir()
    world = World(folder, broker, "disk")
    try:
        world.start()
        yield world
    finally:
        world.end()


def test_a_ledger_whose_disk_refuses_is_an_alert_and_publishes_no_token_until_it_has_it(
    tmp_path: Path, broker: Broker, capsys: pytest.CaptureFixture[str]
) -> None:
    slowest_s = 0.0
    with a_world(tmp_path / "world", broker) as world, Companion(broker.port, name="watcher") as watcher:
        watcher.acknowledges = False
        fallen = 0
        for fault, troubles in TROUBLES.items():
            world.rain.allow(fallen + 5)
            assert world.rain.fallen(60)
            assert world.settled(60)
            watcher.until(lambda: watcher.statuses()[-1].state is State.READY, 60)
            tokens, statuses = len(watcher.tokens()), len(watcher.statuses())
            world.temple.disk(fault)
            began = time.monotonic()
            world.rain.allow(fallen + 10)
            alert = watcher.until(
                lambda before=statuses: [each for each in watcher.statuses()[before:] if each.state is State.ALERT],
                60,
            )[0]
            slowest_s = max(slowest_s, time.monotonic() - began)
            assert alert.trouble in troubles
            assert world.rain.fallen(60)
            time.sleep(1.2)  # it tries again twice a second
            assert len(watcher.tokens()) == tokens
            assert len(world.received()) == fallen + 5
            world.temple.disk(None)
            fallen += 10
            eventually(lambda fallen=fallen: len(world.received()) == fallen)
            watcher.until(lambda: watcher.statuses()[-1].state is State.READY, 60)
        assert world.settled(60)
        assert world.received() == world.temple.ledger()
    with capsys.disabled():
        print(f"\nfrom a token that falls to the alert: {slowest_s * 1000:.0f} ms at the most, of four")


@pytest.mark.parametrize("fault", [FULL, EIO, SYNC, READ_ONLY])
def test_a_companion_whose_disk_refuses_acknowledges_nothing_and_catches_up(
    tmp_path: Path, broker: Broker, fault: str
) -> None:
    with a_world(tmp_path / "world", broker) as world:
        state = world.temple.state

        def delivered() -> object:
            report = send_request(state, {"do": "status"}, 20)
            assert report is not None
            return report["delivered"]

        world.rain.allow(5)
        eventually(lambda: delivered() == 5)
        world.companion.disk(fault)
        world.rain.allow(15)
        assert world.rain.fallen(60)
        eventually(lambda: "cannot store what the temples send" in world.companion.log.read_text())
        time.sleep(1.2)
        assert delivered() == 5
        assert len(world.received()) == 5
        world.companion.disk(None)
        eventually(lambda: delivered() == 15)
        assert world.received() == world.temple.ledger()
        assert sorted(world.books().store.scored) == sorted(world.received())
        assert world.companion.ended() is None


def test_a_disk_that_is_really_full_is_an_alert_until_there_is_room_again(tmp_path: Path, broker: Broker) -> None:
    """On a small disk of its own, in a mount namespace of its own; the fault is the kernel's."""
    state = tmp_path / "state"
    state.mkdir()
    inside = f'mount -t tmpfs -o size=400k none "{state}" && exec "$@"'
    apart = ["unshare", "--mount", "--propagation", "private"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*apart, "sh", "-c", inside, "sh", "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("this system lets nobody mount a disk of its own here; root may, outside a container")
    words = command("run", "--simulate", "--keys", "--state", str(state), "--broker", f"127.0.0.1:{broker.port}")
    with Companion(broker.port) as companion, (tmp_path / "log").open("wb") as log:
        temple = subprocess.Popen(
            [*apart, "sh", "-c", inside, "sh", *words],
            stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment(), bufsize=0,
        )  # fmt: skip
        assert temple.stdin is not None
        filler = Path(f"/proc/{temple.pid}/root{state}/filler")
        try:
            companion.until(lambda: companion.statuses() and companion.statuses()[-1].state is State.READY, 60)
            temple.stdin.write(b"ht")
            companion.until(lambda: len(companion.kept) == 2, 60)
            with suppress(OSError), filler.open("wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 512)
            fell = 2
            # The last blocks of the ledger's log have room for a few more.
            while not (alerts := [each for each in companion.statuses() if each.state is State.ALERT]):
                assert fell < 200, "the disk is full, and nothing says so"
                temple.stdin.write(b"t")
                fell += 1
                time.sleep(0.2)
            assert alerts[0].trouble is Trouble.LEDGER_FULL
            assert len(companion.kept) < fell
            filler.unlink()
            companion.until(lambda: len(companion.kept) == fell)
            companion.until(lambda: companion.statuses()[-1].state is State.READY)
            assert [token.seq for token in sorted(companion.kept.values(), key=_seq)] == list(range(1, fell + 1))
            os.kill(temple.pid, signal.SIGTERM)
            assert temple.wait(180) == 0
        finally:
            temple.kill()
            temple.wait()
            temple.stdin.close()


def _seq(token: contract.Token) -> int:
    return token.seq
