"""The Aztec Market: buyers, vendors and a king with capricious tastes. `GAME` gives its rules a game's shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from companion.games.kit import Arg, Below, Chance, Choice, Game, Json, Line, Move, Option, Refusal, Seat, Value
from companion.games.market.bot import decide
from companion.games.market.log import story
from companion.games.market.page.regions import regions
from companion.games.market.page.view import view
from companion.games.market.printer import SHEETS, sheet
from companion.games.market.rules import legal, notation, turn
from companion.games.market.rules.choices import choices
from companion.games.market.rules.laws import laws
from companion.games.market.rules.options import OPTIONS, PRESETS, SEATINGS, HouseRules
from companion.games.market.rules.state import State, setup
from companion.games.market.tools import TOOLS

_LEAST = ("rollback", "leave", "pass")


class Market(Game[State]):
    """The rules of The Aztec Market over its `State`."""

    name: str = "market"
    rules_version: int = 1
    options: tuple[Option, ...] = OPTIONS
    presets: Mapping[str, Mapping[str, Value]] = PRESETS
    seatings: Mapping[int, tuple[Seat, ...]] = SEATINGS
    tools: Mapping[str, Game[Any]] = TOOLS
    sheets: tuple[str, ...] = SHEETS

    def setup(self, options: Mapping[str, Value], seats: tuple[Seat, ...]) -> State:
        """Return the first state; raises `ValueError` for options that are incomplete or that none accepts."""
        return setup(HouseRules.of(options), seats)

    def to_act(self, state: State) -> tuple[Seat, ...]:
        """Return the seats that have a move now, or `CHANCE` where a token is drawn or a tile dealt."""
        return legal.to_act(state)

    def on_turn(self, state: State) -> Seat | None:
        """Return the seat whose turn it is, in setting up too, or none when the game is over."""
        return None if state.over else state.seats[state.seat]

    def turn(self, state: State) -> int:
        """Return the number of the turn now running; setting up belongs to the first."""
        return state.turn

    def moves(self, state: State, seat: Seat) -> list[Move]:
        """Return exactly the legal moves of a seat, sorted."""
        return legal.moves(state, seat)

    def choices(self, state: State, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return the legal moves of a seat one level at a time."""
        return choices(state, seat, picked)

    def play(self, state: State, seat: Seat, move: Move) -> State | Refusal:
        """Return the state after a seat's move, or why it cannot be made."""
        return turn.play(state, seat, move)

    def chance(self, state: State) -> Chance | None:
        """Return the token that is drawn next, or what is dealt in setting up, with exact probabilities."""
        return legal.chance(state)

    def undoable(self, before: State, seat: Seat, move: Move) -> bool:
        """Return whether a seat may take its own move back: any, but for the commit that ends a Play."""
        return turn.undoable(before, seat, move)

    def view(self, state: State, seat: Seat | None) -> Mapping[str, Json]:
        """Return what a seat or a spectator may know: all of it."""
        return view(state, seat)

    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        """Return the view cut into the regions of the page."""
        return regions(view)

    def story(self, before: State, seat: Seat, move: Move, after: State) -> list[Line]:
        """Return what a move did, line by line."""
        return story(before, seat, move, after)

    def decide(self, view: Mapping[str, Json], moves: Sequence[Move], below: Below) -> Move | None:
        """Return what the app plays for a seat."""
        return decide(view, moves, below)

    def idle(self, moves: Sequence[Move]) -> Move | None:
        """Return the move that does least: taking an unfinished Play back, leaving the king alone, a Pass."""
        return next((move for name in _LEAST for move in moves if move.name == name), moves[0])

    def sheet(self, name: str, language: str) -> Mapping[str, Json]:
        """Return what one page for the printer shows, the same in every language."""
        return sheet(name)

    def laws(self, state: State) -> Mapping[str, bool]:
        """Return the laws that every state keeps, each with whether this one does."""
        return laws(state)

    def notation(self, state: State) -> str:
        """Return the state in one line."""
        return notation.notation(state)


GAME: Game[State] = Market()
