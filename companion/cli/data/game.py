"""Checks the folder of a game of one's own: its code, texts and templates, and some games that the app plays."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from companion.cli.data import trial
from companion.games import registry
from companion.games.kit import Game
from companion.web.rendering import renderer, texts


def main(given: Sequence[str]) -> int:
    """Run ``game check FOLDER...``; return 0 if no folder has a fault, else 1."""
    arguments = make_parser().parse_args(given)
    found = [*(unreadable if arguments.quick else faults)(arguments.folders)]
    looked = "" if arguments.quick else f": texts, templates, and {trial.GAMES} games that were played"
    print(*found or [f"nothing is wrong{looked}"], sep="\n")
    return 1 if found else 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser."""
    parser = argparse.ArgumentParser(prog="templo-companion game", description="Check the folders of games.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser("check", help="print each fault of the folders, also of some games that are played")
    check.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="the folders, each a game")
    check.add_argument("--quick", action="store_true", help="read the files only, and play no games")
    return parser


def unreadable(folders: Sequence[Path]) -> Iterator[str]:
    """Yield what cannot be read in game folders: the first fault of each one's code, those of texts and templates."""
    for folder in map(_whole, folders):
        try:
            _checked(folder)
        except registry.RegistryError as error:
            yield str(error)
        for language in texts.LANGUAGES:
            try:
                texts.load(folder / "texts", language)
            except texts.TextError as error:
                yield str(error)
        yield from (str(each) for each in trial.template_faults(folder, words=None))


def faults(folders: Sequence[Path]) -> Iterator[str]:
    """Yield what is wrong in game folders, each fault once.

    Of each folder that is what cannot be read; if nothing of that, texts that are missing, and what goes wrong when
    some games are played.
    """
    for folder in map(_whole, folders):
        if found := [*unreadable([folder])]:
            yield from found
            continue
        known = [*trial.text_faults(folder), *trial.template_faults(folder, trial.words_of(folder))]
        yield from map(str, known + _others(known, trial.played_faults(_checked(folder))))


def _whole(folder: Path) -> Path:
    return folder.expanduser().resolve()


def _checked(folder: Path) -> Game[Any]:
    """Return the game of a folder; raises `RegistryError`."""
    game = registry.load([folder])[folder.name]
    renderer.check_layouts(registry.with_tools({folder.name: game}), {folder.name: folder})
    return game


def _others(known: Sequence[trial.Fault], played: Iterable[trial.Fault]) -> list[trial.Fault]:
    """Return the faults of play that are none of those known: at another place, and not for want of the same text."""
    places = {(each.file, each.line) for each in known}
    keys = {key[0] for each in known if (key := re.search(r"'[\w.]+'", each.message))}
    return [
        each
        for each in played
        if (each.file, each.line) not in places and not any(key in each.message for key in keys)
    ]
