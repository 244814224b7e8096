"""What the lab's tests share: the coin whose answers are known, and its games."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab import runs
from lab.matches import Record, Setup

FOLDER = str(Path(__file__).parent / "games" / "coin")


def coin(**chosen: Any) -> Setup:
    return Setup(game="coin", preset="classic", seats=2, chosen=chosen, folders=(FOLDER,), longest=50)


def tossed(setup: Setup, games: int, first: int = 0) -> list[Record]:
    return runs.run([runs.jobs_of(setup, games, first)], processes=1)[0]


def play(jobs: Sequence[runs.Job]) -> list[list[Record]]:
    return runs.run(jobs, processes=1)
