"""The real controller counts simulated tokens one for one, as long as they come one at a time."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import mujoco
import numpy as np
import pytest

from controller.core import learned_limits
from controller.core.counting import MS, Limits
from controller.core.judge import TOGETHER_NS
from controller.core.learned_limits import to_dict
from controller.simulation.parser import read
from hardware import checks
from hardware.catalogue import Piece
from hardware.making import Workshop
from hardware.parameters import BEADS, TEMPLE, Temple, Token, deep, fitting
from hardware.parts import chute
from hardware.physics import report
from hardware.physics.__main__ import WANTED, main
from hardware.physics.bowl import dropped, offering
from hardware.physics.counting import band, count_tokens, counted, measured, scenario
from hardware.physics.drops import MOST, Batch, handful, seen_below, singles
from hardware.physics.heap import called_for, pour
from hardware.physics.optics import WORST, Spell
from hardware.physics.world import MM, SILL, build
from hardware.rules import require
from templo.contract import God
from templo.lake import KINDS

TOKEN = {token.name: token for token in TEMPLE.tokens}
APART_MS = 400
"""One after the other, each alone in its chute."""


@pytest.fixture(scope="module")
def batches() -> list[Batch]:
    return [singles(TEMPLE, kind, seed, 6, APART_MS) for seed, kind in enumerate(TEMPLE.tokens)]


def test_every_token_that_falls_alone_is_counted_once(batches: list[Batch]) -> None:
    outcome = count_tokens(scenario(batches), Limits())
    assert outcome.complaints == ()
    assert counted(outcome) == sum(batch.dropped for batch in batches)


def test_every_kind_comes_out_and_is_wider_than_the_least_that_counts(batches: list[Batch]) -> None:
    assert [batch.through for batch in batches] == [batch.dropped for batch in batches]
    assert measured(batches).low_ns > Limits().min_break


def test_a_token_that_falls_alone_breaks_a_second_beam_in_its_order_and_time() -> None:
    batch = singles(TEMPLE, TOKEN["bead 12"], 7, 6, APART_MS, below=True)
    later = seen_below(TEMPLE, batch, WORST)
    assert len(later) == len(batch.spells) == batch.dropped
    transit_ms = Limits().transit / MS
    for above, below in zip(batch.spells, later, strict=True):
        assert TOGETHER_NS / MS < below.at_ms - above.at_ms <= above.width_ms + transit_ms


def test_the_same_seed_drops_the_same_tokens(batches: list[Batch]) -> None:
    assert singles(TEMPLE, TEMPLE.tokens[0], 0, 6, APART_MS) == batches[0]


def test_two_tokens_that_merge_are_missed_and_reported_as_such() -> None:
    merged = Batch("bead 12", 1, 2, 2, (Spell(100.0, 36.0),), 500.0)
    outcome = count_tokens(scenario([merged]), Limits())
    assert outcome.complaints
    assert counted(outcome) == 1


def test_a_temple_that_learned_its_tokens_flags_what_merged(batches: list[Batch]) -> None:
    beads = [batch for batch in batches if batch.kind == "bead 12"]
    limits = band(beads)
    widest = max(spell.width_ms for batch in beads for spell in batch.spells)
    outcome = count_tokens(scenario([Batch("bead 12", 1, 2, 2, (Spell(100.0, 2 * widest),), 500.0)]), limits)
    assert [sorted(token.flags) for token in outcome.tokens] == [["overlap", "simulated"]]


def test_a_hand_falls_otherwise_at_another_friction_and_comes_out_all_the_same() -> None:
    smooth, rough = (handful(TEMPLE, TEMPLE.tokens[0], 71_000, 3, friction) for friction in (0.2, 0.5))
    assert smooth.shade != rough.shade
    assert (smooth.through, rough.through) == (3, 3)


def test_of_the_same_hands_more_beads_are_counted_in_a_temple_that_fits_them() -> None:
    def hands(temple: Temple) -> int:
        batches = [handful(temple, TOKEN["bead 8"], seed, 7) for seed in range(1000, 1006)]
        assert all(batch.through == batch.dropped for batch in batches)
        return counted(count_tokens(scenario(batches), Limits()))

    assert hands(fitting(8)) > hands(TEMPLE)


def test_a_bead_that_falls_alone_in_a_temple_that_fits_it_is_counted_once() -> None:
    batch = singles(fitting(8), TOKEN["bead 8"], 1, 6, APART_MS)
    assert counted(count_tokens(scenario([batch]), Limits())) == 6


def test_a_hand_that_a_finger_sweeps_out_of_the_bowl_is_counted_token_by_token() -> None:
    swept = offering(TEMPLE, TOKEN["bead 8"], 2000, 7, 0.5)
    assert (swept.left, swept.out, swept.batch.through) == (0, 0, 7)
    assert counted(count_tokens(scenario([swept.batch]), Limits())) == 7
    assert offering(TEMPLE, TOKEN["bead 8"], 2000, 7, 0.5) == swept


def test_tokens_that_are_dropped_into_the_bowls_hole_are_counted() -> None:
    batch = dropped(TEMPLE, TOKEN["bead 8"], 2000, 2)
    assert (batch.dropped, batch.through) == (2, 2)
    assert counted(count_tokens(scenario([batch]), Limits())) == 2


def test_a_batch_that_would_not_finish_is_refused() -> None:
    with pytest.raises(ValueError, match="41 tokens in one batch; expected at most 40"):
        singles(TEMPLE, TEMPLE.tokens[0], 1, MOST + 1)


def test_a_scenario_of_drops_is_one_that_the_controller_reads(batches: list[Batch]) -> None:
    script = read(scenario(batches).encode())
    assert sum(script.expected.tokens.values()) == sum(batch.dropped for batch in batches)


KNOWN = tomllib.loads(report.MEASURED.read_text("utf-8"))


def test_what_was_measured_was_measured_in_the_chute_that_is_shipped() -> None:
    """Otherwise: `make physics ARGS="--runs 3 --write"`."""
    assert KNOWN["model"] == report.fingerprint(TEMPLE)
    assert report.fingerprint(replace(TEMPLE, slope=28)) != KNOWN["model"]


def test_tokens_that_fell_80_ms_after_another_were_counted_by_the_worst_receiver() -> None:
    assert len(KNOWN["runs"]) >= 3
    for run in KNOWN["runs"]:
        assert run["dropped"] >= 500
        assert WANTED * run["dropped"] <= run["counted"] <= run["dropped"], run["seed"]


@pytest.mark.parametrize("name", ["min_break_ms", "min_clear_ms", "max_break_ms"])
def test_a_limit_that_the_counter_starts_with_is_one_that_the_physics_allows(name: str) -> None:
    window = KNOWN["windows"][name]
    value = to_dict(Limits())[name]
    assert value is not None
    assert window["least"] <= value <= window.get("most", value)


def test_what_calibrate_learns_is_what_the_physics_gave() -> None:
    kinds = KNOWN["kinds"]
    assert set(kinds) == {token.name for token in TEMPLE.tokens}
    for kind in (*kinds.values(), {**_widest(kinds), **KNOWN["limits"]}):
        widths = [round(kind[name] * MS) for name in ("low_ms", "high_ms")]
        learnt = to_dict(learned_limits.limits(Limits(), frozenset(), {God.TLALOC: learned_limits.measured(widths)}))
        assert (learnt["narrow_ms"], learnt["band_ms"]) == (kind["narrow_ms"], kind["band_ms"])


def _widest(kinds: dict[str, dict[str, float]]) -> dict[str, float]:
    every = kinds.values()
    return {"low_ms": min(kind["low_ms"] for kind in every), "high_ms": max(kind["high_ms"] for kind in every)}


def test_other_tokens_than_those_that_were_learned_from_fall_within_the_band(batches: list[Batch]) -> None:
    for batch in batches:
        kind = KNOWN["kinds"][batch.kind]
        for spell in batch.spells:
            assert kind["narrow_ms"] <= spell.width_ms <= kind["band_ms"]


def test_the_documents_show_the_bands_that_were_measured() -> None:
    shown_there = report.RECORD.read_text("utf-8")
    for name, kind in KNOWN["kinds"].items():
        assert f"| {name} | {kind['low_ms']:g} to {kind['high_ms']:g} | {kind['narrow_ms']:g} to" in shown_there


def test_a_gap_inside_a_token_is_distinguished_from_one_between_two() -> None:
    spells = (Spell(0.0, 10.0), Spell(80.0, 6.0), Spell(87.5, 5.0), Spell(200.0, 10.0))
    inside, between = report.gaps([Batch("skull 13", 1, 3, 3, spells, 300.0)])
    assert (inside, between) == (1.5, 70.0)


ROOF_STEP = 0.7
"""Millimetres by which the steps of the printed roof rise, and so are higher than the model's at most."""


