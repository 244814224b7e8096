"""PostgreSQL for one run: creates its data folder and returns the command that starts it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from companion.cli.programs.broker import HOST
from companion.cli.programs.children import Program
from companion.cli.programs.starting import LaunchError

USER = "templo"
DATABASE = "postgres"
VERSIONS = Path("/usr/lib/postgresql")
"""Where Debian keeps the programs of each version."""

CONNECTIONS_EACH = 18
"""What a companion may open: 15 for its pages, and one each for its lock, its leases and announcements."""

_INITDB_S = 300


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, the newest version's, or None."""
    numbered = [path for path in VERSIONS.glob("*/bin") if path.parent.name.isdigit() and (path / "initdb").exists()]
    if numbered:
        return max(numbered, key=lambda path: int(path.parent.name))
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


def url(port: int, password: str) -> str:
    """Return the database's URL, as a companion's setting `store` takes it."""
    return f"postgresql+psycopg://{USER}:{password}@{HOST}:{port}/{DATABASE}"


def prepare(
    folder: Path, port: int, password: str, companions: int, environment: Mapping[str, str], logs: Path
) -> Program:
    """Make an empty database in a new folder; return the program that serves it. Raises `LaunchError`."""
    bin_folder = programs()
    if bin_folder is None:
        raise LaunchError("PostgreSQL is missing: 'sudo apt install postgresql' brings it.")
    user = _user()
    folder.mkdir(mode=0o700)
    secret = folder / "password"
    secret.touch(mode=0o600)
    secret.write_text(password)
    if user:
        owner = pwd.getpwnam(user)
        for path in (folder, secret):
            os.chown(path, owner.pw_uid, owner.pw_gid)
    data = folder / "data"
    arguments = [f"--pgdata={data}", f"--username={USER}", f"--pwfile={secret}", "--auth=scram-sha-256"]
    arguments += ["--encoding=UTF8", "--locale=C", "--no-sync"]
    try:
        made = subprocess.run(  # noqa: S603 - the command is this program's own
            [bin_folder / "initdb", *arguments],
            user=user,
            cwd=folder,
            env=dict(environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=_INITDB_S,
        )
    except subprocess.TimeoutExpired:
        raise LaunchError(f"PostgreSQL's initdb did not end within {_INITDB_S} seconds: is the disk busy?") from None
    except OSError as error:
        raise LaunchError(f"PostgreSQL's initdb cannot be run: {error}") from None
    secret.unlink()
    if made.returncode:
        raise LaunchError(f"PostgreSQL's initdb failed: {made.stderr.strip()[-400:]}")
    settings = {
        "listen_addresses": HOST,
        "port": port,
        "unix_socket_directories": "",
        "max_connections": CONNECTIONS_EACH * companions + 10,
    }
    flags = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
    return Program(
        "postgresql",
        (str(bin_folder / "postgres"), "-D", str(data), *flags),
        environment,
        logs,
        ending=signal.SIGINT,  # it waits for no client; after SIGTERM it waits for the last one
        user=user,
        folder=folder,
    )


def answers(port: int, password: str) -> bool:
    """Return whether the database answers to this password; it takes connections some time before it does."""
    import psycopg  # a program without PostgreSQL needs none

    try:
        with psycopg.connect(
            host=HOST, port=port, user=USER, password=password, dbname=DATABASE, connect_timeout=5
        ) as connection:
            connection.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def _user() -> str | None:
    """Return whom PostgreSQL runs as where that is not this process's user: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        raise LaunchError("PostgreSQL refuses to run as root: run make club as another user.") from None
