"""`python -m hardware.hours`: what the low and the deep temple weigh, and how long both printers need for them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from hardware import slicing
from hardware.catalogue import pieces
from hardware.making import BUILD, Workshop
from hardware.parameters import TEMPLE, deep

EDITIONS = {"": TEMPLE, "deep": deep(TEMPLE)}
"""By the names of their folders."""


def main() -> int:
    """Print the table; returns 1 where the slicer fails."""
    try:
        for row in rows(Workshop(temple, BUILD / name) for name, temple in EDITIONS.items()):
            print(row, flush=True)
    except slicing.SlicerError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def rows(workshops: Iterator[Workshop]) -> Iterator[str]:
    """Yield a table: what everybody prints of each temple, and the longest print among its parts."""
    yield "| temple | grams | hours | hours, fast | longest part | hours | hours, fast |"
    yield "|---|---:|---:|---:|---|---:|---:|"
    for workshop in workshops:
        kit = [piece for piece in pieces(workshop.temple) if piece.chosen]
        ones = {piece.name: slicing.both(workshop, piece) for piece in kit}
        every = [slicing.times(ones[piece.name], piece.number) for piece in kit]
        grams, hours, fast = (sum(getattr(each, name) for each in every) for name in ("grams", "hours", "fast"))
        name, one = max(ones.items(), key=lambda each: each[1].hours)
        yield (
            f"| door {workshop.temple.sill:g} mm, rim {workshop.temple.rim:g} mm | {grams:.0f} | {hours:.1f} "
            f"| {fast:.1f} | {name.replace('_', ' ')} | {one.hours:.1f} | {one.fast:.1f} |"
        )


if __name__ == "__main__":
    sys.exit(main())
