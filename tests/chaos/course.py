"""The course of a run: faults happen one after another, and each has its share of the work done meanwhile."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection
from fractions import Fraction
from threading import Thread
from typing import NamedTuple, Protocol, TypeVar

from tests.chaos.faults import Fault, NobodyHitError, planned


class Busy(Protocol):
    """A world in which something goes on while faults happen to it."""

    @property
    def done(self) -> int:
        """How much has happened so far."""
        ...

    def allow(self, share: Fraction) -> None:
        """Let a share of everything happen."""

    def wait_until_done(self) -> None:
        """Wait until all that was allowed has happened, or fail."""

    def raise_the_dead(self) -> list[str]:
        """Start again what ended by itself, as its supervisor would; return what had."""

    def forget_what_waits(self) -> None:
        """Cancel faults that found no occasion."""


W = TypeVar("W", bound=Busy)


class Course(NamedTuple):
    """The faults that happened, in words."""

    raised: list[str]
    """Which programs ended by themselves, and were started again."""
    faults: int
    """How many faults hit something."""


def run_through(
    world: W,
    deck: tuple[Fault[W], ...],
    lasting: Collection[Fault[W]],
    seed: str,
    faults: int,
    say: Callable[[str], None],
) -> Course:
    """Let so many faults of a deck happen; one that hits nothing is said, and not counted.

    While a `lasting` one does, the next may happen, unless that lasts as well.
    """
    began = time.monotonic()
    raised: list[str] = []
    hit: list[int] = []
    slow: Thread | None = None

    def happen(n: int, fault: Fault[W], whims: random.Random) -> None:
        at_s, done = time.monotonic() - began, world.done
        try:
            what = fault(world, whims)
            hit.append(n)
        except NobodyHitError as error:
            what = f"not counted: {error}"
        say(f"{at_s:7.1f} s  token {done:>6}  fault {n:>4}  {what}")

    for n, (fault, whims) in enumerate(planned(seed, faults, deck), 1):
        world.allow(Fraction(n, faults))
        time.sleep(whims.uniform(0, 0.2))
        if fault in lasting:
            if slow:
                slow.join()
            slow = Thread(target=happen, args=(n, fault, whims))
            slow.start()
        else:
            happen(n, fault, whims)
        world.forget_what_waits()
        for each in world.raise_the_dead():
            raised.append(each)
            say(f"{'':7}    {each}, and was started again")
        world.wait_until_done()
    if slow:
        slow.join()
    return Course(raised, len(hit))
