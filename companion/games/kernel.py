"""What a game is: the types between a table and any game's rules, and the base of every game.

Everything here is a value or a pure function. No IO, no clock, no randomness; a game imports this module of
ours, `changed` with it, and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from companion.games.frozen import changed as changed

Seat: TypeAlias = str
"""A seat's name within its game: ``"east"``. Two names belong to no player: `TEMPLE` and `CHANCE`."""

TEMPLE: Seat = "temple"
"""The seat of the physical temple: its moves are the tokens that fell."""

CHANCE: Seat = "chance"
"""The seat of dice, bags and decks: its moves are outcomes, typed in, rolled or fed by a test."""

Arg: TypeAlias = int | str
Value: TypeAlias = int | str
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Facts: TypeAlias = Mapping[str, Arg]
Below: TypeAlias = Callable[[int], int]
"""A source of chance: ``below(n)`` is a whole number from 0 up to n, n left out, each as likely as the others."""


class Move(NamedTuple):
    """One move: its name and its arguments, in the game's own words. Written as ``["sacrifice", "tlaloc", 2]``."""

    name: str
    args: tuple[Arg, ...] = ()

    def to_json(self) -> list[Arg]:
        """Return the move as a JSON list, its name first."""
        return [self.name, *self.args]

    @classmethod
    def from_json(cls, value: object, longest: int = 200) -> Move:
        """Read what `to_json` wrote, no word in it longer than that; raises `ValueError` for anything else."""
        if isinstance(value, list) and value and isinstance(value[0], str) and len(value) <= 16:
            name, *args = value
            if all(type(arg) is int or (isinstance(arg, str) and len(arg) <= longest) for arg in args):
                return cls(name, tuple(args))
        raise ValueError(f"move is {ascii(value)[:80]}; expected a list of its name and its arguments")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a move cannot be made: a code with words in the game's texts, and the facts those words need."""

    code: str
    facts: Facts = field(default_factory=dict)


LONGEST_TEXT = 200_000
LONGEST_LINE = 1_000
MOST_LINES = 10_000
"""The most letters of a text that a table brings for an option and of one of its lines, and the most lines."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong in a text: its line, from 1, and a code with words in the game's texts under ``fault``."""

    line: int
    code: str
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reader:
    """How a game reads a text that a table brings for an option. Both functions are pure.

    `faults` returns everything that is wrong in a text, in order; `contents` what a text without faults holds, as
    codes with words in the game's texts under ``contents``. A text has at most `LONGEST_TEXT` letters, in at most
    `MOST_LINES` lines of at most `LONGEST_LINE`, and no control characters but tabs and line ends.
    """

    faults: Callable[[str], Sequence[Fault]]
    contents: Callable[[str], Sequence[tuple[str, Facts]]]


@dataclass(frozen=True, slots=True)
class Option:
    """A rule that a table may choose: one of `values`, any whole number from `low` to `high`, or a text of its own.

    `ruling` is the id of the ruling that it settles ("M25"); its words are in the game's texts under its key. Where
    there is a `reader`, a table may bring a file; the value is then its whole text, so that the table plays on with
    it whatever becomes of the file. `only` names another option of the game and the value that it must have for this
    one to matter at all. Options of one `group` are offered together, under the words of ``option_group.<group>``.
    """

    key: str
    default: Value
    ruling: str
    values: tuple[Value, ...] = ()
    low: int = 0
    high: int = 0
    reader: Reader | None = None
    only: tuple[str, Value] | None = None
    group: str = ""

    def matters(self, chosen: Mapping[str, Value]) -> bool:
        """Return whether this option has any effect beside the others that were chosen."""
        return self.only is None or chosen.get(self.only[0]) == self.only[1]

    def accepts(self, value: object) -> bool:
        """Return whether a table may choose this value; where there is a range, `values` are only proposals."""
        if self.high:
            return type(value) is int and self.low <= value <= self.high
        if type(value) in (int, str) and value in self.values:
            return True
        return self.reader is not None and isinstance(value, str) and not self.faults(value)

    @property
    def accepted(self) -> str:
        """What it accepts, for the message of an error."""
        if self.high:
            return f"a whole number from {self.low} to {self.high}"
        return " or ".join((*map(str, self.values), *("a text without faults",) * (self.reader is not None)))

    def faults(self, text: str) -> tuple[Fault, ...]:
        """Return what is wrong in a text that a table brings; raises `ValueError` where it may bring none."""
        if self.reader is None:
            raise ValueError(f"option {self.key} was given a text; expected one of its values")
        return _unreadable(text) or tuple(self.reader.faults(text))


