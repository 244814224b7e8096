"""Folds the log of a table entry by entry, and divides it into turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from companion.games.kit import Game, Line, Refusal, Seat
from companion.model.entries import encode
from companion.model.table import Charter, Entry, LoggedEntry, Table


class BrokenLog(ValueError):
    """An entry that the rules refuse at its place in the log; the message says what it is and why."""

    def __init__(self, entry: Entry, refusal: Refusal, rules: int) -> None:
        super().__init__(f"entry {entry.n} is {encode(entry.action)}; expected a move of rules {rules}")
        self.entry = entry
        self.refusal = refusal


class ReplayStep(NamedTuple):
    """One entry of a log, and the table before and after it."""

    entry: Entry
    before: Table
    after: Table

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that pages show for it."""
        return self.after.logged[-1].lines if len(self.after.logged) > len(self.before.logged) else ()


def replay_log(charter: Charter, game: Game[Any], entries: Iterable[Entry]) -> Iterator[ReplayStep]:
    """Yield a table after each entry of its log; raises `BrokenLog` at the first illegal one."""
    yield from _steps(Table.opened(charter, game), entries)


def folded(table: Table, entries: Iterable[Entry]) -> Table:
    """Return a table after further entries of its log; raises `BrokenLog` at the first illegal one."""
    for step in _steps(table, entries):
        table = step.after
    return table


def _steps(table: Table, entries: Iterable[Entry]) -> Iterator[ReplayStep]:
    for entry in entries:
        after = table.extended(entry)
        if isinstance(after, Refusal):
            raise BrokenLog(entry, after, table.charter.rules)
        yield ReplayStep(entry, table, after)
        table = after


class Turn(Struct, frozen=True):
    """What happened in one turn: 0 before the game began; with no seat, before it began or after it ended.

    `last` is the number of its last entry. A turn that was ended and taken back comes twice, in two pieces.
    """

    n: int
    seat: Seat
    began: datetime
    logged: tuple[LoggedEntry, ...]
    last: int


def turns(steps: Iterable[ReplayStep]) -> Iterator[Turn]:
    """Yield a log turn by turn, with lines that add up merged; an entry belongs to the turn in which it was made."""
    running: tuple[int, Seat] | None = None
    began = last = None
    logged: list[LoggedEntry] = []
    for entry, before, after in steps:
        now = _turn(before)
        if running is not None and began is not None and last is not None and now != running:
            yield Turn(*running, began, tuple(logged), last)
            logged, began = [], None
        running, last, began = now, entry.n, began or entry.at
        if len(after.logged) > len(before.logged):
            _add(logged, after.logged[-1])
    if running is not None and began is not None and last is not None:
        yield Turn(*running, began, tuple(logged), last)


def ends(steps: Iterable[ReplayStep]) -> Iterator[Table]:
    """Yield the table at the end of each turn, the current one last; nothing before the game has begun."""
    last: Table | None = None
    for step in steps:
        if last is not None and _turn(last)[0] != _turn(step.after)[0]:
            yield last
        last = step.after if step.after.steps else None
    if last is not None:
        yield last


def _turn(table: Table) -> tuple[int, Seat]:
    return (table.turn, table.on_turn or "")


def _add(logged: list[LoggedEntry], next_: LoggedEntry) -> None:
    before = logged[-1] if logged else None
    if (
        before
        and before.hand == next_.hand
        and len(before.lines) == len(next_.lines) == 1
        and (one := before.lines[0].with_next(next_.lines[0]))
    ):
        logged[-1] = replace(next_, lines=(one,))
    else:
        logged.append(next_)
