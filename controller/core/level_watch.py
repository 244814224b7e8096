"""Compares the beams' levels with their edges: where they differ, an edge was lost on its way, or never sent.

Pure: no clock, no IO.
"""

from __future__ import annotations

from controller.core.counting import Counter
from templo.contract import God

WATCH_S = 2.0
"""How often the levels are compared with the edges."""


class LevelWatch:
    """Compares a beam's level with what its edges lead to.

    An edge may be on its way: only a level that differs twice, with no edge between, counts.
    """

    def __init__(self) -> None:
        """Begin with no difference seen."""
        self._doubts: dict[God, int] = {}

    def differs(self, god: God, dark: bool, counter: Counter) -> bool:
        """Take a level that was just read; return whether no edge on its way can explain it."""
        last_ns = counter.last_ns
        if dark == counter.dark:
            self._doubts.pop(god, None)
        elif self._doubts.pop(god, None) == last_ns:
            return True
        else:
            self._doubts[god] = last_ns
        return False
