"""Cuts the power of both databases at thousands of moments, and says what the real code finds afterwards.

``python -m tests.crash --images 10000`` prints the figures and the seed that repeats them.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from tests.chaos.seam import SeamError
from tests.crash import ledger, store
from tests.crash.platter import Platter
from tests.crash.recording import Event, Recording, Said, recorded

SYNCED_AT_ONCE = next((folder for folder in ("/dev/shm",) if os.access(folder, os.W_OK)), None)
"""In memory, where syncs cost nothing: their effect is computed from the recording, not by this machine's disk."""

A_MOMENT = 4
"""Images of one moment."""


class Promise(Protocol):
    """What a program has acknowledged up to some moment."""

    def hear(self, said: Said) -> None:
        """Process an acknowledgement."""


_P = TypeVar("_P", bound=Promise)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a number of power cuts."""

    name: str
    images: int
    moments: int
    events: int
    wrong: tuple[str, ...]
    """What was found wrong: its first word says whether something was lost, corrupt, doubled or invented."""
    seconds: float

    def __str__(self) -> str:
        kinds = Counter(each.partition(":")[0] for each in self.wrong)
        figures = ", ".join(f"{kinds[kind]} {kind}" for kind in ("lost", "corrupt", "doubled", "invented"))
        return (
            f"{self.name}: {self.images:,} images of {self.moments:,} moments among {self.events:,} writes, "
            f"syncs and words: {figures} ({self.seconds:.0f} s)"
        )


def cut(
    name: str,
    work: Callable[[Path, Recording], None],
    promise: Callable[[], _P],
    check: Callable[[Path, _P], str],
    images: int,
    seed: str,
) -> Outcome:
    """Record some work, cut the power at moments of it, and check what is then on the disk."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="crash-", dir=SYNCED_AT_ONCE) as temporary:
        whole = Path(temporary) / "whole"
        whole.mkdir()
        with recorded() as recording:
            work(whole, recording)
        events = recording.events
        wrong: list[str] = []
        whims = random.Random(f"{seed} {name}")
        moments = sorted(whims.choices(range(len(events)), k=max(1, images // A_MOMENT)))
        for n, (moment, platter, said) in enumerate(_replayed(events, moments, promise())):
            for k, image in enumerate(platter.images(whims, A_MOMENT)):
                folder = Path(temporary) / f"{n}-{k}"
                folder.mkdir()
                image.lay_out(folder)
                if found := check(folder, said):
                    wrong.append(f"{found} (after event {moment} of {len(events)}, image {k})")
                for file in folder.iterdir():
                    file.unlink()
                folder.rmdir()
    return Outcome(
        name, len(moments) * A_MOMENT, len(set(moments)), len(events), tuple(wrong), time.monotonic() - began
    )


def _replayed(events: list[Event], moments: list[int], said: _P) -> Iterator[tuple[int, Platter, _P]]:
    """Yield, at each moment, the disk as it was asked to be and what had been said."""
    platter, taken = Platter(), -1
    for moment in moments:
        for event in events[taken + 1 : moment + 1]:
            if isinstance(event, Said):
                said.hear(event)
            else:
                platter.take(event)
        taken = max(taken, moment)
        yield moment, platter, said


def of_the_ledger(images: int, seed: str, commits: int = 1_500) -> Outcome:
    """Cut the power of the controller's ledger."""
    work = lambda folder, recording: ledger.work(folder, recording, commits)  # noqa: E731
    return cut("the controller's ledger", work, ledger.Promise, ledger.check, images, seed)


def of_the_store(images: int, seed: str, commits: int = 220) -> Outcome:
    """Cut the power of the companion's store."""
    work = lambda folder, recording: store.work(folder, recording, commits)  # noqa: E731
    return cut("the companion's store", work, store.Promise, store.check, images, seed)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 1 where anything is wrong."""
    parser = argparse.ArgumentParser(prog="make crash", description="Cuts the power of both databases.")
    parser.add_argument("--images", type=int, default=10_000, help="images of both together (%(default)s)")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="repeats the images of an earlier run")
    parser.add_argument("--only", choices=("ledger", "store"), help="one of the two, with its half of the images")
    arguments = parser.parse_args(argv)
    print(f"seed {arguments.seed}", flush=True)
    code = 0
    chosen = {"ledger": of_the_ledger, "store": of_the_store}
    for of in [chosen[arguments.only]] if arguments.only else chosen.values():
        try:
            outcome = of(arguments.images // 2, arguments.seed)
        except SeamError as error:
            print(f"crash: {error}", file=sys.stderr)
            return 2
        print(outcome, flush=True)
        for each in outcome.wrong[:20]:
            print(f"  {each}")
        code = code or int(bool(outcome.wrong))
    return code


if __name__ == "__main__":
    sys.exit(main())
