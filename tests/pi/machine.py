"""An emulated Raspberry Pi that starts from the image of a card, in QEMU, and is typed to through its serial console.

Two machines start the same image. ``raspi3b`` is the board, with its own device tree and GPIO controller, whose model
has no network that answers; ``virt`` has one. Each has a clock that counts instructions, 500 million a second.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
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

NS = 1_000_000_000
PATIENCE_S = 1800.0
PROMPT = "@ready@"


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
        self.model = model
        self.port = _free_port()
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
        console = CONSOLES[self.model]
        words = (
            f"{words} console={console},115200 systemd.debug_shell={console} loglevel=1"
            f" systemd.log_color=0 systemd.show_status=0 systemd.mask=serial-getty@{console}.service"
            f" mem={memory_mib}M"
        )
        here = f"/srv/{self._sockets.name}"
        drive = f"file=/srv/{card.name},format=raw,if={'sd' if self.model == 'raspi3b' else 'virtio'}"
        command = [
            *("qemu-system-aarch64", "-M", self.model, "-icount", "shift=1,sleep=on", "-nographic", "-nodefaults"),
            *("-no-reboot", "-kernel", f"{here}/{kernel}", "-initrd", f"{here}/{initrd}", "-append", words),
            *("-drive", drive),
        ]
        serial = f"unix:{here}/console,server=on,wait=on"
        if self.model == "raspi3b":
            return [*command, "-dtb", f"{here}/bcm2837-rpi-3-b.dtb", "-serial", "null", "-serial", serial]
        forward = f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:80"
        return [
            *(*command, "-cpu", "cortex-a53", "-smp", "1", "-m", str(memory_mib), "-serial", serial),
            *("-netdev", forward, "-device", "virtio-net-device,netdev=net"),
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
        """Wait until the console says something that was not said before; returns the match."""
        until = time.monotonic() + seconds
        self._line.settimeout(1)
        while not (found := re.search(pattern, self.said)):
            if time.monotonic() > until or self._running.poll() is not None:
                raise PiError(f"the console did not say {pattern!r}; the last it said:\n{self.said[-1500:]}")
            with suppress(TimeoutError, ConnectionResetError):
                new = self._line.recv(65536).decode(errors="replace").replace("\r", "")
                self.said += new
                with self.log.open("a") as log:
                    log.write(new)
        self.said = self.said[found.end() :]
        return found

    def start(self) -> None:
        """Ask for the root shell that systemd gives on the console until it answers."""
        until = time.monotonic() + PATIENCE_S
        while True:
            self._line.sendall(
                f"\nexport PS1= TERM=dumb; stty -echo cols 200; echo {PROMPT[:3]}''{PROMPT[3:]}\n".encode()
            )
            with suppress(PiError):
                self.wait_for(PROMPT, 15)
                return
            if self._running.poll() is not None or time.monotonic() > until:
                raise PiError(f"the machine gave no shell while it started:\n{self.said[-1500:]}")

    def run(self, command: str, *, fails: bool = False) -> str:
        """Type a command; returns what it printed, raises `PiError` if it fails unless it may."""
        self._number += 1
        self._line.sendall(f"echo @{self._number}''@; {{ {command}\n}} 2>&1; echo @{self._number}@$?@\n".encode())
        found = self.wait_for(rf"(?s)@{self._number}@\n(.*?)@{self._number}@(\d+)@\n")
        if found[2] != "0" and not fails:
            raise PiError(f"{command!r} ended with exit code {found[2]}:\n{found[1]}")
        return found[1].strip()

    def used_s(self) -> float:
        """Return the seconds of this machine's processors that the emulator has had."""
        children = Path(f"/proc/{self._running.pid}/task/{self._running.pid}/children").read_text().split()
        return sum(used_s(int(child)) for child in children)

    def cut(self) -> None:
        """Cut the power."""
        self._line.close()
        self._running.kill()
        self._running.wait()

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


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
