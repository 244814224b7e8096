"""The reference of every command and option, from the parsers of the programs."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

from companion.appliance import command_line as appliance
from companion.cli import command_line as companion
from companion.cli import launch, sheets
from companion.cli.club import command_line as club
from companion.cli.data import check, game
from companion.cli.new_game import command_line as new_game
from companion.games import registry
from controller.app import command_line as controller
from lab import command_line as lab
from templo.settings import add_flags
from tools import cells

ROOT = Path(__file__).resolve().parents[1]
OFTEN = 3
"""From how many commands of a program an option is described once for all of them."""


def parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield each program's parser with its name, those of commands that have one of their own among them."""
    yield "templo-controller", controller.make_parser()
    yield "templo-companion", companion.make_parser()[0]
    for module in (launch, club, sheets, game, new_game):
        yield (made := module.make_parser()).prog, made
    games = registry.load()
    for key in check.file_options(games):
        yield (made := check.make_parser(games, key)).prog, made
    yield "templo-mayor", appliance.make_parser()
    yield "templo-broker-access", _broker_access()
    yield "python -m lab", lab.make_parser()


def _broker_access() -> argparse.ArgumentParser:
    """Return the parser of a program that is a file without an ending, which the package installs by itself."""
    loader = SourceFileLoader("broker_access", str(ROOT / "systemd" / "broker-access"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = sys.modules[loader.name] = module_from_spec(spec)
    loader.exec_module(module)
    made: argparse.ArgumentParser = module.make_parser()
    return made


def commands(parser: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Yield each command of a parser that has no further ones: its name, what it does, and its own parser."""
    for group in (each for each in parser._actions if isinstance(each, argparse._SubParsersAction)):
        meanings = {each.dest: each.help or "" for each in group._choices_actions}
        for word, inner in group.choices.items():
            found = list(commands(inner, f"{name}{word} "))
            yield from found or [(name + word, meanings[word], inner)]


def options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Yield each option and argument of a parser as it is typed, and what it does.

    Raises `ValueError` for one that does not say it.
    """
    for each in parser._actions:
        if isinstance(each, argparse._SubParsersAction | argparse._HelpAction | argparse._VersionAction):
            continue
        meaning = (each.help or "") % {**vars(each), "prog": parser.prog}
        if not any(letter.isalpha() for letter in meaning.partition("(")[0]):
            raise ValueError(f"{parser.prog}: {each.dest} does not say what it does; give it a help text")
        yield _typed(each), meaning


def _typed(option: argparse.Action) -> str:
    value = option.metavar or ("|".join(map(str, option.choices)) if option.choices else option.dest.upper())
    value = " ".join(value) if isinstance(value, tuple) else value
    flag = ", ".join(option.option_strings)
    if option.nargs == 0:
        return flag
    value = f"[{value}]" if option.nargs in ("?", "*") else value
    return f"{flag} {value}" if flag else value


def _common() -> dict[str, str]:
    parser = argparse.ArgumentParser(add_help=False)
    add_flags(parser)
    return dict(options(parser))


def sections() -> Iterator[str]:
    """Yield the lines of the reference: a heading and a table for each program, the common flags first."""
    common = _common()
    yield from ("## Flags of every command of controller and companion", "", *_options(list(common.items())), "")
    for name, parser in parsers():
        yield from (f"## {name}", "")
        own = list(options(parser))
        if own:
            yield from (f"{parser.description}", "", *_options(own), "")
        found = [
            (command, meaning, [each for each in options(inner) if each[0] not in common])
            for command, meaning, inner in commands(parser)
        ]
        often = Counter(each for _, _, kept in found for each in kept)
        shared = [each for each, times in often.items() if times >= OFTEN]
        if shared:
            yield from ("Options of several commands:", "", *_options(shared), "")
        if found:
            yield from ("| command | what it does | options and arguments |", "|---|---|---|")
            for command, meaning, kept in found:
                listed = [cells.code(o) + ("" if (o, m) in shared else f": {cells.words(m)}") for o, m in kept]
                yield f"| `{command}` | {cells.words(meaning)} | {'<br>'.join(listed)} |"
            yield ""


def _options(given: list[tuple[str, str]]) -> Iterator[str]:
    yield from ("| option | what it does |", "|---|---|")
    for option, meaning in given:
        yield f"| {cells.code(option)} | {cells.words(meaning)} |"
