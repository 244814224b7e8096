"""Readiness is reported only when it is true, and no stage of either program dies or freezes unnoticed."""

from __future__ import annotations

import re
import signal
import time
import urllib.request

import pytest

from companion.web.server.serving import BUSY_S
from controller.adapters.control_socket import send_request
from templo.liveness import DISK_S, REST_S, SOON_S
from tests.brokers import HOST
from tests.liveness.conftest import PATIENCE_S, WATCHDOG_S, Bench
from tests.liveness.sabotage import FROZEN

STAGES = {
    "controller": ("beams", "pipeline", "link", "network", "control"),
    "companion": ("intake", "network", "server", "pages"),
}
LONGEST_S = 14.0
"""Seconds from a freeze until the watchdog expires; systemd needs a moment more to restart the program."""


def test_no_busy_stage_promises_its_next_heartbeat_too_late_for_a_restart_within_15_s() -> None:
    assert max(SOON_S, DISK_S, REST_S, BUSY_S) + WATCHDOG_S <= LONGEST_S


def test_the_controller_is_ready_when_it_says_so_and_feeds_the_watchdog_until_it_stops(bench: Bench) -> None:
    temple = bench.start("controller", "temple")
    temple.ready()
    report = send_request(bench.state("temple"), {"do": "status"}, 5)
    assert report is not None
    assert report["state"] == "ready"
    assert temple.feeds(3)
    temple.process.terminate()
    assert temple.process.wait(PATIENCE_S) == 0
    temple.listen(0.3)
    assert temple.received[-1] == "STOPPING=1"
    assert temple.received.count("READY=1") == 1


def test_the_companion_is_ready_when_it_says_so_and_feeds_the_watchdog_until_it_stops(bench: Bench) -> None:
    companion = bench.start("companion", "companion", "--instance", "it")
    companion.ready()
    port = re.search(r"^ready http://\S+:(\d+)", companion.log(), re.MULTILINE)
    assert port
    with urllib.request.urlopen(f"http://{HOST}:{port[1]}/healthz", timeout=PATIENCE_S) as answer:
        assert answer.status == 200
    assert companion.feeds(3)
    companion.process.terminate()
    assert companion.process.wait(PATIENCE_S) == 0
    companion.listen(0.3)
    assert companion.received[-1] == "STOPPING=1"
    assert companion.received.count("READY=1") == 1


@pytest.mark.parametrize("program", STAGES)
def test_without_a_broker_it_is_ready_all_the_same(bench: Bench, program: str) -> None:
    bench.broker.kill()
    watched = bench.start(program, "alone")
    watched.ready()
    assert watched.feeds(4)


def test_what_has_not_begun_is_not_ready(bench: Bench) -> None:
    halves = [
        bench.strike_at_once("controller", "pipeline"),
        bench.strike_at_once("controller", "control"),
        bench.strike_at_once("companion", "intake"),
        bench.strike_at_once("companion", "pages"),
    ]
    for half in halves:
        assert half.listen(PATIENCE_S, lambda half=half: FROZEN in half.log()), half.log()
    for half in halves:
        half.listen(1)
        assert half.process.poll() is None, half.log()
        assert half.received == []


def test_a_frozen_stage_starves_the_watchdog_whose_abort_says_where_every_thread_stood(bench: Bench) -> None:
    watched = {
        (program, stage): bench.strike_later(program, stage, "freeze")
        for program, stages in STAGES.items()
        for stage in stages
    }
    for each in watched.values():
        each.ready()
    for each in watched.values():
        each.strike()
    for (program, stage), each in watched.items():
        assert each.finds(stage), f"{stage} of {program} froze and was not found: {each.log()}"
    time.sleep(WATCHDOG_S)
    for (program, stage), each in watched.items():
        assert not each.fed_since_status(), f"{stage} of {program} was found frozen, and fed on: {each.log()}"
        assert "no progress from: " in each.log()
    for program, stages in STAGES.items():
        last = watched[program, stages[0]]
        last.process.send_signal(signal.SIGABRT)
        assert last.process.wait(PATIENCE_S) == -signal.SIGABRT
        assert "Fatal Python error: Aborted" in last.log()
        assert "sabotage.py" in last.log()


@pytest.mark.parametrize(
    ("program", "stage"),
    [("controller", stage) for stage in STAGES["controller"]] + [("companion", "intake"), ("companion", "network")],
)
def test_a_stage_that_fails_ends_the_program_for_its_supervisor_to_start_anew(
    bench: Bench, program: str, stage: str
) -> None:
    watched = bench.strike_later(program, stage, "fail")
    watched.ready()
    time.sleep(0.5)
    watched.strike()
    assert watched.process.wait(PATIENCE_S) == 70, watched.log()
    assert "sabotage" in watched.log()


@pytest.mark.parametrize(
    ("program", "stage"), [("controller", "link"), ("controller", "network"), ("companion", "intake")]
)
def test_a_stage_that_ends_silently_is_found(bench: Bench, program: str, stage: str) -> None:
    watched = bench.strike_later(program, stage, "vanish")
    watched.ready()
    time.sleep(0.5)
    watched.strike()
    assert watched.finds(stage), watched.log()
    time.sleep(WATCHDOG_S)
    assert watched.process.poll() == 70 or not watched.fed_since_status(), watched.log()
