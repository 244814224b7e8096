"""The ledger: one SQLite row for each token, durable before the token is published.

It must not be used by two threads at once; another process may read it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from controller.core.ports import LedgerError, LedgerTrouble, UnnumberedDoubt, UnnumberedToken
from templo.contract import MAX_WIDTH_MS, MOST_DOUBTED, Doubt, Flag, God, Notice, Token, Trouble
from templo.files import sync
from templo.quoting import counted

SCHEMA = 1
"""The number of a ledger's tables and columns."""

FILE_NAME = "ledger.sqlite3"
"""What a ledger is called in its state directory."""

LOG_BOUND = 400_000
"""Bytes that a ledger's write-ahead log never exceeds, even while another process reads."""

_APPLICATION = 0x544D504C  # "TMPL", which marks the file as ours
PAGE = 512
"""A commit writes whole pages: small ones let 500 tokens share a checkpoint, which costs three syncs."""

_LOG_FULL = 360_000
"""At this size the log is moved into the file; what is left up to the bound has room for `_ROWS` in one commit."""

_ROWS = 250
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_TABLES = """
CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    schema INTEGER NOT NULL,
    source TEXT NOT NULL,
    delivered INTEGER NOT NULL,
    delivered_at INTEGER NOT NULL
) STRICT;
CREATE TABLE token (
    seq INTEGER PRIMARY KEY,
    token TEXT NOT NULL,
    god TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    width_ns INTEGER NOT NULL,
    flags TEXT NOT NULL,
    huitzilopochtli INTEGER NOT NULL,
    tlaloc INTEGER NOT NULL,
    delivered INTEGER NOT NULL
) STRICT;
CREATE TABLE doubt (
    number INTEGER PRIMARY KEY,
    reason TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    tokens TEXT NOT NULL
) STRICT;
CREATE TABLE board (
    name TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    huitzilopochtli INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE source (
    first INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE notice (
    code TEXT PRIMARY KEY,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""
"""`source` says which row each source begins with; in a ledger that never began a new one it is empty."""

_BOARD = """
INSERT INTO board VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, huitzilopochtli = excluded.huitzilopochtli
"""
_NOTICE = "INSERT INTO notice VALUES (?, ?) ON CONFLICT (code) DO UPDATE SET at_ms = excluded.at_ms"
_COLUMNS = "seq, token, god, at_ms, width_ns, flags"
_RECORD = """
INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (seq) DO UPDATE SET width_ns = excluded.width_ns, flags = excluded.flags
"""


_Row: TypeAlias = tuple[int, str, str, int, int, str, int, int, int]
"""A token's row, in the order of its table's columns."""

_PASSING = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
}
"""Errors that may be of the disk or of another process; whatever else is raised, the file is not as we wrote it."""

_HEX_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_FLAGS = sorted(Flag)
_FLAG_SETS = [",".join(flag for n, flag in enumerate(_FLAGS) if bits & 1 << n) for bits in range(2 ** len(_FLAGS))]
"""Every value that the column of flags can have."""

EARLIEST_MS, LATEST_MS = (
    (datetime(year, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1) for year in (1900, 2300)
)
"""The times that a temple's clock may show, wrong as it may be."""

_NEEDED_TABLES = frozenset(re.findall(r"CREATE TABLE (\w+)", _TABLES))
_ODD_NOTICE = f"""
SELECT code, at_ms FROM notice
WHERE code = '' OR code GLOB '*[^a-z0-9_]*' OR at_ms NOT BETWEEN {EARLIEST_MS} AND {LATEST_MS}
"""  # noqa: S608 (constants)
_ODD_DOUBT = f"""
SELECT number, reason, at_ms, tokens FROM doubt
WHERE reason = '' OR reason GLOB '*[^a-z0-9_]*' OR at_ms NOT BETWEEN {EARLIEST_MS} AND {LATEST_MS}
    OR (length(tokens) + 1) % 33 <> 0 OR length(tokens) >= {33 * MOST_DOUBTED} OR tokens GLOB '*[^0-9a-f ]*'
"""  # noqa: S608 (constants)
MOST_WIDTH_NS = round(MAX_WIDTH_MS * 1e6)
_UNSOUND = f"""
SELECT {_COLUMNS} FROM token
WHERE god NOT IN ({", ".join(f"'{god}'" for god in God)})
    OR length(token) <> 32 OR token GLOB '*[^0-9a-f]*'
    OR at_ms NOT BETWEEN {EARLIEST_MS} AND {LATEST_MS}
    OR width_ns NOT BETWEEN 0 AND {MOST_WIDTH_NS}
    OR flags NOT IN ({", ".join(f"'{flags}'" for flags in _FLAG_SETS)})
    OR huitzilopochtli < 0 OR tlaloc < 0
ORDER BY seq LIMIT 1
"""  # noqa: S608 (constants)


