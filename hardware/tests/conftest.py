"""One workshop for all tests: a part is drawn once, and reused until its sizes or drawings change."""

from __future__ import annotations

import pytest

from hardware.catalogue import Piece, pieces
from hardware.making import Workshop
from hardware.parameters import TEMPLE, Temple


@pytest.fixture(scope="session")
def temple() -> Temple:
    return TEMPLE


@pytest.fixture(scope="session")
def workshop(temple: Temple) -> Workshop:
    return Workshop(temple)


@pytest.fixture(scope="session")
def kit(temple: Temple) -> dict[str, Piece]:
    return {piece.name: piece for piece in pieces(temple)}
