"""A real PostgreSQL for tests, as Debian packages it: on a loopback port, with a password, gone with its context."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from tests.brokers import HOST, free_port

USER = "templo"
PASSWORD = "atl-tlachinolli"
_READY_S = 120.0
SCHEMA = """
    WITH facts AS (
        SELECT concat_ws(
            ' ', relname, attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid)
        ) AS fact
        FROM pg_class
        JOIN pg_attribute ON attrelid = pg_class.oid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = %(name)s::text::regnamespace AND attnum > 0 AND NOT attisdropped
        UNION ALL
        SELECT concat_ws(' ', relname, conname, pg_get_constraintdef(pg_constraint.oid))
        FROM pg_constraint
        JOIN pg_class ON conrelid = pg_class.oid
        WHERE connamespace = %(name)s::text::regnamespace
    )
    SELECT string_agg(replace(fact, %(name)s::text || '.', ''), ',' ORDER BY fact) FROM facts
"""
"""What the tables of a schema are like."""


class Postgres:
    """One server over a folder of its own, which may be killed and started again."""

    def __init__(self, folder: Path, connections: int = 20) -> None:
        self._folder = folder
        self._connections = connections
        self._names = (f"house_{n}" for n in itertools.count(1))
        self._emptied: list[str] = []
        self._usual = ""
        # PostgreSQL refuses to run as root, and Debian's package brings a user for it.
        self._user = "postgres" if os.geteuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        if self._user:
            owner = pwd.getpwnam(self._user)
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)  # of a folder that nobody else enters
        words = [f"--username={USER}", f"--pwfile={secret}", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"]
        subprocess.run(
            [_program("initdb"), f"--pgdata={folder / 'data'}", *words, "--no-sync"],
            check=True,
            user=self._user,
            cwd=folder,
            capture_output=True,
            timeout=120,
        )

    def start(self) -> None:
        """Start it, or start it again, and wait until it answers."""
        settings = {
            "listen_addresses": HOST,
            "port": self.port,
            "unix_socket_directories": self._folder,
            "shared_buffers": "16MB",
            "max_connections": self._connections,
            "recovery_init_sync_method": "syncfs",
        }
        words = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [_program("postgres"), "-D", self._folder / "data", *words],
                user=self._user,
                cwd=self._folder,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + _READY_S
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{error}; {(self._folder / 'log').read_text()[-2000:]}") from None
                time.sleep(0.05)

    def kill(self) -> None:
        """End it at once with every connection, as a power cut does: what was not durable is gone."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def backends(self) -> list[int]:
        """Return the processes that serve a connection now, but for the one that this question takes."""
        with self.connect() as connection:
            query = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> %s"
            return [pid for (pid,) in connection.execute(query, [connection.info.backend_pid])]

    def url(self) -> str:
        """Return the URL of a new and empty place: a schema of its own, which is made sooner than a database."""
        name = next(self._names)
        with self.connect() as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return self._url(name)

    @contextmanager
    def place(self) -> Iterator[str]:
        """Yield the URL of a place that holds no row; it may have the tables that a companion made there earlier.

        To empty them is a tenth of the work of making them.
        """
        if not self._emptied:
            yield (url := self.url())
            name = url.rpartition("%3D")[2]
        else:
            name = self._emptied.pop()
            yield self._url(name)
        with suppress(psycopg.OperationalError), self.connect() as connection:  # killed, or a lock that is not given
            if self._empty(connection, name):
                self._emptied.append(name)

    def _empty(self, connection: psycopg.Connection, name: str) -> bool:
        """Empty every table; return whether there are any and the place is like the first that was emptied."""
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [name]).fetchall()
        places = [f"{name}.{table}" for (table,) in tables]
        if not places:
            return False
        connection.execute("SET lock_timeout = '5s'; SET session_replication_role = replica")
        with connection.transaction():
            connection.execute(f"LOCK TABLE {', '.join(places)} IN ACCESS EXCLUSIVE MODE".encode())
            (found,) = connection.execute(SCHEMA, {"name": name}).fetchone() or ("",)
            self._usual = self._usual or found
            if found != self._usual:
                return False
            connection.execute("; ".join(f"DELETE FROM {place}" for place in places).encode())
        return True

    def _url(self, name: str) -> str:
        options = f"options=-csearch_path%3D{name}"
        return f"postgresql+psycopg://{USER}:{PASSWORD}@{HOST}:{self.port}/postgres?{options}"

    def connect(self) -> psycopg.Connection:
        """Return a connection as the databases' owner."""
        return psycopg.connect(
            host=HOST, port=self.port, user=USER, password=PASSWORD, dbname="postgres", autocommit=True
        )


@contextmanager
def postgres(connections: int = 20) -> Iterator[Postgres]:
    """Run PostgreSQL while the context lasts, for so many connections."""
    folder = Path(tempfile.mkdtemp(prefix="templo-postgres-"))  # pytest's own folders let no other user in
    server = None
    try:
        server = Postgres(folder, connections)
        server.start()
        yield server
    finally:
        if server:
            server.kill()
        shutil.rmtree(folder)


def _program(name: str) -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    path = found[-1] if found else shutil.which(name)
    assert path, f"PostgreSQL's {name} is missing; tests/system-packages installs it"
    return Path(path)
