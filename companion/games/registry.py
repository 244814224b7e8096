"""Finds the game folders, ours and those that a setting names, and checks each before a table can open it.

It imports what it finds and reads nothing else; no game's name appears here.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from companion.games.kit import CHANCE, TEMPLE, Game, Option

PACKAGE = "companion.games"
"""The package under which every game is imported, wherever its folder is."""

KIT = "kit"
"""The folder of the kit beside the games, whose name no game may have."""

_HERE = Path(__file__).resolve().parent


class RegistryError(Exception):
    """A folder that is not a game: the message names the folder, what was found and what was expected."""


def load(paths: Iterable[str | Path] = ()) -> Mapping[str, Game[Any]]:
    """Return the games of this tree and of further game folders, each under its folder's name.

    Raises `RegistryError` for a folder that cannot be imported, breaks the protocol, or has a name that is taken.
    """
    games: dict[str, Game[Any]] = {}
    for folder in (*_ours(), *(Path(path).expanduser().resolve() for path in paths)):
        name = folder.name
        if name in games or name == KIT:
            raise RegistryError(f"game folder {folder}: the name {name!r} is taken; expected one of its own")
        games[name] = _checked(folder, getattr(_imported(folder), "GAME", None))
    return MappingProxyType(games)


def with_tools(games: Mapping[str, Game[Any]]) -> Mapping[str, Game[Any]]:
    """Return the games and, after each, its tools: everything that a table can play, by its full name."""
    return MappingProxyType({each.name: each for game in games.values() for each in (game, *game.tools.values())})


def parts(name: str) -> tuple[str, str]:
    """Return the game and the tool in a full name; the tool is empty for the game itself."""
    game, _, tool = name.partition(".")
    return game, tool


def folder(game: Game[Any]) -> Path:
    """Return the folder of a game that `load` returned, or of the game that a tool belongs to."""
    name, tool = parts(game.name)
    module = sys.modules.get(f"{PACKAGE}.{name}")
    found = getattr(module, "GAME", None)
    if found is not None and tool:
        found = found.tools.get(tool)
    if module is None or module.__file__ is None or found is not game:
        raise RegistryError(f"game {game.name!r} was not loaded from a folder; expected one that load() returned")
    return Path(module.__file__).parent


def _ours() -> list[Path]:
    return sorted(path.parent for path in _HERE.glob("*/__init__.py") if path.parent.name != KIT)


def _imported(folder: Path) -> ModuleType:
    name, first = f"{PACKAGE}.{folder.name}", folder / "__init__.py"
    if not folder.name.isidentifier():
        raise RegistryError(f"game folder {folder}: its name is {folder.name!r}; expected a Python name")
    if not first.is_file():
        raise RegistryError(f"game folder {folder}: expected a folder with an __init__.py that defines GAME")
    try:
        if folder.parent == _HERE:
            return importlib.import_module(name)
        return _imported_from_afar(name, first)
    except Exception as error:  # foreign code may raise anything; the message names it
        words = error.msg if isinstance(error, SyntaxError) else error
        fault = f"{type(error).__name__}: {words}{_place(error, folder)}"
        raise RegistryError(f"game folder {folder} cannot be imported: {fault}") from error


def place(error: BaseException, folder: Path) -> tuple[Path, int] | None:
    """Return the last file and line of a game folder that an error passed through, code or template; or None.

    A syntax error in a file of the folder has its own.
    """
    if isinstance(error, SyntaxError) and error.filename and folder in Path(error.filename).parents:
        return Path(error.filename), error.lineno or 1
    lines = [f for f in traceback.extract_tb(error.__traceback__) if folder in Path(f.filename).parents]
    return (Path(lines[-1].filename), lines[-1].lineno or 1) if lines else None


def _place(error: BaseException, folder: Path) -> str:
    """Return where in a game folder an error was raised, in words; a syntax error names its own line."""
    found = place(error, folder)
    return f" (line {found[1]} of {found[0].relative_to(folder)})" if found else ""


def _imported_from_afar(name: str, first: Path) -> ModuleType:
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(first):
        return known
    _forget(name)
    spec = importlib.util.spec_from_file_location(name, first, submodule_search_locations=[str(first.parent)])
    assert spec is not None  # a path that ends in .py always has a loader
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        _forget(name)
        raise
    return module


def _forget(name: str) -> None:
    for each in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
        del sys.modules[each]


def _checked(folder: Path, game: Any) -> Game[Any]:
    """Return the game, or raise the first fault found, which would otherwise appear in the middle of play."""
    if game is None:
        raise RegistryError(f"game folder {folder}: it has no GAME; expected a kit.Game under that name")
    try:
        fault = next(_faults(folder, game), None)
    except (AttributeError, TypeError, ValueError) as error:
        fault = f"GAME is not as kit.Game wants it ({error})"
    if fault:
        raise RegistryError(f"game folder {folder}: {fault}")
    checked: Game[Any] = game
    return checked


def _faults(folder: Path, game: Any) -> Iterator[str]:
    if not isinstance(game, Game):
        yield f"GAME is {game!r}; expected a kit.Game"
    if game.name != folder.name:
        yield f"GAME.name is {game.name!r}; expected {folder.name!r}, the folder's name"
    if type(game.rules_version) is not int or game.rules_version < 1:
        yield f"GAME.rules_version is {game.rules_version!r}; expected a whole number from 1"
    yield from _option_faults(game)
    yield from _seating_faults(game)
    yield from _temple_faults(game)
    for name, tool in game.tools.items():
        yield from (f"aid {name!r}: {fault}" for fault in _tool_faults(game, name, tool))


def _tool_faults(game: Any, name: str, tool: Any) -> Iterator[str]:
    if not name.isidentifier() or tool.name != f"{game.name}.{name}":
        yield f"GAME.name is {tool.name!r}; expected '{game.name}.{name}'"
    if len(tool.seatings) != 1 or 1 not in tool.seatings:
        yield f"GAME.seatings is {dict(tool.seatings)!r}; expected one seat"
    if tool.tools:
        yield "GAME.tools is not empty; expected no tools of a tool"
    yield from _option_faults(tool)
    yield from _seating_faults(tool)


def _option_faults(game: Any) -> Iterator[str]:
    options: dict[str, Option] = {}
    for option in game.options:
        if not isinstance(option, Option):
            yield f"GAME.options holds {option!r}; expected only kit.Option"
        if option.key in options:
            yield f"GAME.options holds {option.key!r} twice; expected each key once"
        if option.reader and option.high:
            yield f"option {option.key!r} has a range and a reader; expected one of the two at most"
        if not option.accepts(option.default):
            yield f"option {option.key!r} has the default {option.default!r}; expected one that it accepts"
        options[option.key] = option
    for key, option in options.items():
        if option.only and not (option.only[0] in options and options[option.only[0]].accepts(option.only[1])):
            yield f"option {key!r} matters only with {option.only!r}; expected another option and a value of it"
    if not game.presets:
        yield "GAME.presets is empty; expected at least one preset"
    for preset, chosen in game.presets.items():
        for key, value in chosen.items():
            if key not in options:
                yield f"preset {preset!r} sets {key!r}; expected only options of the game"
            if not options[key].accepts(value):
                yield f"preset {preset!r} sets {key!r} to {value!r}; expected a value that the option accepts"


def _temple_faults(game: Any) -> Iterator[str]:
    if game.rules.table is None:
        return
    takes = any(row.by == TEMPLE for row in game.rules.table)
    if takes and game.temple is None:
        yield "the table has moves by the temple, but GAME.temple is None; expected what it does with tokens"
    if game.temple is not None and not takes:
        yield "GAME.temple is given, but no move of the table is the temple's; expected such as kit.TokenCount.moves"
    if game.temple is not None and game.rules.listed and not game.rules.has_anytime:
        yield "tokens may wait, but no move settles them; expected Rules.anytime, such as kit.TokenCount.settling"


def _seating_faults(game: Any) -> Iterator[str]:
    if not game.seatings:
        yield "GAME.seatings is empty; expected the seats for at least one number of players"
    for players, seats in game.seatings.items():
        if type(players) is not int or len(seats) != players or len(set(seats)) != players:
            yield f"GAME.seatings[{players!r}] is {seats!r}; expected that many different seats"
        if not all(isinstance(seat, str) and seat for seat in seats) or {TEMPLE, CHANCE} & set(seats):
            yield f"GAME.seatings[{players!r}] is {seats!r}; expected names other than {TEMPLE!r} and {CHANCE!r}"
