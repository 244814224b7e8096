"""A table: its options, its chairs and its ordered log, and the state that they fold to; the only door to the rules.

A `Table` is a frozen value: every change gives a new one, and what is shared between threads is never written.
No IO, no clock, no randomness.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from companion.games.kit import (
    CHANCE,
    TEMPLE,
    Below,
    Chance,
    Game,
    Json,
    Line,
    Move,
    Refusal,
    Seat,
    TokenDrop,
    Value,
)
from companion.model.chance import outcome
from templo import contract

BEGIN = "@begin"
SIT = "@sit"
FREE = "@free"
SERVED = "@served"
UNDO = "@undo"
AWAY = "@away"
ROLLS = "@rolls"
AGAIN = "@again"
OPTION = "@option"
DECIDED = "@decided"
"""What a table's log holds beside the moves of its game. No game's move begins with ``@``."""

COMPANION: Seat = "house"
"""Who enters what no seat did: the opening of the lobby, a temple that was moved away."""

OWNER = "owner"
"""Whose hand decided at the command line of the companion's machine, about tokens held apart."""

APP = "app"
PASSED = "pass"
ANYONE = "anyone"
AWAY_MODES = (APP, PASSED, ANYONE)
"""What becomes of a seat whose player is away: the app plays it, it is passed, or anyone at the table acts for it."""


DISMISSED, OLD = "dismissed", "old"
"""What `DECIDED` enters: so many tokens held apart were none, or so many old ones are to count here."""

HELD = "held"
"""The doubt of a token that was held apart; `OLD` is that of an old one."""


class ServiceError(Exception):
    """Something asked of the house that cannot be done: a code with words in the texts, and the facts they need."""

    def __init__(self, code: str, **facts: str | int) -> None:
        super().__init__(f"{code} {facts}" if facts else code)
        self.code = code
        self.facts = facts


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a table's log: `n` counts from 1 without a gap, `request` is the id of the post that asked.

    `by` is the seat that moves in the rules; `hand` who moved for it: `APP`, or the seat whose phone typed what a
    real die showed. It is empty where a seat moved for itself.
    """

    n: int
    at: datetime
    by: Seat
    move: Move
    request: str = ""
    hand: str = ""


@dataclass(frozen=True, slots=True)
class Chair:
    """A seat as the lobby shows it. `shared` says that one phone holds this seat and another."""

    seat: Seat
    name: str | None = None
    taken: bool = False
    shared: bool = False
    away: str = ""
    """One of `AWAY_MODES` while its player is away, else empty."""


@dataclass(frozen=True, slots=True)
class LoggedEntry:
    """What one entry of the log did, in the lines that every seat may read, and by whose hand."""

    n: int
    at: datetime
    lines: tuple[Line, ...]
    hand: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One move that stands, the state it gave, and when the turn running in that state began."""

    by: Seat
    move: Move
    state: Any
    turn_began: datetime


@dataclass(frozen=True, slots=True)
class Charter:
    """What a table was opened with; it never changes. `rules` is the version of the rules that its log follows."""

    id: str
    code: str
    title: str
    game: str
    rules: int
    preset: str
    options: Mapping[str, Value]
    seats: tuple[Seat, ...]
    opened_at: datetime


