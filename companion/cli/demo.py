"""Opens and begins the tables of a demo, one for each temple, with a deck that is being edited if one is given.

It prints what `launch` waits for, one line each: the table's address, and faults of the deck and of games from
elsewhere.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from companion.adapters.draft_watcher import Draft
from companion.cli.data import check
from companion.games import registry
from companion.games.kit import Fault, Game, Option, Value
from companion.model.lobby import read_text
from companion.model.table import Table
from companion.service.services import Services
from companion.service.tables import Opening
from companion.web.rendering.texts import MissingText
from templo.settings import SettingsError

GAME = "mexica"
OPTION = "deck"
PRESET = "classic"
"""The option that the demo's table takes from a file, if one is given, and the preset that it then has."""

TITLE = "Templo Mayor"
TOKENS, MANY_TOKENS = 52, 360
"""The age of the demo's one table ends after an evening's tokens, so that its end can be seen; that of several, whose
tokens fall by themselves, lasts as long as it can.
"""


def check_takes_deck(games: Mapping[str, Game[Any]]) -> None:
    """Raise `SettingsError` if the demo's game, of which a stranger may have brought another, takes no deck."""
    game = games[GAME]
    if PRESET not in game.presets or not any(each.key == OPTION and each.reader for each in game.options):
        raise SettingsError(f"--deck is given; expected a {GAME} whose tables take one")


class Demo(Struct, frozen=True):
    """What a demo shows: the temples, the deck that it follows if any, and the game of its tables."""

    temples: Sequence[str] = ()
    deck: Path | None = None
    game: str = GAME


class GameFaults(logging.Handler):
    """Prints each logged error that came out of a game's folder, with the file and line where it was raised."""

    def __init__(self, folders: Sequence[str]) -> None:
        super().__init__(logging.ERROR)
        self._folders = [Path(each).expanduser().resolve() for each in folders]

    def emit(self, record: logging.LogRecord) -> None:
        """Print the error of a record, if it has one."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return
        found = next((at for folder in self._folders if (at := registry.place(error, folder))), None)
        if found or isinstance(error, MissingText):
            where = f"{found[0]}:{found[1]}" if found else f"{self._folders[0] / 'texts'}"
            print(f"game {where}: {type(error).__name__}: {' '.join(str(error).split())}", flush=True)


def tables(services: Services, demo: Demo) -> list[Draft]:
    """Open a table for each temple, or find a running one; return the watcher of the deck's file, if any.

    If a temple already serves a table, that table is used, unless a deck must be followed.
    """
    if demo.game != GAME:
        _table_of(services, demo.game, demo.temples[0])
        return []
    if len(demo.temples) == 1:
        return _table(services, demo.temples[0], TITLE, TOKENS, demo.deck)
    for number, temple in enumerate(demo.temples, 1):
        _table(services, temple, f"{TITLE} {number}", MANY_TOKENS, None)
    return []


def _table_of(services: Services, name: str, temple: str) -> None:
    """Open the smallest table of another game, or find the one that runs; its temple serves it if it uses one.

    A table that was opened before its game used the temple is left for a new one.
    """
    game = services.tables.games[name]
    services.temples.expect(temple)
    holder = services.temples.serving.holder(temple)
    running = [each for each in services.tables.all() if each.charter.game == name and each.phase == "running"]
    opened = next((each for each in running if each.temple or holder or not game.temple), None)
    if opened is None:
        leave = Opening(holder.code if holder else "")
        served = temple if game.temple else None
        opened = services.tables.open(name, TITLE, min(game.seatings), next(iter(game.presets)), {}, served, leave)
        opened = services.seats.begin(opened.id, opened.code)
    _announce(opened)


def _announce(table: Table) -> None:
    print("playing", check.words_of(table.game)("name"), flush=True)
    print(f"table {table.code} /t/{table.id}", flush=True)


def _table(services: Services, temple: str, title: str, tokens: int, deck: Path | None) -> list[Draft]:
    presets = (PRESET,) if deck else tuple(services.tables.games[GAME].presets)
    running = [
        each
        for each in services.tables.all()
        if each.temple == temple and each.charter.game == GAME and each.phase == "running" and each.preset in presets
    ]
    holder = services.temples.serving.holder(temple)
    if running:
        opened = running[0]
    elif holder and not deck:
        opened = holder
    else:
        services.temples.expect(temple)
        options: dict[str, Value] = {"apocalypse_tokens": tokens}
        if deck and (text := _sound(deck, check.option_of(services.tables.games[GAME], OPTION))):
            options[OPTION] = text
        preset = PRESET if deck else "temple_only"
        leave = holder.code if holder else ""  # a named deck is to be played, whatever the temple serves
        opened = services.tables.open(GAME, title, 4, preset, options, temple, Opening(leave))
        opened = services.seats.begin(opened.id, opened.code)
    _announce(opened)
    return [_draft(services, opened, deck)] if deck else []


def _sound(file: Path, option: Option) -> str:
    """Return the text of a file if it has no faults, else an empty string."""
    try:
        text, faults = read_text(file.read_bytes())
    except OSError:
        return ""
    return "" if faults or option.faults(text) else text


def _draft(services: Services, table: Table, deck: Path) -> Draft:
    words = check.words_of(table.game)

    def report(faults: Sequence[Fault]) -> None:
        for line in check.fault_lines(deck, faults, words) or [f"{deck}: {words('contents.sound')}"]:
            print(f"{OPTION} {line}", flush=True)

    draft = Draft(services, table.id, check.option_of(table.game, OPTION), deck, report)
    draft.start()
    return draft
