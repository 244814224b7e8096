"""The command `club`: runs a club until it is stopped, or controls one that is running."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from companion.cli.club import parts
from companion.cli.club.control import Control, Lines, send
from companion.cli.club.parts import TLS_PORT, Plan, Wish
from companion.cli.club.running import HELP, Club, CommandError
from companion.cli.programs import broker, network
from companion.cli.programs.children import Signals, end_with_parent
from companion.cli.programs.starting import LaunchError, Stopped, hold
from companion.cli.programs.terminal import Terminal
from templo.quoting import counted

LOOK = 5.0
"""Seconds between two checks of what has ended and how long logs have grown, where nothing happens."""

_LOCK = "club.lock"
_COMMANDS = ("status", "stop", "kill", "start", "log", "quit")


def main(argv: Sequence[str]) -> int:
    """Run the command line after ``club``; returns the exit code: 0 where all went well, else 1."""
    arguments = make_parser().parse_args(argv)
    folder = arguments.folder.absolute()
    if arguments.command:
        return _direct(folder, [arguments.command, *arguments.names])
    if arguments.with_parent:
        end_with_parent(signal.SIGTERM, os.getppid())
    wish = Wish(
        arguments.port or network.any_free_port(),
        arguments.brokers,
        arguments.workers,
        arguments.temples,
        arguments.pace,
    )
    terminal = Terminal(sys.stdout, keys=sys.stdin.isatty() and sys.stdout.isatty(), pictures=sys.stdout.isatty())
    try:
        with Signals() as signals, _held(folder, arguments.folder == default_folder()):
            _run(wish, folder, terminal, signals)
    except (LaunchError, CommandError) as error:
        print(error, file=sys.stderr)
        return 1
    except Stopped:
        pass
    terminal.write("", "Everything has ended.")
    return 0


def default_folder() -> Path:
    """Return where a club of this user keeps its files while it runs."""
    return Path(tempfile.gettempdir()) / f"templo-club-{os.geteuid()}"


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="templo-companion club",
        description="Run PostgreSQL, brokers, workers, a proxy with TLS and simulated temples on this machine.",
        epilog="While it runs:\n" + "\n".join(HELP),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", nargs="?", choices=_COMMANDS, help="direct the one that runs; without it, run one")
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts, such as worker-2, or all")
    wish = Wish()
    parser.add_argument("--workers", type=_number(1, 16), default=wish.workers, metavar="N", help="companions (4)")
    parser.add_argument(
        "--brokers", type=int, choices=(1, 3, 5), default=wish.brokers, help="nodes of the NATS cluster (3)"
    )
    parser.add_argument(
        "--temples", type=_number(0, 200), default=wish.temples, metavar="N", help="temples, each with a table (5)"
    )
    parser.add_argument(
        "--pace",
        type=_number(0, 600),
        default=wish.pace_s,
        metavar="SECONDS",
        help="between two tokens of a temple, in the mean; 0 for none (10)",
    )
    parser.add_argument(
        "--port",
        type=_number(0, 65535),
        default=TLS_PORT,
        help=f"port of the pages ({TLS_PORT}; 0 chooses a free one)",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=default_folder(),
        metavar="DIR",
        help="an empty folder for all files, which are removed at the end (in the system's temporary folder)",
    )
    parser.add_argument("--with-parent", action="store_true", help="stop when the parent process ends")
    return parser


def _number(least: int, most: int) -> Callable[[str], int]:
    def parsed(text: str) -> int:
        if text.isascii() and text.isdigit() and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(f"it is {text!r}; expected a whole number from {least} to {most}")

    return parsed


def _direct(folder: Path, command: Sequence[str]) -> int:
    """Send a command to the club that runs, and print what it answers."""
    try:
        done, lines = send(folder, command)
    except CommandError as error:
        done, lines = False, [str(error)]
    Terminal(sys.stdout if done else sys.stderr, keys=False, pictures=False).write(*lines)
    return 0 if done else 1


def _run(wish: Wish, folder: Path, terminal: Terminal, signals: Signals) -> None:
    if sentence := parts.missing():
        raise LaunchError(sentence)
    if trouble := network.trouble(wish.port):
        other = network.next_free(max(wish.port, 1023))
        raise LaunchError(f'Port {wish.port}, for the pages, {trouble} another with make club ARGS="--port {other}".')
    plan = parts.plan(wish, folder)
    control = Control(folder)
    club = Club(plan, signals, terminal.write)
    try:
        terminal.write("Starting:")
        club.start()
        terminal.write(*_greeting(plan, wish, club))
        _obey_until_end(club, control, terminal, signals)
    finally:
        control.close()
        club.end()


def _obey_until_end(club: Club, control: Control, terminal: Terminal, signals: Signals) -> None:
    typed = Lines(sys.stdin.fileno()) if terminal.keys else None
    while not (signals.end_requested or club.quit_requested or (typed and typed.ended)):
        if signals.wait(LOOK, control, *([typed] if typed else [])):
            return
        club.watch()
        control.serve(club.obey)
        for line in typed.read() if typed else ():
            try:
                terminal.write(*club.obey(line.split()))
            except CommandError as error:
                terminal.write(str(error))


def _greeting(plan: Plan, wish: Wish, club: Club) -> list[str]:
    lines = [
        "",
        f"A club of {counted(wish.temples, 'temple')} is running.",
        "",
        f"  Its pages             {plan.urls[0]}/tables",
    ]
    lines += [f"                    or  {url}/tables" for url in plan.urls[1:]]
    lines += [f"  The organiser's page  {plan.urls[0]}/organiser, code {plan.organiser_code}"]
    lines += [f"  The owner's code      {plan.owner_code}"]
    lines += [f"  A temple to pair      {parts.GUEST}, on that page, from this machine"]
    if found := club.output("worker-1", "table"):
        code, path = found[0].split()
        lines += [f"  A table, by its code  {code}  {plan.urls[0]}{path}"]
    lines += [f"  For Prometheus        {url}" for url in plan.metrics[:1]]
    lines += [f"                        {url}" for url in plan.metrics[1:]]
    lines += [
        f"  The brokers' user     {broker.USER}, password {plan.broker_password}",
        "",
        "Browsers warn of the certificate until they trust the authority that /trust offers.",
        'Direct it by typing here, or elsewhere with make club ARGS="stop worker-2":',
        "",
        *HELP,
        "",
        "Ctrl-C ends everything.",
    ]
    return lines


@contextmanager
def _held(folder: Path, is_default: bool) -> Iterator[None]:
    """Hold a folder against a second club, empty, and remove what is in it at the end. Raises `LaunchError`."""
    try:
        folder.mkdir(mode=0o700, parents=not is_default, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise LaunchError(f"{folder} is somebody else's: choose another folder with --folder DIR.")
        if any(path.name != _LOCK for path in folder.iterdir()) and not (folder / _LOCK).exists():
            raise LaunchError(f"{folder} is not empty: choose another folder with --folder DIR.")
        # PostgreSQL refuses to run as root, and the user that it runs as must be able to enter this folder.
        folder.chmod(0o711 if os.geteuid() == 0 else 0o700)
        lock = hold(
            folder / _LOCK,
            f"A club is already running in {folder}: end it with make club ARGS=quit, or choose another folder "
            "with --folder DIR.",
        )
    except OSError as error:
        raise LaunchError(f"folder is {str(folder)!r}; expected one that can be written ({error}).") from None
    with lock:
        try:
            _clear(folder)
            yield
        finally:
            _clear(folder)
            (folder / _LOCK).unlink()
            if is_default:
                folder.rmdir()


def _clear(folder: Path) -> None:
    """Remove what is in a folder, but for its lock; a club that was killed leaves everything behind."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != _LOCK:
            path.unlink()
