"""Moctezuma's Revenge: research, exploration and cursed kings. `GAME` gives its rules the shape every game has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from companion.games.kit import Arg, Below, Chance, Choice, Game, Json, Line, Move, Option, Refusal, Seat, Value
from companion.games.moctezuma import bot
from companion.games.moctezuma.log import story
from companion.games.moctezuma.page.regions import regions
from companion.games.moctezuma.page.view import known, view
from companion.games.moctezuma.printer import SHEETS, sheet
from companion.games.moctezuma.rules import chance, legal, notation, play
from companion.games.moctezuma.rules.laws import laws
from companion.games.moctezuma.rules.options import OPTIONS, PRESETS, SEATINGS, HouseRules
from companion.games.moctezuma.rules.state import State, setup
from companion.games.moctezuma.tools import TOOLS


class Moctezuma(Game[State]):
    """The rules of Moctezuma's Revenge over its `State`."""

    name: str = "moctezuma"
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
        """Return the seat whose turn it is, or `CHANCE`; while a table lays its own board, all."""
        return legal.to_act(state)

    def on_turn(self, state: State) -> Seat | None:
        """Return the seat whose turn it is, the last one while temples show their names, or none at the end."""
        return None if state.over else state.seat

    def turn(self, state: State) -> int:
        """Return the number of the turn now running; at the end, of the last one."""
        return state.turn

    def moves(self, state: State, seat: Seat) -> list[Move]:
        """Return exactly the legal moves of a seat, sorted."""
        return legal.moves(state, seat)

    def choices(self, state: State, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return the legal moves of a seat one level at a time."""
        return legal.choices(state, seat, picked)

    def play(self, state: State, seat: Seat, move: Move) -> State | Refusal:
        """Return the state after a seat's move, or why it cannot be made."""
        return play.play(state, seat, move)

    def chance(self, state: State) -> Chance | None:
        """Return the chit, the card or the name that is due, with every outcome."""
        return chance.chance(state)

    def undoable(self, before: State, seat: Seat, move: Move) -> bool:
        """Return whether a seat may take back its own move while nothing has come of it."""
        return play.undoable(before, seat, move)

    def aside(self, move: Move) -> bool:
        """Return whether a move is a note: it may be written at any time, and is in nobody's way."""
        return move.name == play.NOTE

    def view(self, state: State, seat: Seat | None) -> Mapping[str, Json]:
        """Return what a seat or a spectator may know: the open table, and a seat's own notebook."""
        return view(state, seat)

    def known(self, before: State, by: Seat, move: Move, seat: Seat | None) -> Move:
        """Return a move as a seat may know it: what another saw, kept or wrote is only that he did."""
        return known(before, by, move, seat)

    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        """Return the view cut into the regions of the page."""
        return regions(view)

    def story(self, before: State, seat: Seat, move: Move, after: State) -> list[Line]:
        """Return what a move did, line by line."""
        return story(before, seat, move, after)

    def decide(self, view: Mapping[str, Json], moves: Sequence[Move], below: Below) -> Move | None:
        """Return what the app plays for a seat, reasoning from that seat's own notebook."""
        return bot.decide(view, moves, below)

    def sheet(self, name: str, language: str) -> Mapping[str, Json]:
        """Return what one page for the printer shows; raises `KeyError` for a name that is not in `sheets`."""
        return sheet(name, language)

    def idle(self, moves: Sequence[Move]) -> Move | None:
        """Return the move that does least for a seat that is passed: it ends the turn, or finishes what was begun."""
        least = [move for name in ("end_turn", "leave", "ready") for move in moves if move.name == name]
        return next(iter(least or moves), None)

    def laws(self, state: State) -> Mapping[str, bool]:
        """Return the laws that every state keeps, each with whether this one does."""
        return laws(state)

    def notation(self, state: State) -> str:
        """Return the state in one line."""
        return notation.notation(state)


GAME: Game[State] = Moctezuma()
