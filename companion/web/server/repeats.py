"""Remembers what the last posts made, so that a post that is sent twice makes nothing twice."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

MOST = 1024
"""How many posts are remembered; of more, the first are forgotten."""


class Repeats:
    """What each of the last posts made, by what distinguishes one post from another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: OrderedDict[str, str] = OrderedDict()

    def once(self, post: str, make: Callable[[], str]) -> str:
        """Return what a post makes, or made before; a second one waits for the first. What raises made nothing.

        >>> repeats = Repeats()
        >>> repeats.once("a post", lambda: "a table"), repeats.once("a post", lambda: "another")
        ('a table', 'a table')
        """
        with self._lock:
            if post not in self._made:
                self._made[post] = make()
                while len(self._made) > MOST:
                    self._made.popitem(last=False)
            return self._made[post]
