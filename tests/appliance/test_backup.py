"""`templo-mayor backup` and `restore`: one file with everything, and the same temple and tables on another card."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import pytest
from msgspec.structs import replace

import companion.cli.command_line
import controller.app.command_line
from companion.adapters.database.backup import newest
from companion.adapters.database.sql_store import SqlStore
from companion.appliance import archive, backup
from companion.appliance.backup import BackupError, Installation, Program, back_up, restore, unit_environment
from controller.adapters.control_socket import held
from controller.adapters.sqlite_ledger import FILE_NAME, Ledger
from tests.controller.program import call, command_anywhere

NOW = datetime.fromisoformat("2026-11-23T04:30:00+01:00")


class Here(Program):
    """A program whose commands run in this process: what a command does is shown, not that it is one of its own."""

    def run(self, *words: str, alone: bool = False) -> str:
        """Run one of its commands with what a process of its own would be given."""
        main = {backup.LEDGER: controller.app.command_line.main, backup.STORE: companion.cli.command_line.main}
        folders = {"STATE_DIRECTORY": str(self.state), "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"}
        given = {"LANG": "C.UTF-8", **folders, **({} if alone else self.environment())}
        out, err, mask = io.StringIO(), io.StringIO(), os.umask(0o077)
        try:
            with mock.patch.dict(os.environ, given, clear=True), redirect_stdout(out), redirect_stderr(err):
                code = main[self.member](words)
        finally:
            os.umask(mask)
        if code:
            raise BackupError(err.getvalue().strip())
        return out.getvalue()


@dataclass
class Card:
    """A card on which everything is installed: both programs, their settings, and a systemd that only takes notes."""

    folder: Path
    kind: type[Program] = Here
    asked: list[tuple[str, ...]] = field(default_factory=list)
    renewed: int = 0

    @property
    def settings(self) -> Path:
        return self.folder / "etc"

    @property
    def drop_ins(self) -> Path:
        return self.folder / "controller.service.d"

    @property
    def temple(self) -> Path:
        return self.folder / "templo-controller"

    @property
    def store(self) -> Path:
        return self.folder / "templo-companion" / "companion.sqlite"

    def installation(self) -> Installation:
        members = {"controller": backup.LEDGER, "companion": backup.STORE}
        programs = [
            self.kind(
                unit=f"templo-{name}",
                command=command_anywhere(name),
                state=self.folder / f"templo-{name}",
                member=member,
                environment=dict,
            )
            for name, member in members.items()
        ]
        return Installation(
            programs,
            {"settings": self.settings, "units/templo-controller": self.drop_ins},
            self.folder / "backups",
            self._systemd,
            self._renew,
        )

    def drop(self, count: int) -> None:
        done = call("drop", "tlaloc", "--count", str(count), "--new", "--simulate", "--state", str(self.temple))
        assert done.returncode == 0, done.stderr

    def open_store(self) -> None:
        self.store.parent.mkdir(parents=True, exist_ok=True)
        SqlStore(f"sqlite:///{self.store}").close()

    def name_temple(self, name: str) -> None:
        with closing(sqlite3.connect(self.store, isolation_level=None)) as store:
            store.execute("INSERT INTO about VALUES ('probe', ?)", (name,))

    def probe(self) -> list[str]:
        with closing(sqlite3.connect(self.store)) as store:
            return [row[0] for row in store.execute("SELECT value FROM about WHERE key = 'probe'")]

    def ledger(self) -> Ledger:
        return Ledger.open(self.temple / FILE_NAME, str, read_only=True)

    def _systemd(self, *words: str) -> str:
        self.asked.append(words)
        return "enabled\nenabled\nenabled" if words[0] == "is-enabled" else ""

    def _renew(self) -> None:
        self.renewed += 1


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with a short path: a socket's has 107 bytes at most."""
    with TemporaryDirectory(prefix="templo-") as folder:
        yield Path(folder)


@pytest.fixture
def card(place: Path) -> Card:
    return used_card(place / "card")


