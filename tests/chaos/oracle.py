"""The oracle: compares what fell, what was committed and what arrived. Pure: it reads no file.

Every token has a width of its own, to the microsecond, from the beam to the store: by it a token is known at each
station, whatever number or id a program gave it. Nothing that the programs report of themselves is trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from companion.model.table import OWN_DOUBTS

NONE = "none"
"""Decided about a token that was dismissed."""


@dataclass(frozen=True, slots=True)
class Store:
    """What one companion's store holds."""

    received: Sequence[Sequence[int]] = ()
    """For each source, its tokens in the order of their numbers."""
    scored: Sequence[int] = ()
    """What entered the table's game, in the order of its log."""
    waiting: Mapping[int, str] = field(default_factory=dict)
    """What of it waits for a person, and so counts for nobody, each with the reason."""
    claimed: Mapping[int, str] = field(default_factory=dict)
    """What of it a person gave to a seat."""
    dismissed: frozenset[int] = frozenset()
    """What of it a person dismissed."""
    doubted: frozenset[int] = frozenset()
    """What its temples doubt, as far as it was received too."""
    held: frozenset[int] = frozenset()
    """Held apart because others had taken their numbers, until a person decides."""
    old: frozenset[int] = frozenset()
    """Received, and not scored until a person has said what becomes of old tokens."""

    @property
    def tokens(self) -> list[int]:
        """Return all that were received."""
        return [token for tokens in self.received for token in tokens]

    @property
    def counted(self) -> frozenset[int]:
        """Return what counts for some seat."""
        return frozenset(self.scored) - self.waiting.keys() - self.dismissed


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
    light: Sequence[Sequence[int]] = ()
    """What fell and was no token, but a lamp that flickered or one dip of the supply, each of them together."""
    doubted: frozenset[int] = frozenset()
    """What the temple said that it doubted, once that was committed."""
    ledger_doubts: frozenset[int] = frozenset()
    """What its ledger doubts at the end."""
    gone_doubts: frozenset[int] = frozenset()
    """What only a ledger doubted that a copy replaced."""
    decided: Mapping[int, str] = field(default_factory=dict)
    """What a person decided about, and the companion said that it had accepted: to which seat it went, or `NONE`."""


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
    """Held apart, among the old tokens or doubted for no reason: its number was its own, and its temple was known and
    did not doubt it.
    """
    trusted: list[int] = field(default_factory=list)
    """Light, all of it counted by one temple, and not doubted."""
    undoubted: list[int] = field(default_factory=list)
    """Doubted, and the present companion does not know it, or none does and no ledger."""
    unconfirmed: list[int] = field(default_factory=list)
    """Doubted, and scored although no person gave it to a seat."""
    forgotten: list[int] = field(default_factory=list)
    """Decided about by a person, and in no store is it decided like that."""

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

    What is doubted scores only where a person said so, and what a person has decided stays decided.
    """
    stores = (books.store, *books.put_away)
    received = frozenset(token for store in stores for token in store.tokens)
    held = waiting(books)
    ledger = frozenset(books.ledger)
    fell = frozenset(token for slots in books.fell for tokens in slots.values() for token in tokens)
    maybe, missed = _maybe(books)
    here = frozenset(books.store.tokens) | books.store.held
    doubted = books.doubted | books.ledger_doubts
    known = frozenset(token for store in stores for token in store.doubted)
    sure = doubted - books.gone_doubts
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
            (held - books.shared)
            | frozenset(token for store in stores for token in store.old - books.earlier)
            | frozenset(token for store in stores for token in _doubted_by_temple(store) - doubted - books.uncertain)
        ),
        trusted=sorted(_all_counted(books) - doubted - known - books.gone_doubts),
        undoubted=sorted(
            ((sure & received) - known - books.ledger_doubts)
            | ((books.ledger_doubts & frozenset(books.store.tokens)) - books.store.doubted)
        ),
        unconfirmed=sorted(
            (_unconfirmed(books.store) & (sure | books.store.doubted))
            | frozenset(token for store in books.put_away for token in _unconfirmed(store) & store.doubted)
        ),
        forgotten=sorted(
            token
            for token, seat in books.decided.items()
            if not any(
                token in store.dismissed if seat == NONE else store.claimed.get(token) == seat for store in stores
            )
        ),
    )


def doubts(books: Books) -> str:
    """Return in words how much light fell, how much was doubted of that and of the tokens, and what was decided."""
    light = frozenset(spell for spells in books.light for spell in spells)
    doubted = books.doubted | books.ledger_doubts
    return (
        f"{len(light)} spells of light, {len(light & doubted)} of them doubted, and {len(doubted - light)} tokens; "
        f"{len(books.decided)} decided by a person"
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


def _doubted_by_temple(store: Store) -> frozenset[int]:
    """Return what waits for a reason that only a temple knows."""
    return frozenset(token for token, reason in store.waiting.items() if reason not in OWN_DOUBTS)


def _unconfirmed(store: Store) -> frozenset[int]:
    """Return what counts without a person's word."""
    return store.counted - store.claimed.keys()


def _all_counted(books: Books) -> frozenset[int]:
    """Return the light that must be doubted: the spells of each lamp and dip that one life has counted to the end.

    A temple that died in between may have committed the last spell as certain, and not yet judged it.
    """
    over: set[int] = set()
    for life, slots in enumerate(books.fell):
        for tokens in slots.values():
            last = max((place for place, token in enumerate(tokens) if token in books.committed), default=0)
            over.update(tokens if life == len(books.fell) - 1 else tokens[:last])
    return frozenset(spell for spells in books.light if over.issuperset(spells) for spell in spells)


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
