"""The entries of a table's log besides the moves of its game: a frozen type for each kind, and its stored form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias, TypeGuard

import msgspec
from msgspec import Meta, Struct

from companion.games.kit import BEGINNER, CASUAL, PRACTISED, STRONG, Arg, Move, Seat, Value

APP: Literal["app"] = "app"
PASSED: Literal["pass"] = "pass"
ANYONE: Literal["anyone"] = "anyone"
AwayMode: TypeAlias = Literal["app_beginner", "app_casual", "app", "app_strong", "pass", "anyone", ""]
LEVEL_OF: Mapping[AwayMode, str] = {
    "app_beginner": BEGINNER,
    "app_casual": CASUAL,
    APP: PRACTISED,
    "app_strong": STRONG,
}
"""How well the app plays for a seat, by the mode of its player's absence."""
AWAY_MODES: tuple[AwayMode, ...] = (*LEVEL_OF, PASSED, ANYONE)
"""What happens to an absent player's seat: the app plays it, it is skipped, or anyone at the table acts for it."""

Pace: TypeAlias = Literal["slow", "normal", "fast", "at_once"]
PACES: Mapping[Pace, float] = {"slow": 3.0, "normal": 1.5, "fast": 0.5, "at_once": 0.0}
"""Seconds before each move that the app makes for an absent player."""

DISMISSED: Literal["dismissed"] = "dismissed"
OLD: Literal["old"] = "old"

RESERVED = "@"
"""The prefix of every table entry in its stored form; no game's move begins with it."""


class _Stored(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Stored as a list: its tag, then its fields in their order."""


class Begin(_Stored, frozen=True, tag="@begin"):
    """The game begins."""


class Sit(_Stored, frozen=True, tag="@sit"):
    """A player takes a seat, under a name or under none."""

    seat: Seat
    name: str


class Free(_Stored, frozen=True, tag="@free"):
    """A seat is handed over: its phone loses it."""

    seat: Seat


class LeaveOut(_Stored, frozen=True, tag="@left_out"):
    """A seat leaves the table before the game begins, which is for fewer players then."""

    seat: Seat


class Serve(_Stored, frozen=True, tag="@served"):
    """Another temple, or none, serves the table from now on."""

    temple: str


class Undo(_Stored, frozen=True, tag="@undo"):
    """A seat takes its last move back."""


class Away(_Stored, frozen=True, tag="@away"):
    """A seat's player is away, with one of `AWAY_MODES`, or back."""

    seat: Seat
    mode: AwayMode


class Rolls(_Stored, frozen=True, tag="@rolls"):
    """The app rolls and draws by itself from now on, or people do."""

    by: Literal["app", ""]


class SetPace(_Stored, frozen=True, tag="@pace"):
    """The app makes its moves for absent players at one of `PACES` from now on."""

    pace: Pace


class SetSound(_Stored, frozen=True, tag="@sound"):
    """Sounds are switched on or off for devices where nobody has chosen."""

    sound: Literal["on", "off"]


class Close(_Stored, frozen=True, tag="@close"):
    """The table ends its game without a result."""


class Rename(_Stored, frozen=True, tag="@rename"):
    """The table gets another title."""

    title: str


class Archive(_Stored, frozen=True, tag="@archive"):
    """The table leaves the list of tables, or comes back to it."""

    place: Literal["archive", "list"]


class Again(_Stored, frozen=True, tag="@again"):
    """The same players play again, at another table."""

    table_id: str


class SetOption(_Stored, frozen=True, tag="@option"):
    """A designer changes an option of the running table."""

    key: str
    value: Value


class Decide(_Stored, frozen=True, tag="@decided"):
    """Some tokens held apart were dismissed, or some old ones were assigned to this table."""

    what: Literal["dismissed", "old"]
    n: Annotated[int, Meta(gt=0)]


TableEntry: TypeAlias = (
    Begin
    | Sit
    | Free
    | LeaveOut
    | Serve
    | Undo
    | Away
    | Rolls
    | SetPace
    | SetSound
    | Close
    | Rename
    | Archive
    | Again
    | SetOption
    | Decide
)
Action: TypeAlias = Move | TableEntry
"""One action in a table's log."""


def is_away_mode(mode: str) -> TypeGuard[AwayMode]:
    """Return whether a word is one of `AWAY_MODES`, or empty for a player who is back."""
    return mode in (*AWAY_MODES, "")


def away_modes(levels: Sequence[str]) -> tuple[AwayMode, ...]:
    """Return the `AWAY_MODES` of a game whose app players have these levels."""
    return tuple(mode for mode in AWAY_MODES if LEVEL_OF.get(mode, PRACTISED) in levels)


def is_pace(word: str) -> TypeGuard[Pace]:
    """Return whether a word is one of `PACES`."""
    return word in PACES


def is_reserved(move: Move) -> bool:
    """Return whether a move has a name that no game's move may have.

    >>> is_reserved(Move("@undo")), is_reserved(Move("sacrifice", ("tlaloc", 2)))
    (True, False)
    """
    return move.name.startswith(RESERVED)


def encode(action: Action) -> list[Arg]:
    """Return an action as it is stored: a JSON list, its name first.

    >>> encode(Sit("east", "Ana")), encode(Undo()), encode(Move("sacrifice", ("tlaloc", 2)))
    (['@sit', 'east', 'Ana'], ['@undo'], ['sacrifice', 'tlaloc', 2])
    """
    stored: list[Arg] = action.to_json() if isinstance(action, Move) else msgspec.to_builtins(action)
    return stored


def decode(stored: object, longest: int = 200) -> Action:
    """Decode a stored action; raises `ValueError` if it is not a list of short words and numbers.

    A table entry that this software does not know becomes a move with a reserved name, which no table accepts.

    >>> decode(["@away", "north", "app"])
    Away(seat='north', mode='app')
    >>> decode(["@away", "north", "asleep"])
    Move(name='@away', args=('north', 'asleep'))
    """
    move = Move.from_json(stored, longest)
    if not is_reserved(move):
        return move
    try:
        entry: TableEntry = msgspec.convert(stored, TableEntry)
    except msgspec.ValidationError:
        return move
    return entry
