"""Draws harness, circuit and additions of every board for `docs/`, and brings the tables of its pages up to date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from hardware.wiring import drawings
from hardware.wiring.pages import PICTURES, renew


def main(argv: Sequence[str]) -> int:
    """Draw and write, and print what was written."""
    argparse.ArgumentParser(prog="python -m hardware.wiring", description=__doc__).parse_args(argv)
    for path in (*drawings.draw(PICTURES), *renew()):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
