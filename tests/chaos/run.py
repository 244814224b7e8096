"""One run of chaos: tokens rain through a whole temple while faults happen to it, and the oracle judges the books.

``python -m tests.chaos.run --tokens 10000 --faults 200`` prints what happened when, the figures and the seed.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from tests.brokers import mosquitto
from tests.chaos.faults import LASTING, Fault, planned
from tests.chaos.oracle import Verdict, judge, maybe, waiting
from tests.chaos.seam import SeamError
from tests.chaos.world import World, advice

PATIENCE_S = 120.0
"""For what must come in the end. Nothing is measured by it; a machine may be busy."""


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
    raised: list[str]
    """Programs that ended by themselves; a supervisor would have started them again, and so did the run."""
    settled: bool
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.tokens:,} tokens through {self.faults} faults in {self.seconds:.0f} s: {self.verdict}; "
            f"{self.received:,} received, {self.held} held apart for a person, {self.old:,} old; {self.maybe} under "
            f"way when a temple died, {self.uncertain} in a clone or in a ledger that was replaced"
        )


def run(folder: Path, seed: str, tokens: int, faults: int, say: Callable[[str], None] = lambda line: None) -> Outcome:
    """Let so many tokens fall through so many faults; each fault has its share of the tokens fall meanwhile."""
    with mosquitto(folder, config=advice()) as broker:
        world = World(folder, broker, seed)
        try:
            world.start()
            began = time.monotonic()
            raised: list[str] = []
            lasting: Thread | None = None

            def happen(n: int, fault: Fault, whims: random.Random) -> None:
                at_s, token = time.monotonic() - began, world.rain.dropped
                what = fault(world, whims)
                say(f"{at_s:7.1f} s  token {token:>6}  fault {n:>4}  {what}")

            for n, (fault, whims) in enumerate(planned(seed, faults), 1):
                world.rain.allow(tokens * n // faults)
                time.sleep(whims.uniform(0, 0.2))
                if fault in LASTING:
                    if lasting:
                        lasting.join()
                    lasting = Thread(target=happen, args=(n, fault, whims))
                    lasting.start()
                else:
                    happen(n, fault, whims)
                for link in (world.temple_link, world.companion_link):
                    link.disarm()
                for each in world.raise_the_dead():
                    raised.append(each)
                    say(f"{'':7}    {each}, and was started again")
                assert world.rain.fallen(PATIENCE_S), (
                    f"no token falls any more: {world.temple.log.read_text()[-2000:]}"
                )
            if lasting:
                lasting.join()
            settled = world.settled(PATIENCE_S + tokens / 10)
            seconds = time.monotonic() - began
            books = world.books()
        finally:
            world.end()
    stores = (books.store, *books.put_away)
    return Outcome(
        verdict=judge(books),
        tokens=tokens,
        faults=faults,
        maybe=len(maybe(books)),
        uncertain=len(books.uncertain),
        received=len({token for store in stores for token in store.tokens}),
        held=len(waiting(books)),
        old=len(books.store.old),
        raised=raised,
        settled=settled,
        seconds=seconds,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 1 where the oracle finds anything wrong."""
    parser = argparse.ArgumentParser(prog="make chaos", description="Drops tokens while faults happen.")
    parser.add_argument("--tokens", type=int, default=10_000, help="how many (%(default)s)")
    parser.add_argument("--faults", type=int, default=200, help="how many (%(default)s)")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="repeats the faults of an earlier run")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave ledger, store and logs there")
    arguments = parser.parse_args(argv)
    print(f"seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="chaos-") as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            outcome = run(
                folder, arguments.seed, arguments.tokens, arguments.faults, lambda line: print(line, flush=True)
            )
        except SeamError as error:
            print(f"chaos: {error}", file=sys.stderr)
            return 2
    print(f"seed {arguments.seed}: {outcome}")
    for each in outcome.raised:
        print(f"  {each}")
    for name in Verdict.__dataclass_fields__:
        if tokens := getattr(outcome.verdict, name):
            print(f"  {name}: {tokens[:40]}")
    return 0 if outcome.verdict.well else 1


if __name__ == "__main__":
    sys.exit(main())
