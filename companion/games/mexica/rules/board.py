"""The calendar board with everything on it, and what each tribe holds, as one frozen value.

Law: the tokens of spaces, tribes, lake, Tonantzin, reserve and those that are lost are 360 together, unless refills
are unlimited.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from typing import NamedTuple

from companion.games.kit import Arg, Seat, Struct, replace
from companion.games.mexica.rules.calendar import AROUND, WEEK, start
from companion.games.mexica.rules.tallies import NOTHING, Gifts

RESERVE = 100
"""Tokens in the box once each space has its thirteen: 360 in all (ruling M7)."""

FORCED_LANDINGS = 3
"""Landings by cards in one turn; a card that would cause a further one moves nobody (ruling M40)."""


class Boost(NamedTuple):
    """A number that is raised or lowered the next time it matters.

    `now` marks one that was played for this battle or this landing, and is gone after it.
    """

    what: str
    by: int
    now: bool = False


class Task(NamedTuple):
    """One thing still due: its name, whose it is, and what it needs to know."""

    name: str
    seat: Seat
    args: tuple[Arg, ...] = ()


@cache
def draw(seat: Seat, pile: str) -> Task:
    """Return the task of drawing a card from a pile, each made once."""
    return Task("draw", seat, (pile,))


class Tribe(Struct, frozen=True):
    """What one tribe has.

    `hand` holds ids of cards, sorted; `boosts` and `wards` wait for their moment in the order they came. `toward`
    is what it gave of the price of its next god card; `fed` all that it gave to Tonantzin; `wins` its battles won.
    """

    place: int
    tokens: int = 0
    hand: tuple[str, ...] = ()
    boosts: tuple[Boost, ...] = ()
    wards: tuple[str, ...] = ()
    toward: Gifts = NOTHING
    fed: int = 0
    wins: int = 0


class Battle(Struct, frozen=True):
    """A battle while it is fought: `sides` with the attacker first, and their dice, 0 before they are rolled.

    `bonus` is the attacker's by the card that caused it; `stake` the space whose week card is fought for, or 0.
    """

    sides: tuple[Seat, ...]
    dice: tuple[int, ...]
    bonus: int = 0
    stake: int = 0


class Step(NamedTuple):
    """What the sacrifice step now running has seen: tokens for each side, and cards that they earned."""

    temple: int = 0
    tonantzin: int = 0
    cards: Gifts = NOTHING
    days: int = 0


NO_STEP = Step()


class Board(Struct, frozen=True):
    """The board between two moves.

    `agenda` is what is still due, the next thing first. `spaces`, `holders` and `visited`, who has
    landed there, go by the calendar. `again` are tribes that take another turn after this one, `extras` the turns
    that were such. `debts` are tributes owed: debtor and creditor, the oldest first. `returned` are the spaces whose
    week card was issued and came back, where that counts (ruling M51).
    """

    tribes: tuple[Tribe, ...]
    spaces: tuple[int, ...] = (WEEK,) * AROUND
    holders: tuple[Seat, ...] = ("",) * AROUND
    visited: tuple[tuple[Seat, ...], ...] = ((),) * AROUND
    reserve: int = RESERVE
    pile: int = 0
    lost: int = 0
    discards: tuple[str, ...] = ()
    agenda: tuple[Task, ...] = ()
    battle: Battle | None = None
    step: Step = NO_STEP
    forced: int = 0
    again: tuple[Seat, ...] = ()
    extras: tuple[tuple[int, Seat], ...] = ()
    debts: tuple[tuple[Seat, Seat], ...] = ()
    returned: tuple[int, ...] = ()

    @property
    def issued(self) -> int:
        """How many week cards count as issued: those in hands, and those that came back to their space (M51)."""
        back = sum([not self.holders[place - 1] for place in self.returned]) if self.returned else 0
        return AROUND - self.holders.count("") + back

    @property
    def bare(self) -> bool:
        """Whether no space holds a token."""
        return not any(self.spaces)

    def tribe(self, n: int, **changes: object) -> Board:
        """Return the board with one tribe changed."""
        tribes = list(self.tribes)
        tribes[n] = replace(tribes[n], **changes)
        return replace(self, tribes=tuple(tribes))

    def tribes_with(self, n: int, **changes: object) -> tuple[Tribe, ...]:
        """Return the tribes with one of them changed."""
        tribes = list(self.tribes)
        tribes[n] = replace(tribes[n], **changes)
        return tuple(tribes)

    def holds_as(self, before: Board) -> bool:
        """Return whether no card has changed hands since an earlier board that this one was made from."""
        if self.holders is not before.holders:
            return False
        if self.tribes is not before.tribes:
            for now, then in zip(self.tribes, before.tribes):  # noqa: B905  # as many, and half the time
                if now.hand is not then.hand:
                    return False
        return True

    def receive(self, n: int, tokens: int) -> Board:
        """Return the board after a tribe received tokens, or gave them up where the number is below 0."""
        return replace(self, tribes=self.tribes_with(n, tokens=self.tribes[n].tokens + tokens))

    def from_reserve(self, n: int, tokens: int) -> Board:
        """Return the board after a tribe received tokens from the reserve, as far as it reaches."""
        tokens = min(tokens, self.reserve)
        return replace(self, tribes=self._tribes_given(n, tokens), reserve=self.reserve - tokens)

    def to_reserve(self, n: int, tokens: int) -> Board:
        """Return the board after a tribe put tokens into the reserve, as many as it has."""
        tokens = min(tokens, self.tribes[n].tokens)
        return replace(self, tribes=self._tribes_given(n, -tokens), reserve=self.reserve + tokens)

    def pay(self, payer: int, to: int, tokens: int) -> Board:
        """Return the board after one tribe paid another, as many tokens as it has."""
        tokens = min(tokens, self.tribes[payer].tokens)
        return self.receive(payer, -tokens).receive(to, tokens) if tokens else self

    def lose(self, n: int, tokens: int) -> Board:
        """Return the board after tokens of a tribe were lost to the box, as many as it has."""
        tokens = min(tokens, self.tribes[n].tokens)
        return replace(self, tribes=self._tribes_given(n, -tokens), lost=self.lost + tokens)

    def with_space(self, place: int, tokens: int) -> Board:
        """Return the board with a number of tokens on a space."""
        return replace(self, spaces=(*self.spaces[: place - 1], tokens, *self.spaces[place:]))

    def with_holder(self, place: int, holder: Seat) -> Board:
        """Return the board with a week card in a tribe's hands, or with none at its space."""
        return replace(self, holders=(*self.holders[: place - 1], holder, *self.holders[place:]))

    def with_card(self, n: int, card: str) -> Board:
        """Return the board with a card in a tribe's hand."""
        return self.tribe(n, hand=with_card(self.tribes[n].hand, card))

    def without_card(self, n: int, card: str) -> Board:
        """Return the board with a card gone from a tribe's hand; where it went is the caller's to say."""
        return self.tribe(n, hand=tuple([each for each in self.tribes[n].hand if each != card]))

    def discard(self, card: str) -> Board:
        """Return the board with a card on its discard pile."""
        return replace(self, discards=with_card(self.discards, card))

    def due(self, *tasks: Task) -> Board:
        """Return the board with tasks that come before all that was due."""
        return replace(self, agenda=(*tasks, *self.agenda))

    def done(self) -> Board:
        """Return the board without the task that was due next."""
        return replace(self, agenda=self.agenda[1:])

    def _tribes_given(self, n: int, tokens: int) -> tuple[Tribe, ...]:
        return self.tribes_with(n, tokens=self.tribes[n].tokens + tokens)


def with_card(cards: tuple[str, ...], card: str) -> tuple[str, ...]:
    """Return sorted cards with one more."""
    at = bisect_left(cards, card)
    return cards[:at] + (card,) + cards[at:]  # noqa: RUF005  # half the time of a starred tuple


def laid(seats: tuple[Seat, ...], starts: str) -> Board:
    """Return the board at the start: thirteen tokens on each space, each tribe at its own (rulings M31, M32)."""
    return Board(tuple(Tribe(start(seat, starts)) for seat in seats))
