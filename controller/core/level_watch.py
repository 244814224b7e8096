"""Whether the edges match the beams' levels: a level without its edge means that the edge was lost.

Pure: no clock, no IO.
"""

from __future__ import annotations

from controller.core.counting import Counter
from templo.contract import God

WATCH_S = 2.0
"""How often the levels are held against the edges."""


class LevelWatch:
    """Holds a beam's level against what its edges lead to.

    An edge on its way is no doubt: only a level that differs twice, with no edge between, is one.
    """

    def __init__(self) -> None:
        """Begin without a doubt."""
        self._doubts: dict[God, int] = {}

    def differs(self, god: God, dark: bool, counter: Counter) -> bool:
        """Take a level that was just read; return whether no edge will explain it any more."""
        last_ns = counter.last_ns
        if dark == counter.dark:
            self._doubts.pop(god, None)
        elif self._doubts.pop(god, None) == last_ns:
            return True
        else:
            self._doubts[god] = last_ns
        return False
