"""The slicer's output is parsed correctly, and one real part is sliced."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from hardware import plates, slicing
from hardware.__main__ import folder
from hardware.bill import BEADS, bill, fitted, table
from hardware.catalogue import BLACK, OCHRE, PAPER, Piece
from hardware.making import FOLDER, Workshop
from hardware.parameters import Bed
from hardware.threemf import LICENCE, PAUSE


def test_times_of_all_lengths_are_read() -> None:
    assert slicing.hours("1d 2h 30m 0s") == pytest.approx(26.5)
    assert slicing.hours("45s") == pytest.approx(0.0125)


def test_g_code_without_the_figures_is_refused() -> None:
    with pytest.raises(slicing.SlicerError, match="does not say how much"):
        slicing.read("G1 X0 Y0")


def test_a_real_slicer_run_gives_grams_and_hours(tmp_path: Path, kit: dict[str, Piece], workshop: Workshop) -> None:
    one = slicing.cut(workshop.stl(kit["causeway_front"]), tmp_path / "out.gcode")
    assert 1 < one.grams < 8
    assert 0.1 < one.hours < 2


def test_a_fast_printer_takes_less_time_for_the_same_plastic(
    tmp_path: Path, kit: dict[str, Piece], workshop: Workshop
) -> None:
    slow, fast = (
        slicing.cut(workshop.stl(kit["causeway_back"]), tmp_path / "out.gcode", profile)
        for profile in (slicing.PROFILE, slicing.FAST)
    )
    assert fast.hours < 0.8 * slow.hours
    assert fast.grams == pytest.approx(slow.grams, rel=0.02)


def test_a_file_that_is_no_part_is_refused_with_the_slicers_message(tmp_path: Path) -> None:
    path = tmp_path / "no.stl"
    path.write_text("nothing", "utf-8")
    with pytest.raises(slicing.SlicerError, match=r"no\.stl"):
        slicing.cut(path, tmp_path / "out.gcode")


def test_stl_and_step_and_3mf_are_written(kit: dict[str, Piece], workshop: Workshop) -> None:
    piece = kit["causeway_back"]
    assert workshop.stl(piece).stat().st_size > 1000
    assert workshop.step(piece).read_text("utf-8").startswith("ISO-10303-21")
    with zipfile.ZipFile(workshop.threemf(piece)) as packed:
        model = packed.read("3D/3dmodel.model").decode()
    assert f'<metadata name="LicenseTerms" preserve="1">{LICENCE}</metadata>' in model
    assert f'license = {{ text = "{LICENCE}" }}' in (FOLDER.parent / "pyproject.toml").read_text("utf-8")


def test_a_plates_file_brings_profile_cover_and_the_heights_where_the_colour_changes(
    tmp_path: Path, kit: dict[str, Piece], workshop: Workshop
) -> None:
    """PrusaSlicer opens it with nothing else given, and writes a pause at each height."""
    cover = tmp_path / "cover.png"
    cover.write_bytes(b"\x89PNG\r\n\x1a\n")
    roof = replace(kit["roof_tlaloc"], number=1)
    (path,) = plates.write_all(workshop, [roof], slicing.PROFILE, cover, tmp_path)
    assert path.name == "plate-01-blue.3mf"
    with zipfile.ZipFile(path) as packed:
        assert packed.read("Metadata/thumbnail.png") == cover.read_bytes()
    gcode = tmp_path / "out.gcode"
    slicing.cut(path, gcode, {})
    words = gcode.read_text("utf-8")
    assert "; perimeters = 2" in words
    assert "; fill_pattern = gyroid" in words
    before, after = words.split(f"\n{PAUSE}")
    ((height, _),) = roof.changes
    last = max(float(line[3:]) for line in before.splitlines() if line.startswith(";Z:"))
    first = min(float(line[3:]) for line in after.splitlines() if line.startswith(";Z:"))
    assert last < first
    assert min(abs(last - height), abs(first - height)) <= 0.21


def test_every_part_lies_on_a_plate_within_the_bed_and_on_no_other(kit: dict[str, Piece], workshop: Workshop) -> None:
    found = plates.plates(workshop, kit.values())
    copies = sorted(body.name for plate in found for body in plate.bodies)
    assert copies == sorted(piece.name for piece in kit.values() if piece.chosen for _ in range(piece.number))
    bed = workshop.temple.bed
    for plate in found:
        for body in plate.bodies:
            low, high = body.mesh.bounds
            assert low[0] >= 0, body.name
            assert low[1] >= 0, body.name
            assert low[2] == pytest.approx(0), body.name
            assert high[0] <= bed.x, body.name
            assert high[1] <= bed.y, body.name
        boxes = [body.mesh.bounds for body in plate.bodies]
        assert not [
            (one, other)
            for n, one in enumerate(boxes)
            for other in boxes[:n]
            if all(one[0][axis] < other[1][axis] and other[0][axis] < one[1][axis] for axis in (0, 1))
        ]


def test_a_small_bed_takes_the_base_turned_by_45_degrees_and_a_tiny_one_is_refused(
    kit: dict[str, Piece], workshop: Workshop
) -> None:
    small = Workshop(replace(workshop.temple, bed=Bed(x=180, y=180)), workshop.folder)
    small.mesh = workshop.mesh  # type: ignore[method-assign]
    (plate,) = plates.plates(small, [kit["base"]])
    assert max(plate.bodies[0].mesh.extents[:2]) < 172
    small.temple = replace(workshop.temple, bed=Bed(x=90, y=90))
    with pytest.raises(ValueError, match="base has no room on a bed of 90 by 90 mm"):
        plates.plates(small, [kit["base"]])


def test_filament_is_bought_by_the_spool_and_by_colour() -> None:
    lines = list(slicing.spools({BLACK: 50.0, OCHRE: 240.0, PAPER: 1000.0}))
    assert "| matt black | 55 | one of 250 g |" in lines
    assert "| ochre | 264 | one of 1 kg |" in lines
    assert "| sand | 1100 | 1 of 1 kg and one of 250 g |" in lines
    assert lines[-1].endswith("it takes one of 250 g of the first, and 2 of 1 kg of the other.")


def test_a_temple_for_one_size_of_bead_has_a_folder_and_a_bill_of_its_own() -> None:
    assert folder("bead-8") != folder("")
    assert folder("bead-8").parent == folder("")
    shown = "\n".join(table(fitted(bill(), 8)))
    assert "| round bead, 8 mm, all of one size, without a wide hole | 360 |" in shown
    assert BEADS not in shown
    assert BEADS in "\n".join(table(bill()))
