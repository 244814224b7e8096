"""Every counter plays every scenario: the companion gets the same tokens, over a real broker."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from controller.core.counting import MS, Detection, Limits
from controller.simulation.parser import read
from controller.simulation.timeline import Change, Restart, expand
from firmware.tests import uno
from firmware.tests.counters import COUNTERS, Findings, Job, job, reference
from templo.contract import Emitters, God
from tests.brokers import HOST, free_port, mosquitto
from tests.controller.program import ROOT, environment

LIGHT = {"dip", "fan", "lamps", "loose-plug", "slow-flicker"}
"""What boards are shown of light here; in tests/firmware the Pico's files are shown all of it."""

SCENARIOS = [
    file
    for folder in (ROOT / "controller" / "simulation" / "scenarios", Path(__file__).parent / "scenarios")
    for file in sorted(folder.rglob("*.toml"))
    if file.parent.name != "light" or file.stem in LIGHT
]
SPEED = 6.0
SLOWLY = 2.0
IN_REAL_TIME = 1.0
AT_ONCE = {"dip"}
"""Scenarios that an Uno's tokens do not show: its cable gives their times to a few milliseconds only."""

READ_AGAIN = {"lost-in-a-pair"}
"""Scenarios in which a Pi reads the beams again before the next token falls; it does so every two seconds."""

Kept = tuple[float, frozenset[str]]
Tokens = dict[God, list[Kept]]


@dataclass
class Companion:
    """A broker and a companion for the whole suite; each run is a temple of its own."""

    port: int
    store: Path

    def kept(self, temple: str) -> Tokens:
        """Return what the companion keeps of a temple, in order, by slot."""
        query = "SELECT god, width_ms, flags FROM token WHERE temple = ? ORDER BY source, seq"
        with closing(sqlite3.connect(self.store, timeout=30)) as store:
            rows = store.execute(query, (temple,)).fetchall()
            assert not store.execute("SELECT 1 FROM quarantine WHERE temple = ?", (temple,)).fetchall()
        return {
            god: [(width, frozenset(flags.split()) - {"simulated"}) for name, width, flags in rows if name == god]
            for god in God
        }

    def scored(self, temple: str) -> dict[God, int]:
        """Return how many of a temple's tokens count without a person's decision."""
        query = """
            SELECT count(*) FROM token WHERE temple = ? AND god = ? AND flags NOT LIKE '%jam%'
            AND NOT EXISTS (SELECT 1 FROM doubted_token WHERE doubted_token.token = token.token)
        """
        with closing(sqlite3.connect(self.store, timeout=30)) as store:
            return {god: store.execute(query, (temple, god)).fetchone()[0] for god in God}


@pytest.fixture(scope="session")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    uno.build()
    with running_companion(tmp_path_factory.mktemp("companion")) as companion:
        yield companion


