"""The whole state of a game of Mexica as one frozen value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from companion.games.kit import Seat, Struct
from companion.games.mexica.rules.board import Board
from companion.games.mexica.rules.options import HouseRules
from companion.games.mexica.rules.tallies import God, Tallies, Tally


class Unclaimed(Struct, frozen=True):
    """A token that fell and was credited to nobody: why it waits, and whose it may be, judged when it came."""

    id: str
    god: God
    doubt: str
    suggested: Seat | None = None


class Proposal(Struct, frozen=True):
    """A correction that one seat proposed and no other has confirmed."""

    by: Seat
    seat: Seat
    god: God
    delta: int


class Clock(Struct, frozen=True):
    """The apocalypse clock, from the moment it was triggered.

    `left` counts turns or rounds; `turn` is the turn that triggered it, by `cause`. `locked` is the doom that was
    fixed, or empty while it follows the balance (ruling M26). `bare` says that no space holds a token (M35).
    """

    left: int
    turn: int
    cause: str
    locked: str = ""
    bare: bool = False


class Outcome(Struct, frozen=True):
    """How the game ended: by ``flood``, ``war`` or ``stillness`` with no winner, or ``settled`` by one tribe."""

    kind: str
    seat: Seat | None = None


class State(Struct, frozen=True):
    """A game of Mexica between two moves.

    Law: each token that fell is, by its id, exactly one of counted, dismissed and unclaimed. `board` is there in
    the full game alone; a table that asked for the temple keeps its board in wood.
    """

    rules: HouseRules
    seats: tuple[Seat, ...]
    tallies: Tallies
    turn: int = 1
    week_cards: int = 0
    counted: tuple[str, ...] = ()
    givers: str = ""
    """For each of `counted` the place of the tribe that it was credited to, or "-" where a person decided."""
    dismissed: tuple[str, ...] = ()
    unclaimed: tuple[Unclaimed, ...] = ()
    proposal: Proposal | None = None
    clock: Clock | None = None
    outcome: Outcome | None = None
    board: Board | None = None

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.outcome is not None

    @property
    def seat(self) -> Seat:
        """The seat of the turn now running; at the end, of the last one."""
        return self.seat_at(self.turn)

    @property
    def round(self) -> int:
        """How often the turn has gone round, counted from 1; an extra turn belongs to the round it is taken in."""
        return self.round_at(self.turn)

    def round_at(self, turn: int) -> int:
        """Return the round of a turn, counted from 1."""
        return (self._ordinary(turn) - 1) // len(self.seats) + 1

    def seat_at(self, turn: int) -> Seat:
        """Return whose turn a turn is or was."""
        if self.board is not None and self.board.extras:
            for extra, seat in self.board.extras:
                if extra == turn:
                    return seat
            turn = self._ordinary(turn)
        return self.seats[(turn - 1) % len(self.seats)]

    def _ordinary(self, turn: int) -> int:
        """Return how many turns up to one were no extra ones."""
        if self.board is None or not self.board.extras:
            return turn
        return turn - sum([extra <= turn for extra, _ in self.board.extras])

    if TYPE_CHECKING:

        @property
        def laid(self) -> Board:
            """The board of a full game; only rules that are reached with a board ask for it."""

    def index(self, seat: Seat) -> int:
        """Return the place of a seat in turn order, counted from 0."""
        return self.seats.index(seat)

    def others(self, seat: Seat) -> tuple[Seat, ...]:
        """Return the other seats in turn order, beginning after this one."""
        n = self.seats.index(seat)
        return self.seats[n + 1 :] + self.seats[:n]


if not TYPE_CHECKING:
    State.laid = State.board  # the same slot under a second name: it is asked for a dozen times a move


def setup(rules: HouseRules, seats: tuple[Seat, ...]) -> State:
    """Return the state before the first turn: an empty lake, East to begin."""
    return State(rules, seats, Tallies(tuple(Tally() for _ in seats)))
