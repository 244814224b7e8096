"""Limits how often one address may post, open a table and upload a file."""

from __future__ import annotations

import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection

from flask import Flask, g, request
from msgspec import Struct

from companion.web.server.guard import MAX_BODY, WRITES, Refused, client


class Pace(Struct, frozen=True):
    """A rate limit: the burst, and the sustained rate a second."""

    burst: int
    per_second: float


POSTS = Pace(burst=300, per_second=20.0)
"""Eight phones behind one access point, each tapping twice a second, stay below it all evening."""

OPENINGS = Pace(burst=60, per_second=0.2)
"""Tables are stored permanently, so the limit is lower: a club's evening at once, then twelve a minute."""

UPLOADS = Pace(burst=20, per_second=0.5)
"""Checking a file takes a fifth of a second at worst: one address gets a tenth of a processor for that."""

WAITING = 3
"""The most requests of one address that wait for a slow page: a family that looks at its story at once."""

PATIENCE_S = 5.0
"""Seconds that each of them waits at most."""


class Meter:
    """Limits what each address does, by an allowance that refills with time.

    `clock` gives seconds that never run backwards. Of very many addresses those that came first are forgotten.
    """

    def __init__(self, clock: Callable[[], float], pace: Pace, addresses: int = 4096) -> None:
        self._clock = clock
        self._pace = pace
        self._addresses = addresses
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, address: str | None) -> None:
        """Count one action; raises `Refused` 429, with the seconds to wait, if the allowance is used up."""
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


class Turns:
    """Lets each address do one thing at a time; `waiting` more may wait for it, each at most `patience` seconds.

    `refusal` is the key of the words for all others.
    """

    def __init__(self, refusal: str, waiting: int = 0, patience: float = 0.0) -> None:
        self._refusal, self._most, self._patience = refusal, waiting, patience
        self._changed = threading.Condition()
        self._busy: set[str] = set()
        self._waiting: Counter[str] = Counter()

    def take(self, address: str | None) -> str:
        """Take the turn of an address; raises `Refused` 429 while it is taken."""
        who = client(address)
        with self._changed:
            if who in self._busy and self._waiting[who] < self._most:
                self._waiting[who] += 1
                self._changed.wait_for(lambda: who not in self._busy, self._patience)
                self._waiting -= Counter({who: 1})
            if who in self._busy:
                raise Refused(429, self._refusal, retry_after=1)
            self._busy.add(who)
        return who

    def give_back(self, who: str) -> None:
        """Release the turn."""
        with self._changed:
            self._busy.discard(who)
            self._changed.notify_all()


def install(
    app: Flask,
    clock: Callable[[], float],
    opening: Collection[str],
    taking_files: Collection[str],
    slow: Collection[str],
) -> None:
    """Count every post of the app; `opening` names the endpoints at which a table is opened.

    At those that take files, a body that is larger than others may be is an upload: one at a time for an address.
    So are the pages of `slow` endpoints, which are made from a whole log or of many sheets.
    """
    posts, openings, uploads = Meter(clock, POSTS), Meter(clock, OPENINGS), Meter(clock, UPLOADS)
    turns, pages = Turns("one_upload"), Turns("one_page", WAITING, PATIENCE_S)

    @app.before_request
    def pace() -> None:
        if request.method in WRITES:
            posts.count(request.remote_addr)
            if request.endpoint in opening:
                openings.count(request.remote_addr)
            length = request.content_length
            if request.endpoint in taking_files and (length is None or length > MAX_BODY):
                uploads.count(request.remote_addr)
                g.upload = turns.take(request.remote_addr)
        elif request.endpoint in slow:
            g.slow_page = pages.take(request.remote_addr)

    @app.teardown_request
    def done(error: BaseException | None) -> None:
        if (who := g.pop("upload", None)) is not None:
            turns.give_back(who)
        if (who := g.pop("slow_page", None)) is not None:
            pages.give_back(who)
