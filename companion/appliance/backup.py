"""`templo-mayor backup` and `restore`: ledger, store and settings of the installed temple as one file.

Each program copies and restores its own database, as the user it runs as: the store while people play, the ledger
under a new source. This module collects the copies, and stops and starts the daemons.
"""

from __future__ import annotations

import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec import Struct

from companion.adapters.database.damage import find_damage
from companion.appliance import archive
from companion.appliance.archive import ArchiveError
from templo import files
from templo.quoting import counted

FOLDER = Path("/var/backups/templo-mayor")
NIGHTLY_BACKUPS = 7
"""How many nightly backups there are at most."""

UNITS = ("mosquitto", "templo-controller", "templo-companion")
ACCESS = "templo-broker-access"
PATIENCE_S = 1800.0
"""A store of many years on a slow card takes minutes."""

LEDGER, STORE = "ledger.templo", "store.sqlite"
LAST_STORE = "last-backup.sqlite"
"""The newest backup of the store beside it, which the companion can restore by itself if the store is damaged."""

_DATABASES = {LEDGER: "ledger.sqlite3", STORE: "companion.sqlite"}
"""What each is a copy of, in the state folder of its program, unless the store is elsewhere."""
_ENDING = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
_WORK = "backup-work"
_NIGHTLY = re.compile(r"templo-mayor-\d{4}-\d{2}-\d{2}\.tar\.gz")
_DRAFT = re.compile(r"\.(templo-mayor|settings-replaced)-[\dT-]+\.tar\.gz\.draft")
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


class BackupError(Exception):
    """What cannot be backed up or restored; the message says what and why, and what was changed already."""


