"""The whole state of a game as one frozen value."""

from __future__ import annotations

from companion.games.kit import Move, Seat, Struct
from companion.games.market.rules.board import COMMODITIES, HOLE, PER_COMMODITY
from companion.games.market.rules.options import BLIND, EQUAL, HouseRules

START, DEAL, LAY, COIN = "start", "deal", "lay", "coin"
TURN, DRAW, SHIFT, MONEY, KINGS = "turn", "draw", "shift", "money", "king"
OVER = "over"
STEPS = (START, DEAL, LAY, COIN, TURN, DRAW, SHIFT, MONEY, KINGS, OVER)
"""What is due: setting up (who begins, tiles by chance or by hand, first coins), a turn, the four steps of a Pass."""

NOTHING = (0, 0, 0, 0)


class State(Struct, frozen=True):
    """A game between two moves.

    What belongs to a buyer stands at ``4 * seat + lane``, the seat by its place in turn order. `unseen` counts, by
    commodity, the tokens in the bag together with those set aside unseen: nobody knows which is which, so nothing
    here does. In a Play `origin` is the state in which the turn began and `played` leads from there to here.
    """

    rules: HouseRules
    seats: tuple[Seat, ...]
    coins: tuple[int, ...]
    goods: tuple[int, ...]
    """What each buyer holds, by commodity; it means nothing if the buyer holds no token, and is 0 there."""
    counts: tuple[int, ...]
    unseen: tuple[int, ...]
    step: str = START
    start: int = 0
    seat: int = 0
    turn: int = 1
    left: int = 0
    """Tokens still to be drawn, tiles still to be moved, or cells still to be dealt, in the step that is due."""
    market: tuple[int, ...] = (HOLE,) * 16
    """The tile on each cell, `HOLE` where there is none."""
    vendors: tuple[int, ...] = NOTHING
    king: tuple[int, ...] = NOTHING
    drawn: tuple[int, ...] = ()
    """The tokens, by commodity, that this Pass has drawn so far."""
    moved: int = HOLE
    """The tile that this Pass moved first, `HOLE` where there is none."""
    bought: int = 0
    """The purchases of this Play."""
    played: tuple[Move, ...] = ()
    origin: State | None = None

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.step == OVER

    @property
    def aside(self) -> int:
        """How many tokens were set aside unseen."""
        return self.rules.removed if self.rules.removed_mode == BLIND else 0

    @property
    def bag(self) -> int:
        """How many tokens are left in the bag."""
        return sum(self.unseen) - self.aside

    @property
    def round(self) -> int:
        """How often the turn has gone round, counted from 1."""
        return (self.turn - 1) // len(self.seats) + 1

    @property
    def partners(self) -> tuple[tuple[int, ...], ...]:
        """The seats that score together: who face each other with four, each alone with fewer."""
        return ((0, 2), (1, 3)) if len(self.seats) == 4 else tuple((seat,) for seat in range(len(self.seats)))


def setup(rules: HouseRules, seats: tuple[Seat, ...]) -> State:
    """Return the state before anybody has the start marker; the market is empty."""
    each = PER_COMMODITY - (rules.removed // len(COMMODITIES) if rules.removed_mode == EQUAL else 0)
    buyers = (0,) * 4 * len(seats)
    return State(rules, seats, coins=buyers, goods=buyers, counts=buyers, unseen=(each,) * len(COMMODITIES))
