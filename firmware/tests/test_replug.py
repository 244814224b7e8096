"""A real controller reading the Uno's real binary, whose cable is unplugged again and again."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from controller.adapters.control_socket import ControlError, send_request
from firmware.tests import uno
from templo.contract import God
from tests.controller.program import ROOT, environment


def _eventually(state: Path, wanted: Callable[[dict[str, int]], bool]) -> None:
    """Wait until what the controller has recorded is as wanted."""
    until = time.monotonic() + 90
    totals: object = None
    while time.monotonic() < until:
        try:
            report = send_request(state, {"do": "status"}, 10)
        except ControlError:
            report = None
        if report is not None and isinstance(totals := report["totals"], dict) and wanted(totals):
            return
        time.sleep(0.1)
    raise AssertionError(totals)


def test_tokens_across_pulled_cables_and_killed_controllers_are_each_recorded_once(tmp_path: Path) -> None:
    """Three times the board is pulled in the middle of a burst, and once the controller is killed as well."""
    uno.build()
    state, tty = tmp_path / "state", tmp_path / "tty"
    state.mkdir()
    words = ["run", "--beams", f"serial:{tty}", "--state", str(state), "--broker", "127.0.0.1:1"]

    def controller() -> subprocess.Popen[bytes]:
        with (tmp_path / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "controller", *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=environment(), cwd=ROOT,
            )  # fmt: skip

    burst = uno.pulses([*uno.row(God.TLALOC, 60, 40.0), *uno.row(God.HUITZILOPOCHTLI, 60, 40.0)])
    running = controller()
    recorded = 0
    try:
        for turn in range(3):
            with uno.plugged(tmp_path, burst, 1.0):
                _eventually(state, lambda totals, before=recorded: sum(totals.values()) > before + 20)
                if turn == 1:
                    running.kill()
                    running.wait()
                    running = controller()
            held = uno.totals(tmp_path)
            recorded = sum(held.values())
        with uno.plugged(tmp_path, [(0, "E")], 1.0):
            _eventually(state, lambda totals: totals == {str(god): number for god, number in held.items()})
            time.sleep(2)  # for whatever might come twice
            _eventually(state, lambda totals: totals == {str(god): number for god, number in held.items()})
    finally:
        running.kill()
        running.wait()
    assert recorded > 60