class Program(Struct, frozen=True):
    """One of the two daemons, and its commands that write and restore its database.

    `environment` returns what its unit gives it. Its commands run as `user`, or as whoever runs this.
    """

    unit: str
    command: Sequence[str]
    state: Path
    member: str
    environment: Callable[[], Mapping[str, str]]
    user: str | None = None

    @property
    def settings_name(self) -> str:
        """The name of its settings file in an archive."""
        return f"settings/{self.unit.removeprefix('templo-')}.toml"

    @property
    def database(self) -> Path:
        """Where its database is, unless its settings name another one."""
        return self.state / _DATABASES.get(self.member, self.member)

    def size(self) -> int:
        """Return how many bytes its database has, with what is still in its log."""
        database = self.database
        paths = [database.with_name(database.name + ending) for ending in ("", "-wal")]
        return sum(path.stat().st_size for path in paths if path.exists())

    def run(self, *arguments: str, alone: bool = False) -> str:
        """Run one of its commands and return what it prints; raises `BackupError` with what it says if it fails.

        Run `alone`, it is given nothing that its unit would give it.
        """
        given = {"PATH": _PATH, "LANG": "C.UTF-8", "STATE_DIRECTORY": str(self.state)}
        given |= {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent", **({} if alone else self.environment())}
        try:
            done = subprocess.run(  # noqa: S603 (our own commands)
                [*self.command, *arguments],
                env=given,
                user=self.user,
                group=pwd.getpwnam(self.user).pw_gid if self.user else None,
                extra_groups=[] if self.user else None,
                umask=0o077,
                cwd=self.state,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
                start_new_session=True,  # what ends this command in a terminal leaves no database half replaced
            )
        except (OSError, KeyError, subprocess.TimeoutExpired) as error:
            raise BackupError(f"{self.command[0]} cannot be run: {error}") from error
        if done.returncode:
            raise BackupError(done.stderr.strip() or f"{self.command[0]} ended with exit code {done.returncode}")
        return done.stdout

    @contextmanager
    def workplace(self) -> Iterator[Path]:
        """Give an empty folder on the disk of its state that its user may write; it is removed afterwards."""
        folder = self.state / _WORK
        with _reported("the folder of a database"):
            self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            self.own(self.state)
            self.own(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def take(self, copy: Path, target: Path) -> None:
        """Take a copy of its database out of its folder; a sound one of the store beside it stays there, too."""
        if self.member != STORE or not self.database.exists() or find_damage(f"sqlite:///{copy}"):
            shutil.move(copy, target)
            return
        try:
            os.link(copy, target)
        except OSError:  # on another disk
            shutil.copyfile(copy, target)
        copy.replace(self.state / LAST_STORE)
        files.sync(self.state)

    def own(self, path: Path) -> None:
        """Let its user have a file or a folder."""
        if self.user:
            shutil.chown(path, self.user, pwd.getpwnam(self.user).pw_gid)


class Installation(Struct, frozen=True):
    """Where everything of an installed temple is.

    `programs` are in the order in which their databases are copied. `settings` maps a name in an archive to a folder
    whose files are copied. `systemd` runs systemctl with words and returns what it prints; `renew_access` makes the
    broker take the passwords that are in the settings.
    """

    programs: Sequence[Program]
    settings: Mapping[str, Path]
    folder: Path
    systemd: Callable[..., str]
    renew_access: Callable[[], None]


def installed(systemd: Callable[..., str]) -> Installation:
    """Return the installation that the Debian package made on this machine."""
    # The ledger is copied first. A token that it holds as delivered then is in the store that is copied after it;
    # the other way round nobody would send again what the store lacks.
    programs = [
        Program(
            unit=unit,
            command=[f"/usr/bin/{unit}"],
            state=Path("/var/lib") / unit,
            member=member,
            environment=partial(unit_environment, unit, systemd, Path("/etc/templo-mayor")),
            user=unit,
        )
        for unit, member in (("templo-controller", LEDGER), ("templo-companion", STORE))
    ]
    drop_ins = {f"units/{unit}": Path(f"/etc/systemd/system/{unit}.service.d") for unit in UNITS[1:]}
    return Installation(programs, {"settings": Path("/etc/templo-mayor"), **drop_ins}, FOLDER, systemd, _renew_access)


def unit_environment(unit: str, systemd: Callable[..., str], settings: Path) -> dict[str, str]:
    """Return the settings that a unit gives its program as variables, by its file and its drop-ins.

    The file of its passwords, in the folder of `settings`, wins over both, as systemd has it.
    """
    assignments = shlex.split(systemd("show", "--property=Environment", "--value", unit))
    with suppress(OSError, UnicodeDecodeError, ValueError):
        text = (settings / f"{unit.removeprefix('templo-')}.env").read_text()
        assignments += shlex.split(text, comments=True)
    return dict(each.split("=", 1) for each in assignments if "=" in each)


def back_up(installation: Installation, file: Path | None, now: datetime) -> list[str]:
    """Write one file with everything, while all of it runs; return what to print. Raises `BackupError`.

    Without a file it is the nightly one: one a day, of which the newest seven are kept.
    """
    nightly = file is None
    if file is None:
        file = installation.folder / f"templo-mayor-{now:%Y-%m-%d}.tar.gz"
    elif os.path.lexists(file):
        raise BackupError(f"{file} is there already; expected the name of a new file")
    with _alone(installation) as work:
        lines = _collect(installation, file, work, now, replace=nightly)
    if nightly:
        _remove_old(file)
    return lines


def restore(installation: Installation, file: Path, now: datetime) -> list[str]:
    """Put everything that a backup holds in the place of what is here, and return what to print.

    All of it is tried beside what is here, and the settings that are here are kept in an archive of their own, before
    the daemons are stopped. The databases that it replaces are kept beside their places. A restore that fails puts
    the settings back, also if SIGHUP (the terminal's connection is lost), SIGTERM or SIGINT ends it. Raises
    `BackupError`, whose message says what has changed.
    """
    with _interruption() as interruption:
        try:
            with _alone(installation) as work:
                with _reported(f"the backup {file}"):
                    manifest = archive.unpack(file, work)
                    for name in manifest.members.keys() - {LEDGER, STORE}:
                        _place(installation, name)
                for program in installation.programs:
                    if program.member in manifest.members:
                        _rehearse(program, work, file)
                before = _kept_settings(installation, manifest, work, now)
                interruption.is_deferred = True
                lines = _exchange(installation, manifest, before, work, file, interruption.check)
        except _InterruptedRestoreError as error:
            raise BackupError(f"{error}\nNothing was changed.") from None
    at = f"{manifest.made_at:%Y-%m-%d %H:%M} UTC, Templo Mayor {manifest.software} on {manifest.host}"
    return [f"Restored {file} ({at}).", *lines]


class _InterruptedRestoreError(BaseException):
    """A signal that ends a restore."""


class _Interruption(Struct):
    """Raises `_InterruptedRestoreError` for a signal: where it arrives, or once deferred at the next `check`."""

    is_deferred: bool = False
    number: int = 0

    def on_signal(self, number: int, _frame: object) -> None:
        """Handle a signal."""
        self.number = number
        if not self.is_deferred:
            self.check()

    def check(self) -> None:
        """Raise if a signal has arrived."""
        if self.number:
            raise _InterruptedRestoreError(f"The restore was ended by {signal.Signals(self.number).name}.")


@contextmanager
def _interruption() -> Iterator[_Interruption]:
    """Handle the signals that end a command, until the block is left."""
    found = _Interruption()
    before = {number: signal.signal(number, found.on_signal) for number in _ENDING}
    try:
        yield found
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Kept(Struct, frozen=True):
    """The settings that were here: copies by name, and the archive of them, if there were any."""

    copies: Mapping[str, Path]
    archive: Path | None


def _settings_in(manifest: archive.Manifest) -> dict[str, archive.Member]:
    return {name: member for name, member in manifest.members.items() if name not in (LEDGER, STORE)}


def _kept_settings(installation: Installation, manifest: archive.Manifest, work: Path, now: datetime) -> _Kept:
    """Write the settings that are here into an archive, if the backup has settings to replace them."""
    copies = _copied_settings(installation, work / "before") if _settings_in(manifest) else {}
    if not copies:
        return _Kept(copies, None)
    file = installation.folder / f"settings-replaced-{now:%Y%m%dT%H%M%S}.tar.gz"
    try:
        archive.pack(file, copies, now, replace=True)
    except ArchiveError as error:
        raise BackupError(f"{error}\nNothing was changed.") from error
    return _Kept(copies, file)


def _exchange(
    installation: Installation,
    manifest: archive.Manifest,
    before: _Kept,
    work: Path,
    file: Path,
    check: Callable[[], None],
) -> list[str]:
    """Replace settings and databases while the daemons are stopped, and return what to print."""
    states = installation.systemd("is-enabled", *UNITS).split("\n")
    enabled = [unit for unit, state in zip(UNITS, states, strict=False) if state == "enabled"]
    installation.systemd("stop", *UNITS[:0:-1])
    try:
        return _replace(installation, manifest, before, work, file, check)
    finally:
        if enabled:
            installation.systemd("restart", "--no-block", *enabled)


def _replace(
    installation: Installation,
    manifest: archive.Manifest,
    before: _Kept,
    work: Path,
    file: Path,
    check: Callable[[], None],
) -> list[str]:
    """Replace settings and databases, and return what to print; whatever ends it early, the settings come back.

    `check` raises if somebody has ended the restore; it is called where no database is half replaced.
    """
    settings = _settings_in(manifest)
    lines: list[str] = []
    is_renewing = False
    try:
        check()
        if settings:
            _set_settings(installation, {name: work / name for name in settings}, settings)
        for program in installation.programs:
            check()
            lines += _restored(program, manifest, work, file)
        check()
        if settings:
            is_renewing = True
            installation.renew_access()
    except BaseException as error:
        state = _put_back(installation, before, is_renewing) if settings else []
        changed = [*lines, *state] if lines or len(state) > 1 else ["Nothing was changed."]
        reason = str(error) if isinstance(error, (BackupError, _InterruptedRestoreError)) else repr(error)
        raise BackupError("\n".join([reason, *changed])) from error
    return [*lines, *([f"The settings that were here are kept as {before.archive}"] if before.archive else [])]


def _put_back(installation: Installation, before: _Kept, is_renewed: bool) -> list[str]:
    """Make the settings what they were, also for the broker if it may have others; return what to say of them."""
    try:
        _set_settings(
            installation, before.copies, {name: archive.described(path) for name, path in before.copies.items()}
        )
    except (BackupError, OSError) as error:
        how = f"; 'sudo templo-mayor restore {before.archive}' brings them back" if before.archive else ""
        return [f"The settings that were here are not back: {error}", f"Free some space or mend the disk{how}."]
    if is_renewed:
        try:
            installation.renew_access()
        except BackupError as error:
            return ["The settings are those that were here.", f"{error}: 'sudo {ACCESS} --again' tries again."]
    if before.archive:
        with suppress(OSError):  # a copy of what is here again does no harm
            before.archive.unlink(missing_ok=True)
    return ["The settings are those that were here."]


def _collect(installation: Installation, file: Path, work: Path, now: datetime, replace: bool) -> list[str]:
    """Copy everything and pack it; return what to print."""
    members, lines = _copied_settings(installation, work), []
    with _reported(f"the backup {file}"):
        _check_target(file)
        _check_space(installation, file)
        copies = work / "databases"
        copies.mkdir(mode=0o700)
        for program in installation.programs:
            with program.workplace() as folder:
                copy = folder / program.member
                option = ["--if-begun"] if program.member == LEDGER else []
                lines += program.run("backup", *option, str(copy)).replace(str(copy), program.member).splitlines()
                if copy.exists():
                    members[program.member] = copies / program.member
                    program.take(copy, members[program.member])
        archive.pack(file, members, now, replace=replace)
    return [*lines, f"Wrote {file}: {file.stat().st_size / 1e6:.1f} MB, with {counted(len(members), 'file')}."]


def _check_target(file: Path) -> None:
    """Refuse a place where no file can be before anything is copied."""
    if not file.absolute().parent.is_dir():
        raise ArchiveError(f"{file} cannot be written: there is no folder {file.absolute().parent}")


def _check_space(installation: Installation, file: Path) -> None:
    """Refuse a disk without room for copies of the databases and, at most as large, the archive of them."""
    size = sum(program.size() for program in installation.programs)
    needed: dict[int, int] = {}
    for folder in (installation.folder, file.absolute().parent):
        device = folder.stat().st_dev
        needed[device] = needed.get(device, 0) + size
        if (free := shutil.disk_usage(folder).free) < needed[device]:
            raise BackupError(
                f"{folder} has {free / 1e6:.1f} MB free; expected {needed[device] / 1e6:.1f} MB at least for "
                f"databases of {size / 1e6:.1f} MB: delete old backups or other files"
            )


def _copied_settings(installation: Installation, work: Path) -> dict[str, Path]:
    """Copy every file of the settings, so that none changes while it is packed; return them by name."""
    copied = {}
    with _reported("the settings"):
        for prefix, folder in installation.settings.items():
            for path in sorted(folder.rglob("*")):
                if not path.is_file():
                    continue
                name = f"{prefix}/{path.relative_to(folder)}"
                copy = work / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, copy)
                with suppress(PermissionError):  # only root may give a file away
                    os.chown(copy, path.stat().st_uid, path.stat().st_gid)
                copied[name] = copy
    return copied


def _place(installation: Installation, name: str) -> Path:
    """Return where a file of the settings belongs; raises `ArchiveError` if this release has no such place."""
    for prefix, folder in installation.settings.items():
        if name.startswith(f"{prefix}/"):
            return folder / name.removeprefix(f"{prefix}/")
    raise ArchiveError(
        f"the backup has {name!r}, which this release does not know; expected {LEDGER}, {STORE} or settings"
    )


def _rehearse(program: Program, work: Path, file: Path) -> None:
    """Restore a database where nobody uses it, with the settings of the backup; raises `BackupError`."""
    with program.workplace() as folder:
        copy = _lent(program, work / program.member, folder)
        settings, state = folder / "settings.toml", folder / "state"
        with suppress(FileNotFoundError):
            shutil.copyfile(work / program.settings_name, settings)
        settings.touch()
        program.own(settings)
        arguments = ["restore", "--config", str(settings), "--state", str(state)]
        if program.member == STORE:
            arguments += ["--store", f"sqlite:///{state / 'companion.sqlite'}"]
        try:
            program.run(*arguments, str(copy), alone=True)
        except BackupError as error:
            message = str(error).replace(str(copy), f"{program.member} of {file}")
            message = message.replace(str(settings), f"{program.settings_name} of {file}")
            raise BackupError(f"{message}\nNothing was changed.") from error


def _restored(program: Program, manifest: archive.Manifest, work: Path, file: Path) -> Iterator[str]:
    """Restore a database in its place; yield what to print."""
    if program.member not in manifest.members:
        return
    with program.workplace() as folder:
        copy = _lent(program, work / program.member, folder)
        printed = program.run("restore", str(copy)).replace(str(copy), f"{program.member} of {file}")
    yield from (line for line in printed.splitlines() if not line.startswith("Now start the companion"))


def _lent(program: Program, path: Path, folder: Path) -> Path:
    """Return a copy of an unpacked file that a program's user may read."""
    with _reported("a copy of the backup"):
        copy = folder / path.name
        shutil.copyfile(path, copy)
        program.own(copy)
        return copy


def _set_settings(
    installation: Installation, copies: Mapping[str, Path], members: Mapping[str, archive.Member]
) -> None:
    """Make the files of the settings those of `copies`, with the modes and owners of `members`, and no others."""
    with _reported("the settings"):
        for name, member in members.items():
            path = _place(installation, name)
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            files.write_whole(path, copies[name].read_bytes())
            path.chmod(member.mode)
            with suppress(LookupError, PermissionError):  # whoever owned it may not be on this machine
                shutil.chown(path, member.owner, member.group)
        for prefix, folder in installation.settings.items():
            for path in folder.rglob("*"):
                if path.is_file() and f"{prefix}/{path.relative_to(folder)}" not in members:
                    path.unlink()
    installation.systemd("daemon-reload")


def _remove_old(newest: Path) -> None:
    """Keep the newest nightly backups by the dates in their names, and the one just made whatever its date is."""
    with _reported("an old backup"):
        nightly = sorted(path for path in newest.parent.iterdir() if _NIGHTLY.fullmatch(path.name) and path != newest)
        for path in nightly[: max(0, len(nightly) - (NIGHTLY_BACKUPS - 1))]:
            path.unlink()


@contextmanager
def _alone(installation: Installation) -> Iterator[Path]:
    """Give an empty folder of this run's own; raises `BackupError` if another backup or restore is at work."""
    folder = installation.folder
    with _reported(f"the folder {folder}"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, files.OWNER_ONLY)
    try:
        try:
            files.lock(lock)
        except files.HeldError as error:
            raise BackupError(f"another backup or restore is at work ({error}); expected to be alone") from None
        work = folder / ".work"
        with _reported(f"the folder {work}"):
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(mode=0o700)
            for path in folder.iterdir():
                if _DRAFT.fullmatch(path.name):  # a power cut left it
                    path.unlink()
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)
    finally:
        os.close(lock)


@contextmanager
def _reported(what: str) -> Iterator[None]:
    try:
        yield
    except ArchiveError as error:
        raise BackupError(str(error)) from error
    except (OSError, LookupError, shutil.Error) as error:
        raise BackupError(f"{what} cannot be used: {error}") from error


def _renew_access() -> None:
    if (command := shutil.which(ACCESS)) is None:
        return
    done = subprocess.run([command, "--again"], capture_output=True, text=True, check=False, timeout=PATIENCE_S)  # noqa: S603
    if done.returncode:
        raise BackupError(f"the broker did not take the restored passwords: {done.stderr.strip()}")
