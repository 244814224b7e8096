"""The slicer's output is parsed correctly, and one real part is sliced."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from hardware import slicing
from hardware.__main__ import folder
from hardware.bill import BEADS, bill, fitted, table
from hardware.catalogue import BLACK, OCHRE, PAPER, Piece
from hardware.making import FOLDER, LICENCE, Workshop


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
