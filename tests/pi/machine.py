"""An emulated Raspberry Pi that starts from the image of a card, in QEMU, and is typed to through its serial console.

Two machines start the same image. ``raspi3b`` is the board, with its own device tree and GPIO controller, whose model
has neither edges nor a network that answers. ``virt`` has both: a GPIO controller (PL061) whose lines are pulled from
outside, and a network card. Each has a clock that counts instructions, 500 million a second.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests import fresh
from tests.kernel.temple import used_s

Model = Literal["raspi3b", "virt"]
CONSOLES: dict[Model, str] = {"raspi3b": "ttyS1", "virt": "ttyAMA0"}
FIRST_MIB = 4
"""Where an image's boot partition begins."""

CARD_MIB = 2048
"""A card's size: QEMU takes powers of two alone."""

INSIDE = Path(__file__).with_name("inside.py")
"""A program of ours that each card has on its boot partition."""

RUN = f"python3 /boot/firmware/{INSIDE.name}"
NS = 1_000_000_000
PATIENCE_S = 1800.0
SHELL, PROMPT = r"root@\S+# ", "@ready@"
LONGEST = 200
"""How long what the console is waited for may be."""


class PiError(Exception):
    """What a machine did not do, with the end of what it printed."""


@dataclass
class Card:
    """The image of one card in a root of tools, and how to read and change its boot partition."""

    tools: fresh.Root
    name: str

    @property
    def file(self) -> Path:
        """Where the card's image is on this machine."""
        return self.tools.folder / "srv" / self.name

    def copied(self, name: str) -> Card:
        """Return a copy of this card."""
        copy = Card(self.tools, name)
        fresh.run("cp", "--sparse=always", "--reflink=auto", self.file, copy.file)
        return copy

    def put(self, name: str, text: str) -> None:
        """Write a file to the boot partition, as any computer does."""
        (self.tools.folder / "srv" / name).write_text(text)
        self._mtools("mcopy", "-o", f"/srv/{name}", f"::/{name}")

    def names(self) -> list[str]:
        """Return what is on the boot partition."""
        return self._mtools("mdir", "-b", "::/").replace("::/", "").split()

    def take(self, name: str, into: Path) -> Path:
        """Copy a file of the boot partition to this machine; returns it."""
        self._mtools("mcopy", "-n", f"::/{name}", f"/srv/taken-{name}")
        return Path(shutil.move(self.tools.folder / f"srv/taken-{name}", into / name))

    def _mtools(self, program: str, *words: str) -> str:
        image = f"/srv/{self.name}@@{FIRST_MIB << 20}"
        command = self.tools.inside([program, "-i", image, *words], "/srv")
        return fresh.run(*command, environment={**self.tools.environment, "MTOOLS_SKIP_CHECK": "1"})


