"""Ready is said only when it is so, and no stage of either program can die or freeze without being found."""

from __future__ import annotations

import re
import signal
import time
import urllib.request

import pytest

from controller.adapters.control_socket import ask
from tests.brokers import HOST
from tests.liveness.conftest import WATCHDOG_S, Bench, Watched

STAGES = {
    "controller": ("beams", "pipeline", "link", "network", "door"),
    "companion": ("intake", "network", "server", "pages"),
}
LONGEST_S = 14.0
"""From a freeze until the watchdog has gone hungry: the longest promise of a busy stage, and the watchdog's time."""


def starved(watched: Watched) -> bool:
    """Say whether the watchdog goes without food for as long as a supervisor would wait."""
    until = time.monotonic() + LONGEST_S
    while time.monotonic() < until:
        if not watched.fed_within(WATCHDOG_S):
            return True
    return False


def test_the_controller_is_ready_when_it_says_so_and_feeds_the_watchdog_until_it_stops(bench: Bench) -> None:
    temple = bench.start("controller", "temple")
    temple.ready()
    report = ask(bench.state("temple"), {"do": "status"}, 5)
    assert report is not None
    assert report["state"] == "ready"
    assert all(temple.fed_within(WATCHDOG_S) for _ in range(3))
    temple.process.terminate()
    assert temple.process.wait(180) == 0
    temple.listen(0.3)
    assert temple.told[-1] == "STOPPING=1"
    assert temple.told.count("READY=1") == 1


def test_the_companion_is_ready_when_it_says_so_and_feeds_the_watchdog_until_it_stops(bench: Bench) -> None:
    companion = bench.start("companion", "companion", "--instance", "it")
    companion.ready()
    port = re.search(r"^ready http://\S+:(\d+)", companion.log(), re.MULTILINE)
    assert port
    with urllib.request.urlopen(f"http://{HOST}:{port[1]}/healthz", timeout=180) as answer:
        assert answer.status == 200
    assert all(companion.fed_within(WATCHDOG_S) for _ in range(3))
    companion.process.terminate()
    assert companion.process.wait(180) == 0
    companion.listen(0.3)
    assert companion.told[-1] == "STOPPING=1"
    assert companion.told.count("READY=1") == 1


@pytest.mark.parametrize("program", STAGES)
def test_without_a_broker_it_is_ready_all_the_same(bench: Bench, program: str) -> None:
    bench.broker.kill()
    watched = bench.start(program, "alone")
    watched.ready()
    assert all(watched.fed_within(WATCHDOG_S) for _ in range(4))


def test_what_has_not_begun_is_not_ready(bench: Bench) -> None:
    halves = [
        bench.strike_at_once("controller", "pipeline"),
        bench.strike_at_once("controller", "door"),
        bench.strike_at_once("companion", "intake"),
        bench.strike_at_once("companion", "pages"),
    ]
    time.sleep(6)
    for half in halves:
        half.listen(0.3)
        assert half.process.poll() is None, half.log()
        assert half.told == []


@pytest.mark.parametrize("program", STAGES)
def test_a_frozen_stage_starves_the_watchdog_whose_abort_says_where_every_thread_stood(
    bench: Bench, program: str
) -> None:
    watched = {}
    for stage in STAGES[program]:
        watched[stage] = bench.strike_later(program, stage, "freeze")
        watched[stage].ready()
    for each in watched.values():
        each.strike()
    time.sleep(LONGEST_S - WATCHDOG_S)
    for each in watched.values():
        each.listen(0.1)
        each.told.clear()
    time.sleep(WATCHDOG_S)
    for stage, each in watched.items():
        each.listen(0.1)
        assert "WATCHDOG=1" not in each.told, f"{stage} froze and was not found: {each.log()}"
        assert f"no progress from: {stage}" in each.log()
    last = watched[STAGES[program][0]]
    last.process.send_signal(signal.SIGABRT)
    assert last.process.wait(180) == -signal.SIGABRT
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
    assert watched.process.wait(180) == 70, watched.log()
    assert "sabotage" in watched.log()


@pytest.mark.parametrize(
    ("program", "stage"), [("controller", "link"), ("controller", "network"), ("companion", "intake")]
)
def test_a_stage_that_ends_without_a_word_is_found(bench: Bench, program: str, stage: str) -> None:
    watched = bench.strike_later(program, stage, "vanish")
    watched.ready()
    time.sleep(0.5)
    watched.strike()
    assert starved(watched) or watched.process.poll() == 70, watched.log()
