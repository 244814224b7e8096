"""Checks files for a game's option, such as decks and maps, and prints what they contain.

Every option that reads a file becomes a command under its own key: ``templo-companion deck check mine.toml``. What
its reader can change becomes a command as well: ``templo-companion map walls mine.toml``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from companion import settings as configuration
from companion.games import registry
from companion.games.kit import Fault, Game, Option
from companion.model.lobby import read_text
from companion.web.rendering import texts
from companion.web.rendering.texts import Texts
from companion.web.site import HERE
from templo.quoting import nearest, quoted

LANGUAGE = "en"
"""The language of the output, as everywhere in this program."""

CHECK = "check"


def main(given: Sequence[str], others: Sequence[str] = ()) -> int:
    """Run ``<option> check FILE...``; return 0 if all are valid, 1 if one is not, 2 if none could be read.

    `others` are words that might have been meant in place of the option's key.
    """
    key = given[0]
    config = _config().parse_known_args(given[1:])[0].config
    games = registry.load(configuration.load(config, os.environ, {}).games)
    if key not in (options := file_options(games)):
        return _complain(f"{quoted(key)} is no command; {_meant(key, [*others, *options])}")
    known = [CHECK, *_changes(games, key)]
    if given[1:2] and not given[1].startswith("-") and given[1] not in known:
        return _complain(f"{key} {quoted(given[1])} is no command; {_meant(given[1], known)}")
    arguments = make_parser(games, key).parse_args(given[1:])
    takers = [game for game in games.values() if _option(game, key) and arguments.game in ("", game.name)]
    if len(takers) != 1:
        names = ", ".join(game.name for game in takers)
        trouble = f"several games take one ({names}); name one with --game" if takers else "no game takes such a file"
        return _complain(f"{key} {arguments.command}: {trouble}")
    (game,) = takers
    option, words = option_of(game, key), words_of(game)
    if arguments.command != CHECK:
        return _change(arguments.files[0], option, arguments.command, arguments.words)
    results = [_check(path, option, words) for path in arguments.files]
    return max(results)


def make_parser(games: Mapping[str, Game[Any]], key: str) -> argparse.ArgumentParser:
    """Return the parser of the commands for an option that reads a file, without the option's key before them."""
    parser = argparse.ArgumentParser(
        prog=f"templo-companion {key}", description=f"Check or change files for the option {key}."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser(CHECK, parents=[_config()], help="print what files contain, or each of their faults")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE", help="the files, each by itself")
    for name, made in _changes(games, key).items():
        change = commands.add_parser(name, parents=[_config()], help=f"change a file to {made}")
        change.add_argument("files", nargs=1, type=Path, metavar="FILE", help="the file")
        change.add_argument("words", nargs="*", metavar="WORD", help="what the command is about")
    return parser


def file_options(games: Mapping[str, Game[Any]]) -> dict[str, str]:
    """Return the key of every option that reads a file, with the names of the games that have it."""
    keys = sorted({option.key for game in games.values() for option in game.options if option.reader})
    return {key: ", ".join(name for name, game in games.items() if _option(game, key)) for key in keys}


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


def _change(path: Path, option: Option, command: str, words: Sequence[str]) -> int:
    assert option.reader is not None  # it was chosen for having one
    try:
        before = path.read_text(encoding="utf-8")
        after = option.reader.commands[command](before, words)
        path.write_text(after, encoding="utf-8")
    except OSError as error:
        return _complain(f"{path}: {error.strerror}")
    except ValueError as error:
        return _complain(f"{path}: {error}")
    print(f"{path}: {'nothing to change' if after == before else 'changed'}")
    return 0


def _changes(games: Mapping[str, Game[Any]], key: str) -> dict[str, str]:
    """Return each command that changes a file for an option, with what its docstring says it makes."""
    found = [option.reader for game in games.values() if (option := _option(game, key)) and option.reader]
    changes = {name: change for reader in found for name, change in reader.commands.items()}
    return {
        name: (change.__doc__ or "").partition("\n")[0].removeprefix("Return ").rstrip(".")
        for name, change in sorted(changes.items())
    }


def _option(game: Game[Any], key: str) -> Option | None:
    return next((option for option in game.options if option.key == key and option.reader), None)


def _meant(word: str, known: Sequence[str]) -> str:
    meant = nearest(word, known)
    return f"did you mean {meant}?" if meant else f"expected {' or '.join(known)}"


def _complain(message: str) -> int:
    print(f"templo-companion: {message}", file=sys.stderr)
    return 2


def _config() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--config", type=Path, metavar="SETTINGS", help="a settings file with additional games")
    parser.add_argument("--game", default="", help="the game, if several games have this option")
    return parser