class Machine:
    """A running machine; `memory_mib` is what its kernel may use."""

    def __init__(self, card: Card, model: Model, folder: Path, memory_mib: int = 1024) -> None:
        self.console = CONSOLES[model]
        self._model = model
        self.port, self.ssh_port = _free_port(), _free_port()
        self.origin = f"http://127.0.0.1:{self.port}"
        self.said = ""
        self.log = folder / "console.log"
        self._folder = folder
        self._sockets = card.tools.folder / "srv" / f"{card.name}.sockets"
        shutil.rmtree(self._sockets, ignore_errors=True)
        self._sockets.mkdir()
        self._number = 0
        self._running = subprocess.Popen(
            card.tools.inside(self._command(card, memory_mib), "/srv"), stdin=subprocess.DEVNULL
        )
        self._line = self.connect("console")

    def _command(self, card: Card, memory_mib: int) -> list[str]:
        names = card.names()
        kernel, initrd = (next(name for name in names if name.startswith(word)) for word in ("vmlinuz", "initrd"))
        for name in (kernel, initrd, "bcm2837-rpi-3-b.dtb"):
            card.take(name, self._sockets)
        words = re.sub(r"\b(console|quiet)\S*\s*", "", card.take("cmdline.txt", self._folder).read_text().strip())
        words = (
            f"{words} console={self.console},115200 systemd.debug_shell={self.console} loglevel=1"
            f" systemd.log_color=0 systemd.show_status=0 systemd.mask=serial-getty@{self.console}.service"
            f" mem={memory_mib}M"
        )
        here = f"/srv/{self._sockets.name}"
        drive = f"file=/srv/{card.name},format=raw,if={'sd' if self._model == 'raspi3b' else 'virtio'}"
        command = [
            *("qemu-system-aarch64", "-M", self._model, "-icount", "shift=1,sleep=on", "-nographic", "-nodefaults"),
            *("-no-reboot", "-kernel", f"{here}/{kernel}", "-initrd", f"{here}/{initrd}", "-append", words),
            *("-drive", drive),
        ]
        serial = f"unix:{here}/console,server=on,wait=on"
        if self._model == "raspi3b":
            return [*command, "-dtb", f"{here}/bcm2837-rpi-3-b.dtb", "-serial", "null", "-serial", serial]
        ports = {self.port: 80, self.ssh_port: 22}
        forwards = ",".join(f"hostfwd=tcp:127.0.0.1:{outside}-:{inside}" for outside, inside in ports.items())
        return [
            *(*command, "-cpu", "cortex-a53", "-smp", "1", "-m", str(memory_mib), "-serial", serial),
            *("-netdev", f"user,id=net,restrict=on,{forwards}", "-device", "virtio-net-device,netdev=net"),
            *("-device", "virtio-serial-device", "-device", "virtserialport,chardev=lines,name=lines"),
            *("-chardev", f"socket,id=lines,path={here}/lines,server=on,wait=off"),
            *("-qtest", f"unix:{here}/qtest,server=on,wait=off", "-qtest-log", "none"),
            *("-monitor", f"unix:{here}/monitor,server=on,wait=off"),
        ]

    def connect(self, name: str) -> socket.socket:
        """Return a connection to one of the machine's sockets; their paths may be too long for an address."""
        folder = os.open(self._sockets, os.O_PATH)
        try:
            until = time.monotonic() + 60
            while True:
                line = socket.socket(socket.AF_UNIX)
                try:
                    line.connect(f"/proc/self/fd/{folder}/{name}")
                except OSError:
                    line.close()
                    if self._running.poll() is not None or time.monotonic() > until:
                        raise PiError(f"QEMU ended, or has no {name}: {self._running.poll()}") from None
                    time.sleep(0.2)
                else:
                    return line
        finally:
            os.close(folder)

    def wait_for(self, pattern: str, seconds: float = PATIENCE_S) -> re.Match[str]:
        """Wait until the console says something short that was not said before; returns the match."""
        until = time.monotonic() + seconds
        self._line.settimeout(1)
        searched = 0
        while not (found := re.compile(pattern).search(self.said, max(0, searched - LONGEST))):
            if time.monotonic() > until or self._running.poll() is not None:
                raise PiError(f"the console did not say {pattern!r}; the last it said:\n{self.said[-1500:]}")
            searched = len(self.said)
            with suppress(TimeoutError, ConnectionResetError):
                self._read()
        self.said = self.said[found.end() :]
        return found

    def _read(self) -> bool:
        said = self._line.recv(65536)
        new = said.decode(errors="replace").replace("\r", "")
        self.said += new
        with self.log.open("a") as log:
            log.write(new)
        return bool(said)

    def wait_beside(self, other: socket.socket) -> None:
        """Read what the console says until something comes from another connection.

        The serial line writes byte by byte, and the machine stands still where a few hundred of them are not read.
        """
        while other not in (ready := select.select([other, self._line], [], [], PATIENCE_S)[0]):
            if not ready or not self._read():
                raise PiError("the machine stands still, or has ended")

    def start(self) -> None:
        """Wait for the root shell that systemd gives on the console.

        What is typed before it is there may fill the serial line's few bytes unread, and no more arrives then.
        """
        self.wait_for(SHELL)
        self._line.sendall(
            f"\nexport PS1= TERM=dumb; stty -echo cols 200; echo {PROMPT[:3]}''{PROMPT[3:]}\n".encode()
        )
        self.wait_for(PROMPT)

    def run(self, command: str, *, fails: bool = False) -> str:
        """Type a command; returns what it printed, raises `PiError` if it fails unless it may."""
        self._number += 1
        self._line.sendall(f"echo @{self._number}''@; {{ {command}\n}} 2>&1; echo @{self._number}@$?@\n".encode())
        self.wait_for(rf"@{self._number}@\n")
        end = self.wait_for(rf"@{self._number}@(\d+)@\n")
        said = end.string[: end.start()].strip()
        if end[1] != "0" and not fails:
            raise PiError(f"{command!r} ended with exit code {end[1]}:\n{said}")
        return said

    def used_s(self) -> float:
        """Return the seconds of this machine's processors that the emulator has had."""
        children = Path(f"/proc/{self._running.pid}/task/{self._running.pid}/children").read_text().split()
        return sum(used_s(int(child)) for child in children)

    def cut(self) -> None:
        """Cut the power, and read what the console still said."""
        self._running.kill()
        self._running.wait()
        with suppress(OSError):
            self._line.settimeout(1)
            while self._read():
                pass
        self._line.close()

    def switch_off(self) -> None:
        """Shut down, as a careful owner does."""
        self._line.sendall(b"systemctl poweroff\n")
        with suppress(subprocess.TimeoutExpired):
            self._running.wait(PATIENCE_S)
        self.cut()


