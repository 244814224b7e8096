"""Opens a temple's ledger; if it is damaged or missing, begins a new one and leaves a notice.

A ledger is never repaired in place: the new one is completed beside it, the old one is renamed, and then the new one
takes its place. A power cut between any two of these steps loses nothing.
"""

from __future__ import annotations

import errno
import itertools
import logging
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from msgspec import Struct, field

from controller.adapters import learned_file
from controller.adapters.ledger_copy import MEMORY, copied
from controller.adapters.ledger_log import read_log
from controller.adapters.sqlite_ledger import (
    EARLIEST_MS,
    FILE_NAME,
    LATEST_MS,
    MOST_WIDTH_NS,
    PAGE,
    DamagedError,
    Ledger,
)
from controller.core.ports import LedgerTrouble, UnnumberedDoubt, UnnumberedToken
from templo.contract import MOST_DOUBTED, Flag, God, Trouble
from templo.files import OWNER_ONLY, sync

MARK_NAME = "ledger.begun"
"""A file beside a ledger from its beginning on: where it is and no ledger is, one is missing."""

BUILDING, READY = "ledger.building", "ledger.ready"
"""A ledger that is being made to take another one's place, and one that is whole and may take it."""

_MARK = "A ledger was begun here. If it is missing, the temple says so and begins a new one.\n"
_LOGS = ("-wal", "-shm", "-journal")
_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_CODE = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_TABLES = (
    "CREATE TABLE token (seq INTEGER PRIMARY KEY, b, c, d, e, f, g, h, i)",
    "CREATE TABLE meta (one INTEGER PRIMARY KEY, b, c, d, e)",
    "CREATE TABLE doubt (number INTEGER PRIMARY KEY, b, c, d)",
    "CREATE TABLE board (name PRIMARY KEY, b, c) WITHOUT ROWID",
)
"""The tables of a ledger by their columns' order, so short that they fit on its first page."""

_LEAVES = {0x0D: ("token", "meta", "doubt"), 0x0A: ("board",)}
"""Which tables a page with rows may belong to, by its first byte."""

_Raw: TypeAlias = tuple[Any, ...]
_GODS = frozenset(God)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

log = logging.getLogger(__name__)


def open_ledger(folder: Path, new_source: Callable[[], str], now: Callable[[], datetime]) -> Ledger:
    """Open the ledger of a state folder for writing; raises `LedgerTrouble`, and `NewerError` for a newer release's.

    One that is damaged is kept under another name, and what can be read of it is saved into a new one; where one is
    missing a new one is begun. Either leaves a notice, and an error in the log.
    """
    path = folder / FILE_NAME
    try:
        _finish(folder, now())
        if not (size := _size(path)) and was_begun(folder):
            code, what = ("ledger_missing", "is missing") if size is None else ("ledger_damaged", "is empty")
            return _begin_anew(folder, new_source, now(), code, f"the ledger {path} {what}")
        try:
            if read_log(path).damaged:
                raise DamagedError(
                    f"the log of the ledger {path} is damaged: sound commits follow a frame that is not"
                )
            ledger = Ledger.open(path, new_source)
        except DamagedError as error:
            return _begin_anew(folder, new_source, now(), "ledger_damaged", str(error))
        with suppress(OSError):  # a full disk; it is tried again at the next opening
            _leave_mark(folder)
        return ledger
    except OSError as error:
        raise trouble_with(folder, error) from error


def trouble_with(folder: Path, error: OSError) -> LedgerTrouble:
    """Return what an error of a ledger's folder means for a temple."""
    trouble = {
        errno.ENOSPC: Trouble.LEDGER_FULL,
        errno.EDQUOT: Trouble.LEDGER_FULL,
        errno.EROFS: Trouble.LEDGER_READ_ONLY,
        errno.EACCES: Trouble.LEDGER_READ_ONLY,
        errno.EPERM: Trouble.LEDGER_READ_ONLY,
    }.get(error.errno or 0, Trouble.LEDGER_FAILING)
    return LedgerTrouble(trouble, f"the ledger's folder {folder} cannot be used now: {error}")


def build(folder: Path, new_source: Callable[[], str], fill: Callable[[Ledger], None]) -> None:
    """Make a ledger beside the one that is there, whole and durable, ready to take its place.

    `fill` completes one that is new, or that is already where it is built. Raises `LedgerError`, `LedgerTrouble`
    and `OSError`.
    """
    building = folder / BUILDING
    ledger = Ledger.open(building, new_source)
    try:
        fill(ledger)
    except BaseException:
        ledger.abandon()
        raise
    ledger.close()
    if _size(_beside(building, "-wal")):
        raise LedgerTrouble(Trouble.LEDGER_FAILING, f"the new ledger {building} cannot be completed on this disk")
    building.chmod(OWNER_ONLY)
    building.replace(folder / READY)
    sync(folder)