def complete(
    options: Sequence[Option], chosen: Mapping[str, Value], needed: Sequence[Option] | None = None
) -> dict[str, Value]:
    """Return what was chosen for each of the `needed` options, all of them where none are named.

    Raises `ValueError` for a choice in which one of those is missing, or that holds a value which no option accepts.
    """
    known = {option.key: option for option in options}
    for key, value in chosen.items():
        if key not in known:
            raise ValueError(f"option {ascii(key)[:60]} is unknown; expected only the game's options")
        if not known[key].accepts(value):
            raise ValueError(f"option {key} is {ascii(value)[:60]}; expected {known[key].accepted}")
    wanted = [option.key for option in (options if needed is None else needed)]
    if missing := [key for key in wanted if key not in chosen]:
        raise ValueError(f"option {missing[0]} is missing; expected a value for each that matters")
    return {key: chosen[key] for key in wanted}


def _unreadable(text: str) -> tuple[Fault, ...]:
    """Return what keeps a game from reading a text at all: nothing that a reader is given can exhaust it."""
    if not text.strip():
        return (Fault(1, "empty_text"),)
    if len(text) > LONGEST_TEXT:
        return (Fault(1, "long_text", {"length": len(text), "longest": LONGEST_TEXT}),)
    if (lines := text.count("\n") + 1) > MOST_LINES:
        return (Fault(MOST_LINES, "many_lines", {"n": lines, "most": MOST_LINES}),)
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            found.append(Fault(number, "long_line", {"length": len(line), "longest": LONGEST_LINE}))
        if any((sign < " " and sign != "\t") or "\ud800" <= sign <= "\udfff" for sign in line):
            found.append(Fault(number, "control"))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing a seat may pick now.

    `key` and `facts` name its words in the game's texts, `element` the thing on the page that it belongs to.
    A choice with a `move` makes that move; one without leads a level deeper. Like things share a `group`;
    `confirm` asks for a second tap where a slip would hurt.
    """

    key: str
    facts: Facts = field(default_factory=dict)
    element: str = ""
    move: Move | None = None
    group: str = ""
    confirm: bool = False


@dataclass(frozen=True, slots=True)
class Chance:
    """What a die, a bag or a deck has to bring now: each outcome as a move of `CHANCE`, with its exact probability.

    The probabilities add up to 1. `key` and `facts` name what is due in the game's texts, `seat` is whose die or
    card it is. Where `secret`, only that seat may learn the outcome, so only it may type one in. Where not `asked`,
    the app brings it at once: nobody at a table would roll for it. Where it `follows`, it is one draw with the
    outcome before it, and whoever let the app bring that one wants this one too.
    """

    key: str
    outcomes: Mapping[Move, Fraction]
    seat: Seat | None = None
    facts: Facts = field(default_factory=dict)
    secret: bool = False
    asked: bool = True
    follows: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the story: a code with words in the game's texts, the facts they need, and how to mark it.

    `adds` names a number among the facts that adds up when the same line follows itself: seven tokens one by one
    are told as seven.
    """

    code: str
    facts: Facts = field(default_factory=dict)
    mark: str = ""
    adds: str = ""

    def with_next(self, later: Line) -> Line | None:
        """Return this line and a later one told as one, or none where they tell different things."""
        if not self.adds or (self.code, self.mark, self.adds) != (later.code, later.mark, later.adds):
            return None
        both = int(self.facts[self.adds]) + int(later.facts[self.adds])
        if {**self.facts, self.adds: 0} != {**later.facts, self.adds: 0}:
            return None
        return replace(self, facts={**self.facts, self.adds: both})


