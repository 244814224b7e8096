"""The base of a tool: a small game with one seat and no turns, for use beside a real table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from companion.games.kit.chance import Chance
from companion.games.kit.game import Game
from companion.games.kit.log import Line
from companion.games.kit.moves import CHANCE, Arg, Choice, Json, Move, Refusal, Seat, Value
from companion.games.kit.options import Option
from companion.games.kit.parts import Page, Printer, Rules
from companion.games.kit.table import MoveTable, MoveType

S = TypeVar("S")

USER: Seat = "keeper"
"""The only seat of a tool. Stored tables use this name."""


class Tool(ABC, Generic[S]):
    """A tool over its own frozen state `S`: all possible taps are listed, and a tap is legal if it is listed."""

    name: str
    """The name of its game and its own: ``"market.score"``."""
    rules_version: int = 1
    """Raise it when a stored log would be played differently under changed rules."""
    options: tuple[Option, ...] = ()
    """The rules that a table may choose."""
    presets: Mapping[str, Mapping[str, Value]] = MappingProxyType({"classic": {}})
    """Named choices of options, the usual one first."""
    makes: str = ""
    """The option of its game that it makes a text for, or empty."""
    own_sheets: tuple[str, ...] = ()
    """Its pages for the printer."""
    start: ClassVar[Any]
    """The first state, where no option has a say in it."""
    sure: ClassVar[tuple[str, ...]] = ()
    """The moves that ask for a second tap."""

    def setup(self, options: Mapping[str, Value], seats: tuple[Seat, ...]) -> S:
        """Return the first state."""
        first: S = self.start
        return first

    @abstractmethod
    def listed(self, state: S) -> list[Move]:
        """Return the possible taps while no roll is due, in the order in which a page shows them."""

    @abstractmethod
    def declared(self) -> Sequence[MoveType[S]]:
        """Return the move types of every tap and every outcome of chance."""

    @abstractmethod
    def view(self, state: S, seat: Seat | None) -> Mapping[str, Json]:
        """Return what the page shows; anybody with its address may read it."""

    @abstractmethod
    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        """Return the view cut into the regions of the page."""

    def game(self) -> Game[S]:
        """Return the tool as a game for a table."""
        return Game(
            self.name,
            self.rules_version,
            options=self.options,
            presets=self.presets,
            seatings={1: (USER,)},
            rules=Rules(
                setup=self.setup,
                to_act=self.to_act,
                on_turn=self.on_turn,
                turn=self.turn,
                moves=self.moves,
                choices=self.choices,
                table=self.table,
                chance=self.chance,
                undoable=self.undoable,
                aside=self.aside,
                laws=self.laws,
            ),
            page=Page(view=self.view, regions=self.regions, log=self.story),
            printer=Printer(own_sheets=self.own_sheets, own_sheet=self.own_sheet),
            makes=self.makes,
            written=self.written,
        )

    def chance(self, state: S) -> Chance | None:
        """Return what a die or a bag has to bring now, or None."""
        return None

    def to_act(self, state: S) -> tuple[Seat, ...]:
        """Return the only seat, or `CHANCE` while a roll is due."""
        return (CHANCE,) if self.chance(state) else (USER,)

    def on_turn(self, state: S) -> Seat | None:
        """Return the only seat: a tool is never over."""
        return USER

    def turn(self, state: S) -> int:
        """Return 1: a tool has no turns of its own."""
        return 1

    def moves(self, state: S, seat: Seat) -> list[Move]:
        """Return exactly the legal moves, sorted; of chance the outcomes that may come."""
        return sorted(self._unsorted(state, seat))

    def _unsorted(self, state: S, seat: Seat) -> Collection[Move]:
        if seat not in self.to_act(state):
            return ()
        due = self.chance(state)
        return due.outcomes if due else self.listed(state)

    def choices(self, state: S, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return the moves, all on one level, in the order of `listed`."""
        return [] if picked else [self.choice(move) for move in self._unsorted(state, seat)]

    def choice(self, move: Move) -> Choice:
        """Return a move as one thing to tap."""
        return Choice(move.name, self.facts(move), "", move, move.name, confirm=move.name in self.sure)

    def facts(self, move: Move) -> Mapping[str, Arg]:
        """Return what the words of a move need: its arguments."""
        return self.table.facts(move)

    @cached_property
    def table(self) -> MoveTable[S]:
        """The moves of the tool. One is legal exactly when it is listed, or an aside."""
        return MoveTable(*self.declared(), seats=lambda _: (USER,), gate=self._gate, legal=self._legal)

    def _gate(self, state: S, seat: Seat, move: Move) -> Refusal | None:
        return None if seat in self.to_act(state) or self.aside(move) else self.refused(state, seat, move)

    def _legal(self, state: S, seat: Seat, move: Move) -> Refusal | None:
        return None if self.aside(move) or move in self._unsorted(state, seat) else self.refused(state, seat, move)

    def refused(self, state: S, seat: Seat, move: Move) -> Refusal:
        """Return why a move that is not listed cannot be made."""
        return Refusal("not_now", {"move": move.name})

    def undoable(self, before: S, seat: Seat, move: Move) -> bool:
        """Return whether a move may be taken back: every tap, never an outcome of chance."""
        return seat == USER

    def aside(self, move: Move) -> bool:
        """Return whether a move may be made in every state; see `Rules.aside`."""
        return False

    def laws(self, state: S) -> Mapping[str, bool]:
        """Return the laws that every state keeps, each with whether this one does."""
        return {}

    def story(self, before: S, seat: Seat, move: Move, after: S) -> list[Line]:
        """Return what a move did, as lines for the log."""
        return []

    def own_sheet(self, state: S, name: str, language: str) -> Mapping[str, Json]:
        """Return what a page for the printer shows of one table."""
        return {}

    def written(self, state: S) -> str:
        """Return the text that a tool has made for the option that `makes` names, sound or not."""
        raise ValueError(f"{self.name} makes no text; expected a tool that does")
