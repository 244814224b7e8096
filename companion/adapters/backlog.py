"""The queue between broker and intake: it serves temples and ledgers in turn, so that a flood delays nobody else.

Known ledgers come first. Tokens of unknown ledgers are taken slowly, and only a few new names and ledgers are
admitted each minute, so that no stranger can fill the store. A token that is refused here is not acknowledged: its
temple stores it and sends it again.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Protocol, TypeAlias

from msgspec import Struct

from templo import contract

WAITING = 20_000
"""The most messages that wait; another one replaces the newest in the longest lane."""

MOST_OF_A_KIND = 100
"""The most waiting messages of one kind, tokens aside, for one temple; the oldest are dropped as outdated."""

MESSAGES_AT_ONCE = 10
"""How many of those are taken in one turn: each may cause a change of the store."""

MOST_TEMPLES = 1_000
"""The most temples in the store; beyond that no new name is admitted."""

_REMEMBERED = 1000
_SOON_S = 0.05


class Ledgers(Protocol):
    """What is known of temples and their ledgers. Safe from any thread."""

    def is_known(self, temple: str, source: str = "") -> bool:
        """Return whether a temple is in the store, and a ledger's tokens too where one is given."""
        ...

    def is_current(self, temple: str, source: str) -> bool:
        """Return whether a ledger is the one that a temple counts with now."""
        ...

    def count(self) -> int:
        """Return how many temples are in the store."""
        ...


class Allowance:
    """A rate limit: a burst, then a number per second."""

    def __init__(self, clock: Callable[[], float], burst: int, per_second: float) -> None:
        self._clock = clock
        self._burst = burst
        self._per_second = per_second
        self._left = float(burst)
        self._then = clock()

    def left(self) -> int:
        """Return how many are allowed now."""
        now = self._clock()
        self._left = min(float(self._burst), self._left + (now - self._then) * self._per_second)
        self._then = now
        return math.floor(self._left)

    def use(self, count: int = 1) -> bool:
        """Use some of the allowance; return whether there was enough."""
        if self.left() < count:
            return False
        self._left -= count
        return True


STRANGERS = (200, 20.0)
"""Messages of ledgers that no temple counts with, in all: the burst, and the rate a second."""

NEW_NAMES = (500, 1 / 60)
"""Temples that were never seen before."""

NEW_SOURCES = (60, 1 / 60)
"""Ledgers that were never seen before, for each temple: a temple begins a new ledger a few times in its life."""

_Key: TypeAlias = tuple[str, str, str]
"""A lane: temple, kind of message, and for tokens the ledger."""


class _Waiting(Struct, frozen=True):
    number: int
    temple: str
    message: contract.Message


_KEPT = (contract.Token, contract.Doubt)
"""What a ledger keeps until it is acknowledged, and what must not be replaced by later messages."""

Taken: TypeAlias = tuple[str, contract.Message]


