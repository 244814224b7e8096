"""The companion's command line and composition root: here, and only here, its parts are made and joined."""

from __future__ import annotations

import argparse
import faulthandler
import logging
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

from companion.adapters import store_lock
from companion.adapters.backup import BackupError
from companion.adapters.mqtt_intake import Intake
from companion.adapters.news import Hub
from companion.adapters.sql_store import SqlStore, StoreError
from companion.cli import backup, check, demo, replay
from companion.cli import held as held_commands
from companion.cli import settings as configuration
from companion.cli.settings import Settings
from companion.games import registry
from companion.service.services import Services
from companion.service.workspace import Workspace
from companion.web import WebConfig, create_app
from companion.web.rendering.texts import TextError
from companion.web.server.addresses import own_names, phone_address
from companion.web.server.serving import ServeError, Server
from templo import logs
from templo.liveness import Feeder, Pulse, supervisor
from templo.settings import SettingFlag, SettingsError, add_flags, given_flags

EXIT_DEAD = 70
"""A thread died; a supervisor should start the companion anew."""

WATCH_S = 2.0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["launch"]:
        from companion.cli import launch

        return launch.main(words[1:])
    if words[:1] == ["sheets"]:
        from companion.cli import sheets

        return sheets.main(words[1:])
    try:
        if words[1:2] == ["check"]:
            return check.main(words)
        arguments = _parser().parse_args(words)
        if arguments.command == "replay":
            settings = configuration.load(arguments.config, os.environ, given_flags(arguments))
            games = registry.with_tools(registry.load(settings.games))
            return replay.replay(arguments.file, games, sys.stdout, states=not arguments.short)
        if arguments.command in ("backup", "restore"):
            settings = configuration.load(arguments.config, os.environ, given_flags(arguments))
            os.umask(0o077)
            command = backup.back_up if arguments.command == "backup" else backup.restore
            return command(settings, arguments.file, _now(), sys.stdout)
        if arguments.command == "held":
            settings = configuration.load(arguments.config, os.environ, given_flags(arguments))
            os.umask(0o077)
            given = vars(arguments)
            wanted = held_commands.Wanted(
                **{name: given[name] for name in held_commands.Wanted._fields if name in given}
            )
            games = registry.with_tools(registry.load(settings.games))
            return held_commands.held(settings, wanted, games, _now, secrets.token_bytes, sys.stdout)
        if arguments.deck and not arguments.demo_table:
            raise SettingsError("--deck is given without --demo-table; expected both")
        settings = configuration.load(arguments.config, os.environ, given_flags(arguments))
        return run(settings, arguments.instance or secrets.token_hex(16), arguments.demo_table, arguments.deck)
    except (
        SettingsError,
        StoreError,
        BackupError,
        held_commands.HeldError,
        ServeError,
        TextError,
        registry.RegistryError,
    ) as error:
        print(f"templo-companion: {error}", file=sys.stderr)
        return 2


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


def run(settings: Settings, instance: str, demo_temple: str | None, deck: Path | None = None) -> int:
    """Serve until a signal ends it; raises `StoreError` where another companion uses the database."""
    logs.set_up("templo-companion", settings.log)
    logging.getLogger("sqlalchemy").setLevel(logging.WARNING)
    os.umask(0o077)
    try:
        settings.state_directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"state is {str(settings.state_directory)!r}; expected a writable directory ({error})"
        ) from None
    with store_lock.hold(settings.store_url):
        return _serve(settings, instance, demo_temple, deck)


def _serve(settings: Settings, instance: str, demo_temple: str | None, deck: Path | None) -> int:
    hub = Hub()
    store = SqlStore(settings.store_url)
    games = registry.with_tools(registry.load(settings.games))
    services = Services.over(Workspace(store, games, _now, secrets.token_bytes, hub.publish))
    if deck:
        demo.check_takes_deck(services)
    address = settings.web.address or f"http://{phone_address()}:{settings.web.port}"
    app = create_app(
        services,
        hub,
        WebConfig(
            allowed_hosts=(*own_names(), *settings.web.allowed_hosts),
            address=address,
            instance=instance,
            stream_cap=settings.web.streams,
            streams_each=settings.web.streams_each,
        ),
    )
    pulse = Pulse(("intake", "link", "server", "pages"), time.monotonic)
    server = Server(
        app,
        settings.web.host,
        settings.web.port,
        settings.web.streams,
        connections_each=settings.web.connections_each,
        proxy=settings.web.proxy,
        beat=pulse.of("server"),
        pages_beat=pulse.of("pages"),
        prove=lambda: hub.streams,
    )
    intake = Intake(
        services, settings.broker, instance, _now, pulse.of("intake"), pulse.of("link"), pulse.of("network")
    )
    watch = _Watch(Feeder(pulse, supervisor()))
    died: list[str] = []

    def stop(signum: int, frame: FrameType | None) -> None:
        hub.close()
        server.stop()

    def on_thread_exception(last: threading.ExceptHookArgs) -> None:
        died.append(last.thread.name if last.thread else "unknown")
        logging.critical("the thread %s died; ending, to be started anew", died[-1], exc_info=last.exc_value)
        stop(0, None)

    threading.excepthook = on_thread_exception
    with suppress(OSError, ValueError):  # stderr may be no file
        faulthandler.enable()  # so that a watchdog's SIGABRT leaves in the log where every thread stood
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    intake.start()
    watch.start()
    print(f"ready {address}", flush=True)
    draft = demo.table(services, demo_temple, deck) if demo_temple else None
    try:
        server.serve()
    finally:
        watch.stop()
        hub.close()
        if draft:
            draft.stop()
        intake.stop()
        store.close()
    return EXIT_DEAD if died else 0


class _Watch:
    """The thread that watches over the others, and feeds the supervisor's watchdog; if it dies, nobody does."""

    def __init__(self, feeder: Feeder) -> None:
        self._feeder = feeder
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()
        self._feeder.stopping()

    def _run(self) -> None:
        while not self._ending.wait(self._feeder.pause(WATCH_S)):
            self._feeder.turn()


def _now() -> datetime:
    return datetime.now(UTC)