class DamagedError(LedgerError):
    """A file that is no ledger any more: what can be read of it may be saved into a new one."""


class NewerError(LedgerError):
    """A ledger of a newer release, which is whole: it is left as it is until a person updates this program."""

    trouble = Trouble.LEDGER_NEWER


class Ledger:
    """One open ledger.

    Laws:
    - `record` returns after the tokens are on disk as they are given, or raises. The latest tokens may be offered
      again, because a commit failed on its way or because their width or flags are known better now: each is
      recorded once, and keeps its number and its time.
    - The write-ahead log stays below `LOG_BOUND`. A reader that holds one transaction open keeps the log from being
      moved into the file; once it is full, writing is trouble until that reader is done.
    - `seq` starts at 1, has no gaps, never wraps or resets within a `source`. The first source is made with the file;
      `renew` begins another one at a token that must be sent again. A row keeps its place for ever: its `seq` counts
      from the row with which its source begins, so that a token of a former source has a number below 1 as well.
    - `notices` are what happened to the ledger and what no person has dealt with yet. They outlive the process.
    - A doubt is durable once `record` returns. Doubts are numbered from 1 through the ledger's lifetime, whatever its
      source; one that is offered again after a commit that seemed to fail may have two numbers.
    - `totals` are of a lifetime, `totals_before` of what fell before the present source.
    - The lifetime totals and the delivered mark ride in each row: a token costs one row in one page, and neither
      needs a scan. A mark that was lost in a crash only sends tokens again.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        """Take over an open connection; `Ledger.open` makes one."""
        self._connection = connection
        self._path = path
        self._log = Path(f"{path}-wal")
        self.source: str
        self.last_seq = 0
        self.last_doubt = 0
        self.delivered = 0
        self.totals = dict.fromkeys(God, 0)
        self.totals_before = dict.fromkeys(God, 0)
        self.notices: tuple[Notice, ...] = ()
        self._base = 0
        self._sources: list[tuple[int, str]] = []
        self._load()

    @classmethod
    def open(cls, path: Path, new_source: Callable[[], str], *, read_only: bool = False) -> Ledger:
        """Open a ledger, or make one; raises `LedgerError` or `LedgerTrouble`.

        To read only never makes one, and raises `FileNotFoundError`.
        """
        if read_only and not path.exists():
            raise FileNotFoundError(f"there is no ledger at {path}")
        mode = "ro" if read_only else "rwc"
        with _reported(path):
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
                timeout=5,
            )
            try:
                connection.execute("PRAGMA cache_size = -512")
                if not read_only:
                    _make(connection, path, new_source)
                _check(connection, path, whole=not read_only)
                return cls(connection, path)
            except BaseException:
                connection.close()
                raise

    @classmethod
    def open_copy(cls, copy: Path, path: Path) -> Ledger:
        """Take a copy of the ledger at `path` into memory and read it there; raises `LedgerError` or `LedgerTrouble`.

        The copy and its log may be deleted then. Nothing can be recorded.
        """
        memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            with _reported(path):
                with closing(sqlite3.connect(copy)) as found:
                    found.backup(memory)
                memory.execute("PRAGMA query_only = ON")
                _check(memory, path, whole=True)
                return cls(memory, path)
        except BaseException:
            memory.close()
            raise

    def record(
        self,
        tokens: Sequence[UnnumberedToken],
        boards: Mapping[str, tuple[int, int]] | None = None,
        doubts: Sequence[UnnumberedDoubt] = (),
    ) -> list[Token]:
        """Record tokens and return them with their numbers; raises `LedgerTrouble`.

        Up to 250 are one commit, and more are several: what is recorded before one of them fails is recognised when
        all are offered again. Those that are recorded already are the ledger's last, in the same order; they are
        amended. `boards` holds up to where the tokens of boards that count by themselves are now recorded: by a
        board's name its own number and how many of its tokens were Huitzilopochtli's. With it everything is one
        commit, as a board sends again what its mark does not cover; and no board has room for many. `doubts` are in
        the last commit.
        """
        first = self.last_seq + 1 - self._known(tokens)
        totals = dict(self.totals)
        rows: list[_Row] = []
        for seq, token in enumerate(tokens, first):
            totals[token.god] += seq > self.last_seq
            rows.append(
                (
                    self._base + seq,
                    token.token,
                    token.god.value,
                    _milliseconds(token.at),
                    min(token.width_ns, MOST_WIDTH_NS),
                    ",".join(sorted(token.flags)),
                    totals[God.HUITZILOPOCHTLI],
                    totals[God.TLALOC],
                    self._base + self.delivered,
                )
            )
        marks = [(name, seq, total) for name, (seq, total) in boards.items()] if boards else []
        step = max(1, len(rows)) if marks else _ROWS
        for start in range(0, max(1, len(rows)), step):
            is_last = start + step >= len(rows)
            self._record(rows[start : start + step], marks, doubts if is_last else ())
        return [self._token(row[:6]) for row in rows]

    def _record(
        self, rows: Sequence[_Row], marks: Sequence[tuple[str, int, int]], doubts: Sequence[UnnumberedDoubt]
    ) -> None:
        """Write rows, up to where the boards' tokens are recorded, and doubts, in one commit."""
        with self._transaction():
            self._connection.executemany(
                "INSERT INTO doubt VALUES (?, ?, ?, ?)",
                [
                    (number, doubt.reason, _milliseconds(doubt.at), " ".join(doubt.tokens))
                    for number, doubt in enumerate(doubts, self.last_doubt + 1)
                ],
            )
            self._connection.executemany(_RECORD, rows)
            self._connection.executemany(_BOARD, marks)
        self.last_doubt += len(doubts)
        if rows:
            row, *_, huitzilopochtli, tlaloc, _ = rows[-1]
            self.last_seq = max(self.last_seq, row - self._base)
            self.totals = {God.HUITZILOPOCHTLI: huitzilopochtli, God.TLALOC: tlaloc}

    def boards(self) -> dict[str, tuple[int, int]]:
        """Return up to where the tokens of each board are recorded, as `record` stored it."""
        with _reported(self._path):
            rows = self._connection.execute("SELECT name, seq, huitzilopochtli FROM board")
            return {name: (seq, total) for name, seq, total in rows}

    def after(self, seq: int, limit: int) -> list[Token]:
        """Return up to `limit` tokens of the present source that follow `seq`, in order: one walk down the key."""
        return [self._token(row) for row in self._rows_after(self._base + seq, limit)]

    def doubts_after(self, number: int, limit: int) -> list[Doubt]:
        """Return up to `limit` doubts that follow `number`, in order, as those of the present source."""
        query = "SELECT number, reason, at_ms, tokens FROM doubt WHERE number > ? ORDER BY number LIMIT ?"
        with _reported(self._path):
            rows = self._connection.execute(query, (number, limit)).fetchall()
        return [
            Doubt(self.source, each, reason, _EPOCH + timedelta(milliseconds=at_ms), tuple(tokens.split()))
            for each, reason, at_ms, tokens in rows
        ]

    def tokens(self, batch: int = 500) -> Iterator[Token]:
        """Yield every token that ever fell, with the source and number it has, holding no more than a batch."""
        row = 0
        while rows := self._rows_after(row, batch):
            yield from map(self._token, rows)
            row = rows[-1][0]

    def token_id(self, seq: int) -> str | None:
        """Return the id of the token with this number of the present source, or None if there is none."""
        with _reported(self._path):
            query = "SELECT token FROM token WHERE seq = ?"
            row = self._connection.execute(query, (self._base + seq,)).fetchone()
        return None if row is None else str(row[0])

    def number(self, source: str, seq: int) -> int | None:
        """Return what number of the present source a token of this or a former one has, or None if there is none.

        It is below 1 for one of a former source.
        """
        if source == self.source:
            return seq or None
        beginnings = [first for first, _ in self._sources]
        for (first, each), following in zip(self._sources, beginnings[1:], strict=False):
            if each == source and 0 < seq <= following - first:
                return first - 1 + seq - self._base
        return None

    def renew(self, source: str, reason: str, at: datetime, first: int | None = None) -> None:
        """Begin a new source at the token `first`, and a notice that says why; raises `LedgerTrouble`.

        `first` is a number of the present source, below 1 for a token of a former one; without it the new source
        begins with what is not delivered. One commit, whatever the number of tokens: rows stay where they are, and
        are counted from another one. `reason` is the notice's code.
        """
        base = self._base + (self.delivered if first is None else first - 1)
        with self._transaction():
            if not self._sources:
                self._connection.execute("INSERT INTO source VALUES (1, ?, '', 0)", (self.source,))
            self._connection.execute("DELETE FROM source WHERE first > ?", (base,))
            entry = (base + 1, source, reason, _milliseconds(at))
            self._connection.execute("INSERT INTO source VALUES (?, ?, ?, ?)", entry)
            meta = (source, base, self._base + self.last_seq)
            self._connection.execute("UPDATE meta SET source = ?, delivered = ?, delivered_at = ?", meta)
            self._connection.execute(_NOTICE, (reason, _milliseconds(at)))
        self._load()

    def dismiss(self, code: str) -> bool:
        """Take a notice away for good; False if there is none. Raises `LedgerTrouble`."""
        if code not in {notice.code for notice in self.notices}:
            return False
        with self._transaction():
            self._connection.execute("DELETE FROM notice WHERE code = ?", (code,))
        self.notices = self._read_notices()
        return True

    def deliver(self, seq: int) -> None:
        """Note that everything up to `seq` is delivered; it reaches the disk with the next token or the closing."""
        self.delivered = max(self.delivered, min(seq, self.last_seq))

    def deliver_again(self, seq: int) -> None:
        """Note on disk that `seq` and what follows must be sent again; raises `LedgerTrouble`."""
        delivered = min(self.delivered, seq - 1)
        self._mark(delivered)
        self.delivered = delivered

    def copy_to(self, target: sqlite3.Connection) -> None:
        """Copy the whole ledger, as it is at one moment, into another database; raises `sqlite3.Error`."""
        self._connection.backup(target)

    def close(self) -> None:
        """Write the delivered mark and close; a mark that cannot be written is only sent again."""
        with suppress(LedgerTrouble, LedgerError, sqlite3.Error), closing(self._connection):
            if self.delivered != self._written():
                self._mark(self.delivered)

    def abandon(self) -> None:
        """Close without writing."""
        with suppress(sqlite3.Error):
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit what the block writes, after the log was bounded; raises `LedgerError` or `LedgerTrouble`."""
        with _reported(self._path):
            self._bound_log()
            with _transaction(self._connection):
                yield

    def _bound_log(self) -> None:
        """Move a full log into the file, and cut it to nothing, before anything is written to it."""
        try:
            size = self._log.stat().st_size
        except OSError:  # SQLite makes it with the first commit
            return
        if size >= _LOG_FULL:
            _settle(self._connection, self._path)

    def _load(self) -> None:
        source, delivered, delivered_at = self._connection.execute(
            "SELECT source, delivered, delivered_at FROM meta"
        ).fetchone()
        self.source = source
        last = 0
        row = self._connection.execute(
            "SELECT seq, huitzilopochtli, tlaloc, delivered FROM token ORDER BY seq DESC LIMIT 1"
        ).fetchone()
        if row is not None:
            last = row[0]
            self.totals = {God.HUITZILOPOCHTLI: row[1], God.TLALOC: row[2]}
            # A row carries the mark as it was before it; the mark in meta counts only if no row came after it.
            if delivered_at != last:
                delivered = row[3]
        self._sources = self._connection.execute("SELECT first, source FROM source ORDER BY first").fetchall()
        self._base = self._sources[-1][0] - 1 if self._sources else 0
        before = self._connection.execute("SELECT huitzilopochtli, tlaloc FROM token WHERE seq = ?", (self._base,))
        self.totals_before = dict(zip((God.HUITZILOPOCHTLI, God.TLALOC), before.fetchone() or (0, 0), strict=True))
        self.last_seq = last - self._base
        self.delivered = min(max(0, delivered - self._base), self.last_seq)
        self.notices = self._read_notices()
        self.last_doubt = self._connection.execute("SELECT coalesce(max(number), 0) FROM doubt").fetchone()[0]

    def _rows_after(self, row: int, limit: int) -> list[tuple[int, str, str, int, int, str]]:
        query = f"SELECT {_COLUMNS} FROM token WHERE seq > ? ORDER BY seq LIMIT ?"  # noqa: S608 (constant columns)
        with _reported(self._path):
            return self._connection.execute(query, (row, limit)).fetchall()

    def _read_notices(self) -> tuple[Notice, ...]:
        rows = self._connection.execute("SELECT code, at_ms FROM notice ORDER BY at_ms, code")
        return tuple(Notice(code, _EPOCH + timedelta(milliseconds=at_ms)) for code, at_ms in rows)

    def _known(self, tokens: Sequence[UnnumberedToken]) -> int:
        """Return how many of `tokens` are recorded, be it by an earlier try whose commit seemed to fail."""
        ids = {token.token for token in tokens}
        tail = self.after(max(0, self.last_seq - len(tokens)), len(tokens))
        return sum(token.token in ids for token in tail)

    def _written(self) -> int:
        row = self._connection.execute("SELECT delivered, delivered_at FROM meta").fetchone()
        return int(row[0]) - self._base if row[1] == self._base + self.last_seq else -1

    def _mark(self, delivered: int) -> None:
        with self._transaction():
            values = (self._base + delivered, self._base + self.last_seq)
            self._connection.execute("UPDATE meta SET delivered = ?, delivered_at = ?", values)

    def _token(self, row: tuple[int, str, str, int, int, str]) -> Token:
        number, token, god, at_ms, width_ns, flags = row
        source, first = self.source, self._base + 1
        if number < first:
            first, source = max(entry for entry in self._sources if entry[0] <= number)
        return Token(
            source=source,
            seq=number - first + 1,
            token=token,
            god=God(god),
            at=_EPOCH + timedelta(milliseconds=at_ms),
            width_ms=round(width_ns / 1e6, 3),
            flags=frozenset(flags.split(",")) if flags else frozenset(),
        )


def _milliseconds(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(milliseconds=1)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """BEGIN IMMEDIATE to COMMIT; an error of either leaves nothing behind in this connection."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Raise an error of SQLite as `LedgerError` or `LedgerTrouble`."""
    try:
        yield
    except sqlite3.Error as error:
        raise _problem(error, path) from error
    except (ValueError, TypeError, OverflowError) as error:  # values that no ledger has, and text that is no UTF-8
        raise DamagedError(f"the ledger {path} is damaged ({error})") from error


