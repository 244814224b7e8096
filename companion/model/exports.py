"""A table as a file that can be replayed elsewhere: written for one reader, and validated when it is read.

It contains no join code, no phone's token and no post's id, and only those hidden moves that its reader may know.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from companion.games.kit import LONGEST_TEXT, Arg, Game, Json, Line, Move, Seat
from companion.model.entries import Action, decode, encode
from companion.model.history import ReplayStep
from companion.model.table import Charter, Entry
from templo import contract

FORMAT = "templo-mayor table"
VERSION = 1


class ExportError(ValueError):
    """A file that is no export: the message says where, what was found and what was expected."""


class Export(Struct, frozen=True):
    """A table read from a file. `hidden` are the entries whose moves its reader may not know.

    `state` is the notation of the last state, and empty while the game ran.
    """

    charter: Charter
    entries: tuple[Entry, ...]
    hidden: frozenset[int]
    state: str


def exported(
    charter: Charter, game: Game[Any], replay: Iterable[ReplayStep], seats: Sequence[Seat]
) -> dict[str, Json]:
    """Return a table as JSON for a phone that holds these seats.

    While the game runs, moves are as the seats may know them. A finished game is exported completely once its end
    cannot be undone; otherwise whoever ended it could look, undo and play on. Private notes of other seats are left
    out even then, and so is the state, which contains them.
    """
    steps = list(replay)
    last = steps[-1].after if steps else None
    over = last is not None and last.phase == "over"
    open_ = over and last is not None and all(last.undo_refused(seat) for seat in charter.seats)
    names = {chair.seat: chair.name for chair in last.chairs if chair.name} if last else {}
    entries = [_entry(game, step, None if open_ else tuple(seats)) for step in steps]
    whole = over and not any("hidden" in entry for entry in entries)
    for entry, step in zip(entries, steps, strict=True):
        if last is not None and last.is_aside(step.entry.action):
            entry["move"] = encode(_known(game, step, tuple(seats)))
    noted = any(entry["move"] != encode(step.entry.action) for entry, step in zip(entries, steps, strict=True))
    return {
        "format": FORMAT,
        "version": VERSION,
        "whole": whole,
        "game": charter.game,
        "rules": charter.rules,
        "preset": charter.preset,
        "options": dict(charter.options),
        "seats": list(charter.seats),
        "names": dict(names),
        "title": charter.title,
        "opened_at": contract.format_utc(charter.opened_at),
        "state": game.rules.notation(last.state) if whole and last and not noted else "",
        "entries": entries,
    }


def _entry(game: Game[Any], step: ReplayStep, seats: tuple[Seat, ...] | None) -> dict[str, Json]:
    entry, before, _ = step
    action = entry.action
    if seats is not None and before.steps and not before.is_aside(action):
        action = _known(game, step, seats)
    return {
        "n": entry.n,
        "at": contract.format_utc(entry.at),
        "by": entry.by,
        "hand": entry.hand,
        "move": encode(action),
        **({"hidden": True} if action != entry.action else {}),
        "lines": [_line(line) for line in step.lines],
    }


def _known(game: Game[Any], step: ReplayStep, seats: tuple[Seat, ...]) -> Action:
    """Return the action of an entry as one of these seats may know it, or with none a spectator."""
    by, move = step.entry.by, step.entry.action
    if not isinstance(move, Move):
        return move
    seen = [game.page.known(step.before.state, by, move, seat) for seat in seats or (None,)]
    return move if move in seen else seen[0]


def _line(line: Line) -> dict[str, Json]:
    return {"code": line.code, "facts": dict(line.facts)}


def written(export: Mapping[str, Json]) -> str:
    """Return an export as its file: what the table is, then one entry a line."""
    head = json.dumps({key: value for key, value in export.items() if key != "entries"}, ensure_ascii=False, indent=1)
    entries = export["entries"]
    assert isinstance(entries, list)
    rows = ",\n  ".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries)
    return f'{head[:-2]},\n "entries": [\n  {rows}\n ]\n}}\n'


def read(text: str, games: Mapping[str, Game[Any]]) -> Export:
    """Read a table from a file; raises `ExportError`. Only a replay shows whether its log is valid."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ExportError(f"the file is no JSON: {error}") from None
    table = _Fields("the file", value)
    if table.text("format") != FORMAT or table.number("version") != VERSION:
        found = f"{value['format']} {value['version']}"
        newer = value["format"] == FORMAT and table.number("version") > VERSION
        todo = ": a newer release wrote it, and can read it" if newer else ""
        raise ExportError(f"format is {ascii(found)[:60]}; expected {FORMAT!r} in version {VERSION}{todo}")
    game = games.get(name := table.text("game"))
    if game is None:
        raise ExportError(f"game is {ascii(name)[:60]}; expected one of {', '.join(sorted(games))}")
    entries = [_Fields(f"entry {n}", each) for n, each in enumerate(table.list_of("entries"), 1)]
    return Export(
        Charter(
            id="",
            code="",
            title=table.text("title"),
            game=name,
            rules=table.number("rules"),
            preset=table.text("preset"),
            options=_options(table, game),
            seats=_seats(table, game),
            opened_at=table.moment("opened_at"),
        ),
        tuple(_read_entry(n, entry) for n, entry in enumerate(entries, 1)),
        frozenset(n for n, entry in enumerate(entries, 1) if entry.value.get("hidden")),
        table.text("state"),
    )