def used_card(folder: Path) -> Card:
    card = Card(folder)
    card.settings.mkdir(parents=True)
    (card.settings / "controller.toml").write_text('temple = "attic"\n')
    password = card.settings / "controller.env"
    password.write_text("TEMPLO_BROKER_PASSWORD=old\n")
    password.chmod(0o600)
    card.drop_ins.mkdir()
    (card.drop_ins / "override.conf").write_text("[Service]\nIPAddressAllow=192.168.1.9\n")
    card.drop(5)
    card.open_store()
    card.name_temple("first")
    return card


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A backup of a card that was used."""
    with TemporaryDirectory(prefix="templo-") as folder:
        back_up(used_card(Path(folder) / "card").installation(), Path(folder) / "all.tar.gz", NOW)
        yield Path(folder) / "all.tar.gz"


@pytest.fixture
def new(place: Path) -> Card:
    """A new card, with passwords of its own and nothing counted."""
    new = Card(place / "new")
    new.settings.mkdir(parents=True)
    (new.settings / "controller.env").write_text("TEMPLO_BROKER_PASSWORD=new\n")
    new.open_store()
    return new


def last_backup(card: Card) -> Path:
    return card.store.parent / backup.LAST_STORE


def test_a_backup_leaves_the_store_beside_it_for_the_companion_to_restore(card: Card) -> None:
    back_up(card.installation(), None, NOW)
    found = newest(card.store.parent, f"sqlite:///{card.store}")
    assert found is not None
    assert found[0] == last_backup(card)
    assert last_backup(card).stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in card.store.parent.glob("*.sqlite")) == [card.store.name, backup.LAST_STORE]
    with closing(sqlite3.connect(card.store, isolation_level=None)) as store:
        store.execute("UPDATE about SET value = 'second' WHERE key = 'probe'")
    back_up(card.installation(), None, NOW + timedelta(days=1))
    with closing(sqlite3.connect(last_backup(card))) as store:
        assert store.execute("SELECT value FROM about WHERE key = 'probe'").fetchone() == ("second",)


def test_a_backup_of_a_damaged_store_does_not_replace_the_last_one(card: Card, tmp_path: Path) -> None:
    back_up(card.installation(), None, NOW)
    before = last_backup(card).read_bytes()
    with closing(sqlite3.connect(card.store, isolation_level=None)) as store:
        store.execute("INSERT INTO temple VALUES (CAST(X'FF' AS TEXT), NULL, NULL, '', 0, 0)")
    back_up(card.installation(), tmp_path / "all.tar.gz", NOW)
    assert last_backup(card).read_bytes() == before


def test_a_backup_restored_on_a_new_card_gives_the_same_games_and_settings_and_a_new_source(
    card: Card, new: Card, tmp_path: Path
) -> None:
    card.kind = new.kind = Program
    file = tmp_path / "all.tar.gz"
    said = back_up(card.installation(), file, NOW)
    assert "5 tokens backed up to ledger.templo" in said
    assert file.stat().st_mode & 0o777 == 0o600
    with closing(card.ledger()) as before:
        source, tokens = before.source, [token.token for token in before.tokens()]

    said = restore(new.installation(), file, NOW)

    with closing(new.ledger()) as after:
        assert after.source != source
        assert [token.token for token in after.tokens()] == tokens
        assert [notice.code for notice in after.notices] == ["backup_restored"]
    assert new.probe() == ["first"]
    assert (new.settings / "controller.toml").read_text() == 'temple = "attic"\n'
    assert (new.settings / "controller.env").read_text() == "TEMPLO_BROKER_PASSWORD=old\n"
    assert (new.settings / "controller.env").stat().st_mode & 0o777 == 0o600
    assert (new.drop_ins / "override.conf").exists()
    assert new.renewed == 1
    assert "on" in said[0]
    assert said[0].startswith(f"Restored {file} (2026-11-23 03:30 UTC, Templo Mayor ")
    stopped = new.asked.index(("stop", "templo-companion", "templo-controller"))
    assert new.asked.index(("daemon-reload",)) > stopped
    assert new.asked[-1] == ("restart", "--no-block", "mosquitto", "templo-controller", "templo-companion")


def test_a_restore_keeps_what_it_replaces(made: Path, new: Card) -> None:
    new.drop(2)
    new.name_temple("second")
    (new.settings / "companion.toml").write_text('log = "debug"\n')
    said = "\n".join(restore(new.installation(), made, NOW))
    (ledger,) = new.temple.glob("ledger.replaced-*.sqlite3")
    (store,) = new.store.parent.glob("companion.sqlite.replaced-*")
    (settings,) = (new.folder / "backups").glob("settings-replaced-*.tar.gz")
    assert all(str(path) in said for path in (ledger, store, settings))
    with closing(Ledger.open(ledger, str, read_only=True)) as kept:
        assert kept.last_seq == 2
    assert not (new.settings / "companion.toml").exists()
    restore(new.installation(), settings, NOW + timedelta(seconds=1))
    assert (new.settings / "controller.env").read_text() == "TEMPLO_BROKER_PASSWORD=new\n"
    assert (new.settings / "companion.toml").read_text() == 'log = "debug"\n'
    assert not (new.settings / "controller.toml").exists()
    assert new.probe() == ["first"]


def untouched(card: Card) -> dict[str, bytes]:
    files = [*card.settings.rglob("*"), *card.temple.glob("ledger.sqlite3"), card.store]
    return {str(path): path.read_bytes() for path in files if path.is_file()}


def rewritten(file: Path, copy: Path, change: object) -> Path:
    """Write a copy of an archive whose files, by name, went through a function."""
    with tarfile.open(file) as old, tarfile.open(copy, "w:gz") as changed:
        contents = {member.name: old.extractfile(member).read() for member in old}  # type: ignore[union-attr]
        for name, content in change(contents).items():  # type: ignore[operator]
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            changed.addfile(entry, BytesIO(content))
    return copy


def manifest_with(**more: object) -> object:
    def change(contents: dict[str, bytes]) -> dict[str, bytes]:
        manifest = json.loads(contents["manifest.json"]) | more
        return {**contents, "manifest.json": json.dumps(manifest).encode()}

    return change


def named_above(contents: dict[str, bytes]) -> dict[str, bytes]:
    manifest = json.loads(contents["manifest.json"])
    manifest["members"]["../../evil"] = manifest["members"].pop("settings/controller.toml")
    return {**contents, "../../evil": b"x", "manifest.json": json.dumps(manifest).encode()}


def named_elsewhere(contents: dict[str, bytes]) -> dict[str, bytes]:
    manifest = json.loads(contents["manifest.json"])
    manifest["members"]["photos/cat.png"] = manifest["members"].pop("settings/controller.toml")
    return {**contents, "photos/cat.png": contents["settings/controller.toml"],
            "manifest.json": json.dumps(manifest).encode()}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda all_: {**all_, "store.sqlite": all_["store.sqlite"][:-1] + b"x"}, "'store.sqlite' is not what its"),
        (lambda all_: {name: all_[name] for name in all_ if name != "ledger.templo"}, "lacks 'ledger.templo'"),
        (lambda all_: {name: all_[name] for name in all_ if name != "manifest.json"}, "has no manifest"),
        (lambda all_: {**all_, "manifest.json": b"{"}, "its manifest cannot be read"),
        (manifest_with(format=99, software="9.0", members=3), "has format 99 and was made by Templo Mayor 9.0"),
        (named_above, "expected names of files below a folder"),
        (named_elsewhere, "the backup has 'photos/cat.png'"),
    ],
)
def test_a_file_that_is_damaged_or_newer_is_refused_and_changes_nothing(
    made: Path, new: Card, tmp_path: Path, change: object, expected: str
) -> None:
    file, before = rewritten(made, tmp_path / "changed.tar.gz", change), untouched(new)
    with pytest.raises(BackupError) as refused:
        restore(new.installation(), file, NOW)
    assert expected in str(refused.value)
    assert untouched(new) == before
    assert ("stop", "templo-companion", "templo-controller") not in new.asked
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("content", [b"", b"a shopping list" * 100, None])
def test_a_file_that_is_no_archive_or_was_cut_short_is_refused(
    made: Path, new: Card, tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "wrong.tar.gz"
    whole = made.read_bytes()
    file.write_bytes(whole[: len(whole) * 2 // 3] if content is None else content)
    with pytest.raises(BackupError, match="is damaged, or no backup of a temple"):
        restore(new.installation(), file, NOW)


def test_a_store_of_a_newer_release_is_refused_before_anything_is_stopped(new: Card, tmp_path: Path) -> None:
    copy = tmp_path / "store.sqlite"
    with closing(sqlite3.connect(new.store)) as found, closing(sqlite3.connect(copy, isolation_level=None)) as store:
        found.backup(store)
        store.execute("INSERT INTO about VALUES ('backup_made_at', '2026-11-23T03:30:00+00:00')")
        store.execute("UPDATE about SET value = '999' WHERE key = 'schema'")
    archive.pack(tmp_path / "all.tar.gz", {backup.STORE: copy}, NOW, replace=False)
    before = untouched(new)
    with pytest.raises(BackupError, match="expected 1: a newer release wrote it") as refused:
        restore(new.installation(), tmp_path / "all.tar.gz", NOW)
    assert str(refused.value).endswith("Nothing was changed.")
    assert "store.sqlite of" in str(refused.value)
    assert untouched(new) == before
    assert new.asked == []


def test_a_daemon_that_does_not_stop_is_refused_and_the_settings_come_back(made: Path, new: Card) -> None:
    new.kind = Program
    new.drop(1)
    before = untouched(new)
    with held(new.temple), pytest.raises(BackupError, match="already keeps") as refused:
        restore(new.installation(), made, NOW)
    assert str(refused.value).endswith("Nothing was changed.")
    assert untouched(new) == before
    assert new.asked[-1][0] == "restart"


def test_settings_that_cannot_be_kept_are_not_replaced(
    made: Path, new: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: Path, *_rest: object, **_more: object) -> None:
        raise archive.ArchiveError(f"{file} cannot be written: [Errno 28] No space left on device")

    monkeypatch.setattr(archive, "pack", full)
    before = untouched(new)
    with pytest.raises(BackupError, match="No space left on device") as refused:
        restore(new.installation(), made, NOW)
    assert str(refused.value).endswith("Nothing was changed.")
    assert untouched(new) == before
    assert new.asked == [], "the daemons keep running"


def test_the_settings_are_kept_for_good_before_a_daemon_is_stopped(made: Path, new: Card) -> None:
    kept: list[bool] = []

    def systemd(*words: str) -> str:
        if words[0] == "stop":
            kept.append(any((new.folder / "backups").glob("settings-replaced-*.tar.gz")))
        return ""

    restore(replace(new.installation(), systemd=systemd), made, NOW)
    assert kept == [True]


class Ended(Here):
    """A program during whose restore in place somebody ends `templo-mayor restore`."""

    def run(self, *words: str, alone: bool = False) -> str:
        if words[0] == "restore" and not alone:
            raise KeyboardInterrupt
        return super().run(*words, alone=alone)


class Signalled(Here):
    """A program that a signal reaches while its database is being restored: in place, or for a try."""

    number = signal.SIGHUP
    tried = False

    def run(self, *words: str, alone: bool = False) -> str:
        if words[0] == "restore" and alone == self.tried:
            signal.raise_signal(self.number)
        return super().run(*words, alone=alone)


def with_ledger_of(kind: type[Program], card: Card) -> Installation:
    """Return the installation of a card whose controller's commands are of another kind."""
    found = card.installation()
    ledger, store = found.programs
    other = kind(ledger.unit, ledger.command, ledger.state, ledger.member, ledger.environment)
    return replace(found, programs=(other, store))


