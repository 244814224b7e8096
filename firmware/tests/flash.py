"""The Pico's ledger on its real file system: littlefs over a flash that counts operations and can lose power."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from littlefs import LittleFS
from littlefs.context import UserContext

SECTOR, SECTORS = 4096, 212
"""The 848 kB that MicroPython leaves to files on a Pico W."""

FOLDER = Path(__file__).parents[1] / "micropython"
_MODULES = ("records", "doubts", "ledger")


class PowerCut(Exception):
    """Raised when the power fails."""


class Flash(UserContext):
    """A flash in memory. After `budget` operations more its power fails, in the middle of the last one."""

    def __init__(self, sectors: int = SECTORS) -> None:
        self.cells = bytearray(b"\xff" * (SECTOR * sectors))
        self.erases = [0] * sectors
        self.programmed = 0
        self.budget = -1
        self.operations = 0
        self.read_bytes = 0

    def read(self, _cfg: Any, block: int, off: int, size: int) -> bytearray:
        self.read_bytes += size
        at = block * SECTOR + off
        return self.cells[at : at + size]

    def prog(self, _cfg: Any, block: int, off: int, data: bytes) -> int:
        at = block * SECTOR + off
        if self._fails():
            half = len(data) // 2
            self.cells[at : at + half] = data[:half]
            return -5
        self.cells[at : at + len(data)] = data
        self.programmed += len(data)
        return 0

    def erase(self, _cfg: Any, block: int) -> int:
        at = block * SECTOR
        if self._fails():
            self.cells[at : at + SECTOR // 2] = b"\xff" * (SECTOR // 2)
            return -5
        self.cells[at : at + SECTOR] = b"\xff" * SECTOR
        self.erases[block] += 1
        return 0

    def sync(self, _cfg: Any) -> int:
        return 0

    def _fails(self) -> bool:
        self.operations += 1
        if self.budget > 0:
            self.budget -= 1
        return self.budget == 0


def mounted(flash: Flash, fresh: bool = False) -> LittleFS:
    """Mount it as MicroPython does: sectors of 4 kB, programmed 256 bytes at a time."""
    fs = LittleFS(
        context=flash, mount=False, block_size=SECTOR, block_count=len(flash.erases),
        prog_size=256, read_size=32, cache_size=1024, lookahead_size=32, block_cycles=100,
    )  # fmt: skip
    if fresh:
        fs.format()
    fs.mount()
    return fs


@contextmanager
def ledger_on(fs: LittleFS) -> Iterator[ModuleType]:
    """Give the Pico's ledger with its files on this file system."""
    sys.path.insert(0, str(FOLDER))
    _forget()
    try:
        modules: dict[str, Any] = {name: import_module(name) for name in _MODULES}

        def opened(path: str, mode: str) -> Any:
            return fs.open(path, mode, buffering=0)

        for module in modules.values():
            module.open = opened
            module.os = SimpleNamespace(
                mkdir=_errors(fs.mkdir), listdir=fs.listdir, remove=_errors(fs.remove), sync=lambda: None
            )
        yield modules["ledger"]
    finally:
        sys.path.remove(str(FOLDER))
        _forget()


def _forget() -> None:
    for name in _MODULES:
        sys.modules.pop(name, None)


def _errors(call: Callable[[str], Any]) -> Callable[[str], Any]:
    def safe(path: str) -> Any:
        try:
            return call(path)
        except Exception as error:
            raise OSError(5, str(error)) from error

    return safe


def opening() -> tuple[int, int, int]:
    """Return of a full ledger how many tokens it has, and how many bytes and rows are read to open it."""
    flash = Flash()
    fs = mounted(flash, fresh=True)
    with ledger_on(fs) as module:
        number = iter(range(1, 10**9))

        def new_id() -> bytes:
            return next(number).to_bytes(16, "big")

        full = module.Ledger("/ledger", new_id)
        with suppress(module.LedgerFull):
            while True:
                full.record([(1, 1_795_286_527_123, 12_000, [])] * (module.SEGMENT - 1))
        full.close()
        rows = 0

        def counted(path: str, mode: str) -> Any:
            file: Any = fs.open(path, mode, buffering=0)
            read = file.read

            def one(size: int) -> Any:
                nonlocal rows
                rows += 1
                return read(size)

            file.read = one
            return file

        files: Any = module
        files.open = counted
        before = flash.read_bytes
        again = module.Ledger("/ledger", new_id)
        assert (again.first, again.last_seq, again.source) == (1, full.last_seq, full.source)
        return full.last_seq, flash.read_bytes - before, rows


def wear(tokens: int) -> tuple[float, float]:
    """Return how many sectors are erased, and how many bytes programmed, for each token that is committed alone."""
    flash = Flash()
    fs = mounted(flash, fresh=True)
    with ledger_on(fs) as module:
        number = iter(range(1, 10**9))
        one = module.Ledger("/ledger", lambda: next(number).to_bytes(16, "big"))
        flash.erases = [0] * SECTORS
        flash.programmed = 0
        for _ in range(tokens):
            one.deliver(one.last_seq)
            one.record([(1, 1_795_286_527_123, 12_000, [])])
    return sum(flash.erases) / tokens, flash.programmed / tokens