def _options(table: _Fields, game: Game[Any]) -> dict[str, Arg]:
    options = table.mapping("options")
    for option in game.options:
        if not option.accepts(options.get(option.key)):
            raise ExportError(
                f"option {option.key} is {ascii(options.get(option.key))[:60]}; expected one it accepts"
            )
    if unknown := options.keys() - {option.key for option in game.options}:
        raise ExportError(f"options hold {ascii(min(unknown))[:60]}; expected only options of {game.name}")
    return options


def _seats(table: _Fields, game: Game[Any]) -> tuple[Seat, ...]:
    seats = table.list_of("seats")
    if tuple(seats) not in game.seatings.values():
        raise ExportError(f"seats are {ascii(seats)[:80]}; expected a seating of {game.name}")
    return tuple(seats)


def _read_entry(n: int, entry: _Fields) -> Entry:
    if entry.number("n") != n:
        raise ExportError(f"entry {n} has the number {entry.number('n')}; expected {n}: entries are missing or moved")
    try:
        action = decode(entry.value.get("move"), LONGEST_TEXT)
    except ValueError as error:
        raise ExportError(f"entry {n}: {error}") from None
    return Entry(n, entry.moment("at"), entry.text("by"), action, "", entry.text("hand"))


class _Fields:
    """The fields of one object of the file, each read with its check."""

    def __init__(self, where: str, value: object) -> None:
        if not isinstance(value, dict):
            raise ExportError(f"{where} is {ascii(value)[:60]}; expected an object")
        self.where = where
        self.value: dict[str, Any] = value

    def text(self, name: str) -> str:
        return str(self._of(name, str, "text"))

    def number(self, name: str) -> int:
        return int(self._of(name, int, "a whole number"))

    def list_of(self, name: str) -> list[Any]:
        return list(self._of(name, list, "a list"))

    def mapping(self, name: str) -> dict[str, Any]:
        return dict(self._of(name, dict, "an object"))

    def moment(self, name: str) -> datetime:
        try:
            return contract.parse_utc(self.text(name)).astimezone(UTC)
        except contract.WireError as error:
            raise ExportError(f"{self.where}: {error}") from None

    def _of(self, name: str, kind: type, expected: str) -> Any:
        value = self.value.get(name)
        if type(value) is not kind:
            raise ExportError(f"{self.where}: {name} is {ascii(value)[:60]}; expected {expected}")
        return value
