"""Schedules the open event streams on a few threads, however many streams there are.

A stream is served when there is news for it, at most every `PACE` seconds, and every `HEARTBEAT` seconds. Streams
with the same key, such as those of one table, are served one after another: a table that is slow to render occupies
one thread, and the streams of other tables go on.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import math
import threading
import time
from collections.abc import Callable
from enum import Enum, auto
from typing import TypeAlias

HEARTBEAT = 8.0
"""Seconds. It keeps the connection open and detects closed ones; `live.js` waits 20 s for one."""

PACE = 0.04
"""The least seconds between two updates of a stream: a burst becomes a few, a single token is immediate."""

AGAIN = 1.0
"""Seconds until a reader that was too slow is tried again."""

THREADS = 4

log = logging.getLogger(__name__)


class Step(Enum):
    """The result of serving a stream."""

    DONE = auto()
    SLOW = auto()
    """Its reader has not read the last update yet, so the news is kept."""
    OVER = auto()


Look: TypeAlias = Callable[[bool], Step]
"""Serves one stream; the argument says whether there is news, else a heartbeat is due."""


class Turn:
    """The place of one stream in the schedule."""

    __slots__ = ("at_work", "due", "fresh", "key", "look", "not_before")

    def __init__(self, key: str, look: Look) -> None:
        self.key = key
        self.look = look
        self.fresh = True
        self.at_work = False
        self.due = math.inf
        self.not_before = 0.0


class _Queue:
    """The streams with one key, in the order in which they are due."""

    __slots__ = ("busy", "due", "key", "order")

    def __init__(self, key: str) -> None:
        self.key = key
        self.order: list[tuple[float, int, Turn]] = []
        self.busy = False
        self.due = math.inf
        """When its first stream is due; infinite while one is being served."""


class Broadcast:
    """Serves streams, while there are any."""

    def __init__(self, threads: int = THREADS) -> None:
        """Start without threads; they start with the first stream."""
        self._threads = threads
        self._changed = threading.Condition()
        self._turns: set[Turn] = set()
        self._queues: dict[str, _Queue] = {}
        self._order: list[tuple[float, int, _Queue]] = []
        self._number = itertools.count()
        self._running = 0

    def add(self, turn: Turn) -> None:
        """Add a stream; it is served at once, as if there were news."""
        with self._changed:
            self._turns.add(turn)
            self._schedule(turn, time.monotonic())
            if self._running < self._threads:
                self._running += 1
                threading.Thread(target=self._work, name="streams", daemon=True).start()

    def news(self, turn: Turn) -> None:
        """Note that there is news for a stream; called by the publisher."""
        with self._changed:
            if not turn.fresh:
                turn.fresh = True
                if not turn.at_work:
                    self._schedule(turn, max(turn.not_before, time.monotonic()))

    def remove(self, turn: Turn) -> None:
        """Remove a stream; may be called again."""
        with self._changed:
            self._turns.discard(turn)
            if not self._turns:
                self._changed.notify_all()

    def _schedule(self, turn: Turn, due: float) -> None:
        turn.due = due
        queue = self._queues.setdefault(turn.key, _Queue(turn.key))
        heapq.heappush(queue.order, (due, next(self._number), turn))
        self._line_up(queue)

    def _line_up(self, queue: _Queue) -> None:
        """Schedule a queue by its first stream, unless one of its streams is being served."""
        while queue.order and not self._is_current(queue.order[0]):
            heapq.heappop(queue.order)
        if queue.busy:
            return
        if not queue.order:
            self._queues.pop(queue.key, None)
        elif queue.order[0][0] < queue.due:
            queue.due = queue.order[0][0]
            heapq.heappush(self._order, (queue.due, next(self._number), queue))
            self._changed.notify()

    def _work(self) -> None:
        while (found := self._next()) is not None:
            queue, turn, fresh = found
            try:
                step = turn.look(fresh)
            except Exception:
                log.exception("a stream of %s failed", turn.key)
                step = Step.OVER
            self._took(queue, turn, fresh, step)

    def _next(self) -> tuple[_Queue, Turn, bool] | None:
        """Wait for a stream that is due, and return it with whether there is news for it; None if none is open."""
        with self._changed:
            while self._turns:
                if not self._order:
                    self._changed.wait()
                    continue
                due, _, queue = self._order[0]
                is_current = due == queue.due
                if is_current and (pause := due - time.monotonic()) > 0:
                    self._changed.wait(pause)
                    continue
                heapq.heappop(self._order)
                if is_current and (turn := self._taken(queue)) is not None:
                    fresh, turn.fresh = turn.fresh, False
                    return queue, turn, fresh
            self._order.clear()
            self._queues.clear()
            self._running -= 1
            return None

    def _taken(self, queue: _Queue) -> Turn | None:
        """Take the stream for which a queue was due; None if that one was removed, or is due later by now."""
        due, queue.due = queue.due, math.inf
        if not queue.order or queue.order[0][0] > due or not self._is_current(queue.order[0]):
            self._line_up(queue)
            return None
        turn = heapq.heappop(queue.order)[2]
        turn.at_work = queue.busy = True
        return turn

    def _is_current(self, item: tuple[float, int, Turn]) -> bool:
        due, _, turn = item
        return due == turn.due and turn in self._turns and not turn.at_work

    def _took(self, queue: _Queue, turn: Turn, fresh: bool, step: Step) -> None:
        now = time.monotonic()
        with self._changed:
            turn.at_work = queue.busy = False
            if step is Step.SLOW:
                turn.fresh = turn.fresh or fresh
                turn.not_before = now + AGAIN
            elif fresh:
                turn.not_before = now + PACE
            if step is Step.OVER:
                self._turns.discard(turn)
                self._line_up(queue)
            else:
                self._schedule(turn, turn.not_before if turn.fresh else now + HEARTBEAT)
