"""Rounds of an event: starting one opens all its tables at once, with the players' names at their seats."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from companion.games.kit import Result
from companion.model.entries import Sit
from companion.model.lobby import clean_name, complete_options, seats_of
from companion.model.plays import result_of
from companion.model.rounds import (
    NOTE,
    PAIRINGS,
    Event,
    Round,
    RoundTable,
    Standing,
    decode,
    encode,
    next_groups,
    read_players,
    standings,
    table_sizes,
)
from companion.model.table import ServiceError, Table
from companion.service.change import Change
from companion.service.serving import Serving, move_temple
from companion.service.tables import open_lobby
from companion.service.workspace import Workspace


class EventPage(Struct, frozen=True):
    """An event with its tables, by their ids, and its standings."""

    event: Event
    tables: dict[str, Table]
    results: dict[str, Result]
    standings: Sequence[Standing]

    @property
    def waits_for(self) -> int:
        """How many tables of the last round are still playing."""
        return sum(table.table_id not in self.results for table in self.event.rounds[-1].tables)


class RoundService:
    """The current event of an installation, if there is one."""

    def __init__(self, workspace: Workspace, serving: Serving) -> None:
        self._workspace = workspace
        self._serving = serving

    def page(self) -> EventPage | None:
        """Return the current event with its tables and standings; raises `ServiceError`."""
        return self._page(self._workspace.notes.get(NOTE))

    def start(
        self,
        game: str,
        preset: str,
        size: int,
        pairing: str,
        players: str,
        title: Callable[[int, int], str],
        temples: bool = False,
    ) -> None:
        """Begin an event with its first round.

        `players` has a name in each line, `title` gives a table's name by the numbers of its round and table, both
        from 1. With `temples`, those that no table holds serve the tables, in the order of their names.

        Raises `ServiceError`, and has opened nothing then: ``event_runs``, ``unknown_game``, ``unknown_preset``,
        ``bad_players`` for a size that the game does not take, ``bad_pairing``, and what `read_players` refuses.
        """
        rules = self._workspace.tables.game(game)
        complete_options(rules, preset, {})
        seats_of(rules, size)
        if pairing not in PAIRINGS:
            raise ServiceError("bad_pairing")
        order = list(read_players(players))
        if pairing == "swiss":
            order.sort(key=lambda _: self._workspace.entropy(8))
        event = Event(game, preset, size, pairing, tuple(order))

        def work(change: Change) -> list[str]:
            if change.note(NOTE):
                raise ServiceError("event_runs")
            return self._open_round(change, event, title, temples)

        self._run(work)

    def next_round(
        self,
        number: int,
        players: str,
        title: Callable[[int, int], str],
        temples: bool = False,
        event_id: str = "",
    ) -> None:
        """Begin the round with this number, counted from 1, with these players; the rest is as in `start`.

        Raises `ServiceError` ``no_event``, ``other_event`` if the current event has another id than `event_id`,
        ``round_begun`` if that round has begun already, ``round_runs`` while a table of the one before is playing.
        """
        names = read_players(players)

        def work(change: Change) -> list[str]:
            page = self._page(change.note(NOTE), read_on=True)
            if page is None:
                raise ServiceError("no_event")
            _check_id(page.event, event_id)
            if number != len(page.event.rounds) + 1:
                raise ServiceError("round_begun", n=number)
            if page.waits_for:
                raise ServiceError("round_runs", n=page.waits_for)
            known = {each.name.casefold(): each.name for each in page.standings}
            wanted = [known.get(name.casefold(), name) for name in names]
            stay = [name for name in page.event.players if name in wanted]  # a round robin goes by their order
            new = [name for name in wanted if name not in stay]
            event = msgspec.structs.replace(page.event, players=(*stay, *new))
            return self._open_round(change, event, title, temples, page.standings)

        self._run(work)

    def end(self, event_id: str = "") -> None:
        """Forget the event; its tables and their games stay.

        Raises `ServiceError` ``other_event`` if the current event has another id than `event_id`.
        """

        def work(change: Change) -> None:
            stored = change.note(NOTE)
            if stored and event_id:
                _check_id(decode(stored), event_id)
            change.set_note(NOTE, "")

        self._workspace.run(work, notes=[NOTE])

    def _run(self, work: Callable[[Change], list[str]]) -> None:
        for temple in self._workspace.run(work, notes=[NOTE]):
            self._serving.requests.end_calibration(temple)

    def _page(self, stored: str, *, read_on: bool = False) -> EventPage | None:
        """Return the page of an event; `read_on` says that what ended elsewhere just now must be on it."""
        if not stored:
            return None
        event = decode(stored)
        if read_on:
            self._workspace.tables.mark_behind({table.table_id for table in event.rounds[-1].tables})
        tables: dict[str, Table] = {}
        known = {table.id: table for table in self._workspace.tables.all()}
        results: dict[str, Result] = {}
        for table_id in (table.table_id for each in event.rounds for table in each.tables):
            table = known.get(table_id) or self._workspace.tables.find(table_id)  # opened elsewhere just now
            if table is None:
                results[table_id] = Result("closed")  # it was erased
                continue
            tables[table_id] = table
            if table.phase == "over":
                results[table_id] = result_of(table)
        return EventPage(event, tables, results, standings(event, results))

    def _open_round(
        self,
        change: Change,
        event: Event,
        title: Callable[[int, int], str],
        temples: bool,
        before: Sequence[Standing] = (),
    ) -> list[str]:
        """Open the tables of an event's next round; return the serving temples."""
        rules = self._workspace.tables.game(event.game)
        options = complete_options(rules, event.preset, {})
        sizes = table_sizes(len(event.players), event.size, [size for size in rules.seatings if size <= event.size])
        groups, rests = next_groups(event, sizes, {each.name: each.points for each in before})
        serving = self._lock_free_temples(change, len(groups)) if temples and rules.temple else []
        opened: list[RoundTable] = []
        for n, group in enumerate(groups, start=1):
            players = dict(zip(seats_of(rules, len(group)), group, strict=True))
            name = clean_name(title(len(event.rounds) + 1, n))
            table = open_lobby(self._workspace, change, rules, name, tuple(players), event.preset, options)
            for seat, player in players.items():
                change.enter(table.id, seat, Sit(seat, player))
            opened.append(RoundTable(table.id, players))
        for each, temple in zip(opened, serving, strict=False):
            move_temple(change, each.table_id, temple)
        after = msgspec.structs.replace(event, rounds=(*event.rounds, Round(tuple(opened), tuple(rests))))
        change.set_note(NOTE, encode(after))
        return serving

    def _lock_free_temples(self, change: Change, most: int) -> list[str]:
        """Lock the working temples that no table holds, in the order of their names, and their tables."""
        known = self._workspace.temples.all()
        free = sorted(each.name for each in known if each.alive and self._serving.holder(each.name) is None)[:most]
        change.lock_temples(*free)
        served = [self._workspace.tables.find(change.temple(name).table_id) for name in free]
        change.lock_tables(*{table.id for table in served if table})
        return [name for name in free if self._serving.holder(name) is None]


def _check_id(event: Event, event_id: str) -> None:
    """Raise `ServiceError` ``other_event`` if a page that names an event was made for another."""
    if event_id not in ("", event.id):
        raise ServiceError("other_event")
