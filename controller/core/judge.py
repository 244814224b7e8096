"""Doubts tokens that light, a loose plug or the supply may have made, judging by when and how long beams were dark.

Pure. Times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise

from msgspec import Struct

from controller.core.counting import MS, SECOND, Limits
from templo.contract import God

TOGETHER_NS = 2 * MS
"""Both beams that break and clear within this time of each other have one cause: a dip of their supply."""

QUIET_NS = SECOND
"""Two tokens that fall at once are a dip after so much quiet in both slots, or after another one of the kind.

Of two quick streams of tokens now and then two fall at once.
"""

CALM_NS = SECOND
"""What follows a doubted token of the same slot within this time is doubted too."""

RECENT_NS = 2 * SECOND
"""How far back the tokens of a beam are doubted that is found to flicker."""

_FASTEST = 20
_RATES = (
    (SECOND // 5, 9),
    (SECOND // 2, 16),
    (2 * SECOND, 40),
    (4 * SECOND, 60),
    (10 * SECOND, 120),
    (60 * SECOND, 260),
)
"""Tokens of one slot within a time that no hand drops, for a limit of `_FASTEST`.

A hand of twelve falls through a throat that admits one token at a time; a bowl is swept at up to 17 a second until it
is empty; an age of Mexica ends with 260 tokens.
"""

_MEMORY = max(number for _, number in _RATES)
_ALIKE = 8
"""So many tokens with equal periods are a machine's."""

_EQUAL = 20
"""Times are equal if they differ by at most one part in so many: 5 %."""

_ODD_WITHIN, _ODD_OF, _ODD = 4 * SECOND, 16, 12
"""Of so many tokens within a time so many were wider or narrower than the learned band."""


class Reason(StrEnum):
    """Why a token is doubted, as in the contract's `Doubt`."""

    FLICKER = "flicker"
    REGULAR = "regular"
    TOGETHER = "together"
    UNPROVED = "unproved"
    ALONE = "alone"


class Doubted(Struct, frozen=True):
    """Tokens that are doubted from now on, by their ids."""

    reason: Reason
    tokens: tuple[str, ...]


class _Counted(Struct):
    token: str
    start_ns: int
    width_ns: int
    doubted: bool = False

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.width_ns


