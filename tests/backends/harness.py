"""What a backend needs to pass the conformance tests: a world in which its beams can be broken.

To prove a backend of your own, subclass `Harness` and add it to `HARNESSES`.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from controller.adapters import header, libgpiod
from controller.adapters.gpio import HeaderBeams
from controller.adapters.serial_board import SerialBoard
from controller.adapters.serial_protocol import written
from controller.app.backends import BACKENDS, find
from controller.core.counting import Limits
from controller.core.messages import PipelineMessage
from controller.core.ports import BackendContext, Source
from controller.core.settings import BeamSettings
from controller.simulation.beams import SimulatedBeams
from templo.contract import God
from tests.backends.fake_gpiod import Kernel

ROOT = Path(__file__).parents[2]
PINS = {God.HUITZILOPOCHTLI: 17, God.TLALOC: 27}
EMITTERS = 22
BELOW = 24
"""The pin of Tlaloc's second beam."""


class Queue:
    """A pipeline's queue that remembers everything."""

    def __init__(self) -> None:
        self.messages: list[PipelineMessage] = []

    def put(self, message: PipelineMessage) -> None:
        self.messages.append(message)

    def of(self, *kinds: type) -> list[Any]:
        return [message for message in self.messages if isinstance(message, kinds)]


class Harness:
    """A backend in a world of its own."""

    source_name: str
    pull = "up"
    switchable = False
    """Whether the world can have switched emitters."""
    second = False
    """Whether the world can have a second beam."""
    early = False
    """Whether `set` works before the backend is open."""

    def __init__(self, folder: Path, patch: Any, switched: bool = False, below: bool = False) -> None:
        self.folder, self.patch, self.switched, self.below = folder, patch, switched, below

    def context(self) -> BackendContext:
        emitters = EMITTERS if self.switched else None
        settings = BeamSettings(
            PINS[God.HUITZILOPOCHTLI],
            PINS[God.TLALOC],
            "low",
            self.pull,
            self.source_name,
            "mock",
            emitters=emitters,
            tlaloc_below=BELOW if self.below else None,
        )
        return BackendContext(settings, Limits(), self.folder, time.monotonic_ns, lambda: "d" * 32)

    def make(self) -> Source:
        """Return the backend, not yet open."""
        raise NotImplementedError

    def set(self, god: God, dark: bool) -> None:
        """Break a beam, or restore it; before `open` for a beam that is dark from the start."""
        raise NotImplementedError

    def set_below(self, dark: bool) -> None:
        """Break Tlaloc's second beam, or restore it."""
        raise NotImplementedError

    def lose(self, god: God, number: int) -> None:
        """Change a beam's level so often that exactly so many of its edges are lost."""
        raise NotImplementedError

    def token(self, god: God, number: int) -> None:
        """Let a board count its next token."""
        raise NotImplementedError


class Gpio(Harness):
    """gpiozero's mock pins. A pull would move them when they are claimed."""

    source_name = "gpio"
    pull = "none"
    switchable = early = second = True

    def make(self) -> Source:
        self.dark: set[God] = set()
        self.beams = HeaderBeams(self.context(), self._sleep)
        opened = self.beams._open_factory

        def open_factory() -> Any:
            factory = opened()
            for god in God:
                factory.pin(f"GPIO{PINS[god]}")._state = god not in self.dark
            factory.pin(f"GPIO{BELOW}")._state = True
            return factory

        self.patch.setattr(self.beams, "_open_factory", open_factory)
        return self.beams

    def set(self, god: God, dark: bool) -> None:
        if self.beams._factory is None:
            self.dark.add(god)
            return
        pin = self.beams._factory.pin(f"GPIO{PINS[god]}")
        (pin.drive_low if dark else pin.drive_high)()

    def set_below(self, dark: bool) -> None:
        pin = self.beams._factory.pin(f"GPIO{BELOW}")
        (pin.drive_low if dark else pin.drive_high)()

    def _sleep(self, seconds: float) -> None:
        if self.switched and len(self.beams._devices) == 2:
            for god in God:
                self.set(god, not self.beams._emitters.value)


class Gpiod(Harness):
    """A kernel of our own under libgpiod's module."""

    source_name = "gpiod"
    switchable = early = second = True

    def make(self) -> Source:
        self.kernel = Kernel()
        self.kernel.wired = {EMITTERS: tuple(PINS.values())}
        self.patch.setattr(header, "chip_numbers", lambda: [0])
        return libgpiod.LineBeams(self.context(), lambda: self.kernel.gpiod)

    def set(self, god: God, dark: bool) -> None:
        self.kernel.set(PINS[god], 0 if dark else 1)

    def set_below(self, dark: bool) -> None:
        self.kernel.set(BELOW, 0 if dark else 1)

    def lose(self, god: God, number: int) -> None:
        (request,) = self.kernel.requests
        with self.kernel.busy:
            for _ in range(request.size + number):
                self.kernel.set(PINS[god], 1 - self.kernel.levels[PINS[god]])


class Simulated(Harness):
    source_name = "simulated"

    def make(self) -> Source:
        self.beams = SimulatedBeams(self.context())
        return self.beams

    def set(self, god: God, dark: bool) -> None:
        if dark != self.beams.dark(god):
            self.beams.toggle(god)


class Cable:
    """A port whose other end is a board's, which sends its tokens again and again."""

    def __init__(self) -> None:
        self.to_read = written("H", 1, "b" * 32, "1.0.0", 1, 3, 0)
        self.tokens: list[bytes] = []

    @property
    def in_waiting(self) -> int:
        return len(self.to_read)

    def read(self, size: int) -> bytes:
        if not self.to_read:
            time.sleep(0.01)
            self.to_read = b"".join(self.tokens)
        data, self.to_read = self.to_read[:size], self.to_read[size:]
        return data

    def write(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass


class Serial(Harness):
    source_name = "serial:/dev/ttyACM0"

    def make(self) -> Source:
        self.cable = Cable()
        return SerialBoard(self.context(), lambda name: self.cable)

    def token(self, god: God, number: int) -> None:
        total = number if god is God.HUITZILOPOCHTLI else 0
        self.cable.tokens.append(written("T", number, god[0], 0, 12_000, 20, total))


class Documented(Harness):
    """The backend of `docs/your-own-backend.md`, and the other end of its pipe."""

    @property
    def source_name(self) -> str:  # type: ignore[override]
        return f"pipe:{self.folder}/beams"

    def make(self) -> Source:
        page = (ROOT / "docs/your-own-backend.md").read_text()
        ((name, text),) = re.findall(r"<!-- file: (\S+) -->\n```python\n(.*?)```", page, re.DOTALL)
        (self.folder / name).write_text(text)
        self.patch.syspath_prepend(self.folder)
        self.patch.delitem(sys.modules, "pipe_beams", raising=False)
        ((key, place),) = re.findall(r'\n    "(\w+)": "([\w:]+)",\n', page)
        self.patch.setitem(BACKENDS, key, place)
        self.pipe = self.folder / "beams"
        if not self.pipe.exists():
            os.mkfifo(self.pipe)
        context = self.context()
        return find(context.settings)(context)

    def set(self, god: God, dark: bool) -> None:
        pipe = os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK)  # an error where nobody reads
        os.write(pipe, f"{god} {int(dark)}\n".encode())
        os.close(pipe)


HARNESSES: dict[str, Callable[..., Harness]] = {
    "gpio": Gpio,
    "documented": Documented,
    "gpiod": Gpiod,
    "serial": Serial,
    "simulated": Simulated,
}