def exchange(folder: Path, at: datetime, word: str) -> Path | None:
    """Let the ledger that is ready take its place; return the name under which the old one is kept, if any."""
    path, aside = folder / FILE_NAME, None
    old = [suffix for suffix in ("", "-wal") if _size(_beside(path, suffix)) is not None]
    if old:
        aside = _free_name(folder, word, at)
        for suffix in old:
            _beside(path, suffix).rename(_beside(aside, suffix))
            _beside(aside, suffix).chmod(OWNER_ONLY)
        _beside(path, "-shm").unlink(missing_ok=True)
        sync(folder)
    (folder / READY).replace(path)
    sync(folder)
    _leave_mark(folder)
    return aside


def clear(folder: Path) -> None:
    """Delete what an earlier try has left half made."""
    for suffix in ("", *_LOGS):
        _beside(folder / BUILDING, suffix).unlink(missing_ok=True)


def _begin_anew(folder: Path, new_source: Callable[[], str], at: datetime, code: str, why: str) -> Ledger:
    clear(folder)
    saved = _salvage(folder / FILE_NAME, at)

    def fill(ledger: Ledger) -> None:
        ledger.record(saved.tokens, doubts=saved.doubts)
        if saved.boards:
            ledger.record([], saved.boards)
        ledger.deliver(saved.delivered)
        ledger.renew(new_source(), code, at)

    build(folder, new_source, fill)
    aside = exchange(folder, at, "damaged")
    log.error(
        "%s. A new one was begun; it has the %d tokens that could be read, %d of them not yet delivered and %d "
        "repaired. Of %d nothing could be read. %s",
        why,
        len(saved.tokens),
        len(saved.tokens) - saved.delivered,
        saved.repaired,
        saved.lost,
        f"The old one is kept as {aside}" if aside else "There was no old one to keep",
    )
    return Ledger.open(folder / FILE_NAME, new_source)


def _finish(folder: Path, at: datetime) -> None:
    """Complete an exchange that a power cut has interrupted; one that had not begun is left to the caller."""
    if _size(folder / READY) is None:
        return
    if _size(folder / FILE_NAME):
        (folder / READY).unlink()
    else:
        exchange(folder, at, "damaged")


def was_begun(folder: Path) -> bool:
    """Return whether there must have been a ledger: there is a mark, or what its temple learned."""
    return any(_size(folder / name) is not None for name in (MARK_NAME, learned_file.FILE_NAME))


def _leave_mark(folder: Path) -> None:
    if _size(folder / MARK_NAME) is None:
        (folder / MARK_NAME).write_text(_MARK, "utf-8")
        sync(folder)


class _Saved(Struct):
    """What could be read of a damaged ledger."""

    tokens: list[UnnumberedToken] = field(default_factory=list)
    delivered: int = 0
    """How many of them, from the first on, the companion has for certain."""
    boards: dict[str, tuple[int, int]] = field(default_factory=dict)
    doubts: list[UnnumberedDoubt] = field(default_factory=list)
    repaired: int = 0
    lost: int = 0


def _salvage(path: Path, now: datetime) -> _Saved:
    """Read every row of a damaged ledger that can be read, page by page."""
    saved = _Saved()
    if not _size(path):
        return saved
    with TemporaryDirectory(prefix="templo-ledger-", dir=MEMORY) as folder:
        found = _rows(_pages(copied(path, Path(folder))))
    # Rows of other tables have fewer fields, and a damaged field may be read as none.
    rows = sorted((row for row in found["token"] if row.count(None) < 2), key=itemgetter(0))
    last = rows[-1][0] if rows else 0
    # The same law as in a sound ledger; without a mark everything is sent again, and known by its id.
    marks = [mark for _, schema, _, mark, at in found["meta"] if type(schema) is int and at == last]
    marks += [rows[-1][8]] if rows and not marks else []
    delivered = next((mark for mark in marks if _within(mark, 0, last)), 0)
    # Where two tokens have one number, one of them has lost its own, which may not be delivered yet.
    delivered = min([delivered, *(row[0] - 1 for row, after in pairwise(rows) if row[0] == after[0] or row[0] < 1)])
    before: _Raw | None = None
    for row in rows:
        token, repaired = _repaired(row, before, saved.tokens[-1].at if saved.tokens else now)
        before = row
        if token is not None:
            saved.tokens.append(token)
            saved.repaired += repaired
            saved.delivered += row[0] <= delivered
    saved.lost = max(0, last - len(saved.tokens))
    for name, seq, total in found["board"]:
        if isinstance(name, str) and type(seq) is int and _within(total, 0, seq):
            saved.boards[name] = (seq, total)
    for _, reason, at_ms, ids in sorted(found["doubt"], key=itemgetter(0)):
        tokens = tuple(each for each in str(ids).split() if _ID.fullmatch(each))[:MOST_DOUBTED]
        if tokens and _within(at_ms, EARLIEST_MS, LATEST_MS):
            known = reason if isinstance(reason, str) and _CODE.fullmatch(reason) else "unknown"
            saved.doubts.append(UnnumberedDoubt(known, _EPOCH + timedelta(milliseconds=at_ms), tokens))
    return saved


