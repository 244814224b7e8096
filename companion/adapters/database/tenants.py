"""The tenants of an installation: which there are, and a place of its own for the rows of each.

A tenant's place is a schema of the installation's PostgreSQL, or a SQLite file of its own. Which tenants there are is
in a table of the installation's schema, or in a SQLite file beside its own: an installation that hosts nobody has
neither, and its backups hold no tenant.
"""

from __future__ import annotations

import logging
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa

from companion.adapters.database import backup
from companion.adapters.database.opening import (
    CONNECT_S,
    StoreError,
    engine_for,
    make_sqlite_durable,
    opened,
    reason,
    sqlite_path,
    wait_to_create,
    without_password,
)
from companion.adapters.database.sql_store import SqlStore
from companion.adapters.owner import make_code
from companion.model.table import ServiceError
from companion.model.tenants import Limits, Tenant
from companion.service.setup import FINISHED
from templo.contract import NAME_EXPECTED, TEMPLE_NAME
from templo.files import make_database_private

log = logging.getLogger(__name__)

FOLDER, FILE = "tenants", "tenants.sqlite"
"""Beside the installation's SQLite file: the folder of the tenants' files, and the list of them."""

TENANTS = "tenant/"
"""What the leases and the announcements of tenants begin with."""

FRESH_S = 1.0
"""How long a list of the tenants that was read is good for."""

SIZED_S = 10.0
"""The same for what a tenant has stored."""

MOST_FILES = 250
"""The most tenants that are open at a time with SQLite. Each takes three descriptors or four of the 1024 up to which
the connection to the broker can wait for its own."""

_LISTING, _OPENING = 3, 4
CONNECTIONS = _LISTING + _OPENING
"""The most connections to a PostgreSQL beside the store's: for the list, and for tenants that are being opened."""

OPENING_S = 30.0
"""How long a tenant waits until fewer others are being opened."""

_METADATA = sa.MetaData()
_TENANTS = sa.Table(
    "tenant",
    _METADATA,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("key", sa.String(8), nullable=False),
    sa.Column("code", sa.String(16), nullable=False),
    sa.Column("proof", sa.String(64), nullable=False),
    sa.Column("state", sa.String(8), nullable=False),
    *(sa.Column(each.name, sa.Integer, nullable=False) for each in fields(Limits)),
)
_READY, _CHANGING, _GONE = "ready", "changing", "gone"
"""The states of a tenant: only one that is ready is served. The name of one that is gone is not given again, because
the broker may still have what its temples published."""

_NAME = re.compile(TEMPLE_NAME, re.ASCII)
_SIZE = sa.text(
    "SELECT COALESCE(sum(pg_total_relation_size(pg_class.oid)), 0) FROM pg_class "
    "JOIN pg_namespace ON relnamespace = pg_namespace.oid WHERE nspname = :schema AND relkind = 'r'"
)


class TenantError(Exception):
    """What is wrong with a name or a limit, and what was expected."""