@pytest.mark.parametrize("over", [1.0, 8.0, 15.0])
def test_the_plates_that_tokens_fall_on_lie_where_the_parts_faces_do(
    over: float, temple: Temple, kit: dict[str, Piece], workshop: Workshop
) -> None:
    """Rays down and up from within the gutter meet the part's mesh where they meet the model.

    The printed roof is stepped, and the model's a line below the steps: what falls in the model has no more room.
    """
    mesh = workshop.placed(kit["chute_5mm"], chute.place(temple, 1))
    turn = np.array(checks.turned(1, 0, 90 - temple.turn))
    model = mujoco.MjModel.from_xml_string(build(temple, ()).xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    hit = np.zeros(1, np.int32)
    line = temple.above(over, temple.run - 8, 4)
    points = [
        (low + (high - low) * part, z + (top - z) * part)
        for (low, z), (high, top) in pairwise(line)
        for part in (0.25, 0.75)
    ]
    for s, z in points:
        for up in (-1.0, 1.0):
            far = (
                mujoco.mj_ray(
                    model, data, np.array([s, 0, z - temple.sill + SILL]) * MM, np.array([0, 0, up]), None, 1, -1, hit
                )
                / MM
            )
            start = np.array([*(np.array(temple.shaft_at) + s * turn), z])
            met, _, _ = mesh.ray.intersects_location([start], [[0, 0, up]])
            room = min(abs(met[:, 2] - z)) - far
            assert -0.15 < room < (0.15 + ROOF_STEP if up > 0 else 0.15), (s, z, up)


def test_the_heap_of_skulls_in_a_low_lake_stands_in_the_chute_unless_somebody_levels_it() -> None:
    heap = pour(TEMPLE, TOKEN["skull 13"], 1, 130)
    assert heap.jammed
    assert 70 < heap.fell < 125


def test_a_heap_begins_far_below_the_sill_and_stays_in_the_lake() -> None:
    heap = pour(deep(TEMPLE), TOKEN["bead 12"], 1, 40)
    assert (heap.fell, heap.jammed, heap.out) == (40, False, 0)
    assert heap.highest < deep(TEMPLE).sill / 2


def test_a_heap_that_is_pushed_to_the_back_when_the_temple_calls_leaves_the_door_free() -> None:
    heap = pour(TEMPLE, TOKEN["skull 13"], 1, 70, level=called_for(TOKEN["skull 13"]))
    assert (heap.fell, heap.jammed, heap.out) == (70, False, 0)
    assert heap.highest < TEMPLE.sill


def test_beads_of_8_mm_never_call_and_others_do_by_their_size() -> None:
    beads = [called_for(Token(f"bead {size}", (size, size, size))) for size in (8, 9, 10, 12, 14)]
    heap = {kind.name: kind.heap for kind in KINDS}
    assert beads == [None, heap["bead_10"], heap["bead_10"], heap["bead_12"], heap["skull"]]
    assert called_for(TOKEN["bean"]) == heap["bean"]
    assert called_for(TOKEN["skull 13"]) == heap["skull"]


def test_a_token_that_stands_in_a_flat_chute_alone_is_no_jam_of_a_heap() -> None:
    heap = pour(replace(TEMPLE, slope=1, steep=4), TOKEN["skull 13"], 1, 2, friction=1.0)
    assert (heap.jammed, heap.alone, str(heap)) == (True, True, "alone after 0")


@pytest.mark.parametrize("friction", [0.2, 0.4])
def test_no_bead_of_8_mm_stands_in_an_empty_chute(friction: float) -> None:
    assert not pour(TEMPLE, TOKEN["bead 8"], 82, 40, friction).jammed


def test_the_same_seed_makes_the_same_heap() -> None:
    assert pour(TEMPLE, TOKEN["bean"], 2, 10) == pour(TEMPLE, TOKEN["bean"], 2, 10)


def test_what_falls_does_not_depend_on_how_high_the_temple_stands() -> None:
    higher = replace(TEMPLE, plinth=TEMPLE.plinth + 10, sill=TEMPLE.sill + 10)
    assert report.fingerprint(higher) == report.fingerprint(TEMPLE)


def test_a_table_of_heaps_is_kept_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "RECORD", tmp_path / "physics.txt")
    monkeypatch.setattr("hardware.physics.__main__.FRICTIONS", (0.5,))
    monkeypatch.setattr("hardware.physics.__main__.HEAP_SEEDS", (1,))
    monkeypatch.setattr(sys, "argv", ["make physics", "--heaps", "2", "--level", "--write"])
    assert main() == 0
    command, empty, head, _, *rows = (tmp_path / "heaps-levelled.txt").read_text("utf-8").splitlines()
    assert (command, empty) == ('make physics ARGS="--heaps 2 --level --write"', "")
    assert "\n".join(rows) in capsys.readouterr().out
    assert head.count("seed") == 1
    assert (
        rows[1]
        == f"| bead 12 | 0.5 | {called_for(TOKEN['bead 12'])} | all 2 | {TEMPLE.holds(TOKEN['bead 12']) // 2} |"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["heaps-levelled.txt"]


@pytest.mark.parametrize("command", ["hardware", "hardware.physics"])
@pytest.mark.parametrize("size", ["0", "7", "15"])
def test_a_temple_is_fitted_only_to_a_size_of_bead_that_there_is(command: str, size: str) -> None:
    words = [sys.executable, "-m", command, "--bead", size]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "argument --bead: invalid choice" in done.stderr


def test_choices_that_break_a_rule_drop_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["make physics", "--heaps", "1", "--set", "slope=20"])
    assert main() == 1
    assert "slope: at 20 degrees beans and skulls stick" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--tokens", "0"),
        ("--runs", "-1"),
        ("--hands", "0"),
        ("--heaps", "x"),
        ("--bowls", "0"),
        ("--every", "nan"),
        ("--seed", "-1"),
    ],
)
def test_a_number_that_nothing_can_be_dropped_by_is_refused(
    flag: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["make physics", flag, value])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert f"argument {flag}: it is {value!r}; expected " in capsys.readouterr().err


@pytest.mark.parametrize("size", BEADS)
def test_a_temple_that_is_fitted_to_a_size_of_bead_breaks_no_rule(size: int) -> None:
    require(fitting(size))
