"""Runs one of our programs unchanged, with a disk, a wall clock and beams that a folder of orders governs.

``python -m tests.chaos.patient FOLDER controller run ...`` is ``python -m controller run ...``, except that

- ``FOLDER/disk`` may hold ``full``, ``eio``, ``sync`` or ``read-only``: so does SQLite find its disk while it does;
- ``FOLDER/clock`` may hold seconds: so far off is the clock on the wall;
- ``FOLDER/shelves`` may hold seconds when it starts: so often are finished games that nobody looks at unloaded;
- a datagram to ``FOLDER/beams`` has lines such as ``tlaloc 6000017 14000000``: a spell in that slot, so many
  nanoseconds dark and so many clear after it, once the slot is free; after a line ``quiet`` what follows begins in
  both slots at the same moment, when both have been quiet for more than a second;
- what the ledger has taken is written, once its commit has returned, to ``FOLDER/committed``, a line a token, and to
  ``FOLDER/doubted`` what it doubts.

A temple that is killed in between has committed what it could not say any more: the oracle allows for that.
"""

from __future__ import annotations

import importlib
import os
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from tests.chaos import seam

FULL, EIO, SYNC, READ_ONLY = "full", "eio", "sync", "read-only"

CLEAR_NS = 14_000_000
"""Between two spells in one slot. Closer ones would be more than a chute lets through."""

QUIET_NS = 1_200_000_000
"""Longer than the quiet after which two spells at once are a dip of the supply."""

QUIET = "quiet"


class Disk:
    """A disk in the state of its order: `FULL`, `EIO` (writes fail), `SYNC` (syncs fail), `READ_ONLY`, or well."""

    def __init__(self, order: Path) -> None:
        self._order = order

    def opening(self, path: Path, flags: int, journal: bool) -> int:
        if self._is(READ_ONLY):
            return flags & ~(seam.OPEN_READWRITE | seam.OPEN_CREATE) | seam.OPEN_READONLY
        return flags

    def writing(self, path: Path, offset: int, data: bytes) -> int:
        # What SQLite makes of ENOSPC, and of EIO or EROFS on a file that is open.
        return seam.FULL if self._is(FULL) else seam.IOERR_WRITE if self._is(EIO, READ_ONLY) else seam.OK

    def truncating(self, path: Path, size: int) -> int:
        return seam.IOERR_TRUNCATE if self._is(EIO, READ_ONLY) else seam.OK

    def syncing(self, path: Path) -> int:
        return seam.IOERR_FSYNC if self._is(EIO, SYNC) else seam.OK

    def deleting(self, path: Path, durably: bool) -> int:
        return seam.IOERR if self._is(EIO, READ_ONLY) else seam.OK

    def _is(self, *faults: str) -> bool:
        try:
            return self._order.read_text() in faults
        except FileNotFoundError:
            return False


def main() -> None:
    folder, program, *words = Path(sys.argv[1]), *sys.argv[2:]
    seam.Seam(Disk(folder / "disk")).put_in()
    clock = _clock(folder / "clock")
    if program == "controller":
        daemon = importlib.import_module("controller.app.daemon")
        daemon.datetime = clock  # type: ignore[attr-defined]
        _break_beams(folder / "beams")
        _witness(folder)
    else:
        importlib.import_module("companion.cli.daemon").datetime = clock  # type: ignore[attr-defined]
        _shelve_often(folder / "shelves")
    sys.argv[:] = [program, *words]
    code: int = importlib.import_module(f"{program}.__main__").main(words)
    sys.stdout.flush()
    os._exit(code)  # the interpreter must not be torn down while SQLite has files open


def _clock(order: Path) -> type[datetime]:
    class Stepped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            try:
                step = float(order.read_text())
            except (FileNotFoundError, ValueError):
                step = 0
            return datetime.now(tz) + timedelta(seconds=step)

    return Stepped


def _break_beams(path: Path) -> None:
    """Let datagrams break the simulated beams, each spell after those that came before it."""
    from controller.simulation.beams import SimulatedBeams
    from templo.contract import God

    opened = SimulatedBeams.open

    def open_to_orders(self: SimulatedBeams, put: object) -> object:
        door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

        def listen() -> None:
            while True:
                orders = [line.split() for line in door.recv(65_536).decode().splitlines()]
                with self._changed:
                    now = self._now()
                    if orders[0] == [QUIET]:
                        del orders[0]
                        self._free_ns = dict.fromkeys(God, max(now, *self._free_ns.values()) + QUIET_NS)
                    for slot, dark, clear in orders:
                        god = God(slot)
                        start = max(now, self._free_ns[god])
                        self._at(start, god, 1)
                        self._at(start + int(dark), god, -1)
                        self._free_ns[god] = start + int(dark) + int(clear)
                    self._changed.notify()

        levels = opened(self, put)  # type: ignore[arg-type]
        # Only now: a token that falls before its beam is watched is not counted.
        path.unlink(missing_ok=True)
        door.bind(str(path))
        threading.Thread(target=listen, name="orders", daemon=True).start()
        return levels

    SimulatedBeams.open = open_to_orders  # type: ignore[assignment, method-assign]


def _shelve_often(order: Path) -> None:
    """Let a companion unload games as often as an order says."""
    from companion.adapters.shelving import Shelving

    if order.exists():
        Shelving.__init__.__defaults__ = (float(order.read_text()),)


def _witness(folder: Path) -> None:
    """Write down what each commit held, as soon as it has returned."""
    from controller.adapters.sqlite_ledger import Ledger
    from controller.core.ports import UnnumberedDoubt, UnnumberedToken
    from templo.contract import Token

    record = Ledger.record
    committed, doubted = (
        os.open(folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600) for name in ("committed", "doubted")
    )
    widths: dict[str, float] = {}

    def witnessed(
        self: Ledger,
        tokens: Sequence[UnnumberedToken],
        boards: Mapping[str, tuple[int, int]] | None = None,
        doubts: Sequence[UnnumberedDoubt] = (),
    ) -> list[Token]:
        recorded = record(self, tokens, boards, doubts)
        widths.update((token.token, token.width_ms) for token in recorded)
        os.write(committed, "".join(f"{token.width_ms}\n" for token in recorded).encode())
        os.write(doubted, "".join(f"{widths[token]}\n" for doubt in doubts for token in doubt.tokens).encode())
        return recorded

    Ledger.record = witnessed  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
