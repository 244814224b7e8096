"""The move table of a game: the arguments of each move, who makes it, when it is legal, and what it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import product
from typing import Any, Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import force_setattr

from companion.games.kit.moves import CHANCE, TEMPLE, Arg, Facts, Move, Refusal, Seat

S = TypeVar("S")

PLAYERS: Seat = "players"
"""The owner of a move that any player may make; others belong to `CHANCE` or `TEMPLE`."""

ANYONE: Seat = ""
"""The owner of a move if only the rules decide who may make it."""

MISFIT = "misfit"

_ONLY = {PLAYERS: "players_only", CHANCE: "chance_only", TEMPLE: "temple_only"}
_PLAIN = frozenset({int, str})
"""The exact types of arguments: ``True`` and ``1.0`` equal 1, but are not accepted."""


def printable(value: object) -> Arg:
    """Return a value for the facts of a refusal: escaped, and short whatever its size.

    >>> printable("tlaloc"), printable(10**5000), printable(["east"])
    ('tlaloc', 'int', 'list')
    """
    if isinstance(value, str):
        return ascii(value[:40])[1:-1][:40]
    if type(value) is int and value.bit_length() <= 64:
        return str(value)
    return type(value).__name__[:40]


class Kind(Struct, frozen=True):
    """The type of a move's argument: one of some values, a text that matches a pattern, or a seat of the table."""

    expected: str
    """What is expected, for the message of a refusal."""
    values: Collection[Arg] = ()
    """The values that fit."""
    pattern: str | None = None
    """The regular expression that a text must match as a whole."""
    seat: bool = False
    """Whether a seat of the table is expected."""
    code: str = MISFIT
    """The refusal of a value that does not fit; its words find the value under the argument's name."""
    facts: Facts = field(default_factory=dict)
    """What else those words need."""

    def accepts(self, value: object, seats: Collection[Seat] = ()) -> bool:
        """Return whether a value is of this kind, at a table with these seats."""
        if type(value) not in _PLAIN:
            return False
        if self.pattern is not None:
            return isinstance(value, str) and re.fullmatch(self.pattern, value, re.ASCII | re.DOTALL) is not None
        return value in (seats if self.seat else self.values)


def one_of(*values: Arg, code: str = MISFIT, **facts: Arg) -> Kind:
    """Return the kind of one of some words or numbers.

    >>> one_of("tlaloc", "huitzilopochtli").accepts("tlaloc")
    True
    """
    words = " | ".join(map(str, values))
    return Kind(words if len(words) <= 60 else f"{words[:57]}...", dict.fromkeys(values), code=code, facts=facts)


def number(low: int, high: int, code: str = MISFIT) -> Kind:
    """Return the kind of a whole number from `low` to `high`.

    >>> number(1, 6).accepts(6), number(1, 6).accepts("6"), number(1, 6).accepts(True)
    (True, False, False)
    """
    return Kind(f"{low}..{high}", range(low, high + 1), code=code, facts={"low": low, "high": high})


def text(pattern: str = ".*", expected: str = "text", code: str = MISFIT, **facts: Arg) -> Kind:
    """Return the kind of a text that fits a regular expression as a whole.

    >>> text("[a-z]+[0-9]+").accepts("g12")
    True
    """
    return Kind(expected, pattern=pattern, code=code, facts=facts)


def a_seat(code: str = "unknown_seat") -> Kind:
    """Return the kind of a seat at this table.

    >>> a_seat().accepts("east", ("east", "west"))
    True
    """
    return Kind("seat", seat=True, code=code)


class MoveType(Struct, Generic[S], frozen=True):
    """One row of a table of moves."""

    name: str
    """Its name in moves and texts."""
    play: Callable[..., S | Refusal]
    """From the state and the arguments: the state after the move, or a refusal."""
    args: Mapping[str, Kind] = field(default_factory=dict)
    """Its arguments in order: the name and the values of each."""
    by: Seat = PLAYERS
    """Who makes it: `PLAYERS`, `CHANCE`, `TEMPLE` or `ANYONE`."""
    during: tuple[str, ...] = ()
    """The stages of the game in which it may be made; all where it names none."""
    optional: int = 0
    """How many of the last arguments may be left out."""
    names_seat: bool = False
    """Whether `play` gets the seat between the state and the arguments."""
    chore: bool = False
    """Whether it sets right what happened at the table: only people make it, never the app for an absent player."""
    token: bool = False
    """Whether a player gives a token by it, where no temple counts them."""
    _allowed: tuple[Collection[Arg], ...] | None = None
    """Derived: the values of each argument, where values are all that there is to look at."""

    def __post_init__(self) -> None:
        """Prepare the tables for looking up a move."""
        kinds = self.args.values()
        plain = not any(kind.seat or kind.pattern is not None for kind in kinds)
        force_setattr(self, "_allowed", tuple(kind.values for kind in kinds) if plain else None)

    def misfit(self, args: object, seats: Collection[Seat] = ()) -> Refusal | None:
        """Return why these arguments do not fit, or None."""
        allowed = self._allowed
        if allowed is not None and type(args) is tuple and len(args) == len(allowed):  # as nearly all moves are
            for value, values in zip(args, allowed):  # noqa: B905  # as many, and half the time
                if type(value) not in _PLAIN or value not in values:
                    break
            else:
                return None
        kinds = self.args
        if not isinstance(args, tuple) or not len(kinds) - self.optional <= len(args) <= len(kinds):
            return self._refused(str(len(args)) if isinstance(args, tuple) else str(printable(args)))
        for (name, kind), value in zip(kinds.items(), args, strict=False):
            if not kind.accepts(value, seats):
                if kind.code == MISFIT:
                    return self._refused(f"{name}:{printable(value)}")
                return Refusal(kind.code, {name: printable(value), **kind.facts})
        return None

    def _refused(self, found: str) -> Refusal:
        return Refusal(MISFIT, {"move": self.name, "found": found[:60], "expected": self.signature[:100]})

    @property
    def signature(self) -> str:
        """The move as documents write it: ``shift cell:0..15 lane:0..3``."""
        return " ".join((self.name, *(f"{name}:{kind.expected}" for name, kind in self.args.items())))

    def all(self) -> list[Move]:
        """Return every move of this type, in the order of its arguments' values; they must be listed.

        >>> MoveType("throw", lambda state, n: state, {"n": number(1, 3)}).all()[-1]
        Move(name='throw', args=(3,))
        """
        return [Move(self.name, args) for args in product(*(kind.values for kind in self.args.values()))]