@contextmanager
def started(card: Card, model: Model, folder: Path, memory_mib: int = 1024) -> Iterator[Machine]:
    """Start a machine, up to its shell; its power is cut at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    machine = Machine(card, model, folder, memory_mib)
    try:
        machine.start()
        yield machine
    finally:
        machine.cut()


Pull = tuple[int, int, int, int]
"""The machine's time in ns before and after a line was pulled, the line, and whether it was dark then."""


class Lines:
    """The lines of a ``virt`` machine's GPIO controller, pulled from outside when a program inside asks for it.

    That program, of `INSIDE`, keeps the machine's own time: this machine's says nothing of an emulated one.
    """

    def __init__(self, machine: Machine, lines: Iterable[int]) -> None:
        """Connect, and let light fall on the sensors of these lines: at the power on they are dark."""
        self._machine = machine
        self._path = _gpio_controller(machine.connect("monitor"))
        self._qtest = machine.connect("qtest")
        self._asks = machine.connect("lines")
        self._said = b""
        for line in lines:
            self.pull(line, 0)

    def close(self) -> None:
        """Disconnect."""
        self._qtest.close()
        self._asks.close()

    def pull(self, line: int, dark: int) -> None:
        """Pull a line low, or let it go."""
        self._qtest.sendall(f"set_irq_in {self._path} unnamed-gpio-in {line} {1 - dark}\n".encode())
        said = b""
        while not said.endswith(b"\n"):
            self._machine.wait_beside(self._qtest)
            said += self._qtest.recv(4096)
        if not said.startswith(b"OK"):
            raise PiError(f"QEMU does not pull line {line}: {said.decode()}")

    def play(
        self, plan: Sequence[tuple[int, int, int]], ends: Callable[[int], bool] = lambda _: False
    ) -> tuple[int, list[Pull]]:
        """Play a plan of waits in us, lines and levels, as `oracle.plan` makes it.

        Returns the machine's time of day less its own time, in ns, and what was pulled; nothing where `ends`, which
        is given the number of pulls so far, says that it is enough.
        """
        self._machine.run(f"{RUN} pulls >/run/pulls.log 2>&1 &")
        self._asks.sendall("".join(f"{wait_us} {line} {dark}\n" for wait_us, line, dark in plan).encode() + b"\n")
        for number in range(len(plan)):
            line, dark = map(int, self._line().split())
            self.pull(line, dark)
            if ends(number + 1):
                return 0, []
            self._asks.sendall(b"x")
        epoch_ns = int(self._line())
        pulls: list[Pull] = []
        while said := self._line():
            before, after, line, dark = map(int, said.split())
            pulls.append((before, after, line, dark))
        return epoch_ns, pulls

    def _line(self) -> str:
        while b"\n" not in self._said:
            self._machine.wait_beside(self._asks)
            new = self._asks.recv(65536)
            if not new:
                raise PiError("the machine does not ask for lines any more")
            self._said += new
        line, _, self._said = self._said.partition(b"\n")
        return line.decode()


def _gpio_controller(monitor: socket.socket) -> str:
    """Return where in QEMU's tree of objects the GPIO controller is."""
    monitor.settimeout(60)
    monitor.sendall(b"info qom-tree\n")
    said = ""
    while "(pl061)" not in said or not said.endswith("(qemu) "):
        said += re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", monitor.recv(65536).decode(errors="replace"))
    monitor.close()
    above: list[str] = []
    for row in said.splitlines():
        if found := re.match(r"( *)/(\S+) \(([^)]*)\)", row):
            above[len(found[1]) // 2 :] = [found[2]]
            if found[3] == "pl061":
                return "/" + "/".join(above)
    raise PiError("QEMU has no PL061")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
