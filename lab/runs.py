"""Plays many games on several processes and writes each as a line of JSON, from which a later run goes on."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec

from lab.matches import Record, Setup, SetupError, play

BATCH = 8
"""Games that one process is given at once."""


class Job(msgspec.Struct, frozen=True):
    """A variant to be played: its name, its setup and its seeds."""

    variant: str
    setup: Setup
    seeds: tuple[int, ...]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a file of records: what was played, and what came of it."""

    setup: Setup
    record: Record


def run(
    jobs: Sequence[Job], path: Path | None = None, processes: int | None = None, progress: bool = False
) -> list[Record]:
    """Play all jobs and return their records, in the order of the jobs.

    Games that the file already holds are not played again; each new one is written as soon as it is over. Raises
    `SetupError` for a file whose games were set up otherwise.
    """
    kept = _kept(path, jobs) if path else {}
    wanted = [(job, seed) for job in jobs for seed in job.seeds if (job.variant, seed) not in kept]
    batches = [wanted[at : at + BATCH] for at in range(0, len(wanted), BATCH)]
    bar = Progress(len(kept), len(kept) + len(wanted), sys.stderr if progress else None)
    with _appended(path) as file:
        for found in _played(batches, processes or os.cpu_count() or 1):
            for line in found:
                kept[line.record.variant, line.record.seed] = line.record
                if file:
                    file.write(msgspec.json.encode(line) + b"\n")
            if file:
                file.flush()
            bar.step(len(found))
    bar.close()
    return [kept[job.variant, seed] for job in jobs for seed in job.seeds]


class Progress:
    """A line on a terminal that says how many games are over and how long the rest will take."""

    def __init__(self, done: int, total: int, screen: IO[str] | None) -> None:
        self._done, self._begun, self._total, self._screen = done, done, total, screen
        self._since = time.monotonic()

    def step(self, games: int) -> None:
        """Say that so many more games are over."""
        self._done += games
        if self._screen and self._total:
            share = self._done / self._total
            spent = time.monotonic() - self._since
            left = spent * (self._total - self._done) / max(1, self._done - self._begun)
            bar = "#" * round(30 * share)
            print(
                f"\r[{bar:<30}] {self._done:,} of {self._total:,} games, {left:,.0f} s left   ",
                end="",
                file=self._screen,
            )

    def close(self) -> None:
        """End the line."""
        if self._screen and self._done > self._begun:
            print(file=self._screen)


def _batch(batch: Sequence[tuple[Job, int]]) -> list[Line]:
    return [Line(setup=job.setup, record=play(job.setup, job.variant, seed)) for job, seed in batch]


def _played(batches: Sequence[Sequence[tuple[Job, int]]], processes: int) -> Iterator[list[Line]]:
    if processes == 1 or len(batches) < 2:
        yield from map(_batch, batches)
        return
    with ProcessPoolExecutor(min(processes, len(batches)), initializer=_quiet) as pool:
        yield from pool.map(_batch, batches)


def _quiet() -> None:
    """Leave the processor to whoever else wants it, a running table above all."""
    os.nice(10)


@contextmanager
def _appended(path: Path | None) -> Iterator[IO[bytes] | None]:
    if path is None:
        yield None
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        yield file


def _kept(path: Path, jobs: Iterable[Job]) -> dict[tuple[str, int], Record]:
    """Return the records that a file holds of these jobs; half a line at its end, of a run cut short, is cut off."""
    if not path.exists():
        return {}
    whole = path.read_bytes()
    end = whole.rfind(b"\n") + 1
    if end != len(whole):
        with path.open("r+b") as file:
            file.truncate(end)
    wanted = {(job.variant, seed): job.setup for job in jobs for seed in job.seeds}
    found: dict[tuple[str, int], Record] = {}
    for number, text in enumerate(whole[:end].splitlines(), 1):
        line = _line(path, number, text)
        key = (line.record.variant, line.record.seed)
        if key in wanted and line.setup != wanted[key]:
            raise SetupError(f"{path}:{number} was played as {line.setup}; expected {wanted[key]}, or another file")
        if key in wanted:
            found[key] = line.record
    return found


def _line(path: Path, number: int, text: bytes) -> Line:
    try:
        return msgspec.json.decode(text, type=Line)
    except msgspec.MsgspecError as error:
        raise SetupError(
            f"{path}:{number} is no record of a game ({error}); expected a file that the lab wrote"
        ) from error


def jobs_of(setup: Setup, games: int, first: int = 0, variant: str = "base", **other: Any) -> Job:
    """Return a job of so many games from a first seed."""
    return Job(variant, msgspec.structs.replace(setup, **other), tuple(range(first, first + games)))