@dataclass(frozen=True, slots=True)
class Fall:
    """What a table knows of a token that fell, as a game may judge it.

    `id` is the token's own; `god` its slot. `doubt` says why it should wait for a person, or is empty:
    ``"earlier"`` fell before the turn now running, ``"elsewhere"`` before this temple served this table,
    ``"jam"`` may be no token at all, ``"stranger"`` comes from a second counter under the temple's name.
    """

    id: str
    god: str
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A token that a game credited to nobody yet, and the moves that settle it, which any seat may make.

    `doubt` has words in the texts; `claims` holds for each seat that may have dropped it the move that says so,
    the likeliest first, and `suggested` names that one where there is one. `dismiss` says that it was no token.
    """

    id: str
    god: str
    doubt: str
    claims: Mapping[Seat, Move]
    dismiss: Move
    suggested: Seat | None = None


@dataclass(frozen=True, slots=True)
class Reckoning:
    """What a game made of the tokens that fell for it, and what it counts beside them.

    Law: each token that fell is, by its id, exactly one of `counted`, `dismissed` and `waiting`. `credited` is for
    each god all that counts, by token or by tap, before corrections; `corrected` their sums: seat, god, change.
    """

    counted: frozenset[str]
    dismissed: frozenset[str]
    waiting: tuple[Waiting, ...]
    credited: Mapping[str, int]
    corrected: tuple[tuple[Seat, str, int], ...] = ()


S = TypeVar("S")


class Game(ABC, Generic[S]):
    """The rules of one game over its own frozen state `S`. Every method is a pure function of its arguments.

    A game's class names this one as its base; what has a body here need not be written by a game that has no use
    for it.
    """

    name: str
    """Its folder's name; an aid's is that of its game and its own: ``"market.score"``."""
    rules_version: int
    options: tuple[Option, ...]
    presets: Mapping[str, Mapping[str, Value]]
    seatings: Mapping[int, tuple[Seat, ...]]
    """For each number of players the seats they take, in turn order."""
    uses_temple: bool = False
    aids: Mapping[str, Game[Any]] = MappingProxyType({})
    """Small games with one seat, for use beside a real table, by their own names."""
    sheets: tuple[str, ...] = ()
    """The names of its pages for the printer, in the order in which a table wants them."""
    own_sheets: tuple[str, ...] = ()
    """The names of pages for the printer that show what a table has of its own, such as a map."""
    makes: str = ""
    """Of an aid: the key of the option of its game for which it makes a text, or none."""

    @abstractmethod
    def setup(self, options: Mapping[str, Value], seats: tuple[Seat, ...]) -> S:
        """Return the first state. The options are complete and each accepted by its `Option`."""

    @abstractmethod
    def to_act(self, state: S) -> tuple[Seat, ...]:
        """Return the seats that have a move now, `CHANCE` among them where it has; empty when the game is over."""

    @abstractmethod
    def on_turn(self, state: S) -> Seat | None:
        """Return the seat whose turn it is, or none when the game is over."""

    @abstractmethod
    def turn(self, state: S) -> int:
        """Return the number of the turn now running, counted from 1; a token's doubt depends on when it began."""

    @abstractmethod
    def moves(self, state: S, seat: Seat) -> list[Move]:
        """Return exactly the legal moves of a seat, sorted; of `CHANCE` the outcomes that may come now."""

    @abstractmethod
    def choices(self, state: S, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return the legal moves of a seat one level at a time, like things grouped.

        What is picked is the beginning of a move, its name first; a choice that leads deeper holds what it adds to
        that in its fact ``pick``. For `CHANCE` this is what a person may type in, and tells nobody what is hidden:
        it may offer outcomes that only the secrets of others rule out, and what is picked may be any way to find
        one among many, a card's sign before its number.
        """

    @abstractmethod
    def play(self, state: S, seat: Seat, move: Move) -> S | Refusal:
        """Return the state after a seat's move, or why it cannot be made. The given state is never changed."""

    def chance(self, state: S) -> Chance | None:
        """Return what a die, a bag or a deck has to bring now, or none."""
        return None

    def amended(self, state: S, options: Mapping[str, Value]) -> S | Refusal:
        """Return the state of a running game after its house changed an option, or why that cannot be.

        The options are complete and each accepted by its `Option`.
        """
        return Refusal("not_amendable")

    def fall(self, state: S, fall: Fall) -> Move:
        """Return the move by `TEMPLE` that enters a fallen token. It is legal in every state, even the last."""
        raise NotImplementedError(f"{self.name} uses no temple")

    def undoable(self, before: S, seat: Seat, move: Move) -> bool:
        """Return whether the seat may take this move of its own back while nobody has moved since."""
        return False

    def aside(self, move: Move) -> bool:
        """Return whether a move concerns the seat that makes it alone, such as a note in its own book.

        An aside may be made in every state and stands in no list of moves. It is written into each state that may
        still be returned to: it makes nobody's post stale, ends nobody's undo and is in the way of no turn. What
        `known` leaves of it for others is a legal aside too, and they are never told more, not even when it is over.
        """
        return False

    @abstractmethod
    def view(self, state: S, seat: Seat | None) -> Mapping[str, Json]:
        """Return what a seat, or with none a spectator, may know: the one place that strips secrets."""

    def known(self, before: S, by: Seat, move: Move, seat: Seat | None) -> Move:
        """Return a move that was made as a seat, or with none a spectator, may know it: for exports of the log."""
        return move

    @abstractmethod
    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        """Return the view cut into the named regions of the page; a region is drawn from its slice alone."""

    def story(self, before: S, seat: Seat, move: Move, after: S) -> list[Line]:
        """Return what a move did, as lines for the log that every seat may read."""
        return []

    def chronicle(self, views: Iterable[Mapping[str, Json]]) -> Mapping[str, Mapping[str, Json]]:
        """Return what the story of a game shows beside its log, as regions: ``templates/story/<region>.html``.

        The views are a spectator's, of the state at the end of each turn, the one now running last. After a turn
        whose end was taken back it comes once more.
        """
        return {}

    def reckoning(self, state: S) -> Reckoning | None:
        """Return what became of the tokens of a temple, or none where the game uses none."""
        return None

    def decide(self, view: Mapping[str, Json], moves: Sequence[Move], below: Below) -> Move | None:
        """Return what the app plays for a seat: from what that seat sees and its legal moves, and nothing else.

        None waits for people: what is open now is not for the app to settle.
        """
        return moves[below(len(moves))]

    def idle(self, moves: Sequence[Move]) -> Move | None:
        """Return the move that does least, for a seat that is passed while its player is away; none waits."""
        return moves[0]

    def sheet(self, name: str, language: str) -> Mapping[str, Json]:
        """Return what one page for the printer shows; its template is ``templates/print/<name>.html``."""
        return {}

    def own_sheet(self, state: S, name: str, language: str) -> Mapping[str, Json]:
        """Return what a page for the printer shows of one table; everybody who sees the table may print it."""
        return {}

    def written(self, state: S) -> str:
        """Return the text that an aid has made for the option that `makes` names, sound or not."""
        raise NotImplementedError(f"{self.name} makes no text")

    @abstractmethod
    def notation(self, state: S) -> str:
        """Return the state in one line; ``parse(notation(state)) == state``."""

    @abstractmethod
    def parse(self, text: str) -> S:
        """Read a state that `notation` wrote; raises `ValueError`."""