def test_settings_come_back_however_a_restore_ends(made: Path, new: Card) -> None:
    before = untouched(new)
    with pytest.raises(BackupError, match="KeyboardInterrupt") as refused:
        restore(with_ledger_of(Ended, new), made, NOW)
    assert str(refused.value).endswith("Nothing was changed.")
    assert untouched(new) == before
    assert new.asked[-1][0] == "restart"
    assert not list((new.folder / "backups").glob("settings-replaced-*"))
    assert new.renewed == 0, "the broker still has the passwords that came back"


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_restore_between_two_databases_and_the_settings_come_back(
    made: Path, new: Card, number: signal.Signals
) -> None:
    kind = type("Kind", (Signalled,), {"number": number})
    handlers = [signal.getsignal(each) for each in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)]
    settings = {path: path.read_text() for path in new.settings.iterdir()}
    with pytest.raises(BackupError, match=f"ended by {number.name}") as refused:
        restore(with_ledger_of(kind, new), made, NOW)
    assert "5 tokens restored" in str(refused.value), "no database is left half replaced"
    assert "The settings are those that were here." in str(refused.value)
    assert {path: path.read_text() for path in new.settings.iterdir()} == settings
    assert new.probe() == []
    assert new.renewed == 0
    assert new.asked[-1][0] == "restart"
    assert [signal.getsignal(each) for each in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)] == handlers


