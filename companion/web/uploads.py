"""The texts that a form brings for a game's options: a file, or what an earlier try brought. It opens no table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from werkzeug.datastructures import FileStorage

from companion.games.kernel import Fault, Game, Option
from companion.lobby import read_text
from companion.table import HouseError

OWN = "@text"
"""What a form says of an option instead of one of its values where the table brings a text of its own."""

MAX_UPLOAD = 524_288
"""Bytes of a form that may bring a text; any sound text fits, with all that a form wraps round it."""

SHOWN = 20
"""How many faults of a text a page shows."""


@dataclass(frozen=True, slots=True)
class Brought:
    """For each option that a form brings a text for: the text, and what is wrong in it."""

    texts: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, tuple[Fault, ...]] = field(default_factory=dict)


def brought(game: Game[object], form: Mapping[str, str], files: Mapping[str, FileStorage]) -> Brought:
    """Return the texts that a form brings; a new file counts before what was kept of an earlier try.

    Raises `HouseError` ``no_file`` where the form wants a text of its own and brings none.
    """
    texts: dict[str, str] = {}
    faults: dict[str, tuple[Fault, ...]] = {}
    for option in (each for each in game.options if each.reader):
        data = _data(option, form, files)
        if data is None:
            continue
        texts[option.key], wrong = read_text(data)
        if wrong := wrong or option.faults(texts[option.key]):
            faults[option.key] = wrong
    return Brought(texts, faults)


def _data(option: Option, form: Mapping[str, str], files: Mapping[str, FileStorage]) -> bytes | None:
    file = files.get(f"file.{option.key}")
    if file is not None and file.filename:
        with file.stream as stream:
            data: bytes = stream.read()
        return data
    if form.get(f"option.{option.key}") != OWN:
        return None
    if kept := form.get(f"text.{option.key}"):
        return kept.encode("utf-8", "surrogatepass")
    raise HouseError("no_file", option=option.key)
