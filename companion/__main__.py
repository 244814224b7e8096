"""The companion's command line and composition root: here, and only here, its parts are made and joined."""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

from companion import settings as configuration
from companion.addresses import own_names, phone_address
from companion.games import registry
from companion.house import House
from companion.intake import Broker, Intake
from companion.live import Hub
from companion.settings import Settings, SettingsError
from companion.store import SqlStore, StoreError
from companion.web import WebConfig, create_app
from companion.web.serving import ServeError, Server
from companion.web.texts import TextError

DEMO_GAME = "mexica"
DEMO_TOKENS = 52
"""The age of the demo's table ends after an evening's tokens, so that its end can be seen."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["launch"]:
        from companion import launch

        return launch.main(words[1:])
    if words[:1] == ["sheets"]:
        from companion import sheets

        return sheets.main(words[1:])
    arguments = _parser().parse_args(words)
    try:
        settings = configuration.load(arguments.config, os.environ, _flags(arguments))
        return run(settings, arguments.instance or secrets.token_hex(16), arguments.demo_table)
    except (SettingsError, StoreError, ServeError, TextError, registry.RegistryError) as error:
        print(f"templo-companion: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="templo-companion", description="Keeps score for the temple's table.")
    commands = parser.add_subparsers(dest="command", required=True)
    run_command = commands.add_parser("run", help="serve the pages and listen to the temples")
    run_command.add_argument("--config", type=Path, metavar="FILE", help="a TOML file of settings")
    for path, meaning in (
        ("web.host", "address to listen on"),
        ("web.port", "port to listen on"),
        ("state", "directory that holds what must last"),
        ("store", "database URL, where it is not SQLite in the state directory"),
    ):
        flag = path.removeprefix("web.").replace(".", "-")
        run_command.add_argument(f"--{flag}", dest=path, metavar=path.rpartition(".")[2].upper(), help=meaning)
    run_command.add_argument("--broker", metavar="HOST[:PORT]", help="the MQTT broker's address")
    run_command.add_argument("--instance", help="what /healthz answers, so that its starter knows it")
    run_command.add_argument(
        "--demo-table", metavar="TEMPLE", help="open and begin a table for four, served by this temple"
    )
    commands.add_parser("launch", help="start broker, companion and temple together", add_help=False)
    commands.add_parser("sheets", help="build PDFs of the pages for the printer", add_help=False)
    return parser


def _flags(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("web.host", "web.port", "state", "store")
    flags = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    if arguments.broker is not None:
        host, colon, port = arguments.broker.rpartition(":")
        flags |= {"broker.host": host, "broker.port": port} if colon else {"broker.host": arguments.broker}
    return flags


def run(settings: Settings, instance: str, demo_temple: str | None) -> int:
    """Serve until a signal ends it."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("sqlalchemy").setLevel(logging.WARNING)
    os.umask(0o077)
    try:
        settings.state_directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"state is {str(settings.state_directory)!r}; expected a writable directory ({error})"
        ) from None
    hub = Hub()
    store = SqlStore(settings.store_url)
    house = House(store, registry.with_aids(registry.load(settings.games)), _now, secrets.token_bytes, hub.publish)
    address = settings.web.address or f"http://{phone_address()}:{settings.web.port}"
    app = create_app(
        house,
        hub,
        WebConfig(
            allowed_hosts=(*own_names(), *settings.web.allowed_hosts),
            address=address,
            instance=instance,
            stream_cap=settings.web.streams,
        ),
    )
    server = Server(app, settings.web.host, settings.web.port, settings.web.streams)
    broker = Broker(settings.broker.host, settings.broker.port, settings.broker.user, settings.broker.password)
    intake = Intake(house, broker, instance, _now, secrets.token_bytes)

    def stop(signum: int, frame: FrameType | None) -> None:
        hub.close()
        server.stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    intake.start()
    print(f"ready {address}", flush=True)
    if demo_temple:
        _demo_table(house, demo_temple)
    try:
        server.serve()
    finally:
        hub.close()
        intake.stop()
        store.close()
    return 0


def _demo_table(house: House, temple: str) -> None:
    running = [table for table in house.tables() if table.temple == temple and table.phase == "running"]
    if running:
        table = running[0]
    else:
        house.expect(temple)
        options = {"apocalypse_tokens": DEMO_TOKENS}
        table = house.open_table(DEMO_GAME, "Templo Mayor", 4, "temple_only", options, temple)
        table = house.begin(table.id, table.code)
    print(f"table {table.code} /t/{table.id}", flush=True)


def _now() -> datetime:
    return datetime.now(UTC)


if __name__ == "__main__":
    sys.exit(main())
