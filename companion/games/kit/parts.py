"""The parts of a game. Each is a frozen value that holds pure functions; those with a default may be left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import force_setattr

from companion.games.kit.chance import Below, Chance
from companion.games.kit.codec import encoded
from companion.games.kit.guide import Guide, by_choices
from companion.games.kit.levels import LEVELS, PRACTISED, Skill
from companion.games.kit.log import Line
from companion.games.kit.moves import CHANCE, TEMPLE, Arg, Choice, Json, Move, Refusal, Seat, Value
from companion.games.kit.recap import Played, Recap
from companion.games.kit.result import Result
from companion.games.kit.table import MoveTable
from companion.games.kit.temple import Mood, TokenAudit, TokenDrop

S = TypeVar("S")
T = TypeVar("T", contravariant=True)

View: TypeAlias = Mapping[str, Json]
Regions: TypeAlias = Mapping[str, Mapping[str, Json]]


class Choices(Protocol[T]):
    """Returns the legal moves of a seat one level at a time, in groups.

    What is picked is the beginning of a move, its name first; a choice that leads deeper holds what it adds to that
    in its fact ``pick``. For `CHANCE` this is what a person may type in, and reveals nothing that is hidden: it may
    offer outcomes that only the secrets of others rule out, and what is picked may be any way to find one among
    many, a card's sign before its number.
    """

    def __call__(self, state: T, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return one level of choices."""


_FOLLOWS: Any = None
"""Stands for a function that follows from the other rules, until they are complete."""


def _no_chance(state: Any) -> Chance | None:
    return None


def _never_anything(state: Any) -> Iterable[Move]:
    return ()


def _not_amendable(state: Any, options: Mapping[str, Value]) -> Refusal:
    return Refusal("not_amendable")


def _no_result(state: Any) -> Result | None:
    return None


def _same(state: S, seat: Seat, below: Below) -> S:
    return state


def _never(before: Any, seat: Seat, move: Move) -> bool:
    return False


def _no_aside(move: Move) -> bool:
    return False


def _for_itself(state: Any, seat: Seat, move: Move) -> Seat:
    return seat


def _no_laws(state: Any) -> Mapping[str, bool]:
    return {}


