"""A table: its options, its chairs and its ordered log, and the state that they fold to. All moves go through it.

A `Table` is frozen: every change returns a new one, so threads can share it. In the examples `lobby` is a new table
of Mexica for two with a temple, `begun` is the same table once its game has begun, and `at` is a time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace

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
    Result,
    Seat,
    TokenAudit,
    TokenDrop,
    UnclaimedToken,
    Value,
    outcome,
)
from companion.model.entries import (
    ANYONE,
    APP,
    LEVEL_OF,
    OLD,
    PASSED,
    Action,
    Again,
    Archive,
    Away,
    AwayMode,
    Begin,
    Close,
    Decide,
    Free,
    LeaveOut,
    Pace,
    Rename,
    Rolls,
    Serve,
    SetOption,
    SetPace,
    SetSound,
    Sit,
    Undo,
    is_reserved,
)
from templo import contract

COMPANION: Seat = "house"
"""The author of entries that no seat made: the opening of the lobby, a temple that was moved away."""

OWNER = "owner"
"""The `hand` of decisions made at the command line of the companion's machine."""

ORGANISER = "organiser"
"""The `hand` that ends a table's game for its players."""

HELD = "held"
"""The doubt about a token that was held apart; `OLD` is the one about an old token."""


OWN_DOUBTS = frozenset({HELD, OLD, "earlier", "elsewhere", "jam", "stranger", "over", "outside"})
"""The doubts that tables and games have by themselves; any other is the temple's."""

ROUNDS = 2
"""So many rounds in which the app makes one bare move alone, and it waits for a person or a token."""


class ServiceError(Exception):
    """Something that cannot be done: a code with a text, and the facts that the text needs."""

    def __init__(self, code: str, **facts: str | int) -> None:
        super().__init__(f"{code} {facts}" if facts else code)
        self.code = code
        self.facts = facts


class Entry(Struct, frozen=True):
    """One line of a table's log: `n` counts from 1 without a gap, `request` is the id of the post that asked.

    `by` is the seat that moves in the rules; `hand` who moved for it: `APP`, or the seat whose phone typed what a
    real die showed. It is empty if a seat moved for itself.
    """

    n: int
    at: datetime
    by: Seat
    action: Action
    request: str = ""
    hand: str = ""


class Chair(Struct, frozen=True):
    """A seat as the lobby shows it. `shared` says that its phone also holds another seat."""

    seat: Seat
    name: str | None = None
    taken: bool = False
    shared: bool = False
    away: str = ""
    """One of `AWAY_MODES` while its player is away, else empty."""


class LoggedEntry(Struct, frozen=True):
    """What one entry of the log did, as lines that every seat may read, and by whose hand."""

    n: int
    at: datetime
    lines: tuple[Line, ...]
    hand: str = ""


class Step(Struct, frozen=True):
    """One action that was not undone, the state after it, and when that state's turn began.

    `n` is the number of its entry. `whose` is the seat whose move it was: `by` itself, or the one for which another
    acted. `hand` is the seat of whoever typed an outcome of chance, `APP` where the app drew it.
    """

    n: int
    by: Seat
    action: Action
    state: Any
    turn_began: datetime
    whose: Seat = ""
    hand: Seat = ""


class ActedFor(Struct, frozen=True):
    """What somebody else did for a seat: whose phone it was, and the number and lines of the entry."""

    by: Seat
    n: int
    lines: tuple[Line, ...]


