"""Runs the companion's commands, and turns every expected error into one line and an exit code."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from companion import settings as configuration
from companion.adapters.database.backup import BackupError
from companion.adapters.database.opening import StoreError
from companion.cli import daemon, demo
from companion.cli.data import backup, check, export, forget, replay
from companion.cli.data import held as held_commands
from companion.cli.trouble import explained
from companion.games import registry
from companion.web.rendering.texts import TextError
from companion.web.server.serving import ServeError
from templo.liveness import refused_settings, supervisor
from templo.settings import SettingsError, given_flags

_ERRORS = (
    SettingsError,
    StoreError,
    BackupError,
    held_commands.HeldError,
    forget.ForgetError,
    ServeError,
    TextError,
    registry.RegistryError,
)
_LASTING = (SettingsError, TextError, registry.RegistryError)
"""Errors that last until somebody fixes them; a port in use may be free a moment later."""

EXIT_USAGE = 2
_OF_A_STORE = ("backup", "restore", "export", "forget", "held")
"""Commands for a store that is there already."""


def check_files(given: Sequence[str], others: Sequence[str]) -> int:
    """Run ``<option> check FILE...``, of an option that a game declares; returns the exit code.

    `others` are the commands that there are besides.
    """
    return _exit_code(lambda: check.main(given, others))


def file_options() -> dict[str, str]:
    """Return the options that read a file, each with the games that have it; none while settings are wrong."""
    try:
        return check.file_options(registry.load(configuration.load(None, os.environ, {}).games))
    except (SettingsError, registry.RegistryError):  # the list of commands is for whoever mends that
        return {}


def carry_out(arguments: argparse.Namespace) -> int:
    """Run any other command with the settings from its flags; return the exit code."""
    return _exit_code(lambda: _run(arguments))


def _exit_code(command: Callable[[], int]) -> int:
    try:
        return command()
    except _ERRORS as error:
        print(f"templo-companion: {error}", file=sys.stderr)
        if isinstance(error, _LASTING):
            return refused_settings(str(error), supervisor(), EXIT_USAGE)
        return EXIT_USAGE


def _run(arguments: argparse.Namespace) -> int:
    installed = configuration.INSTALLED if arguments.command in _OF_A_STORE else None
    settings = configuration.load(arguments.config, os.environ, given_flags(arguments), installed=installed)
    try:
        return _carry_out(settings, arguments)
    except _ERRORS:
        raise
    except Exception as error:
        if explanation := explained(error, settings.store_url):
            raise StoreError(explanation) from error
        raise


def _carry_out(settings: configuration.Settings, arguments: argparse.Namespace) -> int:
    if arguments.command == "replay":
        games = registry.with_tools(registry.load(settings.games))
        return replay.replay(arguments.file, games, sys.stdout, states=not arguments.short)
    if arguments.command in ("backup", "restore"):
        os.umask(0o077)
        command = backup.back_up if arguments.command == "backup" else backup.restore
        return command(settings, arguments.file, _now(), sys.stdout)
    if arguments.command == "export":
        os.umask(0o077)
        games = registry.with_tools(registry.load(settings.games))
        return export.export(settings, arguments.file, games, _now(), sys.stdout)
    if arguments.command == "forget":
        os.umask(0o077)
        whom = forget.Whom(arguments.what, getattr(arguments, "whom", ""), getattr(arguments, "yes", False))
        return forget.forget(settings, whom, sys.stdout)
    if arguments.command == "held":
        os.umask(0o077)
        given = vars(arguments)
        wanted = held_commands.Wanted(**{name: given[name] for name in held_commands.Wanted._fields if name in given})
        games = registry.with_tools(registry.load(settings.games))
        return held_commands.held(settings, wanted, games, _now, secrets.token_bytes, sys.stdout)
    if arguments.deck and len(arguments.demo_table) != 1:
        raise SettingsError(f"--deck is given with {len(arguments.demo_table)} of --demo-table; expected one")
    if arguments.game and len(arguments.demo_table) != 1:
        raise SettingsError(f"--game is given with {len(arguments.demo_table)} of --demo-table; expected one")
    shown = demo.Demo(arguments.demo_table, arguments.deck, arguments.game or demo.GAME)
    return daemon.run(settings, arguments.instance or secrets.token_hex(16), shown if arguments.demo_table else None)


def _now() -> datetime:
    return datetime.now(UTC)
