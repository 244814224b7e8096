"""The companion's command line: parses the arguments and imports only the program that the command needs."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from companion.cli.arguments import readable_file
from companion.settings import Settings
from templo import __version__
from templo.settings import SettingFlag, SettingsError, add_flags, described


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    # Flask, SQLAlchemy and the games take a Pi seconds to import: only what needs them waits for them.
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == ["launch"]:
        from companion.cli import launch

        return launch.main(given[1:])
    if given[:1] == ["club"]:
        from companion.cli.club import command_line as club

        return club.main(given[1:])
    if given[:1] == ["sheets"]:
        from companion.cli import sheets

        return sheets.main(given[1:])
    if given[:1] == ["game"]:
        from companion.cli.data import game

        return game.main(given[1:])
    if given[:1] == ["new-game"]:
        from companion.cli.new_game import command_line as new_game

        return new_game.main(given[1:])
    parser, subcommands = make_parser()
    if given[:1] in ([], ["-h"], ["--help"]):
        from companion.cli import commands

        for option, games in commands.file_options().items():
            subcommands.add_parser(
                option, help=f"check files for the option {option} of {games}: {option} check FILE..."
            )
    elif given[0] not in subcommands.choices and not given[0].startswith("-"):
        from companion.cli import commands

        return commands.check_files(given, tuple(subcommands.choices))
    try:
        arguments = parser.parse_args(given)
    except SettingsError as error:
        print(f"templo-companion: {error}", file=sys.stderr)
        return 2
    if arguments.command == "settings":
        return _print_settings(arguments.word)
    gc.disable()  # of what is imported nothing is garbage
    from companion.cli import commands

    gc.enable()
    return commands.carry_out(arguments)


def _print_settings(word: str) -> int:
    try:
        print("\n".join(described(Settings, word)), flush=True)
    except BrokenPipeError:  # the reader is gone; nothing more may be written, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def make_parser() -> tuple[argparse.ArgumentParser, Any]:
    """Return the parser, and its commands."""
    parser = argparse.ArgumentParser(
        prog="templo-companion", description="Keeps score for the tables that play with a temple."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run_command = commands.add_parser("run", help="serve the pages and receive the temples' tokens")
    add_flags(run_command)
    _add_flag(run_command, "web.host", "address to listen on")
    _add_flag(run_command, "web.port", "port to listen on")
    _add_store(run_command)
    run_command.add_argument("--instance", help="an id that /healthz returns, to recognise this process")
    run_command.add_argument(
        "--demo-table",
        action="append",
        default=[],
        metavar="TEMPLE",
        help="open and begin a table for four that uses this temple; may be given several times",
    )
    run_command.add_argument(
        "--deck",
        type=readable_file,
        metavar="FILE",
        help="use this deck at that table, and reload it whenever it is saved",
    )
    run_command.add_argument("--game", default="", metavar="NAME", help="the game of that table (default: mexica)")
    again = commands.add_parser("replay", help="replay an exported table and show where it fails")
    again.add_argument("file", type=Path, metavar="FILE", help="a table's JSON export")
    again.add_argument("--short", action="store_true", help="print what happened without the states")
    add_flags(again)
    for name, meaning, file in (
        ("backup", "write the whole store to one file; the companion may be running", "the new file"),
        ("restore", "replace the store with a backup; the companion must not be running", "a file that backup wrote"),
    ):
        command = commands.add_parser(name, help=meaning)
        command.add_argument("file", type=Path, metavar="FILE", help=file)
        add_flags(command)
        _add_store(command)
    everything = commands.add_parser(
        "export", help="write all tables and records as JSON; the companion may be running"
    )
    everything.add_argument("file", type=Path, metavar="FILE", help="the new file")
    add_flags(everything)
    _add_store(everything)
    _add_forget(commands)
    _add_held(commands)
    known = commands.add_parser("settings", help="print what each setting does, when to change it and what it takes")
    known.add_argument("word", nargs="?", default="", metavar="WORD", help="only those that this word is about")
    commands.add_parser("launch", help="start broker, companion and temple together", add_help=False)
    commands.add_parser("club", help="run several companions, brokers and simulated temples together", add_help=False)
    commands.add_parser("new-game", help="write the folder of a game that runs at once", add_help=False)
    commands.add_parser("game", help="check the folder of a game of one's own: game check FOLDER", add_help=False)
    commands.add_parser("sheets", help="build PDFs of the printable pages", add_help=False)
    return parser, commands


def _add_held(commands: Any) -> None:
    held = commands.add_parser("held", help="decide about tokens held apart; the companion must not be running")
    actions = held.add_subparsers(dest="what", required=True)
    for name, meaning in (
        ("list", "print them with time, slot and reason"),
        ("count", "count them at the table that their temple serves"),
        ("dismiss", "dismiss them as no tokens"),
    ):
        action = actions.add_parser(name, help=meaning)
        action.add_argument("--temple", default="", metavar="NAME", help="the temple, if several have such tokens")
        if name != "list":
            action.add_argument("tokens", nargs="*", metavar="ID", help="an id as printed by list")
            action.add_argument("--all", action="store_true", help="all tokens of the temple that are held apart")
        if name == "count":
            action.add_argument(
                "--for", dest="whose", required=True, metavar="SEAT", help="a seat, or the name of its player"
            )
        add_flags(action)
        _add_store(action)


def _add_forget(commands: Any) -> None:
    forget = commands.add_parser(
        "forget", help="remove a table or a person's name; the companion must not be running"
    )
    actions = forget.add_subparsers(dest="what", required=True)
    for name, meaning, value in (
        ("list", "print all tables with their ids and who played", ""),
        ("table", "remove a table with its log, for good", "ID"),
        ("person", "remove a name from every table, for good; the seat's name is shown instead", "NAME"),
    ):
        action = actions.add_parser(name, help=meaning)
        if value:
            action.add_argument("whom", metavar=value, help=f"the {name}'s {value.lower()}")
            action.add_argument("--yes", action="store_true", help="do it; without it, print what would be removed")
        add_flags(action)
        _add_store(action)


def _add_flag(parser: argparse.ArgumentParser, key: str, meaning: str) -> None:
    name = key.rpartition(".")[2]
    parser.add_argument(f"--{name}", dest=key, action=SettingFlag, metavar=name.upper(), help=meaning)


def _add_store(parser: argparse.ArgumentParser) -> None:
    _add_flag(parser, "store", "database URL, where it is not SQLite in the state directory")
