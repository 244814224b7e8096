"""One run of chaos: tokens fall through a whole temple while faults happen to it, and the oracle checks the books.

``python -m tests.chaos.run --tokens 10000 --faults 200`` prints what happened when, the figures and the seed. With
``--workers 3`` the world is a club: several companions on one PostgreSQL, brokers, temples and players.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.brokers import mosquitto
from tests.chaos import club_run
from tests.chaos.course import run_through
from tests.chaos.faults import DECK, LASTING
from tests.chaos.oracle import Verdict, doubts, judge, maybe, waiting
from tests.chaos.seam import SeamError
from tests.chaos.world import PATIENCE_S, World, advice


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    verdict: Verdict
    tokens: int
    faults: int
    maybe: int
    """Tokens that were under way when a temple died: they may have been counted, or not."""
    uncertain: int
    """Tokens that fell into a cloned temple, or were only in a ledger that was replaced: so may they."""
    received: int
    held: int
    """Held apart for a person, because two ledgers gave the same numbers."""
    old: int
    """Of before the present companion met the temple: a person decides."""
    doubts: str
    """What was doubted and decided, in words."""
    raised: list[str]
    """Programs that ended by themselves; a supervisor would have started them again, and so did the run."""
    settled: bool
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.tokens:,} tokens through {self.faults} faults in {self.seconds:.0f} s: {self.verdict}; "
            f"{self.received:,} received, {self.held} held apart for a person, {self.old:,} old; {self.doubts}; "
            f"{self.maybe} under way when a temple died, {self.uncertain} in a clone or in a ledger that was replaced"
        )

    def wrong(self) -> list[str]:
        """Return a line for everything that is wrong."""
        return [*self.verdict.lines(), *self.raised]


def run(folder: Path, seed: str, tokens: int, faults: int, say: Callable[[str], None] = lambda line: None) -> Outcome:
    """Let so many tokens fall through so many faults; each fault has its share of the tokens fall meanwhile."""
    with mosquitto(folder, config=advice()) as broker:
        world = World(folder, broker, seed, tokens)
        try:
            world.start()
            began = time.monotonic()
            course = run_through(world, DECK, LASTING, seed, faults, say)
            settled = world.settled(PATIENCE_S + tokens / 10)
            seconds = time.monotonic() - began
            books = world.books()
        finally:
            world.end()
    stores = (books.store, *books.put_away)
    return Outcome(
        verdict=judge(books),
        tokens=tokens,
        faults=course.faults,
        maybe=len(maybe(books)),
        uncertain=len(books.uncertain),
        received=len({token for store in stores for token in store.tokens}),
        held=len(waiting(books)),
        old=len(books.store.old),
        doubts=doubts(books),
        raised=course.raised,
        settled=settled,
        seconds=seconds,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 1 where the oracle finds anything wrong."""
    parser = argparse.ArgumentParser(prog="make chaos", description="Drops tokens while faults happen.")
    parser.add_argument("--tokens", type=int, help="how many (10,000; with --workers 1,000)")
    parser.add_argument("--faults", type=int, help="how many (200; with --workers 40)")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="repeats the faults of an earlier run")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave ledger, store and logs there")
    club = parser.add_argument_group("a club")
    club.add_argument("--workers", type=int, default=0, help="so many companions on one PostgreSQL")
    club.add_argument("--brokers", type=int, choices=(1, 3, 5), default=3, help="nodes of nats-server (%(default)s)")
    club.add_argument("--temples", type=int, default=5, help="each with a table (%(default)s)")
    club.add_argument("--posts", type=int, default=300, help="moves that players make in all (%(default)s)")
    given = parser.parse_args(argv)
    print(f"seed {given.seed}", flush=True)

    def say(line: str) -> None:
        print(line, flush=True)

    def chosen(number: int | None, otherwise: int) -> int:
        return otherwise if number is None else number

    outcome: Outcome | club_run.Outcome
    with tempfile.TemporaryDirectory(prefix="chaos-") as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            if given.workers:
                size = club_run.Size(
                    given.workers, given.brokers, given.temples, chosen(given.tokens, 1_000), given.posts
                )
                outcome = club_run.run(folder, given.seed, size, chosen(given.faults, 40), say)
            else:
                outcome = run(folder, given.seed, chosen(given.tokens, 10_000), chosen(given.faults, 200), say)
        except SeamError as error:
            print(f"chaos: {error}", file=sys.stderr)
            return 2
    print(f"seed {given.seed}: {outcome}")
    for each in outcome.wrong():
        print(f"  {each}")
    return 1 if outcome.wrong() else 0


if __name__ == "__main__":
    sys.exit(main())