class Judge:
    """Judges the tokens of both slots, each when it was counted.

    Laws:
    - A token is doubted at most once, and only after it was passed to `take`.
    - Tokens that any person drops, one by one, by the hand or out of a bowl, are not doubted; nor does a token in one
      slot change what is thought of the other's, unless both begin and end within `TOGETHER_NS`.
    - What is doubted depends on the tokens alone, not on when `take` is called.

    Fifty spells a second are no hand; after the ninth, all of them are doubted:

    >>> judge = Judge(Limits())
    >>> found = [judge.take(God.TLALOC, str(n), n * 20 * MS, (5 + n % 3) * MS) for n in range(11)]
    >>> [len(doubted.tokens) for each in found for doubted in each]
    [8, 1, 1, 1]
    """

    def __init__(self, limits: Limits) -> None:
        """Start without any token."""
        self._limits = limits
        self._counted: dict[God, deque[_Counted]] = {god: deque(maxlen=_MEMORY) for god in God}
        self._calm: dict[God, tuple[int, Reason] | None] = dict.fromkeys(God)

    def learn(self, limits: Limits) -> None:
        """Apply other limits from the next token on."""
        self._limits = limits

    def take(self, god: God, token: str, start_ns: int, width_ns: int) -> list[Doubted]:
        """Judge a token that was just counted; return which tokens are doubted because of it.

        A dip of the supply breaks both beams at once:

        >>> judge = Judge(Limits())
        >>> judge.take(God.TLALOC, "a", 0, 40 * MS)
        []
        >>> judge.take(God.HUITZILOPOCHTLI, "b", MS, 39 * MS)
        [Doubted(reason=<Reason.TOGETHER: 'together'>, tokens=('a', 'b'))]
        """
        latest = _Counted(token, start_ns, width_ns)
        counted = self._counted[god]
        counted.append(latest)
        calm = self._calm[god]
        found = list(self._light(counted))
        if not found and calm is not None and start_ns - calm[0] < CALM_NS:
            found = [(calm[1], (latest,))]
        if found:
            self._calm[god] = start_ns, found[0][0]
        found += [(Reason.TOGETHER, pair) for pair in self._together(god, latest)]
        return _new(found)

    def flickers(self, god: God, at_ns: int) -> list[Doubted]:
        """Return which tokens are doubted because a beam has just been found to flicker."""
        recent = [each for each in self._counted[god] if each.end_ns > at_ns - RECENT_NS]
        self._calm[god] = at_ns, Reason.FLICKER
        return _new([(Reason.FLICKER, recent)])

    def unproved(self, god: God, since_ns: int) -> list[Doubted]:
        """Return which tokens are doubted because nothing has proved their beam since `since_ns`."""
        return _new([(Reason.UNPROVED, [each for each in self._counted[god] if each.end_ns > since_ns])])

    def alone(self, god: God, tokens: Iterable[str]) -> list[Doubted]:
        """Return which of these tokens are newly doubted because a second beam did not follow the first."""
        alone = set(tokens)
        return _new([(Reason.ALONE, [each for each in self._counted[god] if each.token in alone])])

    def _light(self, counted: deque[_Counted]) -> Iterable[tuple[Reason, Sequence[_Counted]]]:
        alike = list(counted)[-_ALIKE:]
        if len(alike) == _ALIKE and self._regular(alike):
            yield Reason.REGULAR, alike
        latest = counted[-1]
        for within_ns, usual in _RATES:
            number = max(2, usual * self._limits.fastest // _FASTEST)
            if len(counted) >= number and latest.start_ns - counted[-number].start_ns < within_ns:
                yield Reason.FLICKER, list(counted)[-number:]
        band, narrow = self._limits.band, self._limits.narrow or 0
        if band is not None and len(counted) >= _ODD_OF:
            many = list(counted)[-_ODD_OF:]
            odd = [each for each in many if not narrow <= each.width_ns <= band]
            if (
                latest.start_ns - many[0].start_ns < _ODD_WITHIN * _FASTEST // self._limits.fastest
                and len(odd) >= _ODD
            ):
                yield Reason.FLICKER, many

    def _regular(self, alike: Sequence[_Counted]) -> bool:
        """Return whether a machine made these.

        Its periods are equal, and so short that no hand could keep them equal, or its widths are equal too.
        """
        periods = [after.start_ns - before.start_ns for before, after in pairwise(alike)]
        if not _equal(periods):
            return False
        quick = periods[-1] * self._limits.fastest < 3 * SECOND
        return quick or _equal([each.width_ns for each in alike])

    def _together(self, god: God, latest: _Counted) -> Iterable[tuple[_Counted, _Counted]]:
        before = _before(self._counted[god], 1)
        for counted in (self._counted[other] for other in God if other is not god):
            for place in (1, 2):
                if len(counted) < place or not _at_once(each := counted[-place], latest):
                    continue
                earlier = _before(counted, place)
                quiet = all(
                    one is None or now.start_ns - one.end_ns >= QUIET_NS
                    for one, now in ((before, latest), (earlier, each))
                )
                if quiet or (before is not None and earlier is not None and _at_once(earlier, before)):
                    yield each, latest


def _before(counted: deque[_Counted], place: int) -> _Counted | None:
    return counted[-place - 1] if len(counted) > place else None


def _at_once(one: _Counted, other: _Counted) -> bool:
    return abs(one.start_ns - other.start_ns) <= TOGETHER_NS and abs(one.end_ns - other.end_ns) <= TOGETHER_NS


def _equal(times: Sequence[int]) -> bool:
    return (max(times) - min(times)) * _EQUAL <= max(times)


def _new(found: Iterable[tuple[Reason, Iterable[_Counted]]]) -> list[Doubted]:
    """Return what was found, without the tokens that were doubted before."""
    verdicts = []
    for reason, counted in found:
        if fresh := [each for each in counted if not each.doubted]:
            for each in fresh:
                each.doubted = True
            verdicts.append(Doubted(reason, tuple(each.token for each in fresh)))
    return verdicts
