"""A daemon whose beams cannot be watched says why at the broker, and tries again at a bounded pace."""

from __future__ import annotations

import json
import queue
import threading
from pathlib import Path

import pytest

from controller.app import settings as controller_settings
from controller.app import waiting
from controller.core.ports import BeamsBusyError, BeamsError
from controller.core.publisher import Identity
from templo import contract
from templo.contract import State, Trouble
from templo.liveness import Supervisor
from tests.brokers import HOST
from tests.controller.program import Companion, call
from tests.liveness.conftest import PATIENCE_S, Bench, Watched

NOWHERE = ("--beams", "gpiod", "--set", "beams.chip=no-such-chip")


def seen(companion: Companion) -> set[tuple[State, Trouble | None]]:
    """Return the states that were published, each with its trouble."""
    return {(each.state, each.trouble) for each in companion.statuses()}


def test_a_temple_without_its_chip_runs_and_says_at_the_broker_what_is_missing(bench: Bench, tmp_path: Path) -> None:
    with Companion(bench.broker.port) as companion:
        words = ["run", "--broker", f"{HOST}:{bench.broker.port}", "--state", str(bench.state("temple")), *NOWHERE]
        temple = Watched(tmp_path, "temple", ["-m", "controller", *words])
        bench.watched.append(temple)
        temple.ready()
        assert any(each.startswith("STATUS=no token can be counted: ") for each in temple.received)
        companion.until(lambda: (State.ALERT, Trouble.BEAMS_MISSING) in seen(companion))
        assert temple.feeds(3)
        assert temple.log().count("no token can be counted") == 1
        status = call("status", "--json", "--state", str(bench.state("temple")))
        report = json.loads(status.stdout)
        assert (report["running"], report["state"], report["trouble"]) == (True, "alert", "beams_missing")
        dropped = call("drop", "--state", str(bench.state("temple")))
        assert dropped.returncode == 1
        assert "no token can be counted: " in dropped.stderr
        temple.process.terminate()
        assert temple.process.wait(PATIENCE_S) == 0
        companion.until(lambda: companion.statuses()[-1].state == State.STOPPED)


def test_while_the_beams_are_awaited_each_command_is_refused_with_its_own_reason(
    bench: Bench, tmp_path: Path
) -> None:
    words = ["run", "--broker", f"{HOST}:{bench.broker.port}", "--state", str(bench.state("temple")), *NOWHERE]
    temple = Watched(tmp_path, "temple", ["-m", "controller", *words])
    bench.watched.append(temple)
    temple.ready()
    calibrated = call("calibrate", "tlaloc", "--state", str(bench.state("temple")))
    assert calibrated.returncode == 1
    assert calibrated.stdout == ""
    assert "nothing to read the beams with was found" in calibrated.stderr
    dismissed = call("dismiss", "ledger_missing", "--state", str(bench.state("temple")))
    assert dismissed.returncode == 1
    assert "no notice can be dismissed before the beams can be watched: " in dismissed.stderr


def test_a_person_who_starts_it_reads_at_once_what_is_missing(tmp_path: Path) -> None:
    done = call("run", "--state", str(tmp_path), *NOWHERE)
    assert done.returncode == 1
    assert "gpio" in done.stderr


def test_the_temple_goes_on_as_soon_as_its_beams_can_be_opened(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another reason than before is published, too; the last status is one that no later run takes for a rival."""
    monkeypatch.setattr(waiting, "pauses", lambda: iter([0.5] * 100))
    environ = {"TEMPLO_BROKER_PORT": str(bench.broker.port)}
    settings = controller_settings.load(file=None, environ=environ, flags={}, home=tmp_path)
    identity = Identity("templo", "a" * 32, contract.Kind.PI, "0", contract.Timing.KERNEL)
    answers: queue.SimpleQueue[BeamsError | None] = queue.SimpleQueue()
    opened: list[bool] = []

    def try_open() -> None:
        if (error := answers.get()) is not None:
            raise error

    def wait() -> None:
        error = BeamsError("there is no chip")
        opened.append(
            waiting.wait_for_beams(settings, identity, error, try_open, Supervisor({}, 1), threading.Event())
        )

    with Companion(bench.broker.port) as companion:
        thread = threading.Thread(target=wait)
        thread.start()
        answers.put(BeamsError("there is no chip"))
        companion.until(lambda: (State.ALERT, Trouble.BEAMS_MISSING) in seen(companion))
        answers.put(BeamsBusyError("pin 27 is used"))
        companion.until(lambda: (State.ALERT, Trouble.BEAMS_BUSY) in seen(companion))
        answers.put(None)
        thread.join(PATIENCE_S)
        assert opened == [True]
        companion.until(lambda: companion.statuses()[-1].state == State.STOPPED)


def test_the_first_tries_are_soon_and_the_later_ones_at_a_decent_pace() -> None:
    waits = waiting.pauses()
    first = [next(waits) for _ in range(10)]
    assert first == sorted(first)
    assert first[0] <= 5
    assert first[-1] == 30
