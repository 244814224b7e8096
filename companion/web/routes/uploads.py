"""Reads a game's options from a form, texts among them: a new file, an earlier upload, or another table's text.

A table's text is the one that it was opened with, or the one that a tool's table has made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from werkzeug.datastructures import FileStorage

from companion.games import registry
from companion.games.kit import Fault, Game, Option, Value
from companion.model.lobby import read_text
from companion.model.table import ServiceError, Table
from companion.web.site import whole_number

OWN = "@text"
"""The form's value of an option for which the table has a text of its own."""

OF_TABLE = "@table:"
"""The prefix of a form's value that names another table by its id, to use its text."""

EARLIER = 6
"""The most texts of earlier tables that a form offers for an option."""

MAX_UPLOAD = 524_288
"""The most bytes of a form with a text; any valid text fits."""

MOST_FAULTS = 20
"""The most faults of a text on a page."""


class Brought(Struct, frozen=True):
    """For each option that a form has a text for: the text, and its faults."""

    texts: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, tuple[Fault, ...]] = field(default_factory=dict)


def earlier(game: Game[Any], tables: Sequence[Table], wanted: Mapping[str, str]) -> dict[str, list[Table]]:
    """Return for each option the tables that had a text for it, each text once, with its last table.

    `tables` are the newest first. The table of a tool that makes such a text is included if `wanted` names it.
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
        named = wanted.get(f"option.{option.key}", "").removeprefix(OF_TABLE)
        making = [table for table in tables if table.id == named and _makes(table, game, option)]
        found[option.key] = [*making, *by_text.values()][:EARLIER]
    return found


def brought(
    game: Game[Any], form: Mapping[str, str], files: Mapping[str, FileStorage], tables: Sequence[Table]
) -> Brought:
    """Return the texts in a form; a new file has precedence.

    Raises `ServiceError` ``no_file`` if the form wants a text of its own and brings none, ``bad_option`` for what is
    none of the option's values.
    """
    texts: dict[str, str] = {}
    faults: dict[str, tuple[Fault, ...]] = {}
    for option in (each for each in game.options if each.reader):
        data = _data(game, option, form, files, tables)
        if data is None:
            continue
        texts[option.key], wrong = read_text(data)
        if _lends(game) and texts[option.key] in option.values:
            continue
        if wrong := wrong or option.faults(texts[option.key]):
            faults[option.key] = wrong
    return Brought(texts, faults)


def options_chosen(game: Game[Any], form: Mapping[str, str]) -> dict[str, Value]:
    """Return the options that a form sets; empty ones stay as in the preset."""
    chosen: dict[str, Value] = {}
    for option in game.options:
        text = form.get(f"option.{option.key}", "").strip()
        by_name = {str(value): value for value in option.values}
        if text and (text in by_name or not option.reader):
            number = whole_number(text, 10**9)
            chosen[option.key] = by_name.get(text, text if number is None else number)
    return chosen


def _data(
    game: Game[Any],
    option: Option,
    form: Mapping[str, str],
    files: Mapping[str, FileStorage],
    tables: Sequence[Table],
) -> bytes | None:
    file = files.get(f"file.{option.key}")
    if file is not None and file.filename:
        with file.stream as stream:
            data: bytes = stream.read()
        return data
    picked = form.get(f"option.{option.key}", "")
    if picked.startswith(OF_TABLE):
        named = (table for table in tables if table.id == picked.removeprefix(OF_TABLE))
        texts = [text for table in named if (text := _text_of(table, game, option)) is not None]
        if not texts:
            raise ServiceError("no_file", option=option.key)
        return texts[0].encode()
    if not picked or picked in map(str, option.values):
        return None
    if picked != OWN:
        raise ServiceError("bad_option", option=option.key, value=picked[:32])
    if text := form.get(f"text.{option.key}"):
        return text.encode("utf-8", "surrogatepass")
    raise ServiceError("no_file", option=option.key)


def _text_of(table: Table, game: Game[Any], option: Option) -> str | None:
    """Return the text that a table has for an option of a game or of a tool, or None."""
    if _makes(table, game, option):
        return table.game.written(table.state)
    text = table.options.get(option.key)
    return text if isinstance(text, str) and (text not in option.values or _lends(game)) else None


def _lends(game: Game[Any]) -> bool:
    """Return whether an option takes what a table plays with even where that is no text of its own: a tool's does."""
    return registry.parts(game.name)[1] != ""


def _makes(table: Table, game: Game[Any], option: Option) -> bool:
    """Return whether a table is of a tool that makes a text for an option of that game."""
    same = registry.parts(table.charter.game)[0] == registry.parts(game.name)[0]
    return same and table.game.makes == option.key and table.began_at is not None