@contextmanager
def _says_why() -> Iterator[None]:
    """Let a command report what the database or the file system refuses; raises `StoreError`."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as error:
        raise StoreError(f"the store refused it ({reason(error)}); expected one that allows it") from error


class Tenants:
    """The tenants of the installation whose database is at `url`. Safe from any thread."""

    def __init__(self, url: str, aside: Path | None = None) -> None:
        """Store the arguments; nothing is created before a tenant is. `aside` is a folder for passing files."""
        self._aside = aside
        self._url = url
        self._file = sqlite_path(url)
        self._lock = threading.Lock()
        self._engine: sa.Engine | None = None
        self._stores: list[SqlStore] = []
        self._being_opened = 0
        self._may_open = threading.BoundedSemaphore(_OPENING)
        self._reading = threading.Lock()
        self._read: tuple[float, Mapping[str, Tenant]] | None = None
        self._sizes: dict[str, tuple[float, int]] = {}
        if self._file is None and sa.make_url(url).get_backend_name() != "postgresql":
            raise StoreError(
                f"store is {without_password(url)!r}; expected a file of SQLite, or a PostgreSQL: tenants need one"
            )

    def close(self) -> None:
        """Close every connection."""
        if self._engine is not None:
            self._engine.dispose()

    # Which there are

    def find(self, name: str) -> Tenant | None:
        """Return a tenant, or None. Raises `ServiceError`.

        The list is read once a second at most, and by one thread: meanwhile the others use the last one.
        """
        read = self._read
        if read is None or time.monotonic() - read[0] >= FRESH_S:
            read = self._read_again(read)
        return read[1].get(name)

    def _read_again(self, last: tuple[float, Mapping[str, Tenant]] | None) -> tuple[float, Mapping[str, Tenant]]:
        if not self._reading.acquire(timeout=CONNECT_S if last is None else 0):
            if last is None:
                raise ServiceError("store_failing", reason=f"the list of tenants did not come within {CONNECT_S} s")
            return last
        try:
            if (read := self._read) is None or read is last:
                read = self._read = time.monotonic(), self.all()
            return read
        finally:
            self._reading.release()

    def all(self) -> Mapping[str, Tenant]:
        """Return every tenant by its name, in order; raises `ServiceError` ``store_failing``."""
        try:
            return {row.name: _tenant(row) for row in self._rows() if row.state == _READY}
        except (sa.exc.SQLAlchemyError, StoreError, OSError) as error:
            raise ServiceError("store_failing", reason=reason(error)) from error

    def get(self, name: str) -> Tenant:
        """Return a tenant as it is now; raises `TenantError`, and `ServiceError` ``store_failing``."""
        known = self.all()
        if name not in known:
            raise TenantError(f"tenant is {name!r}; expected one of {', '.join(known) or 'those that were added'}")
        return known[name]

    @_says_why()
    def add(
        self,
        name: str,
        limits: Limits,
        entropy: Callable[[int], bytes],
        exported: Path | None = None,
        now: datetime | None = None,
    ) -> Tenant:
        """Add a tenant, empty or with what was `exported`; raises `TenantError`, `StoreError` and `BackupError`.

        If it fails nothing is left of it, and the name may be given again.
        """
        if exported:
            backup.examine(exported)
        if not _NAME.fullmatch(name):
            raise TenantError(f"tenant is {name!r}; expected {NAME_EXPECTED}")
        _check(limits)
        made = make_code(entropy)
        tenant = Tenant(name, entropy(4).hex(), made.code, made.proof, limits)
        engine = self._opened(create=True)
        assert engine is not None
        row = {"name": name, "key": tenant.key, "code": made.code, "proof": made.proof, "state": _CHANGING}
        try:
            with engine.begin() as connection:
                connection.execute(sa.insert(_TENANTS), {**row, **asdict(limits)})
        except sa.exc.IntegrityError:
            raise TenantError(
                f"tenant is {name!r}, which is there already, or was until it was deleted; expected another name"
            ) from None
        try:
            self._fill_place(tenant, exported, now)
            with engine.begin() as connection:
                connection.execute(_of(name), {"state": _READY})
        except BaseException:  # what failed is said, not what follows from it
            with suppress(sa.exc.SQLAlchemyError, OSError):
                self._remove_place(tenant)
            with suppress(sa.exc.SQLAlchemyError), engine.begin() as connection:
                connection.execute(sa.delete(_TENANTS).where(_TENANTS.c.name == name))
            raise
        return tenant

    @_says_why()
    def set_limits(self, name: str, limits: Limits) -> None:
        """Set the limits of a tenant; companions that run keep to them within a second or two."""
        _check(limits)
        self.get(name)
        engine = self._opened()
        assert engine is not None
        with engine.begin() as connection:
            connection.execute(_of(name), asdict(limits))

    @_says_why()
    def delete(self, name: str) -> None:
        """Delete a tenant with everything that it has stored; raises `TenantError` and `StoreError`.

        What was interrupted is finished by a second call. Companions that run end its pages within two seconds.
        """
        tenant, engine = self.check_deletable(name), self._opened()
        assert engine is not None
        with engine.begin() as connection:
            connection.execute(_of(name), {"state": _CHANGING})
        self._remove_place(tenant)
        if self._aside:
            shutil.rmtree(self.aside(tenant), ignore_errors=True)
        with engine.begin() as connection:
            connection.execute(_of(name), {"state": _GONE, "code": "", "proof": ""})
        if self._file:  # what SQLite replaces stays in free pages and in its log until they are used again
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM")
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    @_says_why()
    def check_deletable(self, name: str) -> Tenant:
        """Return a tenant that is there, at least in part; raises `TenantError`."""
        found = next((row for row in self._rows() if row.name == name and row.state != _GONE), None)
        return _tenant(found) if found else self.get(name)

    # The place of each

    def schema(self, tenant: Tenant) -> str:
        """Return the name of a tenant's schema: beside the installation's own, and no other installation's."""
        return f"tenant_{tenant.name.replace('-', '_')}_{tenant.key}"

    def url(self, tenant: Tenant) -> str:
        """Return the URL of a tenant's place, for commands; every connection of it sees that place alone."""
        if self._file:
            return f"sqlite:///{self._place(tenant)}"
        made = sa.make_url(self._url)
        others = " ".join(filter(None, [str(made.query.get("options", "")), f"-csearch_path={self.schema(tenant)}"]))
        return made.update_query_dict({"options": others}).render_as_string(hide_password=False)

    def aside(self, tenant: Tenant) -> Path:
        """Return the folder for what a restore replaces on PostgreSQL; it is deleted with the tenant."""
        assert self._aside
        return self._aside / FOLDER / tenant.place

    def open(self, tenant: Tenant, main: SqlStore) -> SqlStore:
        """Open a tenant's store, on PostgreSQL over the connections of the installation's; raises `StoreError`."""
        if self._file:
            with self._one_more_file():
                # A request that outlives its tenant must not make the file again.
                store = SqlStore(self.url(tenant), create=False)
                with self._lock:
                    self._stores.append(store)
                return store
        if not self._may_open.acquire(timeout=OPENING_S):
            raise StoreError(
                f"{_OPENING} other tenants are being opened; expected one of them to be open within {OPENING_S:.0f} s"
            )
        try:
            opened(self.url(tenant)).dispose()  # creates what is missing
        finally:
            self._may_open.release()
        return main.within(self.schema(tenant), announced_as(tenant))

    @contextmanager
    def _one_more_file(self) -> Iterator[None]:
        """Admit one more open file; raises `StoreError` if there are too many. Others may be opened meanwhile."""
        with self._lock:
            self._stores = [each for each in self._stores if each.is_open]
            if len(self._stores) + self._being_opened >= MOST_FILES:
                raise StoreError(
                    f"{MOST_FILES} tenants are in use; expected fewer at a time with SQLite, or a PostgreSQL"
                )
            self._being_opened += 1
        try:
            yield
        finally:
            with self._lock:
                self._being_opened -= 1

    def size(self, tenant: Tenant) -> int:
        """Return how many bytes a tenant has stored, read every ten seconds at most; raises `ServiceError`."""
        now = time.monotonic()
        at, size = self._sizes.get(tenant.place, (-SIZED_S, 0))
        if now - at >= SIZED_S:
            try:
                size = self._measured(tenant)
            except (sa.exc.SQLAlchemyError, OSError) as error:
                raise ServiceError("store_failing", reason=reason(error)) from error
            self._sizes[tenant.place] = now, size
        return size

    def export(self, tenant: Tenant, file: Path, now: datetime) -> backup.Backup:
        """Write everything of a tenant into one new file, a backup; companions may be running."""
        return backup.back_up(self.url(tenant), file, now)

    def remove_leftovers(self, tenant: Tenant) -> None:
        """Remove what a companion may have written of a tenant while it was deleted.

        A tenant that is not in the list was not deleted: an earlier list may have been restored. What it has stored
        is left as it is. Raises `ServiceError` ``store_failing``.
        """
        try:
            states = [row.state for row in self._rows() if (row.name, row.key) == (tenant.name, tenant.key)]
            if not states:
                place = self._place(tenant) if self._file else f"schema {self.schema(tenant)}"
                log.error(
                    "tenant %r is in use and not in the list of tenants; expected one that is there or was deleted: "
                    "%s is left as it is",
                    tenant.name,
                    place,
                )
            elif self._file and states[0] in (_CHANGING, _GONE):
                self._remove_place(tenant)
        except (sa.exc.SQLAlchemyError, StoreError, OSError) as error:
            raise ServiceError("store_failing", reason=reason(error)) from error

    def _measured(self, tenant: Tenant) -> int:
        if self._file:
            place = self._place(tenant)
            stored = (place, place.with_name(f"{place.name}-wal"))  # and not what a restore replaced
            return sum(each.stat().st_size for each in stored if each.exists())
        engine = self._opened()
        assert engine is not None
        with engine.connect() as connection:
            return int(connection.execute(_SIZE, {"schema": self.schema(tenant)}).scalar_one())

    def _fill_place(self, tenant: Tenant, exported: Path | None, now: datetime | None) -> None:
        if not self._file:
            engine = self._opened()
            assert engine is not None
            with engine.begin() as connection:
                connection.exec_driver_sql(f'CREATE SCHEMA "{self.schema(tenant)}"')
        SqlStore(self.url(tenant)).close()
        if exported:
            assert now
            assert self._aside
            done = backup.restore(exported, self.url(tenant), self._aside, now)
            if done.replaced:
                done.replaced.unlink()  # the empty place that it replaced
        store = SqlStore(self.url(tenant))
        try:
            with store.transaction() as transaction:
                transaction.set_note(FINISHED, "yes")  # nobody else is to set this place up
        finally:
            store.close()

    def _remove_place(self, tenant: Tenant) -> None:
        if self._file:
            place = self._place(tenant)
            for beginning in ("", "."):
                for each in place.parent.glob(f"{beginning}{place.name}*"):
                    each.unlink(missing_ok=True)
            return
        engine = self._opened()
        assert engine is not None
        with engine.begin() as connection:
            connection.exec_driver_sql("SET LOCAL lock_timeout = '30s'")
            connection.exec_driver_sql(f'DROP SCHEMA IF EXISTS "{self.schema(tenant)}" CASCADE')

    def _place(self, tenant: Tenant) -> Path:
        assert self._file
        return self._file.with_name(FOLDER) / f"{tenant.place}.sqlite"

    def _rows(self) -> list[sa.Row[tuple[object, ...]]]:
        engine = self._opened()
        if engine is None:
            return []
        with engine.connect() as connection:
            if not sa.inspect(connection).has_table(_TENANTS.name):
                return []
            return list(connection.execute(sa.select(_TENANTS).order_by(_TENANTS.c.name)).all())

    def _opened(self, *, create: bool = False) -> sa.Engine | None:
        """Return the engine of the list, or None if nobody has added a tenant."""
        with self._lock:
            if self._engine is None:
                if self._file:
                    folder = self._file.with_name(FOLDER)
                    if not create and not (folder / FILE).exists():
                        return None
                    folder.mkdir(mode=0o700, exist_ok=True)
                    self._engine = engine_for(f"sqlite:///{folder / FILE}")
                    sa.event.listen(self._engine, "connect", make_sqlite_durable)
                else:
                    self._engine = engine_for(self._url, pool_size=1, max_overflow=_LISTING - 1, pool_pre_ping=True)
            engine = self._engine
        if create:
            with engine.begin() as connection:
                wait_to_create(connection)
                _METADATA.create_all(connection)
            if self._file:
                make_database_private(self._file.with_name(FOLDER) / FILE)
        return engine


def lease_of(tenant: Tenant) -> str:
    """Return the name of the lease for the work of a tenant that only one companion does."""
    return f"{TENANTS}{tenant.place}"


def announced_as(tenant: Tenant) -> str:
    """Return what the topics of a tenant's announcements begin with."""
    return f"{lease_of(tenant)}/"


def _of(name: str) -> sa.Update:
    return sa.update(_TENANTS).where(_TENANTS.c.name == name)


def _tenant(row: sa.Row[tuple[object, ...]]) -> Tenant:
    found = row._mapping
    limits = Limits(**{each.name: found[each.name] for each in fields(Limits)})
    return Tenant(found["name"], found["key"], found["code"], found["proof"], limits)


def _check(limits: Limits) -> None:
    for name, value in asdict(limits).items():
        if not 1 <= value <= 1_000_000:
            raise TenantError(f"{name} is {value}; expected a whole number from 1 to 1000000")
