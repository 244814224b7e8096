"""What is wrong with a beam, and what to do: known by its edges, and proved by an emitter that is switched."""

from __future__ import annotations

import itertools
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.app.explanations import FINDINGS, selftest_lines
from controller.core import diagnosis
from controller.core.counting import MS, SECOND, Counter, Edge, Limits
from controller.core.diagnosis import Answer, Observed, diagnose, proof
from controller.core.messages import EdgeSeen, LevelRead, MessageReceived
from controller.simulation.fast import play_fast
from controller.simulation.parser import read
from templo import contract
from templo.contract import Beam, CommandName, God
from tests.brokers import mosquitto
from tests.controller.program import ROOT, Companion, Temple
from tests.controller.rig import NOON, Rig

SCENARIOS = ROOT / "controller" / "simulation" / "scenarios"


def command(rig: Rig, name: CommandName, number: int = 1, **more: object) -> MessageReceived:
    expires = NOON + timedelta(microseconds=rig.now_ns // 1000, seconds=10)
    return MessageReceived(contract.Command(f"{number:032x}", name, expires, **more))  # type: ignore[arg-type]


# -- by its edges --


@pytest.mark.usefixtures("expects_warnings")
@pytest.mark.parametrize(
    ("scenario", "code", "remedy"),
    [
        ("unplugged-emitter", "dark", "press the emitter's plug home"),
        ("unplugged-receiver", "unproved", "press the receiver's plug home"),
        ("no-power", "both_dark", "look at what feeds both emitters"),
        ("reversed", "reversed", "set beams.broken"),
        ("sunlight", "flicker", "shade the receiver"),
        ("sun-through-leaves", "flicker", "shade the receiver"),
        ("weak-supply", "weak_supply", "a stronger supply"),
        ("blocked", "blocked", "clear the chute"),
        ("hopping", "hop", "lower the beam"),
        ("handfuls", "overlap", "one at a time"),
        ("other-tokens", "outside_band", "calibrate"),
        ("missed-edges", "missed_edges", "too busy"),
        ("deaf", "deaf", "restart the controller"),
    ],
)
def test_a_fault_is_reported_with_what_to_do(tmp_path: Path, scenario: str, code: str, remedy: str) -> None:
    """The one thing, and no other: a fault that looks like a second one is reported once."""
    ids = (f"{number:032x}" for number in itertools.count(1))
    script = read((SCENARIOS / f"{scenario}.toml").read_bytes())
    outcome = play_fast(script, Limits(), tmp_path / "ledger.sqlite3", lambda: next(ids))
    assert [finding["code"] for finding in outcome.findings(God.TLALOC)] == [code]
    lines = list(selftest_lines(outcome.selftest))
    tlaloc = next(number for number, line in enumerate(lines) if line.startswith("  Tlaloc"))
    assert lines[tlaloc + 1].startswith(f"    {code}: ")
    assert remedy in lines[tlaloc + 2]


@pytest.mark.usefixtures("expects_warnings")
def test_a_flicker_that_is_over_is_reported_for_ten_minutes(rig: Rig) -> None:
    for number in range(70):
        rig.take(
            EdgeSeen(God.TLALOC, rig.now_ns + number * 10 * MS, True),
            EdgeSeen(God.TLALOC, rig.now_ns + number * 10 * MS + MS, False),
        )
    rig.take(after_ns=5 * SECOND)
    assert codes(rig) == ["flickered"]
    rig.take(after_ns=600 * SECOND)
    assert codes(rig) == []


@pytest.mark.usefixtures("expects_warnings")
@pytest.mark.parametrize("apart_ms", [0, 40])
def test_both_beams_dark_at_once_are_reported_for_ten_minutes_after_their_light_came_back(
    rig: Rig, apart_ms: int
) -> None:
    both_at_once(rig, True, apart_ms)
    rig.jam()
    assert codes(rig) == ["both_dark"]
    rig.take(after_ns=900 * SECOND)
    both_at_once(rig, False, apart_ms)
    rig.take(after_ns=SECOND)
    assert codes(rig) == ["dipped"]
    rig.take(after_ns=598 * SECOND)
    assert codes(rig) == ["dipped"]
    rig.take(after_ns=2 * SECOND)
    assert codes(rig) == []


def both_at_once(rig: Rig, dark: bool, apart_ms: int) -> None:
    first, second = rig.now_ns, rig.now_ns + apart_ms * MS
    rig.take(EdgeSeen(God.TLALOC, first, dark), after_ns=apart_ms * MS)
    rig.take(EdgeSeen(God.HUITZILOPOCHTLI, second, dark))


@pytest.mark.usefixtures("expects_warnings")
def test_two_jams_are_no_dip_of_the_supply(rig: Rig) -> None:
    for dark in (True, False):
        for god in God:
            rig.take(EdgeSeen(god, rig.now_ns, dark))
            rig.jam()
    assert codes(rig) == []


@pytest.mark.usefixtures("expects_warnings")
def test_a_beam_that_reports_again_is_deaf_no_more(rig: Rig) -> None:
    rig.take(LevelRead(God.TLALOC, rig.now_ns, True), after_ns=SECOND)
    assert codes(rig) == ["deaf"]
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, False), after_ns=SECOND)
    assert "deaf" not in codes(rig)


