"""The oracle: what fell, what was committed and what arrived are held against each other. Pure: it reads no file.

Every token has a width of its own, to the microsecond, from the beam to the store: by it a token is known at each
station, whatever number or id a program gave it. Nothing that the programs say of themselves is taken on trust.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Books:
    """What every station holds, each token by its name."""

    fell: Sequence[Mapping[str, Sequence[int]]]
    """For each life of the temple, what fell through each slot while it lived, in order."""
    committed: frozenset[int]
    """What the temple said that it had committed."""
    ledger: Sequence[int]
    """What its ledger holds at the end, in the order of its numbers."""
    received: Sequence[int]
    """What the companion's store holds at the end, in the order of the ledger's numbers."""
    scored: Sequence[int]
    """What entered the table's game, in the order of its log."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong; each is a list of tokens, empty when all is well."""

    lost: list[int] = field(default_factory=list)
    """Committed, and nowhere any more."""
    undelivered: list[int] = field(default_factory=list)
    """Committed and still in the ledger, and not received."""
    doubled: list[int] = field(default_factory=list)
    """More than once in the ledger, in the store or in the game."""
    invented: list[int] = field(default_factory=list)
    """Counted although nothing fell, or received although neither committed nor under way when a temple died."""
    missed: list[int] = field(default_factory=list)
    """Fell into a temple that lived on, and was never committed."""
    disordered: list[int] = field(default_factory=list)
    """Numbered before a token that had fallen earlier through the same slot."""
    unscored: list[int] = field(default_factory=list)
    """Received, and never entered in the table's game."""

    @property
    def well(self) -> bool:
        """Whether nothing is wrong."""
        return not any(getattr(self, name) for name in self.__dataclass_fields__)

    def __str__(self) -> str:
        return ", ".join(f"{len(getattr(self, name))} {name}" for name in self.__dataclass_fields__)


def judge(books: Books) -> Verdict:
    """Hold the books against each other.

    Laws: `committed` is within `received`; each at most once; `received` is within ``committed + maybe``, where
    `maybe` is what was under way when a temple died: through its beam, and not yet said to be committed.
    """
    received, ledger = frozenset(books.received), frozenset(books.ledger)
    fell = frozenset(token for slots in books.fell for tokens in slots.values() for token in tokens)
    maybe, missed = _maybe(books)
    return Verdict(
        lost=sorted(books.committed - received - ledger),
        undelivered=sorted((books.committed & ledger) - received),
        doubled=sorted({*_twice(books.ledger), *_twice(books.received), *_twice(books.scored)}),
        invented=sorted((received | ledger) - (books.committed & fell) - maybe),
        missed=missed,
        disordered=_disordered(books),
        unscored=sorted(received - frozenset(books.scored)),
    )


def maybe(books: Books) -> frozenset[int]:
    """Return what was under way when a temple died."""
    return _maybe(books)[0]


def _maybe(books: Books) -> tuple[frozenset[int], list[int]]:
    """Return what may have been committed, and what must have been and was not.

    A slot's tokens are committed in the order in which they fall. So what precedes a committed one in the same life
    was passed over, and in the last life, which nothing ended, all must be committed.
    """
    under_way: set[int] = set()
    missed: list[int] = []
    for life, slots in enumerate(books.fell):
        for tokens in slots.values():
            taken = [place for place, token in enumerate(tokens) if token in books.committed]
            end = len(tokens) if life == len(books.fell) - 1 else max(taken, default=-1) + 1
            missed += [token for token in tokens[:end] if token not in books.committed]
            under_way.update(tokens[end:])
    return frozenset(under_way), sorted(missed)


def _twice(tokens: Iterable[int]) -> list[int]:
    return [token for token, times in Counter(tokens).items() if times > 1]


def _disordered(books: Books) -> list[int]:
    places = {token: place for place, token in enumerate(books.received)}
    wrong = []
    for slots in books.fell:
        for tokens in slots.values():
            present = [token for token in tokens if token in places]
            wrong += [late for early, late in pairwise(present) if places[late] < places[early]]
    return wrong