def test_a_signal_while_a_restore_is_tried_ends_it_at_once(made: Path, new: Card) -> None:
    before = untouched(new)
    with pytest.raises(BackupError, match="ended by SIGHUP") as refused:
        restore(with_ledger_of(type("Kind", (Signalled,), {"tried": True}), new), made, NOW)
    assert str(refused.value).endswith("Nothing was changed.")
    assert untouched(new) == before
    assert new.asked == []


def test_passwords_that_the_broker_does_not_take_do_not_stay(made: Path, new: Card) -> None:
    renewed: list[str] = []

    def renew() -> None:
        renewed.append((new.settings / "controller.env").read_text())
        if len(renewed) == 1:
            raise BackupError("the broker did not take the restored passwords: disk full")

    with pytest.raises(BackupError, match="disk full") as refused:
        restore(replace(new.installation(), renew_access=renew), made, NOW)
    assert "The settings are those that were here." in str(refused.value)
    assert renewed == ["TEMPLO_BROKER_PASSWORD=old\n", "TEMPLO_BROKER_PASSWORD=new\n"]


def test_settings_that_cannot_come_back_are_named_with_the_command_that_brings_them(
    made: Path, new: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    def set_once(*arguments: object) -> None:
        monkeypatch.setattr(backup, "_set_settings", fail)
        set_settings(*arguments)  # type: ignore[arg-type]

    def fail(*_arguments: object) -> None:
        raise BackupError("the settings cannot be used: disk full")

    set_settings = backup._set_settings
    monkeypatch.setattr(backup, "_set_settings", set_once)
    with pytest.raises(BackupError) as refused:
        restore(with_ledger_of(Ended, new), made, NOW)
    (kept,) = (new.folder / "backups").glob("settings-replaced-*")
    assert f"'sudo templo-mayor restore {kept}' brings" in str(refused.value)


def test_each_night_has_a_backup_and_the_newest_seven_are_kept(new: Card) -> None:
    own = new.folder / "backups" / "before-the-move.tar.gz"
    own.parent.mkdir()
    own.touch()
    settings = replace(new.installation(), programs=())
    for day in range(9):
        back_up(settings, None, NOW + timedelta(days=day))
    back_up(settings, None, NOW + timedelta(days=8, hours=2))
    names = sorted(path.name for path in own.parent.glob("*.tar.gz"))
    assert names == [own.name, *(f"templo-mayor-2026-{day}.tar.gz" for day in (
        "11-25", "11-26", "11-27", "11-28", "11-29", "11-30", "12-01"))]  # fmt: skip
    back_up(settings, None, NOW.replace(year=1970))
    assert (own.parent / "templo-mayor-1970-11-23.tar.gz").exists()
    assert len(list(own.parent.glob("templo-mayor-*.tar.gz"))) == 7


def test_a_backup_that_fails_leaves_the_ones_before_it_and_nothing_half_made(card: Card) -> None:
    back_up(card.installation(), None, NOW)
    folder = card.folder / "backups"
    before = {path: path.read_bytes() for path in folder.glob("*.tar.gz")}
    card.store.unlink()
    with pytest.raises(BackupError, match="expected a database, and there is none"):
        back_up(card.installation(), None, NOW)
    assert {path: path.read_bytes() for path in folder.glob("*.tar.gz")} == before
    assert {path.name for path in folder.iterdir()} == {".lock", *(path.name for path in before)}
    assert not list(card.folder.rglob("backup-work"))


def test_what_an_interrupted_backup_left_is_removed_by_the_next(new: Card) -> None:
    folder = new.folder / "backups"
    (folder / ".work").mkdir(parents=True)
    for name in (".templo-mayor-2026-11-20.tar.gz.draft", ".settings-replaced-20261120T043000.tar.gz.draft"):
        (folder / name).write_bytes(b"half")
    (folder / ".mine.draft").touch()
    back_up(new.installation(), None, NOW)
    assert {path.name for path in folder.iterdir()} == {".lock", ".mine.draft", "templo-mayor-2026-11-23.tar.gz"}


def test_a_backup_for_which_there_is_too_little_space_is_refused_before_anything_is_copied(
    card: Card, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = (card.temple / FILE_NAME).stat().st_size + card.store.stat().st_size
    usage, free = shutil.disk_usage(tmp_path), 0
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=free))
    free = 2 * size - 1
    with pytest.raises(BackupError) as refused:
        back_up(card.installation(), None, NOW)
    assert f"{card.folder / 'backups'} has {free / 1e6:.1f} MB free" in str(refused.value)
    assert f"expected {2 * size / 1e6:.1f} MB at least" in str(refused.value)
    assert [path.name for path in (card.folder / "backups").iterdir()] == [".lock"]
    free = 2 * size
    back_up(card.installation(), None, NOW)