@contextmanager
def running_companion(folder: Path) -> Iterator[Companion]:
    with mosquitto(folder) as broker:
        words = ["companion", "run", "--host", HOST, "--port", str(free_port()), "--state", str(folder / "state")]
        with (folder / "log").open("wb") as log:
            running = subprocess.Popen(
                [sys.executable, "-m", *words, "--broker", f"{HOST}:{broker.port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(), cwd=ROOT,
            )  # fmt: skip
        try:
            until = time.monotonic() + 60
            while not (folder / "state" / "companion.sqlite").exists():
                assert running.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < until
                time.sleep(0.1)
            yield Companion(broker.port, folder / "state" / "companion.sqlite")
        finally:
            running.terminate()
            running.wait(30)


COMMIT_NS = 120 * MS
"""Before a cut: what fell later may not have been recorded yet. An Uno takes 5 ms of quiet and 3.4 ms a byte."""

BOOT_NS = 60 * MS
"""After a cut: what fell earlier may have met a board that was starting."""


AWAY_NS = 6_000 * MS
"""How long a Pi's program may take, at `SLOWLY`, until it counts again: nobody knows better when that was."""


def compared(
    kept: list[Kept], expected: list[Detection], cuts: list[Restart], limits: Limits, boot_ns: int = BOOT_NS
) -> None:
    """Compare what a board counted with what it should: each once, in order, missing only what a cut may cost."""
    left = list(kept)
    for token in expected:
        if left and _same(left[0], token, limits):
            left.pop(0)
            continue
        end_ns = token.start_ns + token.width_ns
        assert any(
            end_ns > cut.at_ns - COMMIT_NS and token.start_ns < cut.at_ns + cut.for_ns + boot_ns for cut in cuts
        ), f"{token} is missing; next is {left[:1]}"
    assert not left, f"kept and never fell: {left}"


def compared_loosely(kept: list[Kept], expected: list[Detection], cuts: list[Restart], limits: Limits) -> None:
    """Compare what a Pi counted on its accelerated clock with what it should: as many, and none wider.

    Its edges come later than its clock says by as much as it is hurried. The law of counting holds however late they
    come; it allows that a token is reported before its last flash, and so narrower than it was, or a jam without its
    flag.
    """
    away = [
        token
        for token in expected
        if any(cut.at_ns - COMMIT_NS < token.start_ns < cut.at_ns + cut.for_ns + AWAY_NS for cut in cuts)
    ]
    assert len(expected) - len(away) <= len(kept) <= len(expected)
    if not cuts:
        for (width, flags), token in zip(kept, expected, strict=True):
            assert flags <= frozenset(str(flag) for flag in token.flags) | {"jam"}
            assert "jam" in flags or width <= token.width_ns / MS + 0.05


def _same(kept: Kept, token: Detection, limits: Limits) -> bool:
    width, flags = kept
    if flags != frozenset(str(flag) for flag in token.flags):
        return False
    # A jam is reported while it lasts. An Uno writes widths in steps of 20 us.
    return width >= limits.max_break / MS if "jam" in flags else abs(width - token.width_ns / MS) <= 0.05


PI = ("simulated", "lgpio")
NEEDS_LGPIO = pytest.mark.skipif(find_spec("lgpio") is None, reason="lgpio has no wheel for this Python")

PAIRS = [
    pytest.param(counter, file, id=f"{counter}-{file.stem}", marks=[NEEDS_LGPIO] if counter == "lgpio" else [])
    for counter in COUNTERS
    for file in SCENARIOS
    if file.stem not in LIGHT or counter not in PI
]


@pytest.mark.parametrize(("counter", "file"), PAIRS)
def test_every_counter_comes_to_the_same_tokens(
    companion: Companion, tmp_path: Path, counter: str, file: Path
) -> None:
    script = read(file.read_bytes(), file.name)
    pi = counter in PI
    moments = expand(script).moments
    slowly = pi and any(isinstance(moment, Restart) for moment in moments)
    speed = IN_REAL_TIME if pi and file.stem in READ_AGAIN else SLOWLY if slowly else SPEED
    one = job(file, script, tmp_path, companion.port, counter, speed)
    judged(companion, counter, one, COUNTERS[counter](one))


def judged(companion: Companion, counter: str, one: Job, found: Findings | None, boot_ns: int = BOOT_NS) -> None:
    """Compare what reached the companion with the scenario: an `AssertionError` says what differs."""
    script, file, moments = one.script, one.file, one.timeline.moments
    pi = counter in PI
    kept = companion.kept(one.temple)
    # Edges that are lost on their way are lost in a Pi's kernel: a board hears what its own pins do.
    unheard = any(isinstance(moment, Change) and not moment.edge_seen for moment in moments)
    if not (pi and unheard):
        limits = script.limits(Limits())
        cuts = [moment for moment in moments if isinstance(moment, Restart)]
        for god, expected in reference(one.timeline, limits).items():
            if pi:
                compared_loosely(kept[god], expected, cuts, limits)
            else:
                compared(kept[god], expected, cuts, limits, boot_ns)
    restarts = any(isinstance(moment, Restart) for moment in moments)
    # Nothing switches the emitters of the boards here.
    if found is not None and not unheard and script.emitters is Emitters.FIXED:
        assert {god: found[god] for god in script.expected.findings} == dict(script.expected.findings)
    if script.emitters is Emitters.FIXED and not (counter == "uno" and file.stem in AT_ONCE):
        scored = companion.scored(one.temple)
        assert {god: n for god, n in scored.items() if n > script.expected.scored.get(god, n)} == {}
    if (pi and unheard) or not (unheard or restarts):
        assert {god: len(kept[god]) for god in script.expected.tokens} == dict(script.expected.tokens)
