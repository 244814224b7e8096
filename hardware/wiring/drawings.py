"""Harness and circuit of every board, and what may be added to them, drawn into one folder."""

from __future__ import annotations

from pathlib import Path

from hardware.wiring import additions, circuit, harness
from hardware.wiring.boards import BOARDS
from hardware.wiring.joins import wiring


def draw(folder: Path) -> list[Path]:
    """Draw everything, and return the pictures."""
    boards = [make(wiring(board), folder) for board in BOARDS.values() for make in (harness.draw, circuit.draw)]
    return boards + additions.draw(folder)
