"""The companion's command line: parses it, and imports the program that the command needs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from templo.settings import SettingFlag, SettingsError, add_flags


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    # Flask, SQLAlchemy and the games take a Pi seconds to import: only what needs them waits for them.
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["launch"]:
        from companion.cli import launch

        return launch.main(words[1:])
    if words[:1] == ["sheets"]:
        from companion.cli import sheets

        return sheets.main(words[1:])
    if words[1:2] == ["check"]:
        from companion.cli import commands

        return commands.check_files(words)
    try:
        arguments = _parser().parse_args(words)
    except SettingsError as error:
        print(f"templo-companion: {error}", file=sys.stderr)
        return 2
    from companion.cli import commands

    return commands.carry_out(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="templo-companion",
        description="Keeps score for the temple's table.",
        epilog="A file that a table can bring for a game's option is checked under its name: deck check FILE...",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run_command = commands.add_parser("run", help="serve the pages and listen to the temples")
    add_flags(run_command)
    _add_flag(run_command, "web.host", "address to listen on")
    _add_flag(run_command, "web.port", "port to listen on")
    _add_store(run_command)
    run_command.add_argument("--instance", help="what /healthz answers, so that its starter knows it")
    run_command.add_argument(
        "--demo-table", metavar="TEMPLE", help="open and begin a table for four, served by this temple"
    )
    run_command.add_argument(
        "--deck",
        type=Path,
        metavar="FILE",
        help="let that table play with this deck, and follow it while it is edited",
    )
    again = commands.add_parser("replay", help="play an exported table again, and say where it breaks")
    again.add_argument("file", type=Path, metavar="FILE", help="what a table's page gave as its JSON")
    again.add_argument("--short", action="store_true", help="print what happened, and not each state")
    add_flags(again)
    for name, meaning, file in (
        ("backup", "write the whole store into one file, while the companion runs", "the new file"),
        ("restore", "replace the store by a backup, while the companion does not run", "what backup wrote"),
    ):
        command = commands.add_parser(name, help=meaning)
        command.add_argument("file", type=Path, metavar="FILE", help=file)
        add_flags(command)
        _add_store(command)
    _add_held(commands)
    commands.add_parser("launch", help="start broker, companion and temple together", add_help=False)
    commands.add_parser("sheets", help="build PDFs of the pages for the printer", add_help=False)
    return parser


def _add_held(commands: Any) -> None:
    held = commands.add_parser("held", help="decide about tokens held apart, while the companion does not run")
    actions = held.add_subparsers(dest="what", required=True)
    for name, meaning in (
        ("list", "print them, with time, slot and reason"),
        ("count", "let them count at the table that their temple serves"),
        ("dismiss", "say that they were no tokens"),
    ):
        action = actions.add_parser(name, help=meaning)
        action.add_argument("--temple", default="", metavar="NAME", help="the temple, where several hold some apart")
        if name != "list":
            action.add_argument("tokens", nargs="*", metavar="ID", help="as list prints it")
            action.add_argument("--all", action="store_true", help="all of the temple's")
        if name == "count":
            action.add_argument(
                "--for", dest="whose", required=True, metavar="SEAT", help="a seat, or who sits there"
            )
        add_flags(action)
        _add_store(action)


def _add_flag(parser: argparse.ArgumentParser, key: str, meaning: str) -> None:
    name = key.rpartition(".")[2]
    parser.add_argument(f"--{name}", dest=key, action=SettingFlag, metavar=name.upper(), help=meaning)


def _add_store(parser: argparse.ArgumentParser) -> None:
    _add_flag(parser, "store", "database URL, where it is not SQLite in the state directory")
