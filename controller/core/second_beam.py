"""Holds the tokens of a slot against a second beam below its first: a token breaks both, the upper one first.

Pure. Times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from msgspec import Struct

from controller.core.counting import SECOND, Edge, Limits
from controller.core.judge import TOGETHER_NS
from controller.core.proof import SETTLED_NS
from templo.contract import Finding

REMEMBERED = 256
"""Spells of the second beam, the latest ones."""

FORGET_NS = 5 * SECOND
"""How long after its end a spell may belong to a token that is counted late."""

_FEW = 4


class _Spell(Struct):
    start_ns: int
    end_ns: int | None = None
    explained: bool = False
    """Whether a token broke this beam in its order."""

    def lasts_to(self, at_ns: int) -> bool:
        return self.end_ns is None or self.end_ns >= at_ns


class _Counted(NamedTuple):
    token: str | None
    start_ns: int
    end_ns: int


class SecondBeam:
    """The second beam of one slot.

    Laws:
    - A token is alone unless this beam goes dark more than `TOGETHER_NS` after the first one did and at most
      `transit` after that one is clear again, or is dark then because of a token before it.
    - A token that finds this beam dark, or going dark with the first one, is alone, unless a token before it
      explains that darkness. What breaks both at once therefore explains nothing.
    - A beam that is dark longer than `max_break` is `blind`: what falls meanwhile is not alone.
    - One spell of either beam may stand for several of the other: tokens merge in one beam and not in the other.
    - The result depends on the times of the edges alone, if they arrive within `SETTLED_NS`.

    A token that breaks this beam 14 ms after the first, and one that does not:

    >>> from controller.core.counting import MS
    >>> beam = SecondBeam(Limits(), dark=False, since_ns=0)
    >>> beam.feed(Edge(114 * MS, dark=True)), beam.feed(Edge(126 * MS, dark=False))
    (None, None)
    >>> beam.take("a", 100 * MS, 112 * MS), beam.take("b", 400 * MS, 412 * MS)
    (None, None)
    >>> beam.alone(2 * SECOND)
    ['b']
    """

    def __init__(self, limits: Limits, dark: bool, since_ns: int) -> None:
        """Start from the level that was read at `since_ns`; a beam that is dark from the start is blind."""
        self._limits = limits
        self._spells: deque[_Spell] = deque(maxlen=REMEMBERED)
        if dark:
            self._spells.append(_Spell(since_ns - limits.max_break))
        self._waiting: deque[_Counted] = deque()
        self._followed = 0
        self._alone = 0
        self._in_a_row = 0
        """Tokens that were alone since this beam last followed one."""
        self._unexplained = 0

    def learn(self, limits: Limits) -> None:
        """Apply other limits from the next token on."""
        self._limits = limits

    def feed(self, edge: Edge) -> None:
        """Process an edge of this beam. If one is lost, a spell lasts as long as it may have."""
        running = bool(self._spells) and self._spells[-1].end_ns is None
        if running:
            self._spells[-1].end_ns = edge.at_ns
        if edge.dark:
            self._spells.append(_Spell(edge.at_ns))
        elif not running:
            self._spells.append(_Spell(edge.at_ns, edge.at_ns))

    def take(self, token: str | None, start_ns: int, end_ns: int) -> None:
        """Note a token that the first beam counted, with its id; None for one that is not to be doubted."""
        self._waiting.append(_Counted(token, start_ns, end_ns))

    def due_ns(self) -> int | None:
        """Return when `alone` can judge the next token."""
        return self._waiting[0].end_ns + self._limits.transit + SETTLED_NS if self._waiting else None

    def alone(self, now_ns: int) -> list[str]:
        """Return the ids of the tokens that are known by now to have broken the first beam alone."""
        found = []
        while (due_ns := self.due_ns()) is not None and due_ns <= now_ns:
            counted = self._waiting.popleft()
            if self._is_alone(counted):
                self._alone += 1
                self._in_a_row += 1
                if counted.token is not None:
                    found.append(counted.token)
        while self._spells and (end_ns := self._spells[0].end_ns) is not None and end_ns + FORGET_NS < now_ns:
            self._unexplained += not self._spells.popleft().explained
        return found

    def _is_alone(self, counted: _Counted) -> bool:
        from_ns, to_ns = counted.start_ns + TOGETHER_NS, counted.end_ns + self._limits.transit
        before = [each for each in self._spells if each.start_ns < from_ns and each.lasts_to(counted.start_ns)]
        blind = any(counted.start_ns - each.start_ns >= self._limits.max_break for each in before)
        if not blind and not all(each.explained for each in before):
            return True
        after = [each for each in self._spells if from_ns <= each.start_ns <= to_ns]
        for each in after:
            each.explained = True
        if blind:
            return False
        if not after and not any(each.lasts_to(from_ns) for each in before):
            return True
        self._followed += 1
        self._in_a_row = 0
        return False

    def blind(self, now_ns: int) -> bool:
        """Return whether this beam has been dark for too long to follow tokens."""
        since_ns = self._dark_since_ns
        return since_ns is not None and now_ns - since_ns >= self._limits.max_break

    @property
    def _dark_since_ns(self) -> int | None:
        latest = self._spells[-1] if self._spells else None
        return None if latest is None or latest.end_ns is not None else latest.start_ns

    def deadline(self, now_ns: int) -> int | None:
        """Return when the findings about this beam change by time alone."""
        since_ns = self._dark_since_ns
        due_ns = None if since_ns is None else since_ns + self._limits.max_break
        return due_ns if due_ns is not None and due_ns > now_ns else None

    def findings(self, now_ns: int) -> list[Finding]:
        """Return what is wrong with this beam."""
        if self.blind(now_ns):
            assert self._dark_since_ns is not None
            return [Finding("below_dark", {"for_s": round((now_ns - self._dark_since_ns) / SECOND)})]
        found = []
        if self._in_a_row >= _FEW:
            found.append(Finding("below_silent", {"tokens": self._in_a_row}))
        if self._unexplained >= _FEW and 5 * self._unexplained >= self._followed + self._unexplained:
            found.append(Finding("below_alone", {"spells": self._unexplained, "tokens": self._followed}))
        return found

    def to_dict(self) -> dict[str, object]:
        """Return what this beam reads, how many tokens it followed, and how often either beam broke alone."""
        return {
            "reads": "clear" if self._dark_since_ns is None else "dark",
            "followed": self._followed,
            "alone": self._alone,
            "unexplained": self._unexplained,
        }

    def seen(self) -> object:
        """Return everything that `findings` depends on, except the time."""
        return self._dark_since_ns, self._in_a_row, self._unexplained, self._followed
