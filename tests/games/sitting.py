"""A sitting of Mexica for tests: moves in the words of the table, each accepted or named as refused."""

from __future__ import annotations

from itertools import count
from typing import Any

from companion.games.kit import TEMPLE, Arg, Line, Move, Refusal, Seat, TokenDrop, Value
from companion.games.mexica import GAME
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import GODS, HUITZILOPOCHTLI, TLALOC

WAR_GOD, RAIN_GOD = HUITZILOPOCHTLI, TLALOC


def all_options(**chosen: Value) -> dict[str, Value]:
    """Return Mexica's options at their defaults but for what was chosen."""
    return {option.key: option.default for option in GAME.options} | chosen


class Sitting:
    """One game, as its table plays it."""

    def __init__(self, players: int = 2, **chosen: Value) -> None:
        self.options = all_options(**chosen)
        self.seats = GAME.seatings[players]
        self.state: State = GAME.rules.setup(self.options, self.seats)
        self.lines: list[Line] = []
        """What the last move did."""
        self._ids = count(1)

    def do(self, name: str, *args: Arg, by: Seat | None = None) -> Sitting:
        """Make a move, by the seat on turn unless another is named."""
        seat = by or self.state.seat
        move = Move(name, args)
        after = GAME.rules.play(self.state, seat, move)
        assert not isinstance(after, Refusal), f"{seat}'s {move} is refused: {after}"
        self.lines = GAME.page.log(self.state, seat, move, after)
        self.state = after
        return self

    def refused(self, name: str, *args: Any, by: Seat | None = None) -> str:
        """Try a move that must be refused; returns the code."""
        refusal = GAME.rules.play(self.state, by or self.state.seat, Move(name, args))
        assert isinstance(refusal, Refusal), f"{name} {args} was not refused"
        return refusal.code

    def falls(self, god: str, doubt: str = "") -> str:
        """Let a token fall through the temple; returns its id."""
        token = f"{next(self._ids):032x}"
        self.do(*GAME.temple.drop(self.state, TokenDrop(token, god, doubt)).to_json(), by=TEMPLE)  # type: ignore[arg-type]
        return token

    def give(self, god: str, n: int) -> Sitting:
        """Tap tokens for the tribe on turn, any number of them."""
        while n > 0:
            self.do("sacrifice", god, min(n, 13))
            n -= 13
        return self

    def end_turns(self, n: int = 1) -> Sitting:
        """End so many turns, fewer where the game is over before."""
        for _ in range(n):
            if not self.state.over:
                self.do("end_turn")
        return self

    def round_to(self, seat: Seat) -> Sitting:
        """End turns until it is the seat's."""
        while self.state.seat != seat:
            self.do("end_turn")
        return self

    @property
    def view(self) -> Any:
        """What a spectator sees."""
        return GAME.page.view(self.state, None)

    @property
    def left(self) -> int | None:
        """What the clock shows, or nothing while it does not run."""
        clock = self.state.clock
        return clock.left if clock else None

    @property
    def codes(self) -> list[str]:
        """The codes of what the last move did."""
        return [line.code for line in self.lines]


def triggered(god: str = RAIN_GOD, players: int = 2, **chosen: Value) -> Sitting:
    """Return a sitting whose first turn just triggered the apocalypse with 13 tokens to one god."""
    return Sitting(players, apocalypse_tokens=13, **chosen).give(god, 13)


def even(players: int = 2, **chosen: Value) -> Sitting:
    """Return a sitting whose first turn just triggered it with seven tokens to each god."""
    return Sitting(players, apocalypse_tokens=14, **chosen).give(WAR_GOD, 7).give(RAIN_GOD, 7)


def counted(sitting: Sitting, god: str) -> int:
    """Return all that counts to a god."""
    return sitting.state.tallies.of(god)


__all__ = ["GODS", "RAIN_GOD", "WAR_GOD", "Sitting", "all_options", "counted", "even", "triggered"]
