"""The tallies: who gave how much to which god, and the order of the tokens in the lake."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from companion.games.kit import Struct, replace

God: TypeAlias = str

HUITZILOPOCHTLI: God = "huitzilopochtli"
TLALOC: God = "tlaloc"
GODS: tuple[God, God] = (HUITZILOPOCHTLI, TLALOC)

EVEN = "even"
"""Stands for the leading god where both are even."""

LETTERS = {HUITZILOPOCHTLI: "h", TLALOC: "t"}
"""How the lake writes a token of each god."""


class Gifts(NamedTuple):
    """One number for each god."""

    huitzilopochtli: int = 0
    tlaloc: int = 0

    def to(self, god: God) -> int:
        """Return the number of one god."""
        return self.huitzilopochtli if god == HUITZILOPOCHTLI else self.tlaloc

    def plus(self, god: God, n: int) -> Gifts:
        """Return these gifts with `n` more to one god."""
        war, rain = self
        return _gifts(war + n, rain) if god == HUITZILOPOCHTLI else _gifts(war, rain + n)


NOTHING = Gifts()

_gifts = lru_cache(maxsize=4096)(Gifts)
"""Makes gifts; cached, because there are few and they recur."""


class Tally(NamedTuple):
    """One tribe's sacrifices: what was credited to it, by token or tap, and the sum of its corrections."""

    credited: Gifts = NOTHING
    corrected: Gifts = NOTHING

    def given(self, god: God) -> int:
        """Return what counts: credited and corrected together."""
        if god == HUITZILOPOCHTLI:
            return self.credited.huitzilopochtli + self.corrected.huitzilopochtli
        return self.credited.tlaloc + self.corrected.tlaloc


_tally = lru_cache(maxsize=4096)(Tally)
"""Makes tallies, which come again and again as corrections are made and taken back."""


class Tallies(Struct, frozen=True):
    """The tallies of all tribes, in turn order, and the lake.

    Laws: the lake holds, of each god, as many letters as all tribes gave to it; no tribe gave less than nothing.
    """

    tribes: tuple[Tally, ...]
    lake: str = ""

    def __iter__(self) -> Iterator[Tally]:
        return iter(self.tribes)

    @property
    def total(self) -> int:
        """All that counts, to both gods."""
        return len(self.lake)

    def of(self, god: God) -> int:
        """Return all that counts to one god."""
        return self.lake.count(LETTERS[god])

    @property
    def leader(self) -> God:
        """The god that was given the most, or `EVEN`."""
        return _leader(self.lake)

    def credit(self, tribe: int, god: God, n: int) -> Tallies:
        """Return the tallies after `n` tokens of one tribe fell into the lake."""
        credited, corrected = self.tribes[tribe]
        return self._with(tribe, _tally(credited.plus(god, n), corrected), self.lake + LETTERS[god] * n)

    def correct(self, tribe: int, god: God, delta: int) -> Tallies:
        """Return the tallies after a correction, which puts tokens on top of the lake or takes the latest out."""
        credited, corrected = self.tribes[tribe]
        lake = self.lake + LETTERS[god] * delta
        if delta < 0:
            lake = "".join(lake.rsplit(LETTERS[god], -delta))  # cut at the latest ones, and joined without them
        return self._with(tribe, _tally(credited, corrected.plus(god, delta)), lake)

    def take_out(self, tribe: int, god: God) -> Tallies:
        """Return the tallies after a token that was credited to a tribe was taken out of the lake.

        If corrections have taken out as many as the tribe gave, it is one of theirs: what counts stays the same.
        """
        credited, corrected = self.tribes[tribe]
        if not self.tribes[tribe].given(god):
            return self._with(tribe, _tally(credited.plus(god, -1), corrected.plus(god, 1)), self.lake)
        lake = "".join(self.lake.rsplit(LETTERS[god], 1))
        return self._with(tribe, _tally(credited.plus(god, -1), corrected), lake)

    def _with(self, tribe: int, tally: Tally, lake: str) -> Tallies:
        tribes = list(self.tribes)
        tribes[tribe] = tally
        return replace(self, tribes=tuple(tribes), lake=lake)


@lru_cache(maxsize=1024)
def _leader(lake: str) -> God:
    """Return the god of whom a lake holds more; asked of one lake at every landing while the clock runs."""
    balance = 2 * lake.count(LETTERS[HUITZILOPOCHTLI]) - len(lake)
    return EVEN if balance == 0 else HUITZILOPOCHTLI if balance > 0 else TLALOC