def _make(connection: sqlite3.Connection, path: Path, new_source: Callable[[], str]) -> None:
    """Set how an open file is written, and fill it if it is empty."""
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if tables:
        _check(connection, path, whole=False)  # before anything is written to a file that we must not write
    else:
        connection.execute(f"PRAGMA page_size = {PAGE}")
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise LedgerTrouble(
            Trouble.LEDGER_FAILING, f"the ledger {path} is in journal mode {mode}; expected a disk that allows wal"
        )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")  # a ledger bounds its log by itself, see `LOG_BOUND`
    with _transaction(connection):
        pass  # a read-only disk or file is noticed here, not at the first token
    _settle(connection, path)
    if tables == 0:
        with _transaction(connection):
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            for statement in _TABLES.split(";\n")[:-1]:
                connection.execute(statement)
            connection.execute("INSERT INTO meta VALUES (1, ?, ?, 0, 0)", (SCHEMA, new_source()))
        sync(path.absolute().parent)


def _settle(connection: sqlite3.Connection, path: Path) -> None:
    """Move the log into the file and cut it to nothing; raises `LedgerTrouble`.

    At the opening this makes durable what is found in the log, before anything is said of it.

    A commit whose sync failed, or during which the process was killed, may be found there by whoever opens the file
    next, and be on no disk: a row that is offered again, and is there already, would be written by nobody. Syncing
    the log is not enough, as a system forgets what it failed to write; so its pages are written again, into the file.
    """
    busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        raise LedgerTrouble(
            Trouble.LEDGER_FAILING,
            f"another program has been reading the ledger {path} for too long, so its log cannot be emptied: end it",
        )


