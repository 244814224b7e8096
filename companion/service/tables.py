"""Opens, finds and replays tables, and changes those that a designer edits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec.structs import replace

from companion.games.kit import Fault, Game, Played, Recap, Seat, Value
from companion.model.entries import Again, Archive, Begin, Close, Rename, SetOption, SetSound, Sit
from companion.model.history import ReplayStep, replay_log
from companion.model.lobby import clean_name, complete_options, new_code, seats_of
from companion.model.ports import StoredToken
from companion.model.recaps import played, recap_of
from companion.model.seating import is_code, require_seats
from companion.model.table import COMPANION, ORGANISER, Charter, Entry, ServiceError, Table
from companion.service.automatic import play_on
from companion.service.change import Change
from companion.service.serving import Serving, move_temple
from companion.service.workspace import Workspace

FINISHED = 16
"""How many finished games are remembered as they went: each was replayed from its whole log."""


class Opening(NamedTuple):
    """How a table is opened, besides its rules."""

    leave: str = ""
    """The token of a phone at the other table that holds the temple, or that table's code; needed if there is one."""
    sounds: bool = False
    """Whether they are on for devices where nobody has chosen."""
    table_id: str = ""
    """The table's id, by default a random one: a table that has it already, at whichever companion, is returned."""


class TableService:
    """Commands on tables, except moves and seats."""

    def __init__(self, workspace: Workspace, serving: Serving) -> None:
        self._workspace = workspace
        self._serving = serving
        self._drafts: dict[str, tuple[Fault, ...]] = {}
        self._recaps: dict[tuple[str, int], Recap] = {}
        self._recapping = Lock()
        self.games = workspace.tables.games
        self.unreadable = workspace.tables.unreadable

    def all(self) -> tuple[Table, ...]:
        """Return every table, the newest first; those whose games are over may be outlines, for lists alone."""
        return tuple(sorted(self._workspace.tables.all(), key=lambda table: table.charter.opened_at, reverse=True))

    def own(self) -> list[Table]:
        """Return the tables that this companion owns, as they are in memory."""
        return [table for table in self._workspace.tables.as_read() if self.is_own(table.id)]

    def is_own(self, table_id: str) -> bool:
        """Return whether this companion owns a table: it alone changes it, until another one takes it over."""
        return self._workspace.owners.holds(f"table:{table_id}")

    def visit(self, table_id: str) -> Table:
        """Return a table, and own it while its game may go on: its phones are at this companion now.

        Raises `ServiceError` ``unknown_table``.
        """
        table = self.get(table_id)
        if table.phase != "over" and not self.is_own(table_id):
            self._workspace.run(lambda change: None, tables=[table_id])
        return self.get(table_id)

    def written(self) -> Mapping[str, int]:
        """Return the version of each table that was last changed by this companion since it started."""
        return dict(self._workspace.written)

    def get(self, table_id: str) -> Table:
        """Return a table by its id; raises `ServiceError` ``unknown_table``."""
        return self._workspace.tables.get(table_id)

    def find(self, table_id: str | None) -> Table | None:
        """Return a table, or None if there is none with that id."""
        return self._workspace.tables.find(table_id)

    def shelve(self) -> None:
        """Unload each finished table that nobody has read since the last call, keeping its outline."""
        self._workspace.shelve()

    def by_code(self, code: str) -> Table:
        """Return a table by its join code, however it was typed; raises `ServiceError` ``wrong_code``.

        Every table's code is compared, each in constant time.
        """
        found = [table for table in self._workspace.tables.as_read() if is_code(table, code)]
        found = found or [table for table in self._workspace.tables.find_new() if is_code(table, code)]
        if not found:
            raise ServiceError("wrong_code")
        return self.get(found[0].id)

    def entries(self, table_id: str) -> Sequence[Entry]:
        """Return a table's whole log; raises `ServiceError` ``unknown_table``."""
        return self._workspace.store.entries(self.get(table_id).id)

    def replay(self, table: Table) -> Iterator[ReplayStep]:
        """Yield a table after each entry of its log, up to its version: another entry may be on its way."""
        known = [entry for entry in self.entries(table.id) if entry.n <= table.version]
        return replay_log(table.charter, table.game, known)

    def played(self, table: Table) -> list[Played]:
        """Return the moves of a table's game that were not taken back."""
        return played(self.replay(table))

    def recap(self, table: Table) -> Recap:
        """Return how a table's game went, once it is over; of any other nothing."""
        if table.phase != "over" or table.is_closed or "." in table.charter.game:
            return Recap()
        with self._recapping:
            key = (table.id, table.version)
            if key not in self._recaps:
                if len(self._recaps) >= FINISHED:
                    self._recaps.pop(next(iter(self._recaps)))
                self._recaps[key] = recap_of(table, self.played(table))
            return self._recaps[key]

    def tokens(self, table_id: str) -> Sequence[StoredToken]:
        """Return the tokens that were stored for a table, ledger by ledger, each in the order of its numbers."""
        if table_id not in self._workspace.tables:
            raise ServiceError("unknown_table")
        return self._workspace.store.table_tokens(table_id)

    def open(
        self,
        game: str,
        title: str,
        players: int,
        preset: str,
        options: Mapping[str, Value] = MappingProxyType({}),
        temple: str | None = None,
        opening: Opening = Opening(),  # noqa: B008  # a frozen value
    ) -> Table:
        """Open the lobby of a new table; `options` are what differs from the preset.

        Raises `ServiceError` with what was wrong, and has opened nothing then: ``unknown_game``, ``unknown_preset``,
        ``unknown_option``, ``bad_option``, ``bad_players``, ``bad_name``, ``unknown_temple``, ``temple_held``.
        """
        rules = self._workspace.tables.game(game)
        seats = seats_of(rules, players)
        chosen = complete_options(rules, preset, options)
        title = clean_name(title)

        def work(change: Change) -> tuple[str, str | None]:
            self._lock(change, temple, opening.table_id)
            if self._workspace.tables.find(opening.table_id):
                return opening.table_id, None
            self._serving.check_leave(temple, opening.leave)
            table = open_lobby(self._workspace, change, rules, title, seats, preset, chosen, opening.table_id)
            if opening.sounds:
                change.enter(table.id, COMPANION, SetSound("on"))
            move_temple(change, table.id, temple)
            return table.id, temple

        return self._opened(*self._workspace.run(work))

    def again(self, table_id: str, token: str) -> Table:
        """Open a lobby with the same players and rules, once for each finished table.

        Every phone keeps its seat: its token for the old table is valid at the new one.
        """

        def work(change: Change) -> tuple[str, str | None]:
            table = change.lock_with_temple(table_id)
            by = require_seats(table, token)[0]
            if table.phase != "over":
                raise ServiceError("not_over")
            if self._workspace.tables.find(table.again):
                return table.again, None
            charter = replace(
                table.charter,
                id=self._workspace.entropy(16).hex(),
                code=_unused_code(self._workspace, change),
                rules=table.game.rules_version,
                options=table.options,
                seats=table.seats,
                opened_at=change.now,
            )
            change.open(charter)
            for chair in table.chairs:
                if chair.taken:
                    change.enter(charter.id, chair.seat, Sit(chair.seat, chair.name or ""))
            if table.sounds:
                change.enter(charter.id, by, SetSound("on"))
            change.set_keys(charter.id, table.keys)
            change.enter(table_id, by, Again(charter.id))
            move_temple(change, charter.id, table.temple)
            return charter.id, table.temple

        return self._opened(*self._workspace.run(work))

    def close(self, table_id: str, token: str) -> Table:
        """End the game of a table without a result, permanently, and free its temple. Anyone seated may.

        A table whose game has not begun is closed as well. Raises `ServiceError` ``not_seated``, ``not_running``.
        """
        return self._close(table_id, lambda table: require_seats(table, token)[0])

    def close_for_players(self, table_id: str) -> Table:
        """End the game of a table as `close` does, for its players: the organiser may. Raises ``not_running``."""
        return self._close(table_id, lambda _: ORGANISER)

    def _close(self, table_id: str, by_whom: Callable[[Table], Seat]) -> Table:
        def work(change: Change) -> Table:
            table = change.lock_with_temple(table_id)
            by = by_whom(table)
            if table.is_closed:  # it was asked twice: by two phones, or by one whose answer was lost
                return table
            if table.phase == "lobby":
                change.enter(table_id, by, Begin())
            change.enter(table_id, by, Close())
            return move_temple(change, table_id, None)

        return self._workspace.run(work)

    def rename(self, table_id: str, token: str, title: str) -> Table:
        """Rename a table; anyone seated may. Raises `ServiceError` ``not_seated``, ``bad_name``."""

        def work(change: Change) -> Table:
            table = change.table(table_id)
            by, name = require_seats(table, token)[0], clean_name(title)
            return table if table.title == name else change.enter(table_id, by, Rename(name))

        return self._workspace.run(work, tables=[table_id])

    def archive(self, table_id: str, token: str, is_archived: bool = True) -> Table:
        """Take a finished table off the list of tables, or put it back; anyone seated may.

        Raises `ServiceError` ``not_seated``, ``not_over``.
        """

        def work(change: Change) -> Table:
            table = change.table(table_id)
            by = require_seats(table, token)[0]
            if table.phase != "over":
                raise ServiceError("not_over")
            if table.is_archived == is_archived:
                return table
            return change.enter(table_id, by, Archive("archive" if is_archived else "list"))

        return self._workspace.run(work, tables=[table_id])

    def _lock(self, change: Change, temple: str | None, new: str) -> None:
        """Take the locks of a temple, of the table that it serves and of the id of a new one."""
        served = None
        if temple is not None:
            change.lock_temples(self._workspace.temples.get(temple).name)
            served = self._workspace.tables.find(change.temple(temple).table_id)
        change.lock_tables(*([served.id] if served else ()), new=new)

    def _opened(self, table_id: str, temple: str | None) -> Table:
        if temple:
            self._serving.requests.end_calibration(temple)
        return self._workspace.tables.get(table_id)

    def amend(self, table_id: str, key: str, value: Value) -> Table:
        """Change an option of a table for its designer; no page offers this.

        Raises `ServiceError` ``unknown_table``, ``bad_option``, or what the game refuses it with.
        """

        def work(change: Change) -> Table:
            table = change.table(table_id)
            if table.options.get(key) == value:
                return table
            change.enter(table_id, COMPANION, SetOption(key, value))
            return play_on(change, table_id, self._workspace.below)

        return self._workspace.run(work, tables=[table_id])

    def draft(self, table_id: str) -> tuple[Fault, ...] | None:
        """Return what is wrong in the file that a table follows, or None if it follows no file."""
        return self._drafts.get(table_id)

    def set_draft(self, table_id: str, faults: Sequence[Fault]) -> None:
        """Set what is wrong in the file that a table follows; its pages show it until it is fixed."""
        before, self._drafts[table_id] = self._drafts.get(table_id), tuple(faults)
        if before != self._drafts[table_id]:
            self._workspace.on_change(f"table:{table_id}")


def open_lobby(
    workspace: Workspace,
    change: Change,
    game: Game[Any],
    title: str,
    seats: tuple[Seat, ...],
    preset: str,
    options: Mapping[str, Value],
    table_id: str = "",
) -> Table:
    """Open a new table within a change; everything is already checked, and `options` are complete."""
    charter = Charter(
        id=table_id or workspace.entropy(16).hex(),
        code=_unused_code(workspace, change),
        title=title,
        game=game.name,
        rules=game.rules_version,
        preset=preset,
        options=options,
        seats=seats,
        opened_at=change.now,
    )
    return change.open(charter)


def _unused_code(workspace: Workspace, change: Change) -> str:
    tables = (*workspace.tables.as_read(), *change.tables.values())
    return new_code(workspace.entropy, {table.code for table in tables})
