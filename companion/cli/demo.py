"""The table that exists when a demo starts: opened and begun for its temple, following a deck file if one is given.

It knows which game is shown, and serves nothing. It says on standard output, a line each, what its starter waits for:
the table, and what is wrong with the deck.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from companion.adapters.draft_watcher import Draft
from companion.cli import check
from companion.games.kit import Fault, Option, Value
from companion.model.lobby import read_text
from companion.model.table import Table
from companion.service.services import Services
from templo.settings import SettingsError

GAME = "mexica"
OPTION = "deck"
PRESET = "classic"
"""The demo's table follows a file for this option, under this preset, where its starter names one."""

TOKENS = 52
"""The age of the demo's table ends after an evening's tokens, so that its end can be seen."""


def check_takes_deck(services: Services) -> None:
    """Raise `SettingsError` where the demo's game, of which a stranger may have brought another, takes no deck."""
    game = services.tables.games[GAME]
    if PRESET not in game.presets or not any(each.key == OPTION and each.reader for each in game.options):
        raise SettingsError(f"--deck is given; expected a {GAME} whose tables take one")


def table(services: Services, temple: str, deck: Path | None) -> Draft | None:
    """Open the demo's table, or find it running; returns what follows its file, where there is one."""
    presets = (PRESET,) if deck else tuple(services.tables.games[GAME].presets)
    running = [
        each
        for each in services.tables.all()
        if each.temple == temple and each.phase == "running" and each.preset in presets
    ]
    if running:
        opened = running[0]
    else:
        services.temples.expect(temple)
        options: dict[str, Value] = {"apocalypse_tokens": TOKENS}
        if deck and (text := _sound(deck, check.option_of(services.tables.games[GAME], OPTION))):
            options[OPTION] = text
        preset = PRESET if deck else "temple_only"
        holder = services.temples.serving.holder(
            temple
        )  # whoever starts the demo owns its temple, whatever else was played on it
        leave = holder.code if holder else ""
        opened = services.tables.open(GAME, "Templo Mayor", 4, preset, options, temple, leave)
        opened = services.seats.begin(opened.id, opened.code)
    print(f"table {opened.code} /t/{opened.id}", flush=True)
    return _draft(services, opened, deck) if deck else None


def _sound(file: Path, option: Option) -> str:
    """Return the text of a file as it is at the start, or nothing where it cannot be played with yet."""
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