class Backlog:
    """Messages in lanes. Safe from any thread; `take` is for one. `clock` gives seconds that never run backwards."""

    def __init__(
        self,
        ledgers: Ledgers,
        clock: Callable[[], float],
        waiting: int = WAITING,
    ) -> None:
        self._ledgers = ledgers
        self._clock = clock
        self._most = waiting
        self._news = threading.Condition()
        self._lanes: OrderedDict[_Key, deque[_Waiting]] = OrderedDict()
        self._events: deque[bool | None] = deque()
        self._count = 0
        self._woken = False
        self._number = 0
        self._strangers = Allowance(clock, *STRANGERS)
        self._new_names = Allowance(clock, *NEW_NAMES)
        self._new_sources: OrderedDict[str, Allowance] = OrderedDict()
        self._admitted: OrderedDict[tuple[str, str], None] = OrderedDict()

    def put_event(self, event: bool | None) -> None:
        """Add whether the broker can be reached, or None for the end, which comes after everything else."""
        with self._news:
            self._events.append(event)
            self._news.notify()

    def wake(self) -> None:
        """Let `take` return, with nothing if nothing waits."""
        with self._news:
            self._woken = True
            self._news.notify()

    def expects(self, temple: str) -> bool:
        """Return whether a temple's messages may be admitted: a cheap check before decoding."""
        if self._ledgers.is_known(temple):
            return True
        with self._news:
            return (temple, "") in self._admitted or self._may_be_new()

    def put(self, temple: str, message: contract.Message) -> bool:
        """Add a message; return False if it is refused."""
        source = message.source if isinstance(message, _KEPT) else ""
        with self._news:
            if not self._admits(temple, source):
                return False
            lane = self._lanes.setdefault((temple, message.leaf, source), deque())
            if not isinstance(message, _KEPT) and len(lane) >= MOST_OF_A_KIND:
                lane.popleft()
                self._count -= 1
            if self._count >= self._most and not self._make_room(lane):
                return False
            self._number += 1
            self._count += 1
            lane.append(_Waiting(self._number, temple, message))
            self._news.notify()
            return True

    def take(self, limit: int, timeout: float) -> list[Taken | bool | None]:
        """Return up to `limit` messages from all lanes, in order of arrival; wait for the first, or for `wake`.

        Events come before them, except the end.
        """
        with self._news:
            until = self._clock() + timeout
            while True:
                taken: list[Taken | bool | None] = []
                while self._events and self._events[0] is not None:
                    taken.append(self._events.popleft())
                taken += [(each.temple, each.message) for each in self._chosen(limit)]
                if not taken and self._events:
                    taken.append(self._events.popleft())
                left = until - self._clock()
                if taken or self._woken or left <= 0:
                    self._woken = False
                    return taken
                self._news.wait(min(left, _SOON_S) if self._count else left)

    def _admits(self, temple: str, source: str) -> bool:
        """Return whether a name and a ledger are known or may be admitted; the caller holds the lock."""
        if (temple, source) in self._admitted or self._ledgers.is_known(temple, source):
            return True
        is_new_name = (temple, "") not in self._admitted and not self._ledgers.is_known(temple)
        if is_new_name and not self._may_be_new():
            return False
        if source and not self._sources_of(temple).use():
            return False
        if is_new_name:
            self._new_names.use()
            self._remember(temple, "")
        if source:
            self._remember(temple, source)
        return True

    def _may_be_new(self) -> bool:
        room = MOST_TEMPLES - self._ledgers.count()
        if 0 < room <= len(self._admitted):  # those that were admitted a moment ago may not be in the store yet
            room -= sum(not source and not self._ledgers.is_known(name) for name, source in self._admitted)
        return self._new_names.left() >= 1 and room > 0

    def _sources_of(self, temple: str) -> Allowance:
        if temple not in self._new_sources:
            self._new_sources[temple] = Allowance(self._clock, *NEW_SOURCES)
            if len(self._new_sources) > _REMEMBERED:
                self._new_sources.popitem(last=False)
        return self._new_sources[temple]

    def _remember(self, temple: str, source: str) -> None:
        self._admitted[temple, source] = None
        if len(self._admitted) > _REMEMBERED:
            self._admitted.popitem(last=False)

    def _make_room(self, lane: deque[_Waiting]) -> bool:
        """Drop the newest message of the longest lane, unless that is the lane to be extended."""
        longest = max(self._lanes.values(), key=len)
        if longest is lane:
            return False
        longest.pop()
        self._count -= 1
        return True

    def _chosen(self, limit: int) -> list[_Waiting]:
        known = [key for key in self._lanes if self._is_first(key)]
        chosen = self._in_turns(known, limit)
        known_keys = set(known)
        strangers = [key for key in self._lanes if key not in known_keys]
        if strangers:
            allowed = min(limit - len(chosen), self._strangers.left())
            slowly = self._in_turns(strangers, allowed)
            self._strangers.use(len(slowly))
            chosen += slowly
        for key in [key for key, lane in self._lanes.items() if not lane]:
            del self._lanes[key]
        self._count -= len(chosen)
        return sorted(chosen, key=lambda each: each.number)

    def _is_first(self, key: _Key) -> bool:
        temple, leaf, source = key
        if leaf == contract.Token.leaf:
            return self._ledgers.is_current(temple, source)
        return self._ledgers.is_known(temple)

    def _in_turns(self, keys: list[_Key], limit: int) -> list[_Waiting]:
        """Take equal shares from the lanes, passing unused shares on; a lane that was served goes to the end."""
        chosen: list[_Waiting] = []
        spare = {key: min(len(self._lanes[key]), _most_at_once(key)) for key in keys}
        while limit > len(chosen) and (open_ := [key for key in keys if spare[key]]):
            share = max(1, (limit - len(chosen)) // len(open_))
            for key in open_[: limit - len(chosen)]:
                lane = self._lanes[key]
                count = min(share, spare[key])
                chosen += [lane.popleft() for _ in range(count)]
                spare[key] -= count
                self._lanes.move_to_end(key)
        return chosen


def _most_at_once(key: _Key) -> int:
    return WAITING if key[1] == contract.Token.leaf else MESSAGES_AT_ONCE
