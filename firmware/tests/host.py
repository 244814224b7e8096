"""The Uno's counting core, compiled for this machine: edges go in, the same events come out as on the board."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

ARDUINO = Path(__file__).parents[1] / "arduino"
BUILD = Path(__file__).parents[2] / "build" / "firmware"
BEAMS = ("unproved", "clear", "jammed", "dark", "flicker")


class Limits(ctypes.Structure):
    """struct limits."""

    _fields_: Sequence[tuple[str, type]] = [
        *((name, ctypes.c_uint32) for name in ("min_break", "min_clear", "max_break", "patience", "second")),
        ("flicker", ctypes.c_uint8),
    ]


class Token(ctypes.Structure):
    """struct token."""

    _fields_: Sequence[tuple[str, type]] = [
        ("start", ctypes.c_uint32),
        ("width", ctypes.c_uint32),
        ("flags", ctypes.c_uint8),
    ]


def compiled(into: Path, words: Sequence[str]) -> Path:
    """Compile for this machine; several processes may do so at once."""
    into.parent.mkdir(parents=True, exist_ok=True)
    own = into.with_name(f"{into.name}.{os.getpid()}")
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", str(own), *words], check=True)
    return own.replace(into)


def library() -> ctypes.CDLL:
    """Compile counting.c with this machine's compiler and load it."""
    sources = [str(ARDUINO / "counting.c"), str(Path(__file__).parent / "probe.c")]
    flags = ["-std=c11", "-O1", "-shared", "-fPIC", "-fsanitize=undefined", "-fno-sanitize-recover"]
    file = compiled(BUILD / "counting.so", [*flags, *sources])
    loaded = ctypes.CDLL(str(file))
    for name in ("slot_feed", "slot_resync", "slot_advance"):
        getattr(loaded, name).restype = ctypes.c_bool
    loaded.slot_glitches.restype = ctypes.c_uint16
    loaded.probe_beam.restype = ctypes.c_uint8
    loaded.probe_missed.restype = ctypes.c_uint16
    loaded.probe_size.restype = ctypes.c_size_t
    return loaded


class Slot:
    """One slot of the core. Times are ticks of a microsecond, from `origin` on, so that the clock may wrap."""

    def __init__(self, core: ctypes.CDLL, limits: Limits, dark: bool, now: int, origin: int = 0) -> None:
        self._core, self._limits, self._origin = core, limits, origin
        self._slot = ctypes.create_string_buffer(core.probe_size())
        self._token = Token()
        self.tokens: list[tuple[int, int, int]] = []
        core.slot_begin(self._slot, ctypes.c_bool(dark), self._tick(now))

    def feed(self, at: int, dark: bool) -> None:
        self._pass(self._core.slot_feed, at, dark)

    def resync(self, at: int, dark: bool) -> None:
        self._pass(self._core.slot_resync, at, dark)

    def advance(self, now: int) -> None:
        given = (self._slot, ctypes.byref(self._limits), self._tick(now), ctypes.byref(self._token))
        self._note(self._core.slot_advance(*given))

    @property
    def beam(self) -> str:
        return BEAMS[self._core.probe_beam(self._slot)]

    @property
    def glitches(self) -> int:
        return int(self._core.slot_glitches(self._slot))

    @property
    def missed(self) -> int:
        return int(self._core.probe_missed(self._slot))

    def _pass(self, event: Callable[..., bool], at: int, dark: bool) -> None:
        given = (ctypes.byref(self._limits), self._tick(at), ctypes.c_bool(dark), ctypes.byref(self._token))
        self._note(event(self._slot, *given))

    def _tick(self, at: int) -> ctypes.c_uint32:
        return ctypes.c_uint32((at + self._origin) & 0xFFFFFFFF)

    def _note(self, counted: bool) -> None:
        if counted:
            start = (self._token.start - self._origin) & 0xFFFFFFFF
            self.tokens.append((start, self._token.width, self._token.flags))
