"""Compares the beams' levels with their edges: if they differ, an edge was lost or never sent."""

from __future__ import annotations

from controller.core.counting import Counter
from templo.contract import God

WATCH_S = 2.0
"""How often the levels are compared with the edges."""


class LevelWatch:
    """Compares a beam's level with the one that follows from its edges.

    An edge may be on its way, so only a level that differs twice, with no edge in between, counts.
    """

    def __init__(self) -> None:
        """Start with no difference seen."""
        self._doubts: dict[God, int] = {}

    def differs(self, god: God, dark: bool, counter: Counter) -> bool:
        """Process a level that was just read; return whether no late edge can explain it."""
        last_ns = counter.last_ns
        if dark == counter.dark:
            self._doubts.pop(god, None)
        elif self._doubts.pop(god, None) == last_ns:
            return True
        else:
            self._doubts[god] = last_ns
        return False
