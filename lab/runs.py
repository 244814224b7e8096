"""Plays many games on several processes and writes each as a line of JSON, so that a later run can continue."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

import msgspec

from lab.matches import Record, Setup, SetupError, play

BATCH = 8
"""Games that one process is given at once."""


Progress: TypeAlias = Callable[[int, int], None]
"""Called after each batch with the number of games that are over, and of all."""


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
    jobs: Sequence[Job],
    path: Path | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
    until: float | None = None,
) -> list[list[Record]]:
    """Play all jobs and return the records of each, in the order of its seeds.

    Games that the file already holds are not played again; each new one is written as soon as it is over. Raises
    `SetupError` for a file whose games were set up otherwise. Once `until` is past, a time of the monotonic clock,
    no batch is begun but the first: then each job has the records of its first seeds, as many as every other.
    """
    stored = _stored(path, jobs) if path else {}
    longest = max((len(job.seeds) for job in jobs), default=0)
    rounds = [[(job, job.seeds[at]) for job in jobs if at < len(job.seeds)] for at in range(longest)]
    wanted = [(job, seed) for each in rounds for job, seed in each if (job.variant, seed) not in stored]
    batches = [wanted[at : at + BATCH] for at in range(0, len(wanted), BATCH)]
    done, total = len(stored), len(stored) + len(wanted)
    with _appended(path) as file, closing(_played(batches, processes or os.cpu_count() or 1)) as played:
        for found in played:
            for line in found:
                stored[line.record.variant, line.record.seed] = line.record
                if file:
                    file.write(msgspec.json.encode(line) + b"\n")
            if file:
                file.flush()
            done += len(found)
            if progress:
                progress(done, total)
            if until is not None and time.monotonic() >= until:
                break
    whole = next(
        (n for n, each in enumerate(rounds) if any((job.variant, s) not in stored for job, s in each)), longest
    )
    return [[stored[job.variant, seed] for seed in job.seeds[:whole]] for job in jobs]


class Bar:
    """A line on a terminal that says how many games are over and how long the rest will take."""

    def __init__(self, screen: IO[str]) -> None:
        self._screen, self._since, self._begun = screen, time.monotonic(), -1

    def __call__(self, done: int, total: int) -> None:
        """Show how many games are over; the line ends with the last."""
        if self._begun < 0:
            self._begun = max(0, done - BATCH)
        spent = time.monotonic() - self._since
        left = spent * (total - done) / max(1, done - self._begun)
        bar = "#" * round(30 * done / total)
        line = f"\r[{bar:<30}] {done:,} of {total:,} games, {left:,.0f} s left   "
        print(line, end="\n" if done == total else "", file=self._screen, flush=True)


def to_file(path: Path, done: int, total: int) -> None:
    """Write into a file how many games are over, complete at every moment: ``16 400``."""
    draft = path.with_suffix(".new")
    draft.write_text(f"{done} {total}\n", encoding="ascii")
    draft.replace(path)


def _batch(batch: Sequence[tuple[Job, int]]) -> list[Line]:
    return [Line(setup=job.setup, record=play(job.setup, job.variant, seed)) for job, seed in batch]


def _played(batches: Sequence[Sequence[tuple[Job, int]]], processes: int) -> Generator[list[Line]]:
    if processes == 1 or len(batches) < 2:
        yield from map(_batch, batches)
        return
    with ProcessPoolExecutor(min(processes, len(batches))) as pool:
        try:
            yield from pool.map(_batch, batches)
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _appended(path: Path | None) -> Iterator[IO[bytes] | None]:
    if path is None:
        yield None
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        yield file


def _stored(path: Path, jobs: Iterable[Job]) -> dict[tuple[str, int], Record]:
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
