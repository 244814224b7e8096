"""The oracle: compares what fell, what was committed and what arrived. Pure: it reads no file.

Every token has a width of its own, to the microsecond, from the beam to the store: by it a token is known at each
station, whatever number or id a program gave it. Nothing that the programs report of themselves is trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Store:
    """What one companion's store holds."""

    received: Sequence[Sequence[int]] = ()
    """For each source, its tokens in the order of their numbers."""
    scored: Sequence[int] = ()
    """What entered the table's game, in the order of its log."""
    held: frozenset[int] = frozenset()
    """Held apart because others had taken their numbers, until a person decides."""
    old: frozenset[int] = frozenset()
    """Received, and not scored until a person has said what becomes of old tokens."""

    @property
    def tokens(self) -> list[int]:
        """Return all that were received."""
        return [token for tokens in self.received for token in tokens]


@dataclass(frozen=True, slots=True)
class Books:
    """What every station holds, each token by its name."""

    fell: Sequence[Mapping[str, Sequence[int]]]
    """For each life of the temple, what fell through each slot while it lived, in order."""
    committed: frozenset[int]
    """What the temple said that it had committed."""
    ledger: Sequence[int]
    """What its ledger holds at the end, in the order of its rows."""
    store: Store
    """The companion's, as it is at the end."""
    put_away: Sequence[Store] = ()
    """The stores of companions that were replaced."""
    due: frozenset[int] = frozenset()
    """What the ledger holds under the source that it has at the end: the present companion has all of it."""
    uncertain: frozenset[int] = frozenset()
    """What may be counted or not: it fell into a cloned temple, or was only in a ledger that a copy replaced."""
    shared: frozenset[int] = frozenset()
    """What may be held apart: it fell while two ledgers gave the same numbers."""
    earlier: frozenset[int] = frozenset()
    """What may be old: it fell before the companion met the temple."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong; each is a list of tokens, empty when all is well."""

    lost: list[int] = field(default_factory=list)
    """Committed, and in no store or ledger."""
    undelivered: list[int] = field(default_factory=list)
    """Committed and still in the ledger, and not in the present companion's store, or in none."""
    doubled: list[int] = field(default_factory=list)
    """More than once in the ledger, or in one store or its game."""
    invented: list[int] = field(default_factory=list)
    """Counted although nothing fell, or received although neither committed nor under way when a temple died."""
    missed: list[int] = field(default_factory=list)
    """Fell into a temple that lived on, and was never committed."""
    disordered: list[int] = field(default_factory=list)
    """Numbered before a token of the same source that had fallen earlier through the same slot."""
    unscored: list[int] = field(default_factory=list)
    """Received, and neither entered in the table's game nor among the old tokens."""
    held: list[int] = field(default_factory=list)
    """Held apart or among the old tokens for no reason: its number was its own, and its temple was known."""

    @property
    def well(self) -> bool:
        """Whether nothing is wrong."""
        return not any(getattr(self, name) for name in self.__dataclass_fields__)

    def __str__(self) -> str:
        return ", ".join(f"{len(getattr(self, name))} {name}" for name in self.__dataclass_fields__)

    def lines(self) -> list[str]:
        """Return a line for each kind of wrong, with the first tokens of it."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return [f"{name}: {tokens[:40]}" for name, tokens in found.items() if tokens]


@dataclass(frozen=True, slots=True)
class Posts:
    """What players posted, each by its id, and the logs of their tables."""

    accepted: frozenset[str]
    """What some companion said that it had accepted."""
    rejected: frozenset[str]
    """What was answered every time it was sent, and each time with a no."""
    logs: Sequence[Sequence[tuple[int, str]]]
    """For each table its entries in their order: number and id of the post, empty where none caused it."""


@dataclass(frozen=True, slots=True)
class PostsVerdict:
    """What is wrong with posts and logs; empty when all is well."""

    lost: list[str] = field(default_factory=list)
    """Accepted, and in no log."""
    doubled: list[str] = field(default_factory=list)
    """In a log more than once."""
    undead: list[str] = field(default_factory=list)
    """Rejected, and in a log all the same."""
    gaps: list[str] = field(default_factory=list)
    """Entries whose number is not that of the one before and one more."""

    def lines(self) -> list[str]:
        """Return a line for each kind of wrong."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return [f"posts {name}: {posts[:40]}" for name, posts in found.items() if posts]

    def __str__(self) -> str:
        return ", ".join(f"{len(getattr(self, name))} {name}" for name in self.__dataclass_fields__)


def judge_posts(posts: Posts) -> PostsVerdict:
    """Compare what players were answered with the logs.

    A post without any answer may be in a log or not, but no more than once.
    """
    entered = [post for log in posts.logs for _, post in log if post]
    return PostsVerdict(
        lost=sorted(posts.accepted - frozenset(entered)),
        doubled=sorted(post for post, times in Counter(entered).items() if times > 1),
        undead=sorted(posts.rejected & frozenset(entered)),
        gaps=[
            f"table {table}: {n} where {expected} was expected"
            for table, log in enumerate(posts.logs)
            for expected, (n, _) in enumerate(log, 1)
            if n != expected
        ],
    )


def judge(books: Books) -> Verdict:
    """Compare the books. Laws:

    `committed` is within what is received or held apart; each at most once; `received` is within
    ``committed + maybe``, where `maybe` is what was under way when a temple died: through its beam, and not yet said
    to be committed. What is `uncertain` may be anywhere or nowhere, but no more than once in each place.
    """
    stores = (books.store, *books.put_away)
    received = frozenset(token for store in stores for token in store.tokens)
    held = waiting(books)
    ledger = frozenset(books.ledger)
    fell = frozenset(token for slots in books.fell for tokens in slots.values() for token in tokens)
    maybe, missed = _maybe(books)
    here = frozenset(books.store.tokens) | books.store.held
    return Verdict(
        lost=sorted(books.committed - received - held - ledger - books.uncertain),
        undelivered=sorted(((books.committed & ledger) - received - held) | ((books.committed & books.due) - here)),
        doubled=sorted(
            {
                *_twice(books.ledger),
                *(token for store in stores for each in (store.tokens, store.scored) for token in _twice(each)),
            }
        ),
        invented=sorted((received | held | ledger) - (books.committed & fell) - maybe - books.uncertain),
        missed=missed,
        disordered=sorted(
            {late for store in stores for tokens in store.received for late in _disordered(books.fell, tokens)}
        ),
        unscored=sorted({token for store in stores for token in {*store.tokens} - {*store.scored} - store.old}),
        held=sorted(
            (held - books.shared) | frozenset(token for store in stores for token in store.old - books.earlier)
        ),
    )


def maybe(books: Books) -> frozenset[int]:
    """Return what was under way when a temple died."""
    return _maybe(books)[0]


def waiting(books: Books) -> frozenset[int]:
    """Return what is held apart, and nowhere received."""
    stores = (books.store, *books.put_away)
    return frozenset(token for store in stores for token in store.held) - frozenset(
        token for store in stores for token in store.tokens
    )


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


def _disordered(fell: Sequence[Mapping[str, Sequence[int]]], received: Sequence[int]) -> list[int]:
    places = {token: place for place, token in enumerate(received)}
    wrong = []
    for slots in fell:
        for tokens in slots.values():
            present = [token for token in tokens if token in places]
            wrong += [late for early, late in pairwise(present) if places[late] < places[early]]
    return wrong
