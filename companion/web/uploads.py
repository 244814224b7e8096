"""The texts that a form brings for a game's options: a file, what an earlier try brought, or an earlier table's own.

It opens no table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from werkzeug.datastructures import FileStorage

from companion.games.kernel import Fault, Game, Option, Value
from companion.lobby import read_text
from companion.table import HouseError, Table

OWN = "@text"
"""What a form says of an option instead of one of its values where the table brings a text of its own."""

OF_TABLE = "@table:"
"""What a form says, with the id of a table before it, to play with the text that was brought to that one."""

EARLIER = 6
"""How many texts of earlier tables a form offers for an option."""

MAX_UPLOAD = 524_288
"""Bytes of a form that may bring a text; any sound text fits, with all that a form wraps round it."""

SHOWN = 20
"""How many faults of a text a page shows."""


@dataclass(frozen=True, slots=True)
class Brought:
    """For each option that a form brings a text for: the text, and what is wrong in it."""

    texts: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, tuple[Fault, ...]] = field(default_factory=dict)


def earlier(game: Game[Any], tables: Iterable[Table]) -> dict[str, list[Table]]:
    """Return for each option that takes a text the tables that brought one, each text once, under its last table.

    `tables` are the newest first.
    """
    found: dict[str, list[Table]] = {}
    for option in (each for each in game.options if each.reader):
        by_text: dict[Value, Table] = {}
        for table in tables:
            text = (
                table.options.get(option.key, option.default) if table.charter.game == game.name else option.default
            )
            if text not in option.values:
                by_text.setdefault(text, table)
        found[option.key] = list(by_text.values())[:EARLIER]
    return found


def brought(
    game: Game[Any], form: Mapping[str, str], files: Mapping[str, FileStorage], tables: Sequence[Table]
) -> Brought:
    """Return the texts that a form brings; a new file counts before everything else.

    Raises `HouseError` ``no_file`` where the form wants a text of its own and brings none, ``bad_option`` for what
    is none of the option's values.
    """
    texts: dict[str, str] = {}
    faults: dict[str, tuple[Fault, ...]] = {}
    for option in (each for each in game.options if each.reader):
        data = _data(option, form, files, tables)
        if data is None:
            continue
        texts[option.key], wrong = read_text(data)
        if wrong := wrong or option.faults(texts[option.key]):
            faults[option.key] = wrong
    return Brought(texts, faults)


def _data(
    option: Option, form: Mapping[str, str], files: Mapping[str, FileStorage], tables: Sequence[Table]
) -> bytes | None:
    file = files.get(f"file.{option.key}")
    if file is not None and file.filename:
        with file.stream as stream:
            data: bytes = stream.read()
        return data
    chosen = form.get(f"option.{option.key}", "")
    if chosen.startswith(OF_TABLE):
        texts = {table.id: table.options.get(option.key) for table in tables}
        text = texts.get(chosen.removeprefix(OF_TABLE))
        if not isinstance(text, str) or text in option.values:
            raise HouseError("no_file", option=option.key)
        return text.encode()
    if not chosen or chosen in map(str, option.values):
        return None
    if chosen != OWN:
        raise HouseError("bad_option", option=option.key, value=chosen[:32])
    if kept := form.get(f"text.{option.key}"):
        return kept.encode("utf-8", "surrogatepass")
    raise HouseError("no_file", option=option.key)
