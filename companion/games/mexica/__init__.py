"""Mexica: the game that the temple was built for. `GAME` gives its rules the shape that every game has.

Its option ``scope`` decides how much the app keeps: the temple's part alone, or the board, the hands and the whole
ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from companion.games.kit import (
    Arg,
    Below,
    Chance,
    Choice,
    Game,
    Json,
    Line,
    Move,
    Option,
    Refusal,
    Seat,
    TokenAudit,
    TokenDrop,
    Value,
    replace,
)
from companion.games.mexica import bot
from companion.games.mexica.log import story
from companion.games.mexica.page import charts
from companion.games.mexica.page.regions import regions
from companion.games.mexica.page.view import known, view
from companion.games.mexica.printer import SHEETS, sheet
from companion.games.mexica.rules import course, decisions, legal, notation, play
from companion.games.mexica.rules.audit import reckoning
from companion.games.mexica.rules.laws import laws
from companion.games.mexica.rules.options import FULL, OPTIONS, PRESETS, SEATINGS, HouseRules
from companion.games.mexica.rules.state import State, setup


class Mexica(Game[State]):
    """The rules of Mexica over its `State`, in either scope."""

    name: str = "mexica"
    rules_version: int = 1
    options: tuple[Option, ...] = OPTIONS
    presets: Mapping[str, Mapping[str, Value]] = PRESETS
    seatings: Mapping[int, tuple[Seat, ...]] = SEATINGS
    uses_temple: bool = True
    sheets: tuple[str, ...] = SHEETS

    def setup(self, options: Mapping[str, Value], seats: tuple[Seat, ...]) -> State:
        """Return the first state; raises `ValueError` for options that are incomplete or that none accepts."""
        rules = HouseRules.of(options)
        return course.opened(setup(rules, seats)) if rules.scope == FULL else setup(rules, seats)

    def to_act(self, state: State) -> tuple[Seat, ...]:
        """Return the seats that have a move now, and `CHANCE` where a die or a card is due."""
        return play.to_act(state)

    def on_turn(self, state: State) -> Seat | None:
        """Return the tribe whose turn it is, or none when the game is over."""
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
        """Return the die or the card that is due, with every outcome; a card is its tribe's own secret (M21)."""
        return decisions.chance(state)

    def amended(self, state: State, options: Mapping[str, Value]) -> State | Refusal:
        """Return the state with another deck (ruling M20): cards keep their ids, hands and piles stay as they are."""
        rules = HouseRules.of(options)
        if replace(rules, deck=state.rules.deck) != state.rules:
            return Refusal("not_amendable")
        return replace(state, rules=rules)

    def fall(self, state: State, fall: TokenDrop) -> Move:
        """Return the move that enters a fallen token; only a token that is known already will be refused."""
        return play.entering(state, fall)

    def undoable(self, before: State, seat: Seat, move: Move) -> bool:
        """Return whether a seat may take back its own move while nobody has acted since.

        What ends a full game stands: once it is over its whole log is open, closed hands included (M21).
        """
        if not play.undoable(before, seat, move):
            return False
        if before.board is None or before.rules.open_hands == "on":
            return True
        if before.clock is None and move.name not in ("take", "choose"):
            return True  # only a running clock, or a week card that changes hands, can end it
        after = play.play(before, seat, move)
        return isinstance(after, State) and not after.over

    def view(self, state: State, seat: Seat | None) -> Mapping[str, Json]:
        """Return what a seat or a spectator may know: in the temple's scope all of it, else all but other hands."""
        return view(state, seat)

    def known(self, before: State, by: Seat, move: Move, seat: Seat | None) -> Move:
        """Return a move as a seat may know it: a card that went into another's hand is only its back."""
        return known(before, by, move, seat)

    def idle(self, moves: Sequence[Move]) -> Move | None:
        """Return the move that does least for a tribe that is passed: it lets all be, or does what it must."""
        own = [move for move in moves if move.name not in play.CHORES]
        least = [move for name in ("pass", "end_turn") for move in own if move.name == name]
        return next(iter(least or own), None)

    def chronicle(self, views: Iterable[Mapping[str, Json]]) -> Mapping[str, Mapping[str, Json]]:
        """Return the plot of the two tallies over the turns, and who fed whom."""
        return charts.chronicle(views)

    def reckoning(self, state: State) -> TokenAudit:
        """Return what became of the tokens that fell: counted, dismissed, or waiting for somebody's word."""
        return reckoning(state)

    def decide(self, view: Mapping[str, Json], moves: Sequence[Move], below: Below) -> Move | None:
        """Return what the app plays for a tribe; tokens that nobody claimed are for people to settle."""
        if view["scope"] != FULL:
            # What this tribe holds and wants lies on the table, where the app does not see it: it only passes on.
            return self.idle(moves)
        return bot.decide(view, [move for move in moves if move.name not in play.CHORES], below)

    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        """Return the view cut into the regions of the page."""
        return regions(view)

    def story(self, before: State, seat: Seat, move: Move, after: State) -> list[Line]:
        """Return what a move did, line by line."""
        return story(before, seat, move, after)

    def sheet(self, name: str, language: str) -> Mapping[str, Json]:
        """Return what one page for the printer shows; raises `KeyError` for a name that is not in `sheets`."""
        return sheet(name, language)

    def laws(self, state: State) -> Mapping[str, bool]:
        """Return the laws that every state keeps, each with whether this one does."""
        return laws(state)

    def notation(self, state: State) -> str:
        """Return the state in one line."""
        return notation.notation(state)


GAME: Game[State] = Mexica()
