"""Who may change a table, a temple or a note: one companion at a time, its owner.

They are named by their topics: ``table:<id>``, ``temple:<name>``, ``note:<name>``. What its owner has in memory is
what is stored; anybody else's memory may be out of date. Taking something over is therefore followed by reading it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol


class Ownership(Protocol):
    """What one companion owns. Safe from any thread; `take` and `forget` are called under the topic's lock."""

    def holds(self, topic: str) -> bool:
        """Return whether this companion owns a topic, and knows what is stored of it."""

    def take(self, topic: str) -> None:
        """Become the owner of a topic, whoever is; raises `ServiceError` ``store_failing``."""

    def forget(self, topics: Iterable[str]) -> None:
        """Hold these no longer: a change of them has failed, and may have been stored all the same."""

    def forgotten(self) -> Collection[str]:
        """Return what was held until it was forgotten."""

    def release(self, topic: str) -> None:
        """Leave a topic without an owner: nothing will change there; raises `ServiceError` ``store_failing``."""

    def epochs(self, topics: Iterable[str]) -> Mapping[str, int]:
        """Return the number of each topic's ownership, for `Transaction.fence`; none if there is no other owner."""

    def confirm(self, topics: Iterable[str]) -> None:
        """Raise `Conflict` if another companion has taken one of them, `ServiceError` ``store_failing``."""


class Alone:
    """The only companion of its store: it owns everything, except what it has forgotten until it reads it again."""

    def __init__(self) -> None:
        self._forgotten: frozenset[str] = frozenset()

    def holds(self, topic: str) -> bool:
        """Return whether it knows what is stored of a topic."""
        return topic not in self._forgotten

    def take(self, topic: str) -> None:
        """Hold a topic again."""
        self._forgotten -= {topic}

    def forget(self, topics: Iterable[str]) -> None:
        """Hold these no longer."""
        self._forgotten |= {*topics}

    def forgotten(self) -> Collection[str]:
        """Return what was forgotten."""
        return self._forgotten

    def release(self, topic: str) -> None:
        """Do nothing: nobody else could take it."""

    def epochs(self, topics: Iterable[str]) -> Mapping[str, int]:
        """Return nothing: there is no other owner."""
        return {}

    def confirm(self, topics: Iterable[str]) -> None:
        """Do nothing: nobody else could have taken them."""
