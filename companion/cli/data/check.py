"""Checks files for a game's option, such as decks and maps, and prints what they contain.

Every option that reads a file becomes a command under its own key: ``templo-companion deck check mine.toml``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from companion.cli import settings as configuration
from companion.games import registry
from companion.games.kit import Fault, Game, Option
from companion.model.lobby import read_text
from companion.web.rendering import texts
from companion.web.rendering.texts import Texts
from companion.web.site import HERE

LANGUAGE = "en"
"""The language of the output, as everywhere in this program."""


def main(given: Sequence[str]) -> int:
    """Run ``<option> check FILE...``; return 0 if all are valid, 1 if one is not, 2 if none could be read."""
    arguments = _parser(given[0]).parse_args(given[2:])
    games = registry.load(configuration.load(arguments.config, os.environ, {}).games)
    takers = [game for game in games.values() if _option(game, given[0]) and arguments.game in ("", game.name)]
    if len(takers) != 1:
        names = ", ".join(game.name for game in takers)
        trouble = f"several games take one ({names}); name one with --game" if takers else "no game takes such a file"
        print(f"templo-companion: {given[0]} check: {trouble}", file=sys.stderr)
        return 2
    (game,) = takers
    option, words = option_of(game, given[0]), words_of(game)
    results = [_check(path, option, words) for path in arguments.files]
    return max(results)


def option_of(game: Game[Any], key: str) -> Option:
    """Return an option of a game that reads a file; raises `KeyError`."""
    if option := _option(game, key):
        return option
    raise KeyError(key)


def words_of(game: Game[Any]) -> Texts:
    """Return the words of a game, for the terminal."""
    library = texts.Library(HERE / "texts", {game.name: registry.folder(game) / "texts"})
    return library.words(LANGUAGE, game.name)


def fault_lines(path: Path, faults: Sequence[Fault], words: Texts) -> list[str]:
    """Return faults in the form of compilers, so that an editor can jump there: ``mine.toml:3: reason``."""
    return [f"{path}:{fault.line}: {words(f'fault.{fault.code}', **fault.facts)}" for fault in faults]


def _check(path: Path, option: Option, words: Texts) -> int:
    try:
        text, faults = read_text(path.read_bytes())
    except OSError as error:
        print(f"templo-companion: {path}: {error.strerror}", file=sys.stderr)
        return 2
    assert option.reader is not None  # it was chosen for having one
    if faults := faults or option.faults(text):
        print(*fault_lines(path, faults, words), sep="\n")
        return 1
    print(f"{path}: {words('contents.sound')}")
    for code, facts in option.reader.contents(text):
        print(f"  {words(f'contents.{code}', **facts)}")
    return 0


def _option(game: Game[Any], key: str) -> Option | None:
    return next((option for option in game.options if option.key == key and option.reader), None)


def _parser(key: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"templo-companion {key} check", description=f"Check files for the option {key}."
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--game", default="", help="the game, if several games have this option")
    parser.add_argument("--config", type=Path, metavar="SETTINGS", help="a settings file with additional games")
    return parser
