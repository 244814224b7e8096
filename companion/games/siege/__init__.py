"""The Siege of Tenochtitlan, after Lloyd Krassner: one city, one lake and two peoples' allies on a map of hexes.

`GAME` gives its rules the shape that every game has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from companion.games.kit import Arg, Below, Chance, Choice, Game, Json, Line, Move, Option, Refusal, Seat, Value
from companion.games.siege import bot
from companion.games.siege.log import story
from companion.games.siege.page.regions import regions
from companion.games.siege.page.view import view
from companion.games.siege.printer import SHEETS, map_sheet, sheet
from companion.games.siege.rules import legal, notation, play
from companion.games.siege.rules.choices import choices
from companion.games.siege.rules.laws import laws
from companion.games.siege.rules.options import OPTIONS, PRESETS, SEATINGS, HouseRules
from companion.games.siege.rules.roster import SIDES
from companion.games.siege.rules.state import State, setup
from companion.games.siege.tools import TOOLS

_LEAST = ("ready", "rest", "hold", "done")
"""What does least wherever it may be done; where none of it may be, any legal move is forced."""


class Siege(Game[State]):
    """The rules of the siege over its `State`."""

    name: str = "siege"
    rules_version: int = 1
    options: tuple[Option, ...] = OPTIONS
    presets: Mapping[str, Mapping[str, Value]] = PRESETS
    seatings: Mapping[int, tuple[Seat, ...]] = SEATINGS
    sheets: tuple[str, ...] = SHEETS
    own_sheets: tuple[str, ...] = ("map",)
    tools: Mapping[str, Game[Any]] = TOOLS

    def setup(self, options: Mapping[str, Value], seats: tuple[Seat, ...]) -> State:
        """Return the first state; raises `ValueError` for options that are incomplete or that none accepts."""
        return setup(HouseRules.of(options))

    def to_act(self, state: State) -> tuple[Seat, ...]:
        """Return the seat that must decide, or `CHANCE` where a die is due."""
        waiting = legal.decider(state)
        return (waiting,) if waiting else ()

    def on_turn(self, state: State) -> Seat | None:
        """Return the side whose phase it is, or none when the siege is over."""
        return None if state.outcome else state.mover

    def turn(self, state: State) -> int:
        """Return the number of the turn now running; at the end, of the last one."""
        return state.turn

    def moves(self, state: State, seat: Seat) -> list[Move]:
        """Return exactly the legal moves of a seat, sorted."""
        return legal.moves(state, seat)

    def choices(self, state: State, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return the legal moves of a seat one level at a time."""
        return choices(state, seat, picked)

    def play(self, state: State, seat: Seat, move: Move) -> State | Refusal:
        """Return the state after a seat's move, or why it cannot be made."""
        return play.play(state, seat, move)

    def chance(self, state: State) -> Chance | None:
        """Return the die that is due, with every outcome."""
        return legal.chance(state)

    def undoable(self, before: State, seat: Seat, move: Move) -> bool:
        """Return whether a seat may take back its own move while nobody has acted and no die was cast since."""
        return seat in SIDES and move.name not in play.BINDING

    def view(self, state: State, seat: Seat | None) -> Mapping[str, Json]:
        """Return what a seat or a spectator may know: all of it."""
        return view(state, seat)

    def idle(self, moves: Sequence[Move]) -> Move | None:
        """Return the move that does least for a side that is passed: it lets all be, or does what it must."""
        return next((move for name in _LEAST for move in moves if move.name == name), moves[0])

    def decide(self, view: Mapping[str, Json], moves: Sequence[Move], below: Below) -> Move | None:
        """Return what the app plays for a side."""
        return bot.decide(view, moves, below)

    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        """Return the view cut into the regions of the page."""
        return regions(view)

    def story(self, before: State, seat: Seat, move: Move, after: State) -> list[Line]:
        """Return what a move did, line by line."""
        return story(before, seat, move, after)

    def sheet(self, name: str, language: str) -> Mapping[str, Json]:
        """Return what one page for the printer shows; raises `KeyError` for a name that is not in `sheets`."""
        return sheet(name, language)

    def own_sheet(self, state: State, name: str, language: str) -> Mapping[str, Json]:
        """Return the map that a table plays on, in tiles of true size."""
        return map_sheet(state.field)

    def laws(self, state: State) -> Mapping[str, bool]:
        """Return the laws that every state keeps, each with whether this one does."""
        return laws(state)

    def notation(self, state: State) -> str:
        """Return the state in one line."""
        return notation.notation(state)


GAME: Game[State] = Siege()