def _check(connection: sqlite3.Connection, path: Path, whole: bool) -> None:
    """Refuse what is no sound ledger of this release; `whole` looks at every page and every row."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise _foreign(path)
    if not _NEEDED_TABLES.issubset(name for (name,) in connection.execute("SELECT name FROM sqlite_schema")):
        raise DamagedError(f"the ledger {path} is damaged: its tables are gone")
    row = connection.execute("SELECT schema FROM meta").fetchone()
    if row is None:
        raise DamagedError(f"the ledger {path} is damaged: the row that names its source is gone")
    if row[0] > SCHEMA:
        raise NewerError(
            f"the ledger {path} has schema {row[0]}; expected {SCHEMA}: a newer release wrote it, and only such a "
            "one can go on with it: update this program"
        )
    if whole:
        _check_whole(connection, path)


def _check_whole(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a ledger with a damaged page, a missing row, or a row whose values no token can have."""
    verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise DamagedError(f"the ledger {path} is damaged: {verdict}")
    schema, source = connection.execute("SELECT schema, source FROM meta").fetchone()
    if schema < 1 or not _HEX_ID.fullmatch(source):
        raise DamagedError(f"the ledger {path} is damaged: its schema is {schema} and its source {source!r}")
    rows, last, first = connection.execute("SELECT count(*), max(seq), min(seq) FROM token").fetchone()
    if rows and (first, last) != (1, rows):
        has = counted(rows, "token")
        raise DamagedError(f"the ledger {path} is damaged: it has {has}, from number {first} to {last}")
    if unsound := connection.execute(_UNSOUND).fetchone():
        raise DamagedError(f"the ledger {path} is damaged: token {unsound[0]} is {unsound[1:]}")
    beginnings = connection.execute("SELECT first, source FROM source ORDER BY first").fetchall()
    well = all(1 <= first <= rows + 1 and _HEX_ID.fullmatch(each) for first, each in beginnings)
    if beginnings and not (well and beginnings[0][0] == 1 and beginnings[-1][1] == source):
        raise DamagedError(f"the ledger {path} is damaged: its sources begin at {beginnings[-3:]}")
    if odd := connection.execute(_ODD_DOUBT).fetchone():
        raise DamagedError(f"the ledger {path} is damaged: a doubt is {odd}")
    if odd := connection.execute(_ODD_NOTICE).fetchone():
        raise DamagedError(f"the ledger {path} is damaged: a notice is {odd}")


def _foreign(path: Path) -> DamagedError:
    return DamagedError(f"{path} is not a temple's ledger; expected a file that this program made, or none")


def _problem(error: sqlite3.Error, path: Path) -> LedgerError | LedgerTrouble:
    """Return what an error of SQLite means for a temple."""
    extended = getattr(error, "sqlite_errorcode", 0)
    code = extended & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return _foreign(path)
    if code not in _PASSING:
        return DamagedError(f"the ledger {path} is damaged ({error})")
    trouble = Trouble.LEDGER_FAILING
    if code == sqlite3.SQLITE_FULL or extended == sqlite3.SQLITE_IOERR_SHMSIZE:  # no room for the file beside the log
        trouble = Trouble.LEDGER_FULL
    elif code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        trouble = Trouble.LEDGER_READ_ONLY
    return LedgerTrouble(trouble, f"the ledger {path} cannot be used now: {error}")
