"""A week of evenings in some minutes: whole games by app players and a temple, with kills and power cuts.

``make soak`` prints what the programs use after every tenth game. In the first half one of them, or all at once, is
killed every few games; the second half goes on without, and then memory, threads, open files and the number of files
must stay as they are. What the databases and logs grow by is printed for a game. The oracle checks every token.
A power cut is a kill of everything at once: what a disk does then is `make crash`'s and `make kernel`'s to try.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.brokers import mosquitto
from tests.chaos.faults import kill_the_broker, kill_the_companion, kill_the_temple
from tests.chaos.oracle import Verdict, judge
from tests.chaos.world import PATIENCE_S, World, advice
from tests.soak.evenings import Phone, plans

EVERY = 10
"""Games from one look at the programs to the next."""
FAULT_EVERY = 3
"""So that each of the four games has its share."""

LEAST = 2
"""Looks in a quarter, else one long game says more than all others."""

SHELVED_S = 10.0
"""After so many seconds a finished game is unloaded, in place of ten minutes: evenings are short here."""

SLACK = {"KiB": 0.15, "threads": 0.0, "open files": 0.25, "files": 0.05}
"""By which share each may grow from the third quarter of the games to the last: one long game raises the memory."""


@dataclass(frozen=True)
class Look:
    """What the programs use at a moment, by program and unit; bytes of what is written last."""

    used: dict[tuple[str, str], int]
    written: int


def power_cut(world: World, whims: random.Random) -> str:
    """Kill everything at once, and start it again."""
    world.broker.kill()
    world.temple.die()
    world.companion.kill()
    world.broker.start()
    world.companion.start()
    world.temple.start()
    return "everything killed at once"


FAULTS = (kill_the_temple, kill_the_companion, kill_the_broker, power_cut)


def look(world: World) -> Look:
    """Read what the kernel says of both programs, and what lies in their folders."""
    used: dict[tuple[str, str], int] = {}
    written = 0
    for program, state in ((world.companion, world.companion_state), (world.temple, world.temple.state)):
        assert program.process
        own = Path(f"/proc/{program.process.pid}")
        status = dict(line.split(":", 1) for line in (own / "status").read_text().splitlines())
        name = program.folder.name
        used[name, "KiB"] = int(status["VmRSS"].split()[0])
        used[name, "threads"] = int(status["Threads"])
        used[name, "open files"] = len(list((own / "fd").iterdir()))
        files = [path for path in state.rglob("*") if path.is_file()]
        used[name, "files"] = len(files)
        written += sum(path.stat().st_size for path in files)
    return Look(used, written)


def grown(looks: Sequence[Look]) -> list[str]:
    """Return in words what more of is used in the last quarter of the games than in the one before; none of few.

    >>> grown([Look({("companion", "threads"): n}, 0) for n in (9, 9, 9, 9, 4, 4, 5, 5)])
    ['companion: 4 threads in the third quarter, 5 in the last']
    """
    part = len(looks) // 4
    if part < LEAST:
        return []
    third, last = looks[-2 * part : -part], looks[-part:]
    found = []
    for key in looks[-1].used:
        before, after = (statistics.median(each.used[key] for each in quarter) for quarter in (third, last))
        if after > before * (1 + SLACK[key[1]]):
            found.append(f"{key[0]}: {before:g} {key[1]} in the third quarter, {after:g} in the last")
    return found


@dataclass(frozen=True)
class Outcome:
    """What came of a run."""

    games: int
    tokens: int
    faults: int
    verdict: Verdict
    settled: bool
    looks: Sequence[Look]
    seconds: float

    def wrong(self) -> list[str]:
        """Return a line for everything that is wrong."""
        late = [] if self.settled else ["not everything was delivered in the end"]
        return [*self.verdict.lines(), *late, *grown(self.looks)]

    def __str__(self) -> str:
        written = (self.looks[-1].written - self.looks[0].written) / max(1, self.games - EVERY) / 1024
        return (
            f"{self.games} games, {self.tokens:,} tokens, {self.faults} faults in {self.seconds:.0f} s:"
            f" {self.verdict}; stored for each game: {written:.0f} KiB"
        )


def run(folder: Path, seed: str, games: int, say: Callable[[str], None] = lambda line: None) -> Outcome:
    """Play so many games, the first half of them with faults; raises `AssertionError` where one does not end."""
    whims = random.Random(seed)
    with mosquitto(folder, config=advice()) as broker:
        world = World(folder, broker, seed, table=False)
        try:
            (world.companion.folder / "shelves").write_text(f"{SHELVED_S:g}")
            world.start()
            began = time.monotonic()
            phone, looks, faults = Phone(world, whims), [], 0
            for number, plan in zip(range(1, games + 1), plans(), strict=False):
                kill = number % FAULT_EVERY == 0 and number <= games // 2
                tokens = phone.play(plan, (lambda: whims.choice(FAULTS)(world, whims)) if kill else None)
                faults += kill
                if number % EVERY == 0 or number == games:
                    looks.append(look(world))
                    said = ", ".join(f"{name} {count:,} {unit}" for (name, unit), count in looks[-1].used.items())
                    say(f"{time.monotonic() - began:6.0f} s  game {number:4}  {plan}: {tokens} tokens; {said}")
            settled = world.settled(PATIENCE_S)
            seconds = time.monotonic() - began
            verdict = judge(world.books())
        finally:
            world.end()
    return Outcome(games, world.rain.dropped, faults, replace(verdict, unscored=[]), settled, looks, seconds)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 1 where a token is not counted once, or where something grew."""
    parser = argparse.ArgumentParser(prog="make soak ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=200, help="how many (default: %(default)s)")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="repeats the faults of an earlier run")
    given = parser.parse_args(argv)
    os.environ["MALLOC_ARENA_MAX"] = "2"  # as the companion's unit has it
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        outcome = run(Path(folder), given.seed, given.games, lambda line: print(line, flush=True))
    print(f"seed {given.seed}: {outcome}")
    for each in outcome.wrong():
        print(f"  {each}")
    return 1 if outcome.wrong() else 0


if __name__ == "__main__":
    sys.exit(main())