def test_one_wide_token_among_many_is_an_overlap_even_where_no_band_was_learned(rig: Rig) -> None:
    for number in range(9):
        rig.token(width_ms=24 if number == 4 else 12)
        rig.take(after_ns=number * 30 * MS)
    assert codes(rig) == ["overlap"]


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 400 * MS), st.booleans()), max_size=120), st.booleans())
def test_whatever_the_edges_are_each_finding_has_words(steps: list[tuple[int, bool]], dark: bool) -> None:
    limits = Limits(band=20 * MS, narrow=5 * MS)
    counters = {god: Counter(limits, dark, 0) for god in God}
    observed = {god: Observed(dark, 0) for god in God}
    now_ns = 0
    for number, (step, level) in enumerate(steps):
        now_ns += step
        for god in (God.TLALOC, God.HUITZILOPOCHTLI)[number % 3 == 0 :]:
            observed[god].edge(now_ns, level, limits)
            for event in counters[god].feed(Edge(now_ns, level)):
                observed[god].event(event, now_ns)
    found = diagnosis.selftest(counters, observed, None, limits, now_ns)
    lines = list(selftest_lines({"trouble": None, "beams": found}))
    assert len(lines) >= 4
    found = diagnose(observed, {god: counter.beam for god, counter in counters.items()}, limits, now_ns)
    assert all(finding.code in FINDINGS for each in found.values() for finding in each)


# -- by its emitter --


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(lit_dark=False, unlit_dark=True, edge_seen=True), None),
        (Answer(lit_dark=False, unlit_dark=True, edge_seen=False), "deaf"),
        (Answer(lit_dark=True, unlit_dark=False, edge_seen=True), "reversed"),
        (Answer(lit_dark=True, unlit_dark=True, edge_seen=False), "no_light"),
        (Answer(lit_dark=False, unlit_dark=False, edge_seen=False), "no_answer"),
    ],
)
def test_a_switched_emitter_distinguishes_five_cases(answer: Answer, code: str | None) -> None:
    finding = proof(answer)
    assert (finding and finding.code) == code


def test_a_selftest_switches_the_emitters_once_the_beams_are_quiet_and_proves_them(tmp_path: Path) -> None:
    proved = Answer(lit_dark=False, unlit_dark=True, edge_seen=True)
    dead = Answer(lit_dark=False, unlit_dark=False, edge_seen=False)
    switched: list[int] = []

    def prove() -> dict[God, Answer]:
        switched.append(1)
        return {God.TLALOC: proved, God.HUITZILOPOCHTLI: dead}

    rig = Rig(tmp_path, prove=prove)
    rig.pipeline.counters[God.TLALOC].beam = Beam.UNPROVED
    rig.token()
    assert codes(rig) == []
    assert not switched
    rig.take(after_ns=2 * SECOND)
    result = rig.selftest()
    assert switched
    assert codes(rig, God.HUITZILOPOCHTLI) == ["no_answer"]
    beams = result["beams"]
    assert isinstance(beams, dict)
    assert (beams[God.TLALOC]["proof"], beams[God.HUITZILOPOCHTLI]["proof"]) == (True, False)


# -- asked over the broker --


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def codes(rig: Rig, god: God = God.TLALOC) -> list[str]:
    beams = rig.selftest()["beams"]
    assert isinstance(beams, dict)
    return [finding["code"] for finding in beams[god]["findings"]]


def test_a_companion_that_asks_for_a_selftest_gets_what_the_contract_can_carry(rig: Rig) -> None:
    rig.connect()
    for number in range(70):
        rig.token(width_ms=9 + number / 9)
        rig.take(after_ns=(number % 2 + 1) * 200 * MS)
    rig.take(command(rig, CommandName.SELFTEST))
    (reply,) = rig.broker.replies()
    assert reply.ok
    assert contract.decode("reply", contract.encode(reply)) == reply
    assert len(contract.encode(reply)) < 4096


def test_a_selftest_and_a_calibration_travel_over_a_real_broker(tmp_path: Path, temples: list[Temple]) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temples.append(Temple(tmp_path / "state", broker.port).start())
        expires = NOON + timedelta(days=3650)
        companion.until(companion.statuses)
        companion.say(contract.Command("1" * 32, CommandName.SELFTEST, expires))
        reply = companion.until(companion.replies)[0]
        assert reply.result["beams"]["tlaloc"]["findings"] == [{"code": "unproved"}]
        companion.say(contract.Command("2" * 32, CommandName.CALIBRATE, expires, god=God.TLALOC, count=3))
        companion.say(contract.Command("4" * 32, CommandName.CALIBRATE, expires, god=God.TLALOC))
        assert companion.until(lambda: companion.replies()[1:])[0].code == "calibrating"
        temples[0].drop("tlaloc", 3)
        reply = companion.until(lambda: companion.replies()[2:])[0]
        assert reply.result["widths_ms"] == [12, 12, 12]
        companion.say(contract.Command("3" * 32, CommandName.CALIBRATE, expires, god=God.TLALOC, keep=True))
        reply = companion.until(lambda: companion.replies()[3:])[0]
        assert reply.result["limits"]["band_ms"] == 18
        assert [row["flags"] for row in temples[0].ledger()] == [["simulated", "test"]] * 3


def test_one_of_a_thing_is_named_in_the_singular() -> None:
    finding = {"code": "flickered", "times": 1, "ago_s": 3}
    lost = {"code": "missed_edges", "missed": 1}
    beam = {"reads": "clear", "tokens": 1, "glitches": 1, "widths_ms": None, "findings": [finding, lost]}
    lines = "\n".join(selftest_lines({"trouble": None, "beams": dict.fromkeys(God, beam)}))
    assert "1 token, 1 glitch\n" in lines
    assert "it flickered 1 time, the last 3 s ago" in lines
    assert "1 edge was lost on the way" in lines
