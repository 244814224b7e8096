"""Draws harness and circuit of every board, and brings the tables of the pages in `docs/` up to date."""

from __future__ import annotations

import sys
from pathlib import Path

from hardware.wiring import circuit, harness
from hardware.wiring.boards import BOARDS
from hardware.wiring.joins import wiring
from hardware.wiring.pages import PAGES, PICTURES, renewed


def main(folder: Path = PICTURES) -> None:
    """Write the pictures into a folder, and the tables into their pages."""
    for board in BOARDS.values():
        joined = wiring(board)
        for path in (harness.draw(joined, folder), circuit.draw(joined, folder)):
            print(path)
    for page in PAGES:
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(page)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
