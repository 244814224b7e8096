"""How often one address may post, and how often it may open a table. It knows no page, and stores nothing."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass

from flask import Flask, request

from companion.web.guard import WRITES, Refused, client


@dataclass(frozen=True, slots=True)
class Pace:
    """How many may come at once, and how many a second for ever."""

    burst: int
    per_second: float


POSTS = Pace(burst=300, per_second=20.0)
"""Eight phones behind one access point, each tapping twice a second, stay below it all evening."""

OPENINGS = Pace(burst=60, per_second=0.2)
"""A table that was opened is kept for ever, so that fewer may be: a club's evening at once, then twelve a minute."""


class Meter:
    """Counts what each address does against one pace: an allowance that fills again by itself.

    `clock` gives seconds that never run backwards. Of very many addresses those that came first are forgotten.
    """

    def __init__(self, clock: Callable[[], float], pace: Pace, addresses: int = 4096) -> None:
        self._clock = clock
        self._pace = pace
        self._addresses = addresses
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, address: str | None) -> None:
        """Count one; raises `Refused` 429, with the seconds to wait, where the allowance is used up."""
        who, now = client(address), self._clock()
        with self._lock:
            left, then = self._left.get(who, (float(self._pace.burst), now))
            left = min(float(self._pace.burst), left + (now - then) * self._pace.per_second)
            if left < 1:
                wait = math.ceil((1 - left) / self._pace.per_second)
                raise Refused(429, "too_fast", retry_after=wait, n=wait)
            self._left[who] = left - 1, now
            self._left.move_to_end(who)
            while len(self._left) > self._addresses:
                self._left.popitem(last=False)


def install(app: Flask, clock: Callable[[], float], opening: Collection[str]) -> None:
    """Count every post of the app; `opening` names the endpoints at which a table is opened."""
    posts, openings = Meter(clock, POSTS), Meter(clock, OPENINGS)

    @app.before_request
    def pace() -> None:
        if request.method in WRITES:
            posts.count(request.remote_addr)
            if request.endpoint in opening:
                openings.count(request.remote_addr)
