"""All counters, each able to play a scenario to a broker: the conformance suite runs over them.

A story is a list of (microseconds, words) that each of them understands: a pin and its level, `P` for a program that
stops or a power that fails, `B` for a broker that goes and comes, `E` for the end.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Set
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from controller.adapters.control_socket import ControlError, send_request
from controller.core.counting import MS, Counter, Edge, Limits
from controller.core.counting import Detection as CountedToken
from controller.simulation.parser import Script
from controller.simulation.timeline import BrokerCut, Change, Restart, Timeline, expand
from firmware.tests import pico_pio, uno
from firmware.tests.pico_pio import NODE
from templo.contract import God
from tests.controller.program import ROOT, environment

HERE = Path(__file__).parent
PATIENCE_S = 60.0

Findings: TypeAlias = Mapping[God, Set[str]]
"""A counter's findings for each beam at the end of its story, as codes."""


@dataclass(frozen=True)
class Job:
    """One scenario for one counter: where its temple speaks, and how fast it plays."""

    file: Path
    script: Script
    timeline: Timeline
    folder: Path
    port: int
    temple: str
    speed: float
    settings: Mapping[str, float] = field(default_factory=dict)


def story(timeline: Timeline) -> list[tuple[int, str]]:
    """Return a timeline as every counter but the simulated one plays it."""
    script = [(0, f"{god[0]} {int(not dark)}") for god, dark in timeline.dark.items() if dark]
    for moment in timeline.moments:
        at_us = uno.BOOT_US + moment.at_ns // 1000
        match moment:
            case Change(_, god, dark, edge_seen, asleep):
                word = "" if edge_seen else " asleep" if asleep else " unheard"
                script.append((at_us, f"{god[0]} {int(not dark)}{word}"))
            case Restart(_, for_ns):
                script.append((at_us, f"P {for_ns // 1000}"))
            case BrokerCut(_, cut):
                script.append((at_us, f"B {int(cut)}"))
    return [*script, (uno.BOOT_US + timeline.end_ns // 1000 + 1_500_000, "E")]


def reference(timeline: Timeline, limits: Limits) -> dict[God, list[CountedToken]]:
    """Return what the pure counting of the Pi makes of every level of a timeline."""
    found = {}
    for god in God:
        counter = Counter(limits, timeline.dark[god], 0)
        events = []
        for moment in timeline.moments:
            if isinstance(moment, Change) and moment.god is god:
                # The clock is asked while nothing happens, as it is by every program.
                while (due := counter.deadline()) is not None and due < moment.at_ns:
                    events += counter.advance(due)
                events += counter.feed(Edge(moment.at_ns, moment.dark))
        events += counter.advance(timeline.end_ns + 10**10)
        found[god] = [event for event in events if isinstance(event, CountedToken)]
    return found


def pico_job(job: Job, **more: Any) -> Path:
    """Write what the Pico's files are to play, and return its folder."""
    limits = job.script.limits(Limits())
    chosen = {
        "temple": job.temple,
        "broker": "127.0.0.1",
        "port": job.port,
        "min_break_ms": limits.min_break / MS,
        "min_clear_ms": limits.min_clear / MS,
        "max_break_ms": limits.max_break / MS,
        "flicker_per_s": limits.flicker,
        "fastest_per_s": limits.fastest,
        "band_ms": None if limits.band is None else limits.band / MS,
        "narrow_ms": None if limits.narrow is None else limits.narrow / MS,
    }
    *moments, end = story(job.timeline)
    # What is wrong is asked for when a rehearsal asks: at the end of the story, and not once all of it is delivered.
    asked = (uno.BOOT_US + job.timeline.end_ns // 1000, "F")
    work = {"settings": chosen, "story": [*moments, asked, end], "speed": job.speed, "patience_s": PATIENCE_S, **more}
    (job.folder / "job.json").write_text(json.dumps(work))
    return job.folder


def _run_pico(words: list[str]) -> Findings:
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-1500:]
    result = json.loads(done.stdout)
    assert result["delivered"] == result["recorded"], done.stderr[-1500:]
    return {God(name): set(codes) for name, codes in result["findings"].items()}


def pico_cpython(job: Job) -> Findings:
    """Run the Pico's files under CPython."""
    return _run_pico([sys.executable, str(HERE / "pico_cpython.py"), str(pico_job(job))])


def pico_micropython(job: Job) -> Findings:
    """Run the Pico's files under a real MicroPython."""
    script = HERE / "pico_micropython.py"
    return _run_pico(["node", str(HERE / "micropython.mjs"), str(NODE), str(script), str(pico_job(job))])


def pico_emulated(job: Job) -> Findings:
    """Let the emulated PIO measure, and the Pico's files count what it measured."""
    limits = job.script.limits(Limits())
    found = pico_pio.run(story(job.timeline), limits.min_clear // 1000)
    assert found["stalled"] == [False, False]
    return _run_pico([sys.executable, str(HERE / "pico_cpython.py"), str(pico_job(job, tapes=found["words"]))])


LOOKS = 4
"""Looks in a row, 0.1 s apart, that find all delivered: a beam that stays dark is read several times before a jam."""


def _run_controller(job: Job, how: str, arguments: list[str], script: list[tuple[int, str]]) -> None:
    file = job.folder / "story.json"
    file.write_text(json.dumps({"story": script}))
    limits = [word for name, value in job.script.counting.items() for word in ("--set", f"counting.{name}={value}")]
    state = job.folder / "state"
    state.mkdir()
    log = job.folder / "log"
    command = [sys.executable, str(HERE / "controller_run.py"), how, str(job.speed), str(file), "run", *arguments]
    command += ["--state", str(state), "--temple", job.temple, "--broker", f"127.0.0.1:{job.port}"]
    with log.open("wb") as opened:
        running = subprocess.Popen(
            [*command, *(limits if how != "simulated" else [])], stdout=opened, stderr=opened,
            env=environment(PYTHONUNBUFFERED="1", LG_WD=str(state / "lgpio")), cwd=ROOT,
        )  # fmt: skip
    try:
        until, settled = time.monotonic() + 240, 0
        while settled < LOOKS:
            settled = settled + 1 if _settled(state, log) else 0
            assert running.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < until, log.read_text()[-2000:]
            time.sleep(0.1)
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0, log.read_text()[-2000:]
    finally:
        running.kill()
        running.wait()


def _settled(state: Path, log: Path) -> bool:
    """Return whether the story is over and everything recorded is delivered.

    A board's simulator says `over` when the board has nothing left to send: what it has not sent yet is in no ledger.
    """
    text = log.read_text()
    board = log.parent / "simulator"
    if board.exists() and "over\n" not in board.read_text():
        return False
    if "over\n" not in text and "is over; the temple goes on" not in text:
        return False
    try:
        report = send_request(state, {"do": "status"}, 10)
    except ControlError:
        return False
    return report is not None and not report["unrecorded"] and report["waiting"] == 0


def simulated(job: Job) -> None:
    """Run the controller with simulated beams, in the real program."""
    _run_controller(job, "simulated", ["--simulate", str(job.file)], [])


def lgpio(job: Job) -> None:
    """Run the controller on lgpio's own thread."""
    _run_controller(job, "lgpio", [], story(job.timeline))


def arduino(job: Job) -> None:
    """Run the Uno's binary in simavr, and the controller on its line."""
    script = [(0, "W"), *uno.script(job.timeline)]
    broker = [each for each in story(job.timeline) if each[1][0] in "BE"]
    with ExitStack() as stack:
        tty = stack.enter_context(uno.plugged(job.folder, script, job.speed))
        # The board's story begins two seconds after the port was opened; the broker's may be as late.
        broker = [(at_us + 2_500_000, words) for at_us, words in broker]
        _run_controller(job, "serial", ["--beams", f"serial:{tty}"], broker)


COUNTERS: Mapping[str, Callable[[Job], Findings | None]] = {
    "simulated": simulated,
    "lgpio": lgpio,
    "pico-cpython": pico_cpython,
    "pico-micropython": pico_micropython,
    "pico-pio": pico_emulated,
    "uno": arduino,
}


def job(file: Path, script: Script, folder: Path, port: int, counter: str, speed: float) -> Job:
    """Return a job whose temple is named after counter and scenario."""
    temple = f"{counter}-{file.stem}"[:32].rstrip("-")
    return Job(file, script, expand(script), folder, port, temple, speed)
