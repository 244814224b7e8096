"""The sensors for modulated light: their holders fit the seats, their light is enough, and the limits suit them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from controller.core.counting import Limits
from controller.core.learned_limits import to_dict
from hardware import checks
from hardware.catalogue import Piece
from hardware.making import Workshop
from hardware.parameters import MODULES, SENSOR_MODULATED, SENSORS, TEMPLE
from hardware.parts import chute, holder
from hardware.physics import sensors
from hardware.physics.optics import Receiver
from hardware.physics.report import Alone, gaps, viewed

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def alone() -> Alone:
    """A few tokens of each kind, dropped one by one through chutes with wide bores."""
    return sensors.drops(sensors.fitted(TEMPLE), 5)


def test_none_of_them_is_the_default() -> None:
    assert TEMPLE.sensor == SENSORS["5mm"]
    assert TEMPLE.bore(TEMPLE.sensor) == TEMPLE.aperture == sensors.NARROW
    assert TEMPLE.bore(SENSOR_MODULATED) == 4


@pytest.mark.parametrize("name", sensors.KINDS)
def test_a_bore_of_4_mm_gives_enough_light_by_data_sheets(name: str) -> None:
    kind = sensors.KINDS[name]
    wide, narrow = kind.margin(TEMPLE, 4), kind.margin(TEMPLE, sensors.NARROW)
    assert wide > sensors.ENOUGH
    assert wide == pytest.approx(4 * narrow), "as the bore's area"


def test_a_narrow_bore_would_leave_the_s6986_too_little() -> None:
    assert sensors.KINDS["s6986"].margin(TEMPLE, sensors.NARROW) < sensors.ENOUGH


@pytest.mark.parametrize("name", sensors.KINDS)
def test_it_sees_every_token_within_the_limits_that_the_page_says(name: str, alone: Alone) -> None:
    temple, kind = sensors.fitted(TEMPLE), sensors.KINDS[name]
    starts = {name: value or 0.0 for name, value in to_dict(Limits()).items()} | {
        "min_break_ms": sensors.MIN_BREAK_MS
    }
    assert f"counting.min_break_ms = {sensors.MIN_BREAK_MS:g}" in (DOCS / "wiring.md").read_text("utf-8")
    found = sensors.windows(temple, alone, kind)
    for limit, window in found.items():
        assert window.least <= starts[limit], limit
        assert window.most is None or starts[limit] <= window.most, limit
    worst, _ = kind.receivers(temple, 4)
    for batches in viewed(temple, alone, worst).values():
        assert sum(len(batch.spells) for batch in batches) >= sum(batch.dropped for batch in batches)
        assert gaps(batches)[1] > starts["min_clear_ms"]


def test_a_receiver_with_more_light_is_dark_for_less(alone: Alone) -> None:
    temple = sensors.fitted(TEMPLE)

    def dark(threshold: float) -> float:
        seen = viewed(temple, alone, Receiver(threshold, response_ms=0.0))
        return sum(spell.width_ms for batches in seen.values() for batch in batches for spell in batch.spells)

    assert dark(0.5) > dark(0.9) > dark(0.98)


@pytest.mark.parametrize("name", MODULES)
def test_a_holder_has_the_seats_size_but_for_a_hair_and_room_for_its_part(
    name: str, kit: dict[str, Piece], workshop: Workshop
) -> None:
    mesh, module = workshop.mesh(kit[f"holder_{name}"]), MODULES[name]
    size = mesh.bounds[1] - mesh.bounds[0]
    for given, room in zip(
        size, (SENSOR_MODULATED.length, SENSOR_MODULATED.height, SENSOR_MODULATED.depth), strict=True
    ):
        assert room - 0.4 <= given < room
    body = checks.solid(mesh)
    if module.high:
        part = checks.box((-module.wide / 2, -module.eye, 0), (module.wide / 2, 20, module.deep))
    else:
        part = checks.box((-2.5 * 0.7, -2.5 * 0.7, 0), (2.5 * 0.7, 2.5 * 0.7, 8.7))
    assert checks.overlap(part, body) == 0
    eye = checks.box((-0.5, -0.5, -1), (0.5, 0.5, 1))
    assert checks.overlap(eye, body) == 0, "nothing stands before the eye"


def test_the_proof_kit_has_a_second_bore_below_the_first_as_high_over_the_floor(
    kit: dict[str, Piece], workshop: Workshop
) -> None:
    body = checks.solid(workshop.mesh(kit["chute_proof"]))
    x, z = chute.beam(TEMPLE)
    half = TEMPLE.aperture / 2 - 0.1
    for along, wide in product((0.0, TEMPLE.below), (-half, half)):
        ray = checks.box(
            (x + along + wide - 0.05, -30, z + chute.UNDER - 0.05),
            (x + along + wide + 0.05, 30, z + chute.UNDER + 0.05),
        )
        inner = ray ^ checks.box((-99, -18, -99), (99, 18, 99))
        assert checks.overlap(inner, body) == 0


def test_the_proof_kit_takes_two_pairs_side_by_side(kit: dict[str, Piece], workshop: Workshop) -> None:
    body = checks.solid(workshop.mesh(kit["chute_proof"]))
    x, z = chute.beam(TEMPLE)
    near = TEMPLE.shaft / 2 + TEMPLE.chute_wall
    for along, pair, up in ((0.0, TEMPLE.sensor, 0.0), (TEMPLE.below, chute.upright(TEMPLE.sensor), 10.0)):
        for side in (-1, 1):
            begin, end = sorted((side * near, side * (near + pair.depth)))
            low = x + along - (pair.length - pair.lens_from_end)
            block = checks.box(
                (low, begin, z + chute.UNDER - pair.height / 2),
                (low + pair.length, end, z + chute.UNDER + pair.height / 2 + up),
            )
            assert checks.overlap(block, body) < 0.5


def test_the_page_has_the_table_that_the_physics_printed() -> None:
    lines = (DOCS / "measurements" / "sensors.txt").read_text("utf-8").splitlines()
    assert lines[0] == 'make physics ARGS="--sensors 25"'
    for kind in sensors.KINDS.values():
        margins = kind.margin(TEMPLE, sensors.NARROW), kind.margin(TEMPLE, 4)
        dark = "high" if kind.dark_is_high else "low"
        assert f"| {kind.title} | {margins[0]:.1f} | {margins[1]:.1f} | {dark} |" in lines


def test_a_holder_has_walls_that_print_on_both_sides() -> None:
    for module in MODULES.values():
        across = module.wide or 2 * holder.FLANGE
        assert SENSOR_MODULATED.length - across - 4 * holder.LOOSE >= 2 * TEMPLE.bed.thinnest