class Charter(Struct, frozen=True):
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


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """One table at one moment. `Table.opened` makes the first, `extended` each later one."""

    charter: Charter
    game: Game[Any]
    chairs: tuple[Chair, ...]
    keys: Mapping[Seat, str] = dataclasses.field(repr=False, default_factory=dict)
    """For each taken chair the SHA-256 of the token that its phone holds."""
    version: int = 0
    """The number of the last log entry; a phone's post names the version it was made against."""
    basis: int = 0
    """The last version at which anything but a token happened; older posts are stale."""
    temple: str | None = None
    served_since: datetime | None = None
    began_at: datetime | None = None
    ended_at: datetime | None = None
    """When the move was made that ended the game, or when the table was closed."""
    is_closed: bool = False
    """Whether its players ended the game without a result."""
    is_archived: bool = False
    """Whether it has left the list of tables."""
    renamed: str = ""
    """The title that its players gave it later; empty if they did not."""
    rolls: bool = False
    """Whether the app rolls and draws by itself, so that nobody is asked."""
    pace: Pace = "normal"
    """How long the app waits before each move for an absent player."""
    sounds: bool = False
    """Whether the table wants sounds at devices where nobody chose."""
    again: str = ""
    """The id of the table at which these players play once more."""
    amendments: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    """The options that its designer changed since the table was opened."""
    steps: tuple[Step, ...] = ()
    """The moves that can still be undone, above the last one that cannot."""
    logged: tuple[LoggedEntry, ...] = ()
    """What happened, as its pages show it: entries without a line are left out."""
    acted_for: Mapping[Seat, ActedFor] = dataclasses.field(default_factory=dict)
    """For each seat the last thing that another did for it, until the seat acts or undoes it."""
    repeated: tuple[str, int] = ("", 0)
    """The last move without arguments that the app made for an absent player, and how often in a row it did."""
    requests: frozenset[str] = frozenset()
    _known: dict[str, Any] = dataclasses.field(default_factory=dict, init=False, repr=False, compare=False)
    """A cache of what every page of a change asks for; the next table starts with an empty one."""

    @classmethod
    def opened(cls, charter: Charter, game: Game[Any]) -> Table:
        """Return the empty lobby of a new table.

        >>> opened = Table.opened(lobby.charter, lobby.game)
        >>> opened.phase, opened.version, [chair.seat for chair in opened.chairs]
        ('lobby', 0, ['east', 'west'])
        """
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
        return self.renamed or self.charter.title

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats of its game, in turn order: those that it was opened with, without those that were left out."""
        return tuple(chair.seat for chair in self.chairs)

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
        """The state of its game, or None in the lobby."""
        return self.steps[-1].state if self.steps else None

    @property
    def phase(self) -> str:
        """``lobby``, ``running`` or ``over``."""
        if self.began_at is None:
            return "lobby"
        return "running" if self.on_turn else "over"

    @property
    def last_at(self) -> datetime:
        """When something last happened at it, by a person or by a token."""
        return self.logged[-1].at if self.logged else self.charter.opened_at

    @property
    def on_turn(self) -> Seat | None:
        """The seat whose turn it is, while the game runs."""
        if not self.began_at or self.is_closed:
            return None
        if "on_turn" not in self._known:
            self._known["on_turn"] = self.game.rules.on_turn(self.state)
        on_turn: Seat | None = self._known["on_turn"]
        return on_turn

    @property
    def turn_began(self) -> datetime | None:
        """When the turn now running began."""
        return self.steps[-1].turn_began if self.steps else None

    @property
    def audit(self) -> TokenAudit | None:
        """What the game made of its tokens; None before it began, or if it uses no temple."""
        if not self.began_at:
            return None
        if "audit" not in self._known:
            self._known["audit"] = self.game.temple.audit(self.state) if self.game.temple else None
        audit: TokenAudit | None = self._known["audit"]
        return audit

    @property
    def tokens(self) -> int:
        """How many tokens counted in its game, corrections included, if the game counts any.

        >>> begun.tokens, begun.extended(begun.entry(at, "east", Move("sacrifice", ("tlaloc", 2)))).tokens
        (0, 2)
        """
        if (audit := self.audit) is None:
            return 0
        return sum(audit.credited.values()) + sum(delta for _, _, delta in audit.corrected) + len(audit.waiting)

    @property
    def turn(self) -> int:
        """The number of the turn that runs, or in which the game ended; 0 in the lobby."""
        return self.game.rules.turn(self.state) if self.steps else 0

    @property
    def result(self) -> Result:
        """How its game ended; meaningless before that."""
        if self.is_closed:
            return Result("closed")
        return self.game.rules.result(self.state) or Result("")

    @property
    def unclaimed(self) -> Sequence[UnclaimedToken]:
        """The tokens that wait for a person to say whose they were."""
        audit = self.audit
        return audit.waiting if audit else ()

    @property
    def doubtful(self) -> Sequence[UnclaimedToken]:
        """Those of the waiting tokens that their temple doubts."""
        return [each for each in self.unclaimed if each.doubt not in OWN_DOUBTS]

    def chair(self, seat: Seat) -> Chair:
        """Return a seat's chair; raises `ServiceError` if the table has no such seat.

        >>> lobby.chair("west").taken
        False
        >>> lobby.chair("moon")
        Traceback (most recent call last):
            ...
        companion.model.table.ServiceError: unknown_seat {'seat': 'moon'}
        """
        for chair in self.chairs:
            if chair.seat == seat:
                return chair
        raise ServiceError("unknown_seat", seat=seat[:24])

    def reserved(self) -> dict[Seat, str]:
        """Return the names for which seats are reserved in the lobby: free seats that nobody gave up.

        >>> lobby.extended(lobby.entry(at, "east", Sit("east", "Ana"))).reserved()
        {'east': 'Ana'}
        """
        if self.phase != "lobby":
            return {}
        lines = [line for each in self.logged for line in each.lines]
        given_up = {line.facts["seat"] for line in lines if line.code == "freed"}
        return {
            chair.seat: chair.name
            for chair in self.chairs
            if chair.name and not chair.taken and chair.seat not in given_up
        }

    def log(self, limit: int = 50) -> tuple[LoggedEntry, ...]:
        """Return what happened, newest first; lines that add up are merged, with the time of the last.

        >>> [entry.lines[0].code for entry in begun.log()]
        ['begun']
        """
        log: list[LoggedEntry] = []
        for entry in reversed(self.logged):
            later = log[-1] if log else None
            if (
                later
                and len(entry.lines) == len(later.lines) == 1
                and (one := entry.lines[0].with_next(later.lines[0]))
            ):
                log[-1] = replace(later, lines=(one,))
            elif len(log) == limit:
                break
            else:
                log.append(entry)
        return tuple(log)

    def is_aside(self, action: Action) -> bool:
        """Return whether an action is a private note, for which nobody has to wait.

        >>> begun.is_aside(Move("end_turn"))
        False
        """
        return isinstance(action, Move) and self.game.rules.aside(action)

    def entry(self, at: datetime, by: Seat, action: Action, request: str = "", hand: str = "") -> Entry:
        """Return the next entry of the log for an action.

        >>> lobby.entry(at, "east", Sit("east", "Ana")).n
        1
        """
        return Entry(self.version + 1, at, by, action, request, hand)

    def extended(self, entry: Entry) -> Table | Refusal:
        """Return the table with one more entry in its log, or why the entry is refused.

        The same call serves a tap, a fallen token and the replay of a stored log.

        >>> after = begun.extended(begun.entry(at, "east", Move("end_turn")))
        >>> after.on_turn, after.version, begun.on_turn
        ('west', 2, 'east')
        >>> lobby.extended(lobby.entry(at, "east", Move("end_turn"))).code
        'not_begun'
        """
        match entry.action:
            case Move() as move if not is_reserved(move):
                return self._played(entry, move)
            case Begin():
                return self._begun(entry)
            case Sit(seat, name):
                line = Line("sat", {"seat": seat, "name": name})
                return self._logged(entry, [line], chairs=self._with_chair(seat, name=name, away=""))
            case Free(seat):
                self.chair(seat)
                return self._logged(entry, [Line("freed", {"seat": seat})])
            case LeaveOut(seat):
                self.chair(seat)
                if self.phase != "lobby":
                    return Refusal("begun_already")
                chairs = tuple(chair for chair in self.chairs if chair.seat != seat)
                return self._logged(entry, [Line("left_out", {"seat": seat})], chairs=chairs)
            case Serve(temple):
                line = Line("served", {"temple": temple}) if temple else Line("unserved")
                return self._logged(entry, [line], temple=temple or None, served_since=entry.at if temple else None)
            case Undo():
                if refusal := self.undo_refused(entry.by):
                    return refusal
                others = {seat: each for seat, each in self.acted_for.items() if seat != self.steps[-1].whose}
                line = Line("undone", {"by": entry.by})
                over = self.game.rules.on_turn(self.steps[-2].state) is None
                ended_at = self.ended_at if over else None
                return self._logged(entry, [line], steps=self.steps[:-1], acted_for=others, ended_at=ended_at)
            case Away(seat, mode):
                line = Line(f"away_{mode}" if mode else "back", {"seat": seat, "by": entry.by})
                return self._logged(entry, [line], chairs=self._with_chair(seat, away=mode))
            case Rolls(by):
                return self._logged(entry, [Line("rolls_app" if by else "rolls_people")], rolls=bool(by))
            case Close():
                if self.phase != "running":
                    return Refusal("not_running")
                return self._logged(entry, [Line("closed", {"by": entry.by})], ended_at=entry.at, is_closed=True)
            case Rename(title):
                return self._logged(entry, [Line("renamed", {"title": title, "by": entry.by})], renamed=title)
            case Archive(place):
                line = Line("archived" if place == "archive" else "unarchived", {"by": entry.by})
                return self._logged(entry, [line], is_archived=place == "archive")
            case SetPace(pace):
                return self._logged(entry, [Line(f"pace_{pace}")], pace=pace)
            case SetSound(sound):
                line = Line(f"sound_{sound}", {"by": entry.by})
                return self._logged(entry, [line], is_aside=True, sounds=sound == "on")
            case Again(table_id):
                return self._logged(entry, [Line("again")], again=table_id)
            case Decide(what, n):
                return self._logged(entry, [Line(f"decided_{what}", {"n": n, "by": entry.by})])
            case SetOption(key, value):
                return self._amended(entry, key, value)
            case Move(name):
                return Refusal("unknown_move", {"move": name[:24]})

    def _played(self, entry: Entry, move: Move) -> Table | Refusal:
        if not self.steps:
            return Refusal("not_begun")
        if self.game.rules.aside(move):
            return self._beside(entry, move)
        if self.is_closed and entry.by != TEMPLE:
            return Refusal("table_closed")
        last = self.steps[-1]
        after = self.game.rules.play(last.state, entry.by, move)
        if isinstance(after, Refusal):
            return after
        same_turn = self.game.rules.turn(after) == self.game.rules.turn(last.state)
        whose, hand = self._whose(entry, move)
        began = last.turn_began if same_turn else entry.at
        step = Step(entry.n, entry.by, move, after, began, whose, entry.hand if entry.by == CHANCE else "")
        lines = self.game.page.log(last.state, entry.by, move, after)
        acted_for = {seat: each for seat, each in self.acted_for.items() if seat != whose}
        if hand != whose:
            acted_for[whose] = ActedFor(hand, entry.n, tuple(lines))
        # Another player's move ends what can be undone; states that cannot be restored are not stored.
        maker = step.hand or step.by
        steps = self.steps if maker == (last.hand or last.by) and not self.undo_refused(maker) else self.steps[-1:]
        ended_at = (self.ended_at or entry.at) if self.is_closed or self.game.rules.on_turn(after) is None else None
        return self._logged(entry, lines, steps=(*steps, step), acted_for=acted_for, ended_at=ended_at)

    def _whose(self, entry: Entry, move: Move) -> tuple[Seat, Seat]:
        """Return whose move an entry is, and the seat of the player who made it."""
        by, hand = entry.by, entry.hand
        if hand == APP or by == TEMPLE:
            return by, by
        if by == CHANCE:
            due = self.chance()
            return (due.seat, hand) if due and due.seat and hand else (by, by)
        return (by, hand) if hand else (self.game.rules.acts_for(self.state, by, move), by)

    def undo_refused(self, seat: Seat) -> Refusal | None:
        """Return why a seat cannot undo its last move, or what another did for it; None if it can.

        An outcome of chance that a person typed is undone by who typed it; what the app drew stays.

        >>> given = begun.extended(begun.entry(at, "east", Move("sacrifice", ("tlaloc", 2))))
        >>> given.undo_refused("east"), given.undo_refused("west").code
        (None, 'undo_followed')
        """
        if self.is_closed:
            return Refusal("table_closed")
        if len(self.steps) < 2:
            return Refusal("nothing_to_undo")
        before, last = self.steps[-2:]
        if last.by == CHANCE and last.hand in ("", APP):
            return Refusal("undo_drawn")
        if seat not in ((last.hand,) if last.by == CHANCE else (last.by, last.whose)):
            return Refusal("undo_followed", {"n": last.n})
        if last.by == CHANCE:
            return None
        move = last.action
        undoable = isinstance(move, Move) and self.game.rules.undoable(before.state, last.by, move)
        return None if undoable else Refusal("undo_final")

    def fall(self, token: contract.Token, *, stranger: bool = False, doubt: str = "") -> Move:
        """Return the move that enters a token into this table's game, with any doubt about it.

        `stranger` says that a second counter under the temple's name sent it; a given `doubt` has precedence.

        >>> token = contract.Token("a" * 32, 1, "b" * 32, contract.God.TLALOC, at, 14.0, frozenset(), False)
        >>> begun.fall(token).name
        'token'
        >>> waits = begun.extended(begun.entry(at, TEMPLE, begun.fall(token, doubt="jam")))
        >>> waits.log(1)[0].lines[0].code
        'unclaimed'
        """
        if self.game.temple is None:
            raise ValueError(f"{self.game.name} uses no temple; expected a game that does")
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
        return self.game.temple.drop(self.state, TokenDrop(token.token, token.god.value, doubt))

    def doubted(self, token: contract.Token, reason: str) -> Move | None:
        """Return the move after which a token that counts waits, as its temple doubts it; None if nothing changes."""
        if self.began_at is None or self.game.temple is None:
            return None
        return self.game.temple.doubted(self.state, TokenDrop(token.token, token.god.value, reason))

    def chance(self) -> Chance | None:
        """Return the outcome of chance that is due now, or None.

        >>> begun.chance() is None
        True
        """
        return self.game.rules.chance(self.state) if self.steps and not self.is_closed else None

    def may_bring(self, held: Sequence[Seat]) -> bool:
        """Return whether a phone that holds these seats may roll, draw or type in the outcome that is due.

        >>> begun.may_bring(["east"])
        False
        """
        due = self.chance()
        return due is not None and bool(held) and (not due.secret or due.seat is None or due.seat in held)

    def automatic(self, below: Below, brought: bool = False) -> tuple[Seat, Move] | None:
        """Return what the app does now by itself: an outcome that nobody rolls, or an absent player's move.

        `brought` says that the app has just rolled: it then also rolls what belongs to the same draw.

        >>> begun.automatic(lambda n: 0) is None
        True
        >>> away = begun.extended(begun.entry(at, "west", Away("east", PASSED)))
        >>> away.automatic(lambda n: 0)
        ('east', Move(name='end_turn', args=()))
        """
        if self.phase != "running" or self._goes_in_circles:
            return None
        if due := self.chance():
            by_itself = self._brought_by_app(due) or (brought and due.follows)
            return (CHANCE, outcome(due, below)) if by_itself else None
        for seat, mode, moves in self._moves_of_absent():
            if mode == PASSED:
                move = self.game.bot.idle(moves)
            else:
                move = self.game.decide(self._seen_by(seat), moves, below, LEVEL_OF[mode])
            if move is not None:
                return seat, move
        return None

    @property
    def awaits_app(self) -> bool:
        """Whether the next move is one that the app decides for an absent player.

        >>> begun.awaits_app, begun.extended(begun.entry(at, "west", Away("east", APP))).awaits_app
        (False, True)
        """
        if self.phase != "running" or self._goes_in_circles or self.chance():
            return False
        return any(mode in LEVEL_OF for _, mode, _ in self._moves_of_absent())

    @property
    def awaits_outcome(self) -> bool:
        """Whether the next thing is an outcome that the app brings by itself, after a limit on moves stopped it."""
        due = self.chance()
        return self.phase == "running" and due is not None and self._brought_by_app(due)

    @property
    def goes_on_by_itself(self) -> bool:
        """Whether the app makes the next move or roll."""
        return self.awaits_app or self.awaits_outcome

    @property
    def _goes_in_circles(self) -> bool:
        """Whether the app only passes, round after round: a game that tokens alone end waits for them."""
        return self.repeated[1] >= ROUNDS * len(self.chairs)

    def _brought_by_app(self, due: Chance) -> bool:
        """Return whether the app rolls without asking; a die without an owner belongs to the seat on turn."""
        whose = due.seat or self.on_turn
        away = any(chair.seat == whose and chair.away in (*LEVEL_OF, PASSED) for chair in self.chairs)
        return self.rolls or due.automatic or away

    def _moves_of_absent(self) -> Iterator[tuple[Seat, AwayMode, Sequence[Move]]]:
        """Yield the absent seats that the table waits for, the one on turn first, with their legal moves."""
        acting, on_turn = self.game.rules.to_act(self.state), self.on_turn
        modes = {chair.seat: chair.away for chair in self.chairs if chair.away in (*LEVEL_OF, PASSED)}
        for seat in sorted(acting, key=lambda each: each != on_turn):
            if mode := modes.get(seat):
                chores = self.game.chores
                moves = [move for move in self.game.rules.moves(self.state, seat) if move.name not in chores]
                if seat != on_turn and on_turn in acting:
                    # Nobody waits for another seat to do what the seat on turn may do as well, above all ending its
                    # turn.
                    others = {*self.game.rules.moves(self.state, on_turn)}
                    moves = [move for move in moves if move not in others]
                if moves:
                    yield seat, mode, moves

    def _seen_by(self, seat: Seat) -> Mapping[str, Json]:
        return self.game.page.view(self.state, seat)

    def _begun(self, entry: Entry) -> Table | Refusal:
        if self.began_at is not None:
            return Refusal("begun_already")
        seatings = self.game.seatings
        if self.seats not in seatings.values():
            facts = {"players": len(self.seats), "fewest": min(seatings), "most": max(seatings)}
            return Refusal("bad_players", facts)
        state = self.game.rules.setup(self.options, self.seats)
        opening = Step(entry.n, COMPANION, entry.action, state, entry.at)
        return self._logged(entry, [Line("begun")], began_at=entry.at, steps=(opening,))

    def _beside(self, entry: Entry, move: Move) -> Table | Refusal:
        """Return the table with an aside in each state that an undo can still reach."""
        steps: list[Step] = []
        for step in self.steps:
            after = self.game.rules.play(step.state, entry.by, move)
            if isinstance(after, Refusal):
                return after
            steps.append(replace(step, state=after))
        return self._logged(entry, (), is_aside=True, steps=tuple(steps))

    def _amended(self, entry: Entry, key: str, value: Value) -> Table | Refusal:
        """Return the table with a changed option. Moves made under the old one can no longer be undone."""
        option = next((each for each in self.game.options if each.key == key), None)
        if option is None or not option.accepts(value):
            return Refusal("bad_option", {"option": key[:32], "value": str(value)[:32]})
        amended = dataclasses.replace(self, amendments={**self.amendments, key: value})
        if self.steps:
            state = self.game.rules.amended(self.state, amended.options)
            if isinstance(state, Refusal):
                return state
            step = Step(entry.n, entry.by, entry.action, state, self.steps[-1].turn_began)
            amended = dataclasses.replace(amended, steps=(step,))
        return amended._logged(entry, [Line(f"amended.{key}")])

    def _with_chair(self, seat: Seat, **changes: Any) -> tuple[Chair, ...]:
        chair = self.chair(seat)
        return tuple(replace(each, **changes) if each is chair else each for each in self.chairs)

    def _logged(self, entry: Entry, lines: Iterable[Line], *, is_aside: bool = False, **changes: Any) -> Table:
        logged = LoggedEntry(entry.n, entry.at, tuple(lines), entry.hand)
        return dataclasses.replace(
            self,
            repeated=self._repeated_with(entry),
            version=entry.n,
            basis=self.basis if entry.by == TEMPLE or is_aside else entry.n,
            requests=self.requests | {entry.request} if entry.request else self.requests,
            logged=(*self.logged, logged) if logged.lines else self.logged,
            **changes,
        )

    def _repeated_with(self, entry: Entry) -> tuple[str, int]:
        move, (name, times) = entry.action, self.repeated
        if entry.hand != APP or entry.by == CHANCE or not isinstance(move, Move) or move.args:
            return "", 0
        return move.name, times + 1 if move.name == name else 1

    def delegated_seats(self) -> tuple[Seat, ...]:
        """Return the seats that anyone at the table acts for.

        >>> begun.extended(begun.entry(at, "west", Away("east", ANYONE))).delegated_seats()
        ('east',)
        """
        return tuple(chair.seat for chair in self.chairs if chair.away == ANYONE)

    def with_keys(self, keys: Mapping[Seat, str]) -> Self:
        """Return the table with other phones on its chairs.

        >>> [(chair.taken, chair.shared) for chair in lobby.with_keys({"east": "a" * 64, "west": "a" * 64}).chairs]
        [(True, True), (True, True)]
        """
        held = list(keys.values())
        chairs = tuple(
            replace(chair, taken=chair.seat in keys, shared=held.count(keys.get(chair.seat, "")) > 1)
            for chair in self.chairs
        )
        return dataclasses.replace(self, keys=dict(keys), chairs=chairs)
