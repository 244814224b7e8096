"""Draws harness and circuit of every board for `docs/`, and brings the tables of its pages up to date."""

from __future__ import annotations

from hardware.wiring import drawings
from hardware.wiring.pages import PICTURES, renew

if __name__ == "__main__":
    for path in (*drawings.draw(PICTURES), *renew()):
        print(path)