def _pages(copy: Path) -> bytes:
    """Return a copy's pages with its log moved into them, and a first page that says of no table what it was."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        made.execute(f"PRAGMA page_size = {PAGE}")
        for table in _TABLES:
            made.execute(table)
        first = bytearray(made.serialize()[:PAGE])
    pages = read_log(copy).into(copy.read_bytes())
    first[28:32] = (len(pages) // PAGE).to_bytes(4, "big")
    return bytes(first + pages[PAGE:])


def _rows(pages: bytes) -> dict[str, list[_Raw]]:
    """Return the rows of each page as those of each table that it may belong to, whatever the pages above it are."""
    rows: dict[str, dict[_Raw, None]] = {table: {} for tables in _LEAVES.values() for table in tables}
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as found:
        found.deserialize(pages)
        found.text_factory = lambda value: value.decode("utf-8", "replace")
        for number in range(2, len(pages) // PAGE + 1):
            tables = _LEAVES.get(pages[(number - 1) * PAGE], ())
            if tables:
                found.execute("PRAGMA writable_schema = ON")
                found.execute("UPDATE sqlite_schema SET rootpage = ? WHERE type = 'table'", (number,))
                found.execute("PRAGMA writable_schema = RESET")
            for table in tables:  # from both ends up to what cannot be read
                for order in ("ASC", "DESC"):
                    query = f"SELECT * FROM {table} ORDER BY 1 {order}"  # noqa: S608 (constants)
                    rows[table] |= dict.fromkeys(_all(found, query))
    return {table: list(each) for table, each in rows.items()}


def _all(found: sqlite3.Connection, query: str) -> list[_Raw]:
    """Return the rows of a query up to the first one that cannot be read."""
    rows: list[_Raw] = []
    with suppress(sqlite3.Error, ValueError, OverflowError):
        rows.extend(found.execute(query))
    return rows


def _repaired(row: _Raw, before: _Raw | None, at: datetime) -> tuple[UnnumberedToken | None, bool]:
    """Return a row as a token, and whether it had to be repaired; None if it is unknown for whom it fell.

    A repaired one is flagged `jam`: a person at the table decides about it. `at` is a time for one that has none.
    """
    _, token, god, at_ms, width_ns, flags, *_ = row
    fell_for = God(str(god)) if god in _GODS else _by_totals(row, before)
    if fell_for is None:
        return None, False
    kinds = set(str(flags).split(",")) - {""}
    known = frozenset(flag for flag in Flag if flag in kinds)
    name = token if isinstance(token, str) and _ID.fullmatch(token) else sha256(repr(row).encode()).hexdigest()[:32]
    width = width_ns if _within(width_ns, 0, MOST_WIDTH_NS) else 0
    timed = _within(at_ms, EARLIEST_MS, LATEST_MS)
    sound = timed and (god, token, width_ns) == (fell_for, name, width) and known == kinds
    when = _EPOCH + timedelta(milliseconds=at_ms) if timed else at
    return UnnumberedToken(name, fell_for, when, width, known if sound else known | {Flag.JAM}), not sound


def _by_totals(row: _Raw, before: _Raw | None) -> God | None:
    """Return for whom a token fell by the totals beside it, where its own field is unreadable."""
    totals, earlier = row[6:8], before[6:8] if before is not None else (0, 0)
    if not all(isinstance(each, int) for each in (*totals, *earlier)):
        return None
    grown = (totals[0] - earlier[0], totals[1] - earlier[1])
    return {(1, 0): God.HUITZILOPOCHTLI, (0, 1): God.TLALOC}.get(grown)


def _within(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _size(path: Path) -> int | None:
    """Return a file's size, or None if there is none; raises `OSError` if it cannot be read."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _free_name(folder: Path, word: str, at: datetime) -> Path:
    """Return a name that nothing in the folder has: of what happened to the ledger, and when."""
    stem = f"ledger.{word}-{at:%Y%m%dT%H%M%SZ}"
    name = folder / f"{stem}.sqlite3"
    for number in itertools.count(2):
        if _size(name) is None:
            break
        name = folder / f"{stem}-{number}.sqlite3"
    return name
