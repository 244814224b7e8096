"""A sitting of the full game for tests: the board laid as a test wants it, dice and cards as they are typed in."""

from __future__ import annotations

from itertools import count
from random import Random
from typing import Any

from companion.games.kit import CHANCE, TEMPLE, Arg, Line, Move, Refusal, Seat, TokenDrop, Value, replace
from companion.games.mexica import GAME
from companion.games.mexica.rules import course
from companion.games.mexica.rules.board import Board, Tribe
from companion.games.mexica.rules.cards.effects import Effect
from companion.games.mexica.rules.state import Clock, State
from companion.games.mexica.rules.tallies import HUITZILOPOCHTLI, TLALOC
from tests.games.playouts import check_value

WAR_GOD, RAIN_GOD = HUITZILOPOCHTLI, TLALOC


def full_options(**chosen: Value) -> dict[str, Value]:
    """Return the full game's options at their defaults but for what was chosen."""
    return {option.key: option.default for option in GAME.options} | {"scope": "full"} | chosen


class Full:
    """One full game, as its table plays it; `lay` puts the board where a test needs it."""

    def __init__(self, players: int = 2, **chosen: Value) -> None:
        self.seats = GAME.seatings[players]
        self.state: State = GAME.rules.setup(full_options(**chosen), self.seats)
        self.lines: list[Line] = []
        self._ids = count(1)

    @property
    def board(self) -> Board:
        """The board."""
        return self.state.laid

    @property
    def due(self) -> tuple[str, Seat]:
        """What the game waits for, and whose it is."""
        task = course.due(self.state)
        return (task.name, task.seat) if task else ("", "")

    @property
    def view(self) -> Any:
        """What a spectator sees."""
        return GAME.page.view(self.state, None)

    @property
    def codes(self) -> list[str]:
        """The codes of what the last move did."""
        return [line.code for line in self.lines]

    def tribe(self, seat: Seat) -> Tribe:
        """Return what a tribe has."""
        return self.board.tribes[self.state.index(seat)]

    def tokens(self, seat: Seat) -> int:
        """Return how many tokens a tribe holds."""
        return self.tribe(seat).tokens

    def lay(self, seat: Seat | None = None, **changes: Any) -> Full:
        """Change a tribe, or with no seat the board; a tribe's tokens come out of the reserve."""
        board = self.board
        if seat is None:
            board = replace(board, **changes)
        else:
            n = self.state.index(seat)
            spent = changes.get("tokens", board.tribes[n].tokens) - board.tribes[n].tokens
            board = replace(board.tribe(n, **changes), reserve=board.reserve - spent)
        self.state = replace(self.state, board=board, week_cards=board.issued)
        return self

    def space(self, place: int, tokens: int) -> Full:
        """Leave so many tokens on a space; the others go to the reserve."""
        board, taken = self.board, self.board.spaces[place - 1] - tokens
        return self.lay(**vars_of(replace(board.with_space(place, tokens), reserve=board.reserve + taken)))

    def hold(self, place: int, seat: Seat) -> Full:
        """Put the week card of a space into a tribe's hands."""
        return self.lay(holders=self.board.with_holder(place, seat).holders)

    def bite(self, god: str, total: int = 9) -> Full:
        """Let flood or war bite: the gods were given `total` of the reserve, all to one, and the clock runs."""
        tallies = self.state.tallies.credit(0, god, total)
        self.lay(reserve=self.board.reserve - total)
        self.state = replace(self.state, tallies=tallies, clock=Clock(13, 1, "tokens"), turn=1 + len(self.seats))
        return self

    def do(self, name: str, *args: Arg, by: Seat | None = None) -> Full:
        """Make a move, by whoever must act unless another is named."""
        seat, move = by or course.decider(self.state) or "", Move(name, args)
        listed = GAME.rules.moves(self.state, seat)
        after = GAME.rules.play(self.state, seat, move)
        assert not isinstance(after, Refusal), f"{seat}'s {move} is refused: {after}; legal: {listed[:20]}"
        assert move in listed or seat == TEMPLE
        self.lines = GAME.page.log(self.state, seat, move, after)
        self.state = after
        check_value(GAME, after)
        return self

    def refused(self, name: str, *args: Any, by: Seat | None = None) -> str:
        """Try a move that must be refused; returns the code."""
        refusal = GAME.rules.play(self.state, by or course.decider(self.state) or "", Move(name, args))
        assert isinstance(refusal, Refusal), f"{name} {args} was not refused"
        return refusal.code

    def roll(self, *dice: int) -> Full:
        """Let dice show these numbers, one after another."""
        for n in dice:
            self.do("roll", n, by=CHANCE)
        return self

    def draw(self, card: str) -> Full:
        """Let a card be drawn from its pile."""
        return self.do("draw", card.partition("-")[0], card, by=CHANCE)

    def falls(self, god: str, doubt: str = "") -> str:
        """Let a token fall through the temple; returns its id."""
        token = f"{next(self._ids):032x}"
        self.do(*GAME.temple.drop(self.state, TokenDrop(token, god, doubt)).to_json(), by=TEMPLE)  # type: ignore[arg-type]
        return token

    def land(self, place: int, n: int = 3) -> Full:
        """Let the tribe on turn roll `n` and land on a space, wherever it was."""
        return self.lay(self.state.seat, place=(place - 1 - n) % 20 + 1).roll(n)

    def can(self, name: str, by: Seat | None = None) -> list[tuple[Arg, ...]]:
        """Return the arguments of every legal move of this name."""
        moves = GAME.rules.moves(self.state, by or course.decider(self.state) or "")
        return [move.args for move in moves if move.name == name]

    def finish_turn(self) -> Full:
        """Pass and draw whatever is due until the turn is over; no card does anything but fill a hand."""
        turn, random = self.state.turn, Random(0)
        while self.state.turn == turn and not self.state.over:
            seat = course.decider(self.state) or ""
            moves = GAME.rules.moves(self.state, seat)
            quiet = [move for move in moves if move.name in ("pass", "end_turn")]
            self.do(*(quiet or [random.choice(moves)])[0].to_json(), by=seat)  # type: ignore[arg-type]
        return self


def vars_of(board: Board) -> dict[str, Any]:
    """Return the fields of a board by name."""
    return {name: getattr(board, name) for name in Board.__struct_fields__}


DECK = Full().state.rules.cards
PLAIN_WAR = next(each.id for each in DECK.war if each.sign is None)
FLOWER = "day-flower-1"
EAGLE, SERPENT = next(c.id for c in DECK.war if c.sign), next(c.id for c in DECK.rain if c.sign)


def find(kind: type[Effect], of: str = "day", **values: object) -> str:
    """Return the first card of a pile that does this."""
    for card in DECK:
        effect = card.effect
        fits = card.pile == of and isinstance(effect, kind)
        if fits and all(getattr(effect, name) == value for name, value in values.items()):
            return card.id
    raise AssertionError(f"no {of} card has {kind} {values}")


def quiet(players: int = 2, **chosen: int | str) -> Full:
    """Return a sitting whose first landing draws no Week card."""
    return Full(players, first_landing="none", **chosen)


def fighting(east: int = 5, west: int = 5, hand: tuple[str, ...] = (), **chosen: int | str) -> Full:
    """Return a sitting in which East has just landed on West, which holds a hand; no die is rolled yet."""
    return quiet(**chosen).lay("west", place=3, tokens=west, hand=hand).lay("east", tokens=east - 1).land(3)