def test_a_backup_overwrites_no_file_and_needs_a_folder(card: Card, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(BackupError, match="is there already"):
        back_up(card.installation(), tmp_path / "mine", NOW)
    assert (tmp_path / "mine").read_text() == "mine"
    with pytest.raises(BackupError, match="there is no folder"):
        back_up(card.installation(), tmp_path / "absent" / "file", NOW)


def test_a_temple_that_never_counted_has_no_ledger_in_its_backup(new: Card, tmp_path: Path) -> None:
    said = back_up(new.installation(), tmp_path / "all.tar.gz", NOW)
    assert "nothing to back up" in "\n".join(said)
    with tarfile.open(tmp_path / "all.tar.gz") as tar:
        assert sorted(tar.getnames()) == ["manifest.json", "settings/controller.env", "store.sqlite"]


def test_a_ledger_that_is_missing_is_no_temple_that_never_counted(card: Card, tmp_path: Path) -> None:
    with held(card.temple):
        pass
    (card.temple / "ledger.begun").touch()
    (card.temple / FILE_NAME).unlink()
    with pytest.raises(BackupError, match="there is no ledger at"):
        back_up(card.installation(), tmp_path / "all.tar.gz", NOW)


def test_only_one_backup_is_made_at_a_time(new: Card) -> None:
    said: list[str] = []

    class Again(Program):
        def run(self, *words: str, alone: bool = False) -> str:
            with pytest.raises(BackupError, match="another backup or restore is at work") as refused:
                back_up(new.installation(), None, NOW)
            said.append(str(refused.value))
            return ""

    program = Again("templo-x", (), new.folder, "x", dict)
    back_up(replace(new.installation(), programs=(program,)), None, NOW)
    assert said


def test_the_settings_of_a_unit_are_its_variables_and_the_file_of_its_password(tmp_path: Path) -> None:
    (tmp_path / "controller.env").write_text("TEMPLO_BROKER_USER=temple-templo\nTEMPLO_LOG=debug\n")

    def systemd(*words: str) -> str:
        assert words == ("show", "--property=Environment", "--value", "templo-controller")
        return 'TEMPLO_LOG=info "TEMPLO_STORE=postgresql://a b"'

    assert unit_environment("templo-controller", systemd, tmp_path) == {
        "TEMPLO_LOG": "debug", "TEMPLO_STORE": "postgresql://a b", "TEMPLO_BROKER_USER": "temple-templo"
    }  # fmt: skip
