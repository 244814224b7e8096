"""The command ``templo-mayor`` of the Debian package."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from templo import __version__

if TYPE_CHECKING:
    from companion.cli.programs.terminal import Terminal


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns 0 where the temple counts and its page answers, and 1 where it does not."""
    given = make_parser().parse_args(arguments)
    # The hotspot's check runs while the daemons start, which takes a Pi seconds: it imports only what it needs.
    if given.command == "network":
        return _network(given.action)
    from companion.appliance import status, tls
    from companion.cli.programs.terminal import Terminal
    from templo.settings import SettingsError

    terminal = Terminal(sys.stdout, keys=False, pictures=sys.stdout.isatty())
    if given.command in ("backup", "restore"):
        return _backup(given, terminal)
    if given.command == "club-site":
        return _club_site(given, terminal)
    if given.command == "prepare-image":
        return _prepare_image(given.yes, terminal)
    try:
        if given.command == "tls":
            return _tls(given, terminal)
        found = status.look(
            status.systemctl, status.metrics, tls.Tls(tls.FOLDER, tuple, status.systemctl, tls.PACKAGED).is_on
        )
    except SettingsError as error:
        is_forbidden = status.SETTINGS.exists() and not os.access(status.SETTINGS, os.R_OK)
        terminal.write(
            f"You may not read {status.SETTINGS}: sudo templo-mayor {given.command}"
            if is_forbidden
            else f"The companion cannot start: {error}"
        )
        return 1
    if given.no_secrets:
        found = status.without_secrets(found)
    terminal.write(*status.described(found, terminal.code))
    return 0 if found.counts else 1


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="templo-mayor", description="The temple that is installed on this machine.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    shown = commands.add_parser("status", help="show how it is, where phones find it, and what to do next")
    shown.add_argument("--no-secrets", action="store_true", help="leave out codes and passwords, for a log")
    network = commands.add_parser(
        "network", help="answer one request about the network, or open a hotspot; for units"
    )
    network.add_argument("action", choices=("serve", "watch"), help="answer one request, or keep watch")
    _add_tls(commands.add_parser("tls", help="serve the pages over TLS, too"))
    _add_backup(commands)
    _add_club_site(commands)
    prepared = commands.add_parser(
        "prepare-image", help="remove what copies of this card must not share, before it is copied"
    )
    prepared.add_argument("--yes", action="store_true", help="do not ask before tokens, tables and backups go")
    return parser


def _add_tls(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", default="on", choices=("on", "off", "renew"), help="default: on; renew looks if it must"
    )
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="one made elsewhere, with its chain, as PEM")
    parser.add_argument("--key", type=Path, metavar="FILE", help="the key of that certificate, without a password")


def _add_backup(commands: Any) -> None:
    made = commands.add_parser("backup", help="write tokens, games and settings to one file, while all of it runs")
    made.add_argument(
        "file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="the new file; without one, today's in /var/backups/templo-mayor, where the newest seven are kept",
    )
    restore = commands.add_parser("restore", help="replace tokens, games and settings by those of a backup")
    restore.add_argument("file", type=Path, metavar="FILE", help="a file that backup wrote, on this card or another")


def _backup(given: argparse.Namespace, terminal: Terminal) -> int:
    from companion.appliance import backup, status

    if os.geteuid() != 0:
        terminal.write(f"This needs root: sudo templo-mayor {given.command}")
        return 1
    command = backup.back_up if given.command == "backup" else backup.restore
    try:
        terminal.write(*command(backup.installed(status.systemctl), given.file, datetime.now().astimezone()))
    except backup.BackupError as error:
        print(f"templo-mayor: {error}", file=sys.stderr)
        return 1
    return 0


def _add_club_site(commands: Any) -> None:
    hosted = commands.add_parser("club-site", help="host several clubs, each with its own companion")
    actions = hosted.add_subparsers(required=True, metavar="ACTION", dest="action")
    actions.add_parser("list", help="print every club with its address, ports, size and organiser's code")
    added = actions.add_parser("add", help="add a club")
    added.add_argument("name", metavar="NAME", help="1 to 16 lower-case letters, digits and hyphens")
    added.add_argument(
        "--address",
        required=True,
        metavar="URL",
        help="where a proxy serves its pages, such as https://club-a.example",
    )
    removed = actions.add_parser("remove", help="remove a club with everything that it has stored")
    removed.add_argument("name", metavar="NAME", help="the club's name")
    removed.add_argument("--yes", action="store_true", help="do not ask before")


def _club_site(given: argparse.Namespace, terminal: Terminal) -> int:
    from companion.appliance import clubs

    if os.geteuid() != 0:
        terminal.write(f"This needs root: sudo templo-mayor club-site {given.action}")
        return 1
    machine = clubs.installed()
    try:
        if given.action == "list":
            terminal.write(*clubs.listed(machine))
        elif given.action == "add":
            terminal.write(*clubs.add(machine, given.name, given.address))
        elif given.yes or _agreed(clubs.question(machine, given.name), terminal):
            terminal.write(*clubs.remove(machine, given.name))
        else:
            return 1
    except clubs.ClubError as error:
        print(f"templo-mayor: {error}", file=sys.stderr)
        return 1
    return 0


def _agreed(question: str, terminal: Terminal) -> bool:
    """Return whether a person says yes; where there is none, nobody does."""
    if not sys.stdin.isatty():
        print(f"templo-mayor: {question.partition('Go on?')[0]}Add --yes to do it.", file=sys.stderr)
        return False
    if input(question).strip().lower() in ("y", "yes"):
        return True
    terminal.write("Nothing was removed.")
    return False


def _prepare_image(is_sure: bool, terminal: Terminal) -> int:
    from companion.appliance import image, status

    if os.geteuid() != 0:
        terminal.write("This needs root: sudo templo-mayor prepare-image")
        return 1
    card = image.installed(status.systemctl)
    if not is_sure and (question := image.question(card)) and not _agreed(question, terminal):
        return 1
    try:
        terminal.write(*image.prepare(card))
    except image.ImageError as error:
        print(f"templo-mayor: {error}", file=sys.stderr)
        return 1
    return 0


def _tls(given: argparse.Namespace, terminal: Terminal) -> int:
    from companion.adapters.network.addresses import own_addresses, own_names
    from companion.appliance import status, tls

    if bool(given.certificate) != bool(given.key) or (given.certificate and given.action != "on"):
        terminal.write("A certificate is given with its key: templo-mayor tls --certificate FILE --key FILE")
        return 2
    web = status.web_settings(status.systemctl)
    hosts = (*own_names(), *(address for address in own_addresses() if ":" not in address), *web.allowed_hosts)
    code, lines = tls.command(
        tls.Tls(tls.FOLDER, lambda: hosts, status.systemctl, tls.PACKAGED),
        given.action,
        (given.certificate, given.key) if given.certificate else None,
        web.port,
        web.proxy,
        status.pages_now(web, status.systemctl),
    )
    terminal.write(*lines)
    return code


def _network(action: str) -> int:
    from companion.appliance.network_helper import Helper

    helper = Helper()
    if action == "serve":
        with socket.socket(fileno=os.dup(0)) as connection, connection.makefile("rb") as file:

            def answer(line: bytes) -> None:
                connection.sendall(line + b"\n")
                connection.shutdown(socket.SHUT_RDWR)

            return helper.serve(file, answer)
    helper.keep_watch(lambda done: print(done, flush=True))
    return 0
