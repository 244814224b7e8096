"""A supervised companion with a damaged store shows what is left on its page, and its owner restores the backup."""

from __future__ import annotations

import os
import random
import re
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from companion.adapters.database import backup
from companion.adapters.database.opening import PAGE
from companion.adapters.owner import make_owner
from tests.brokers import HOST, free_port
from tests.companion.conftest import Home
from tests.controller.app.test_full_disk import APART, mounts
from tests.controller.program import ROOT, environment
from tests.liveness.conftest import PATIENCE_S, Bench, Watched
from tests.liveness.test_trouble import answer, words
from tests.waiting import eventually

EXAMINING = "reading everything that is stored"
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


class Evening:
    """A companion's state with games, and the program on it."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self.bench = bench
        self.folder = folder
        self.port = free_port()
        self.state = bench.state("companion")
        self.store = self.state / "companion.sqlite"
        self.state.mkdir()
        home = Home(f"sqlite:///{self.store}")
        for number in range(3):
            home.seated(home.table(temple=f"temple-{number}"))
        home.store.close()
        self.owner = make_owner(self.state / "owner-code", os.urandom)

    def back_up(self) -> None:
        backup.back_up(f"sqlite:///{self.store}", self.state / "last-backup.sqlite", NOON)

    def spoil(self) -> bytes:
        """Write random bytes over a page in the middle that is in use, with the titles of the games; return all."""
        return self.spoil_page(self.store.read_bytes().rindex(b"Sunday") // PAGE)

    def spoil_page(self, number: int) -> bytes:
        with self.store.open("r+b") as file:
            file.seek(number * PAGE)
            file.write(random.Random(number).randbytes(PAGE))
        return self.store.read_bytes()

    def start(self, name: str = "companion", apart: Sequence[str] = ()) -> Watched:
        """Start the program, by the command `apart` if one is given."""
        program = words(self.bench, self.port)
        if apart:
            program = ["-c", "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])", *apart, sys.executable, *program]
        companion = Watched(self.folder, name, program)
        self.bench.watched.append(companion)
        companion.ready()
        return companion

    def page(self, language: str = "en") -> str:
        """Return the page once the store has been read."""
        eventually(lambda: "<h2>" in answer(self.port, "/", language)[1])
        return answer(self.port, "/", language)[1]

    def tap(self, form: Mapping[str, str], **headers: str) -> tuple[int, str, str]:
        """Post to the button's address; return the status, the page and the cookie that it sets."""
        own = f"http://{HOST}:{self.port}"
        request = urllib.request.Request(
            f"{own}/setup/restore",
            data=urllib.parse.urlencode(form).encode(),
            headers={"Origin": own, "Accept-Language": "en", **headers},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as found:
                return found.status, found.read().decode(), found.headers.get("Set-Cookie", "")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode(), ""

    def games(self) -> set[str]:
        """Return the ids of the tables that are shown."""
        return set(re.findall(r"/t/([0-9a-f]{32})", answer(self.port, "/tables")[1]))


@pytest.fixture
def evening(bench: Bench, tmp_path: Path) -> Evening:
    return Evening(bench, tmp_path)


def test_the_owner_restores_the_backup_with_one_tap_and_the_games_are_back(evening: Evening) -> None:
    evening.back_up()
    spoiled = evening.spoil()
    companion = evening.start()
    page = evening.page()
    assert f"is damaged: {evening.store}" in page
    assert "0 tables of games (there may be more that cannot be read)" in page
    assert "3 temples" in page
    assert "It was made on Nov 20, 2026" in page
    assert "Restaurar esta copia" in evening.page("es")
    assert companion.feeds(3)
    status, page, _ = evening.tap({}, Cookie=f"owner={evening.owner.proof}")
    assert (status, "The backup is restored" in page) == (200, True)
    eventually(lambda: answer(evening.port, "/")[0] == 200)
    assert len(evening.games()) == 3
    (kept,) = evening.state.glob("companion.sqlite.replaced-*Z")
    assert kept.read_bytes() == spoiled
    assert f"now {kept}" in page
    assert "Traceback" not in companion.log()
    companion.process.terminate()
    assert companion.process.wait(PATIENCE_S) == 0


def test_a_stranger_is_asked_for_the_owners_code_and_changes_nothing(evening: Evening) -> None:
    evening.back_up()
    spoiled = evening.spoil()
    evening.start()
    evening.page()
    for form, headers in (
        ({}, {}),
        ({}, {"Cookie": f"owner={'0' * 32}"}),
        ({"code": "WRONGWRO"}, {}),
        ({"code": evening.owner.code}, {"Origin": "http://elsewhere.example"}),
        ({"code": evening.owner.code}, {"Host": "elsewhere.example"}),
    ):
        status, page, _ = evening.tap(form, **headers)
        assert status in (400, 403)
        assert "The backup is restored" not in page
    assert "not the owner’s code" in evening.tap({"code": "WRONGWRO"})[1]
    assert evening.store.read_bytes() == spoiled
    status, page, cookie = evening.tap({"code": evening.owner.code.lower()})
    assert (status, "The backup is restored" in page) == (200, True)
    assert f"owner={evening.owner.proof}" in cookie
    eventually(lambda: answer(evening.port, "/")[0] == 200)


def test_ten_wrong_codes_lock_a_stranger_out(evening: Evening) -> None:
    evening.back_up()
    evening.spoil()
    evening.start()
    evening.page()
    statuses = [evening.tap({"code": "WRONGWRO"})[0] for _ in range(11)]
    assert statuses == [*[403] * 10, 429]


def test_without_a_backup_the_page_says_so_and_what_to_do(evening: Evening) -> None:
    spoiled = evening.spoil()
    evening.start()
    page = evening.page()
    assert f"There is none in {evening.state}" in page
    assert "sudo templo-mayor restore" in page
    assert "<button" not in page
    assert evening.tap({"code": evening.owner.code})[0] == 503
    assert evening.store.read_bytes() == spoiled


def test_a_backup_that_was_damaged_since_it_was_found_is_not_restored(evening: Evening) -> None:
    evening.back_up()
    spoiled = evening.spoil()
    evening.start()
    evening.page()
    (evening.state / "last-backup.sqlite").write_bytes(b"nothing")
    status, page, _ = evening.tap({"code": evening.owner.code})
    assert (status, "nothing was changed" in page) == (503, True)
    assert evening.store.read_bytes() == spoiled


def test_a_file_that_somebody_puts_in_its_place_is_used_at_once(evening: Evening) -> None:
    sound = evening.store.read_bytes()
    evening.spoil()
    evening.start()
    evening.page()
    evening.store.write_bytes(sound)
    eventually(lambda: answer(evening.port, "/")[0] == 200)
    assert len(evening.games()) == 3


def test_a_store_that_lost_all_its_bytes_is_not_begun_anew(evening: Evening) -> None:
    evening.back_up()
    companion = evening.start()
    eventually(lambda: answer(evening.port, "/")[0] == 200)
    companion.process.terminate()
    assert companion.process.wait(PATIENCE_S) == 0
    evening.store.write_bytes(b"")
    evening.start("again")
    assert "the file is empty" in evening.page()
    assert evening.tap({"code": evening.owner.code})[0] == 200
    eventually(lambda: answer(evening.port, "/")[0] == 200)
    assert len(evening.games()) == 3


def test_damage_that_shows_while_it_serves_leads_to_the_page_too(evening: Evening) -> None:
    evening.back_up()
    with closing(sqlite3.connect(evening.store)) as store:  # no start reads what people decided
        roots = store.execute("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'held_decision'").fetchall()
    for (root,) in roots:
        evening.spoil_page(root - 1)
    companion = evening.start()
    eventually(lambda: answer(evening.port, "/")[0] == 200)
    answer(evening.port, f"/t/{evening.games().pop()}/reconcile")
    assert "<h2>The newest backup</h2>" in evening.page()
    assert companion.process.poll() is None
    assert not any(each.startswith("STOPPING") for each in companion.received)
    assert companion.feeds(3)
    assert evening.tap({"code": evening.owner.code})[0] == 200
    eventually(lambda: answer(evening.port, "/")[0] == 200)
    assert len(evening.games()) == 3


DISKS = {
    "full": ('cat /dev/zero > "{state}/filler" 2>/dev/null', "database or disk is full", 'rm "{state}/filler"'),
    "read-only": ('mount -o remount,ro "{state}"', "Read-only file system", 'mount -o remount,rw "{state}"'),
}
"""What makes a disk so, what the page says then, and what makes it usable again."""


@pytest.mark.parametrize("disk", DISKS)
def test_a_disk_that_cannot_be_written_is_no_damage_and_has_its_own_page(
    evening: Evening, tmp_path: Path, disk: str
) -> None:
    mounts(evening.state)
    evening.back_up()
    kept = tmp_path / "kept"
    evening.state.rename(kept)
    evening.state.mkdir()
    spoil, reason, mend = (each.replace("{state}", str(evening.state)) for each in DISKS[disk])
    mount = f'mount -t tmpfs -o size=2m none "{evening.state}"; cp "{kept}"/* "{evening.state}"; {spoil}; exec "$@"'
    companion = evening.start(apart=(*APART, "sh", "-c", mount, "sh"))
    eventually(lambda: reason in answer(evening.port, "/")[1])
    eventually(lambda: EXAMINING not in answer(evening.port, "/")[1])
    assert reason in answer(evening.port, "/")[1]
    assert "<button" not in answer(evening.port, "/")[1]
    assert evening.tap({})[0] == 503
    subprocess.run(["nsenter", "-t", str(companion.process.pid), "-m", "sh", "-c", mend], check=True)
    eventually(lambda: answer(evening.port, "/")[0] == 200)
    assert len(evening.games()) == 3


@pytest.mark.parametrize("command", ["run", "forget list", "held list"])
def test_a_person_who_types_a_command_for_a_damaged_store_reads_one_line_with_the_way_out(
    evening: Evening, command: str
) -> None:
    evening.spoil()
    given = (
        words(evening.bench, evening.port)[2:] if command == "run" else [*command.split(), "--state", evening.state]
    )
    done = subprocess.run(
        [sys.executable, "-m", "companion", *given],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert f"{evening.store} is damaged" in done.stderr
    assert "templo-companion restore FILE" in done.stderr