@dataclass(frozen=True, slots=True)
class Table:
    """One table at one moment. Made by `Table.opened`, changed by `extended`, asked by everybody else."""

    charter: Charter
    game: Game[Any]
    chairs: tuple[Chair, ...]
    keys: Mapping[Seat, str] = field(repr=False, default_factory=dict)
    """For each taken chair the SHA-256 of the token that its phone holds."""
    version: int = 0
    """The number of the last log entry; a phone's post names the version it was made against."""
    basis: int = 0
    """The last version at which anything but a token happened: what a post may not be older than."""
    temple: str | None = None
    served_since: datetime | None = None
    began_at: datetime | None = None
    rolls: bool = False
    """Whether the app rolls and draws by itself, so that nobody is asked."""
    again: str = ""
    """The id of the table at which these players play once more."""
    amendments: Mapping[str, Value] = field(default_factory=dict)
    """The options that the house changed since the table was opened."""
    steps: tuple[Step, ...] = ()
    """The moves that may still be taken back, after the one below them that no longer can."""
    told: tuple[LoggedEntry, ...] = ()
    requests: frozenset[str] = frozenset()

    @classmethod
    def opened(cls, charter: Charter, game: Game[Any]) -> Table:
        """Return the empty lobby of a new table."""
        return cls(charter, game, tuple(Chair(seat) for seat in charter.seats))

    @property
    def id(self) -> str:
        """The table's opaque id."""
        return self.charter.id

    @property
    def code(self) -> str:
        """The join code, six letters."""
        return self.charter.code

    @property
    def title(self) -> str:
        """What its players call it."""
        return self.charter.title

    @property
    def options(self) -> Mapping[str, Value]:
        """The rules that it plays by, every option of the game with its value."""
        return {**self.charter.options, **self.amendments}

    @property
    def preset(self) -> str:
        """The name of the preset that its options started from."""
        return self.charter.preset

    @property
    def state(self) -> Any:
        """The state of its game, or none in the lobby."""
        return self.steps[-1].state if self.steps else None

    @property
    def phase(self) -> str:
        """``lobby``, ``running`` or ``over``."""
        if self.began_at is None:
            return "lobby"
        return "running" if self.game.on_turn(self.state) else "over"

    @property
    def last_at(self) -> datetime:
        """When something was last done at it, by a person or by a token."""
        return self.told[-1].at if self.told else self.charter.opened_at

    @property
    def on_turn(self) -> Seat | None:
        """The seat whose turn it is, while the game runs."""
        return self.game.on_turn(self.state) if self.began_at else None

    @property
    def turn_began(self) -> datetime | None:
        """When the turn now running began."""
        return self.steps[-1].turn_began if self.steps else None

    def chair(self, seat: Seat) -> Chair:
        """Return a seat's chair; raises `ServiceError` where the table has no such seat."""
        for chair in self.chairs:
            if chair.seat == seat:
                return chair
        raise ServiceError("unknown_seat", seat=seat[:24])

    def log(self, limit: int = 50) -> tuple[LoggedEntry, ...]:
        """Return what happened, newest first, lines that add up told as one under the time of the last."""
        log: list[LoggedEntry] = []
        for told in reversed(self.told):
            later = log[-1] if log else None
            if (
                later
                and len(told.lines) == len(later.lines) == 1
                and (one := told.lines[0].with_next(later.lines[0]))
            ):
                log[-1] = replace(later, lines=(one,))
            elif len(log) == limit:
                break
            else:
                log.append(told)
        return tuple(log)

    def entry(self, at: datetime, by: Seat, move: Move, request: str = "", hand: str = "") -> Entry:
        """Return the entry that would come next."""
        return Entry(self.version + 1, at, by, move, request, hand)

    def extended(self, entry: Entry) -> Table | Refusal:
        """Return the table with one more entry in its log, or why the entry cannot stand.

        The same call serves a tap, a fallen token and the replay of a stored log.
        """
        name, args = entry.move
        match name:
            case "@begin" | "@sit" | "@free" | "@served" | "@away" | "@rolls" | "@again" | "@option" | "@decided":
                return self._noted(entry, *args)
            case "@undo":
                return self._undone(entry)
        if not self.steps:
            return Refusal("not_begun")
        if self.game.aside(entry.move):
            return self._beside(entry)
        last = self.steps[-1]
        after = self.game.play(last.state, entry.by, entry.move)
        if isinstance(after, Refusal):
            return after
        same_turn = self.game.turn(after) == self.game.turn(last.state)
        step = Step(entry.by, entry.move, after, last.turn_began if same_turn else entry.at)
        lines = self.game.story(last.state, entry.by, entry.move, after)
        # Another's move ends what could be taken back, and what cannot be is not remembered state by state.
        steps = self.steps if last.by == entry.by and self.undo_refused(entry.by) is None else self.steps[-1:]
        return self._told(entry, lines, steps=(*steps, step))

    def undo_refused(self, seat: Seat) -> Refusal | None:
        """Return why a seat cannot take its last move back, or none where it can."""
        if len(self.steps) < 2:
            return Refusal("nothing_to_undo")
        before, last = self.steps[-2:]
        if last.by != seat or not self.game.undoable(before.state, seat, last.move):
            return Refusal("undo_barred")
        return None

    def fall(self, token: contract.Token, *, stranger: bool = False, doubt: str = "") -> Move:
        """Return the move by which a token enters this table's game, with what makes it doubtful.

        `stranger` says that a second counter under the temple's name sent it; a `doubt` that is given stands.
        """
        if doubt:
            pass
        elif stranger:
            doubt = "stranger"
        elif contract.Flag.JAM in token.flags:
            doubt = "jam"
        elif token.replayed:
            since = [at for at in (self.served_since, self.began_at) if at]
            if since and token.at < max(since):
                doubt = "elsewhere"
            elif self.turn_began and token.at < self.turn_began:
                doubt = "earlier"
        return self.game.fall(self.state, TokenDrop(token.token, token.god.value, doubt))

    def chance(self) -> Chance | None:
        """Return what a die, a bag or a deck has to bring now, or none."""
        return self.game.chance(self.state) if self.steps else None

    def may_bring(self, held: Sequence[Seat]) -> bool:
        """Return whether a phone that holds these seats may roll, draw or type in what chance has to bring."""
        due = self.chance()
        return due is not None and bool(held) and (not due.secret or due.seat is None or due.seat in held)

    def automatic(self, below: Below, brought: bool = False) -> tuple[Seat, Move] | None:
        """Return what the app does now by itself: an outcome that nobody is asked for, or an absent seat's move.

        `brought` says that the app has just brought an outcome: it goes on with what follows that one.
        """
        if self.phase != "running":
            return None
        away = {chair.seat: chair.away for chair in self.chairs if chair.away in (APP, PASSED)}
        if due := self.chance():
            by_itself = self.rolls or not due.asked or due.seat in away or (brought and due.follows)
            return (CHANCE, outcome(due, below)) if by_itself else None
        acting, on_turn = self.game.to_act(self.state), self.on_turn
        for seat in sorted(acting, key=lambda each: each != on_turn):
            if mode := away.get(seat):
                moves = self.game.moves(self.state, seat)
                if seat != on_turn and on_turn in acting:
                    # What the seat on turn may do as well, nobody waits for from another: ending its turn above all.
                    others = {*self.game.moves(self.state, on_turn)}
                    moves = [move for move in moves if move not in others]
                if not moves:
                    continue
                idle = mode == PASSED
                move = self.game.idle(moves) if idle else self.game.decide(self._seen_by(seat), moves, below)
                if move is not None:
                    return seat, move
        return None

    def _seen_by(self, seat: Seat) -> Mapping[str, Json]:
        return self.game.view(self.state, seat)

    def _noted(self, entry: Entry, *args: str | int) -> Table | Refusal:
        match entry.move.name, args:
            case "@begin", ():
                if self.began_at is not None:
                    return Refusal("begun_already")
                opening = Step(COMPANION, entry.move, self.game.setup(self.options, self.charter.seats), entry.at)
                return self._told(entry, [Line("begun")], began_at=entry.at, steps=(opening,))
            case "@sit", (str(seat), str(name)):
                line = Line("sat", {"seat": seat, "name": name})
                return self._told(entry, [line], chairs=self._with_chair(seat, name=name, away=""))
            case "@free", (str(seat),):
                self.chair(seat)
                return self._told(entry, [Line("freed", {"seat": seat})])
            case "@served", (str(temple),):
                line = Line("served", {"temple": temple}) if temple else Line("unserved")
                return self._told(entry, [line], temple=temple or None, served_since=entry.at if temple else None)
            case "@away", (str(seat), str(mode)) if mode in (*AWAY_MODES, ""):
                line = Line(f"away_{mode}" if mode else "back", {"seat": seat, "by": entry.by})
                return self._told(entry, [line], chairs=self._with_chair(seat, away=mode))
            case "@rolls", (str(whose),) if whose in (APP, ""):
                return self._told(entry, [Line("rolls_app" if whose else "rolls_people")], rolls=bool(whose))
            case "@again", (str(table_id),):
                return self._told(entry, [Line("again")], again=table_id)
            case "@decided", (str(what), int(n)) if what in (DISMISSED, OLD) and n > 0:
                return self._told(entry, [Line(f"decided_{what}", {"n": n, "by": entry.by})])
            case "@option", (str(key), value):
                return self._amended(entry, key, value)
        return Refusal("unknown_move", {"move": entry.move.name})

    def _beside(self, entry: Entry) -> Table | Refusal:
        """Return the table with an aside in each state that may still be returned to."""
        steps: list[Step] = []
        for step in self.steps:
            after = self.game.play(step.state, entry.by, entry.move)
            if isinstance(after, Refusal):
                return after
            steps.append(replace(step, state=after))
        return self._told(entry, (), steps=tuple(steps))

    def _amended(self, entry: Entry, key: str, value: Value) -> Table | Refusal:
        """Return the table under a changed option. What was done under the old one can no longer be taken back."""
        option = next((each for each in self.game.options if each.key == key), None)
        if option is None or not option.accepts(value):
            return Refusal("bad_option", {"option": key[:32], "value": str(value)[:32]})
        amended = replace(self, amendments={**self.amendments, key: value})
        if self.steps:
            state = self.game.amended(self.state, amended.options)
            if isinstance(state, Refusal):
                return state
            step = Step(entry.by, entry.move, state, self.steps[-1].turn_began)
            amended = replace(amended, steps=(step,))
        return amended._told(entry, [Line(f"amended.{key}")])

    def _undone(self, entry: Entry) -> Table | Refusal:
        if refusal := self.undo_refused(entry.by):
            return refusal
        return self._told(entry, [Line("undone", {"by": entry.by})], steps=self.steps[:-1])

    def _with_chair(self, seat: Seat, **changes: Any) -> tuple[Chair, ...]:
        chair = self.chair(seat)
        return tuple(replace(each, **changes) if each is chair else each for each in self.chairs)

    def _told(self, entry: Entry, lines: Iterable[Line], **changes: Any) -> Table:
        told = LoggedEntry(entry.n, entry.at, tuple(lines), entry.hand)
        return replace(
            self,
            version=entry.n,
            basis=self.basis if entry.by == TEMPLE or self.game.aside(entry.move) else entry.n,
            requests=self.requests | {entry.request} if entry.request else self.requests,
            told=(*self.told, told) if told.lines else self.told,
            **changes,
        )

    def lent(self) -> tuple[Seat, ...]:
        """Return the seats that anyone at the table acts for."""
        return tuple(chair.seat for chair in self.chairs if chair.away == ANYONE)

    def with_keys(self, keys: Mapping[Seat, str]) -> Table:
        """Return the table with other phones on its chairs."""
        held = list(keys.values())
        chairs = tuple(
            replace(chair, taken=chair.seat in keys, shared=held.count(keys.get(chair.seat, "")) > 1)
            for chair in self.chairs
        )
        return replace(self, keys=dict(keys), chairs=chairs)
