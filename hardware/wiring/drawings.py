"""Harness and circuit of every board, the starter's breadboard, and what may be added, drawn into one folder."""

from __future__ import annotations

from pathlib import Path

from hardware.wiring import additions, breadboard, circuit, harness
from hardware.wiring.boards import BOARDS
from hardware.wiring.joins import wiring


def draw(folder: Path) -> list[Path]:
    """Draw everything, and return the pictures."""
    boards = [make(wiring(board), folder) for board in BOARDS.values() for make in (harness.draw, circuit.draw)]
    return [*boards, breadboard.draw(folder), *additions.draw(folder)]
