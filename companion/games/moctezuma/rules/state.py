"""The whole state of a game of Moctezuma's Revenge as one frozen value.

A chit's face and a temple's name are drawn when somebody first sees them; until then they are not in the state.
"""

from __future__ import annotations

from typing import NamedTuple

from companion.games.kit import Seat, Struct
from companion.games.moctezuma.rules.boards import LIBRARY, Ways, ways
from companion.games.moctezuma.rules.options import HouseRules
from companion.games.moctezuma.rules.pieces import FRESH, SPACES, TEMPLES, UNSEEN

LAYING, FIRST, PLAYING, REVEAL, OVER = "laying", "first", "playing", "reveal", "over"
STAGES = (LAYING, FIRST, PLAYING, REVEAL, OVER)
"""A table lays its own board; chance says who begins; fifteen rounds; the temples give up their names; the end."""

POINTS = 5
"""What a turn has to spend."""

COSTS = {2: 2, 5: 3}
"""How many chits or cards a research or an exploration looks at, and the points that it costs."""


class Lower(NamedTuple):
    """Cards that were put under a deck together, in an order that nobody knows; one card alone has its place.

    `known` are those of them that are there still as far as their owner knows: what another has drawn of them since
    is among them.
    """

    owner: int
    cards: tuple[int, ...]
    known: tuple[int, ...]


class Deck(NamedTuple):
    """A temple's cards: how many of each worth are in the part that nobody has touched, and what is below that.

    The untouched part is drawn first; `below` then from its front.
    """

    fresh: tuple[int, ...] = FRESH
    below: tuple[Lower, ...] = ()

    @property
    def size(self) -> int:
        """How many cards are in the deck; everybody may count them."""
        return sum(self.fresh) + sum(len(lower.cards) for lower in self.below)


class Trip(NamedTuple):
    """One exploration: where, the cards in the order in which they came, and the worth that was kept, or 0."""

    temple: int
    cards: tuple[int, ...]
    kept: int


class State(Struct, frozen=True):
    """A game between two moves. What belongs to a seat stands at the seat's place in turn order.

    `seen` and `read` are sets of bits: the chits, and the temples' name cards, that a seat has looked at.
    """

    rules: HouseRules
    seats: tuple[Seat, ...]
    ways: Ways
    stage: str
    places: tuple[int, ...]
    seen: tuple[int, ...]
    read: tuple[int, ...]
    trips: tuple[tuple[Trip, ...], ...]
    notes: tuple[tuple[str, ...], ...]
    first: int = 0
    turn: int = 1
    points: int = POINTS
    chits: tuple[int, ...] = (UNSEEN,) * SPACES
    names: tuple[int, ...] = (UNSEEN,) * TEMPLES
    decks: tuple[Deck, ...] = (Deck(),) * TEMPLES
    shown: int = 0
    """How many chits are face up: those of the first spaces."""
    flipping: bool = False
    """The turn has ended, and a chit is turned before the next begins."""
    looking: int = 0
    """How many chits are still to be chosen in this research, and which were chosen, as bits."""
    looked: int = 0
    queue: tuple[int, ...] = ()
    """Chits that were chosen and whose faces come next."""
    drawing: int = 0
    """How many cards of this exploration are still to come, and those in hand, in order."""
    hand: tuple[int, ...] = ()
    spare: tuple[int, ...] = ()
    """Where the explorer chooses the order: the cards still in hand, and those that were put down."""
    put: tuple[int, ...] = ()
    revealed: int = 0
    """How many temples have shown their names at the end."""

    @property
    def current(self) -> int:
        """The place in turn order of the seat whose turn it is."""
        return (self.first + self.turn - 1) % len(self.seats)

    @property
    def seat(self) -> Seat:
        """The seat whose turn it is; at the end, of the last one."""
        return self.seats[(self.first + self.turn - 1) % len(self.seats)]

    @property
    def round(self) -> int:
        """How often the turn has gone round, counted from 1."""
        return (self.turn - 1) // len(self.seats) + 1

    @property
    def over(self) -> bool:
        """Whether everything is open and counted."""
        return self.stage == OVER


def setup(rules: HouseRules, seats: tuple[Seat, ...]) -> State:
    """Return the state before the first turn: everybody at the Library, nothing known to anybody (ruling Z23)."""
    players = len(seats)
    return State(
        rules,
        seats,
        ways(rules.board),
        LAYING if rules.board == "custom" else FIRST,
        places=(LIBRARY,) * players,
        seen=(0,) * players,
        read=(0,) * players,
        trips=((),) * players,
        notes=((),) * players,
    )
