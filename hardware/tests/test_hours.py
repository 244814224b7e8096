"""The table of grams and hours sums up what everybody prints."""

from __future__ import annotations

import pytest

from hardware import hours, slicing
from hardware.catalogue import Piece, pieces
from hardware.making import Workshop
from hardware.parameters import TEMPLE
from hardware.slicing import Slice


def test_each_temple_has_its_sums_and_its_longest_part(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def both(_: Workshop, piece: Piece) -> Slice:
        return Slice(10, 8 if piece.name == "shell" else 1, 0.5)

    monkeypatch.setattr(slicing, "both", both)
    assert hours.main() == 0
    copies = sum(piece.number for piece in pieces(TEMPLE) if piece.chosen)
    _, _, low, deep = capsys.readouterr().out.splitlines()
    sums = f"{10 * copies} | {copies + 7:.1f} | {copies / 2:.1f} | shell | 8.0 | 0.5 |"
    assert low == f"| door 45 mm, rim 58 mm | {sums}"
    assert deep == f"| door 110 mm, rim 122 mm | {sums}"


def test_a_slicer_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def both(_: Workshop, piece: Piece) -> Slice:
        raise slicing.SlicerError(f"no slicer for {piece.name}")

    monkeypatch.setattr(slicing, "both", both)
    assert hours.main() == 1
    assert "no slicer for base" in capsys.readouterr().err