class Rules(Struct, Generic[S], frozen=True, kw_only=True):
    """The rules of a game over its own frozen state `S`."""

    setup: Callable[[Mapping[str, Value], tuple[Seat, ...]], S]
    """From options that are complete and each accepted by its `Option`, and the seats: the first state."""
    on_turn: Callable[[S], Seat | None]
    """The seat whose turn it is, or None when the game is over."""
    turn: Callable[[S], int] = attrgetter("turn")
    """The number of the turn now running, counted from 1; a token's doubt depends on when it began."""
    to_act: Callable[[S], tuple[Seat, ...]] = _FOLLOWS
    """The seats that have a move now, `CHANCE` among them where it has; empty when the game is over.

    Without it that is `CHANCE` while something is due from it, and else the seat on turn.
    """
    moves: Callable[[S, Seat], list[Move]] = _FOLLOWS
    """Exactly the legal moves of a seat, sorted; of `CHANCE` the outcomes that may come now."""
    listed: Callable[[S], Iterable[Move]] | None = None
    """The legal moves of the seat that must act, where there are no `moves`: a move is legal where it is listed.

    The temple's moves are legal in every state and are not listed; a token may fall at any time.
    """
    anytime: Callable[[S], Iterable[Move]] = _never_anything
    """Moves that every seat may make beside those that are `listed`, whoever is on turn, even after the end."""
    seats: Callable[[S], tuple[Seat, ...]] = attrgetter("seats")
    """The seats of the table, for moves that any of them may make at any time."""
    table: MoveTable[S] | None = None
    """Every move of the game with its arguments, who makes it and what it does; `play` follows from it."""
    play: Callable[[S, Seat, Move], S | Refusal] = _FOLLOWS
    """The state after a seat's move, or why it cannot be made, where no `table` says it. The given state is never
    changed."""
    choices: Choices[S] = _FOLLOWS
    """The legal moves of a seat one level at a time; without it all are on one level, the facts their arguments.

    Those are in the order of the table's rows, and of one row in the order of their arguments.
    """
    chance: Callable[[S], Chance | None] = _no_chance
    """The outcome of chance that is due now, or None."""
    amended: Callable[[S, Mapping[str, Value]], S | Refusal] = _not_amendable
    """The state of a running game after its host changed an option, or why that cannot be."""
    result: Callable[[S], Result | None] = _no_result
    """How the game ended, or None while it goes on."""
    resample: Callable[[S, Seat, Below], S] = _same
    """A state that looks to a seat exactly like this one, what it cannot know drawn again by a source of chance.

    Its view and its moves are the same, and the state keeps every law. Without it nothing is hidden.
    """
    undoable: Callable[[S, Seat, Move], bool] = _never
    """Whether the seat may take this move of its own back while nobody has moved since."""
    aside: Callable[[Move], bool] = _no_aside
    """Whether a move concerns the seat that makes it alone, such as a note in its own book.

    An aside may be made in every state and stands in no list of moves. It is written into each state that may still
    be returned to: it makes nobody's post stale, ends nobody's undo and is in the way of no turn. What `Page.known`
    leaves of it for others is a legal aside too, and they never see more, not even when the game is over.
    """
    acts_for: Callable[[S, Seat, Move], Seat] = _for_itself
    """Whose move it is that a seat makes: another's where the rules let anyone make it for whoever is on turn.

    Pages keep such a move behind a disclosure that names that seat, its phone announces it, and that seat may take
    it back like its own.
    """
    laws: Callable[[S], Mapping[str, bool]] = _no_laws
    """The laws that every state keeps, each with whether this one does, for the suite of all games."""
    notation: Callable[[S], str] = encoded
    """The state in one line for its readers, in exports and playthroughs."""

    def __post_init__(self) -> None:
        """Fill in what follows from the rest; raises `TypeError` where moves or what they do follow from nothing."""
        if self.moves is None and self.listed is None:
            raise TypeError("rules have neither moves nor listed; expected one of them")
        if self.play is None and self.table is None:
            raise TypeError("rules have no table of moves and no play; expected one of them")
        following = {"to_act": self._actors, "moves": self._sorted, "play": self._player(), "choices": self._flat}
        for name, function in following.items():
            if getattr(self, name) is None:
                force_setattr(self, name, function)

    @property
    def has_anytime(self) -> bool:
        """Whether any moves may be made at any time."""
        return self.anytime is not _never_anything

    def facts(self, move: Move) -> Mapping[str, Arg]:
        """Return the arguments of a move by their names; without a table the first is called ``n``."""
        return self.table.facts(move) if self.table else dict(zip("n", move.args, strict=False))

    def _actors(self, state: S) -> tuple[Seat, ...]:
        first = self._first(state)
        acting = () if first is None else (first,)
        if not any(True for _ in self.anytime(state)):
            return acting
        return (*acting, *(seat for seat in self.seats(state) if seat != first))

    def _first(self, state: S) -> Seat | None:
        """Return who must act: chance while something is due from it, else the seat on turn."""
        return CHANCE if self.chance(state) else self.on_turn(state)

    def _sorted(self, state: S, seat: Seat) -> list[Move]:
        if self.listed is None or seat not in self.to_act(state):
            return []
        due = self.chance(state)
        first = seat == self._first(state)
        legal: Iterable[Move] = (due.outcomes if due else self.listed(state)) if first else ()
        return sorted(legal if seat == CHANCE else [*legal, *self.anytime(state)])

    def _flat(self, state: S, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        if picked:
            return []
        rows = {row.name: n for n, row in enumerate(self.table or ())}
        moves = sorted(self.moves(state, seat), key=lambda move: rows.get(move.name, 0))
        return [Choice(move.name, self.facts(move), move=move) for move in moves]

    def _player(self) -> Callable[[S, Seat, Move], S | Refusal]:
        if self.table is None:
            return self.play
        return self.table.play if self.listed is None else self.table.guarded(self._gate, self._legal).play

    def _gate(self, state: S, seat: Seat, move: Move) -> Refusal | None:
        return None if self._is_token(seat, move) or seat in self.to_act(state) else Refusal("not_yours")

    def _legal(self, state: S, seat: Seat, move: Move) -> Refusal | None:
        fine = self._is_token(seat, move) or move in self.moves(state, seat)
        return None if fine else Refusal("not_now", {"move": move.name})

    def _is_token(self, seat: Seat, move: Move) -> bool:
        """Return whether a move is the temple's own, which is legal in every state."""
        return seat == TEMPLE and self.table is not None and self.table.belongs(move, TEMPLE)


def _as_made(before: Any, by: Seat, move: Move, seat: Seat | None) -> Move:
    return move


def _one_region(view: View) -> Regions:
    return {"board": view}


def _all_of_it(view: View) -> View:
    return view


def _no_lines(before: Any, seat: Seat, move: Move, after: Any) -> list[Line]:
    return []


def _nothing_follows(state: Any) -> bool:
    return False


def _no_recap(line: Sequence[Played]) -> Recap:
    return Recap()


def no_film(line: Sequence[Played]) -> View:
    """Return nothing: the game has no film.

    >>> no_film([])
    {}
    """
    return {}


def _no_charts(views: Iterable[View]) -> Regions:
    return {}


class Page(Struct, Generic[S], frozen=True, kw_only=True):
    """What a game shows to each seat."""

    view: Callable[[S, Seat | None], View]
    """What a seat, or with none a spectator, may know: the one place that strips secrets."""
    for_stand_in: Callable[[View], View] = _all_of_it
    """A seat's view for another player who acts for it, without what the seat wrote by an aside."""
    regions: Callable[[View], Regions] = _one_region
    """The view cut into the named regions of the page, all in one, ``board``; a region is drawn from its slice alone.
    """
    log: Callable[[S, Seat, Move, S], list[Line]] = _no_lines
    """From the state before, who moved, the move and the state after: the lines for the log that every seat reads."""
    known: Callable[[S, Seat, Move, Seat | None], Move] = _as_made
    """A move that was made, as a seat, or with none a spectator, may know it: for exports of the log."""
    charts: Callable[[Iterable[View]], Regions] = _no_charts
    """What stands beside the log of a game, as regions: ``templates/story/<region>.html``.

    The views are a spectator's, of the state at the end of each turn, the one now running last. After a turn whose
    end was taken back it comes once more.
    """
    recap: Callable[[Sequence[Played]], Recap] = _no_recap
    """From all moves of a game that is over: how it went, for its end page. Everything in the states is open then."""
    film: Callable[[Sequence[Played]], View] = no_film
    """From the same: what ``templates/story/film.svg`` draws, a picture of the game that moves; nothing, no film."""
    guide: Callable[[View], Guide] = by_choices
    """From a view that holds also what the platform adds, ``choices`` and ``chance``: what a first turn's guide says.
    """
    changes: Callable[[S, Seat, Move, S], Iterable[Line]] = _no_lines
    """From the state before, who moves, the move and a state after it: what a player wants to know before confirming.

    The words of each line are ``preview.<code>``. Both states may hold guesses at what the seat cannot know, so a
    line says nothing that depends on them; the suite of all games compares guesses.
    """
    follows: Callable[[S], bool] = _nothing_follows
    """Whether what a move began still runs in a state, so that its preview follows the dice on to the end of it."""
    emblem: str = ""
    """The drawing that stands for the game: the id of a symbol in the art folder. It may be empty."""
    minutes: Mapping[str, int] = field(default_factory=dict)
    """About how many minutes a game takes at a table, by preset, as far as anybody knows."""


def _any(view: View, moves: Sequence[Move], below: Below) -> Move | None:
    return moves[below(len(moves))]


def _first(moves: Sequence[Move]) -> Move | None:
    return moves[0]


def least(*names: str) -> Callable[[Sequence[Move]], Move | None]:
    """Return how a skipped seat moves: by the first of these moves that is legal, else by any move.

    >>> least("hold", "done")([Move("attack"), Move("done")])
    Move(name='done', args=())
    """

    def idle(moves: Sequence[Move]) -> Move | None:
        named = [move for name in names for move in moves if move.name == name]
        return next(iter(named or moves), None)

    return idle


class Bot(Struct, frozen=True, kw_only=True):
    """How the app plays for an absent player."""

    decide: Callable[..., Move | None] = _any
    """What it plays: from what that seat sees, its legal moves and a source of chance, and nothing else. None waits.

    If there are `skills`, it takes one of them as a fourth argument, and without it plays as `PRACTISED`.
    """
    skills: Mapping[str, Skill] = field(default_factory=dict)
    """How it plays at the other `LEVELS`, by their names; a game without any has the practised player alone."""
    idle: Callable[[Sequence[Move]], Move | None] = _first
    """The move that does least, for a seat that is passed; none waits."""

    @property
    def levels(self) -> tuple[str, ...]:
        """Those of the `LEVELS` at which it plays, the practised one always among them."""
        return tuple(level for level in LEVELS if level == PRACTISED or level in self.skills)


def _blank(name: str, language: str) -> View:
    return {}


def _blank_own(state: Any, name: str, language: str) -> View:
    return {}


class Piece(NamedTuple):
    """A piece on a printable page."""

    face: str
    """What distinguishes its face in file names: lower-case letters, digits and hyphens."""
    key: str
    """The text that names it."""
    facts: Mapping[str, Json] = {}
    """The facts of that text."""


class Pieces(Struct, frozen=True, kw_only=True):
    """The pieces of a printable page, all of one size. Lengths are in millimetres.

    The page lays them out in a grid of `paper.grid(width, height)`, so that on a paper of their size each has a leaf
    of its own; a leaf of backs, if it has them, follows each leaf of fronts.
    """

    width: float
    """From its left edge to its right one."""
    height: float
    """From its top edge to its bottom one."""
    inset: float
    """How wide the edge of each piece is that holds one colour and nothing else."""
    pieces: Callable[[str], Sequence[Piece]]
    """From a language: each of them, in the order of the page."""
    cards: bool = False
    """Whether they are of card stock, else of board."""
    backs: bool = False
    """Whether a leaf of backs follows each leaf of fronts."""
    round: bool = False
    """Whether they are discs: `inset` is then as far from the edge as the middle of the line around the disc."""


class Board(NamedTuple):
    """A board that is drawn whole, one on each leaf of its page."""

    width: float
    """In millimetres."""
    height: float
    """In millimetres."""
    key: str
    """Its text is the board's name."""


def _no_boards() -> Mapping[str, Board]:
    return {}


class Printer(Struct, Generic[S], frozen=True, kw_only=True):
    """A game's printable pages. The template of each is ``templates/print/<name>.html``."""

    sheets: tuple[str, ...] = ()
    """Their names, in the order in which a table wants them."""
    sheet: Callable[[str, str], View] = _blank
    """What a page shows, by its name and a language."""
    shared_by: Mapping[str, int] = field(default_factory=dict)
    """For how many players one copy of a page is enough; of one that is not named, all share one."""
    pieces: Mapping[str, Pieces] = field(default_factory=dict)
    """By the name of a page: the pieces on it, for images of each. Such a page need not be one of `sheets`."""
    boards: Callable[[], Mapping[str, Board]] = _no_boards
    """By the name of a page: the board that each of its leaves shows. Such a page need not be one of `sheets`."""
    own_sheets: tuple[str, ...] = ()
    """The names of pages that show what a table has of its own, such as a map."""
    own_sheet: Callable[[S, str, str], View] = _blank_own
    """What such a page shows of one table; everybody who sees the table may print it."""

    def copies(self, players: int) -> list[str]:
        """Return the names of all `sheets`, each as often as a number of players needs it."""
        return [name for name in self.sheets for _ in range(-(-players // self.shared_by.get(name, players)))]


def _calm(state: Any) -> Mood:
    return Mood()


def _kept(state: Any, drop: TokenDrop) -> Move | None:
    return None


class TempleRules(Struct, Generic[S], frozen=True, kw_only=True):
    """What a game does with a temple's tokens."""

    drop: Callable[[S, TokenDrop], Move]
    """The move by `TEMPLE` that enters a token. It is legal in every state, even the last."""
    audit: Callable[[S], TokenAudit]
    """What became of the tokens that fell."""
    doubted: Callable[[S, TokenDrop], Move | None] = _kept
    """The move by `TEMPLE` after which a token that counts waits, as its temple doubts it afterwards.

    None if a person has said that it is one, or if it does not count. Without this, what counts goes on counting, and
    only a token that was doubted before it came is offered to `drop` with the doubt.
    """
    mood: Callable[[S], Mood] = _calm
    """What the temple's lamps show beside them."""


def _no_standing(state: Any) -> Mapping[Seat, float]:
    return {}


class Heat(NamedTuple):
    """A game's own board for a heat map."""

    width: float
    """In the units of its outlines."""
    height: float
    """In the same units."""
    places: Mapping[str, str]
    """The outline of each place, as SVG path data."""
    counted: str | Mapping[str, str]
    """What is counted: in English, or by language as ``{"en": ..., "es": ...}``."""
    names: Sequence[tuple[str, float, float]] = ()
    """Words on the board, each with its middle."""
    lines: str = ""
    """What else is drawn on it, as path data."""


def _no_heat(options: Mapping[str, Value]) -> Heat | None:
    return None


def _nowhere(before: Any, seat: Seat, move: Move, after: Any) -> Iterable[str]:
    return ()


def _any_options(options: Mapping[str, Value]) -> bool:
    return True


def _no_card(move: Move) -> str:
    return ""


class Playtest(Struct, Generic[S], frozen=True, kw_only=True):
    """What a playtest of the game counts, besides what the rules say."""

    chores: frozenset[str] = frozenset()
    """Names of the moves that set right what happened at the table, beside the rows that are a `MoveType.chore`."""
    plays: Callable[[Mapping[str, Value]], bool] = _any_options
    """Whether app players alone can play a table of these complete options to its end."""
    standing: Callable[[S], Mapping[Seat, float]] = _no_standing
    """How far each seat is, whatever is hidden: who has most leads. Empty where nobody can say."""
    card: Callable[[Move], str] = _no_card
    """The card that a move of chance brings, or nothing."""
    heat: Callable[[Mapping[str, Value]], Heat | None] = _no_heat
    """From complete options: the board of that table, for a heat map of its games."""
    touched: Callable[[S, Seat, Move, S], Iterable[str]] = _nowhere
    """The places of that board that a move counts for, from the states before and after it."""
    handicaps: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    """By preset: the options, beside its own, that make it even."""
    paces: Mapping[str, int] = field(default_factory=dict)
    """By preset: seconds that people take for a turn, as far as anybody knows, where that is not about a minute."""
    blanked: Callable[[Mapping[str, Value], str], Mapping[str, Value]] | None = None
    """From complete options and a card: the options of a table at which that card does nothing."""

    @property
    def says_standing(self) -> bool:
        """Whether it says how far each seat is."""
        return self.standing is not _no_standing