def _one_stage(_state: Any) -> str:
    return ""


def _open(_state: Any, _seat: Seat, _move: Move) -> None:
    return None


class MoveTable(Generic[S]):
    """All moves of a game. It decides how a move is read, what is refused, and which facts texts may use.

    >>> table = MoveTable(MoveType("add", lambda total, n: total + n, {"n": number(1, 6)}), seats=lambda _: ("red",))
    >>> table.play(10, "red", Move("add", (3,)))
    13
    >>> table.play(10, "red", Move("add", (7,))).facts["expected"]
    'add n:1..6'
    >>> table.facts(Move("add", (3,)))
    {'n': 3}
    """

    def __init__(
        self,
        *types: MoveType[S],
        seats: Callable[[S], Collection[Seat]] | None = None,
        stage: Callable[[S], str] = _one_stage,
        gate: Callable[[S, Seat, Move], Refusal | None] = _open,
        legal: Callable[[S, Seat, Move], Refusal | None] = _open,
    ) -> None:
        """Make a table.

        `seats` are the players' at a table, where it must refuse others; `stage` what goes on in a state, one of the
        words in `MoveType.during`. `gate` is asked first, whatever the arguments are: whether the game is over, whose
        turn it is. `legal` is asked last, of a move that is well formed: whether the position allows it. What a move
        does may refuse, too.
        """
        self._seats, self._stage, self._gate, self._legal = seats, stage, gate, legal
        self._all = types
        self._types: dict[str, dict[str, MoveType[S]]] = {}
        for each in types:
            self._types.setdefault(each.name, {}).update(dict.fromkeys(each.during or ("",), each))
        self._makers = {each.by for each in types} - {PLAYERS, ANYONE}

    def __iter__(self) -> Iterator[MoveType[S]]:
        """Iterate over the types."""
        return iter(self._all)

    def guarded(
        self,
        gate: Callable[[S, Seat, Move], Refusal | None],
        legal: Callable[[S, Seat, Move], Refusal | None],
    ) -> MoveTable[S]:
        """Return the same table with another `gate` and another `legal`."""
        return MoveTable(*self._all, seats=self._seats, stage=self._stage, gate=gate, legal=legal)

    def belongs(self, move: Move, owner: Seat) -> bool:
        """Return whether a move is its owner's alone, `CHANCE`'s or `TEMPLE`'s."""
        return any(each.by == owner for each in self._types.get(move.name, {}).values())

    def play(self, state: S, seat: Seat, move: Move) -> S | Refusal:
        """Return the state after a seat's move, or why it cannot be made."""
        seats, name = self._seats(state) if self._seats else (seat,), move.name
        if not isinstance(seat, str) or not (seat in seats or seat in self._makers):
            return Refusal("not_seated", {"seat": printable(seat)})
        stages = self._types.get(name) if isinstance(name, str) else None
        if stages is None:
            return Refusal("unknown_move", {"move": printable(name)})
        if refusal := self._gate(state, seat, move):
            return refusal
        found = stages.get(self._stage(state)) or stages.get("")
        maker = found or next(iter(stages.values()))
        if maker.by not in (ANYONE, seat if seat in self._makers else PLAYERS):
            return Refusal(_ONLY[maker.by], {"move": name})
        if found is None:
            return Refusal("not_now", {"move": name})
        if refusal := found.misfit(move.args, seats) or self._legal(state, seat, move):
            return refusal
        return found.play(state, seat, *move.args) if found.names_seat else found.play(state, *move.args)

    def facts(self, move: Move) -> dict[str, Arg]:
        """Return the arguments of a move by their names, as the words of a log or a choice name them."""
        for each in self._types.get(move.name, {}).values():
            if len(each.args) - each.optional <= len(move.args) <= len(each.args):
                return dict(zip(each.args, move.args, strict=False))
        return {}
