"""A ledger that is damaged or gone: a new one begins, with a notice, and with every token that can still be read."""

from __future__ import annotations

import itertools
import logging
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from controller.adapters import ledger_recovery
from controller.adapters.ledger_copy import MEMORY
from controller.adapters.ledger_log import Log
from controller.adapters.ledger_recovery import open_ledger
from controller.adapters.sqlite_ledger import FILE_NAME, Ledger, NewerError
from controller.core.ports import LedgerTrouble, UnnumberedToken
from templo.contract import Flag, God
from templo.files import sync

NOW = datetime(2026, 11, 21, 18, 42, 7, 123_000, tzinfo=UTC)
THEN = NOW - timedelta(days=1)
sources = (f"{number:032x}" for number in itertools.count(0x5000))

pytestmark = pytest.mark.usefixtures("expects_warnings")


def opened(folder: Path) -> Ledger:
    return open_ledger(folder, lambda: next(sources), lambda: NOW)


def fallen(number: int, *flags: Flag) -> UnnumberedToken:
    god = list(God)[number % 2]
    return UnnumberedToken(f"{number:032x}", god, THEN + timedelta(seconds=number), 12_000_000, frozenset(flags))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A state folder whose ledger has 400 tokens, the first 150 of them delivered."""
    with closing(opened(tmp_path)) as ledger:
        ledger.record([fallen(number) for number in range(1, 401)])
        ledger.deliver(150)
    return tmp_path


def spoil(folder: Path, statement: str) -> None:
    """Change a ledger as no code of ours would."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as raw:
        raw.execute("PRAGMA ignore_check_constraints = ON")
        raw.execute(statement)
        raw.commit()


def codes(ledger: Ledger) -> list[str]:
    return [notice.code for notice in ledger.notices]


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("ledger.damaged-*.sqlite3"))


def ids(ledger: Ledger) -> list[int]:
    """Return which tokens wait to be delivered."""
    return [int(token.token, 16) for token in ledger.after(ledger.delivered, 1000)]


def test_a_ledger_that_is_gone_where_there_was_one_is_begun_anew_with_a_notice_and_an_error(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / FILE_NAME).unlink()
    with closing(opened(folder)) as ledger:
        assert codes(ledger) == ["ledger_missing"]
        assert ledger.notices[0].at == NOW
        assert ledger.last_seq == 0
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    with closing(opened(folder)) as ledger:
        assert codes(ledger) == ["ledger_missing"]


def test_the_first_ledger_of_a_temple_has_no_notice(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as ledger:
        assert codes(ledger) == []


def test_what_a_temple_learned_proves_that_it_had_a_ledger(tmp_path: Path) -> None:
    (tmp_path / "learned.json").write_text("{}")
    with closing(opened(tmp_path)) as ledger:
        assert codes(ledger) == ["ledger_missing"]


@pytest.mark.parametrize("content", [b"", b"a shopping list, and long enough for SQLite to look at it " * 40])
def test_a_file_that_is_no_ledger_any_more_is_kept_and_a_new_one_begun(folder: Path, content: bytes) -> None:
    (folder / FILE_NAME).write_bytes(content)
    with closing(opened(folder)) as ledger:
        assert codes(ledger) == ["ledger_damaged"]
        assert ledger.record([fallen(1)])[0].seq == 1
    assert [each.read_bytes() for each in kept(folder)] == [content]
    assert kept(folder)[0].stat().st_mode & 0o777 == 0o600


def test_a_ledger_that_was_cut_short_gives_back_what_is_left_of_it(folder: Path) -> None:
    os.truncate(folder / FILE_NAME, (folder / FILE_NAME).stat().st_size * 3 // 4 // 512 * 512)
    with closing(opened(folder)) as ledger:
        assert codes(ledger) == ["ledger_damaged"]
        saved = ids(ledger)
        assert saved == sorted(saved)
        assert len(saved) > 50


def test_a_page_of_garbage_costs_the_tokens_on_it_and_no_other(folder: Path) -> None:
    content = bytearray((folder / FILE_NAME).read_bytes())
    place = content.index(f"{300:032x}".encode()) // 512 * 512
    content[place : place + 512] = os.urandom(512)
    (folder / FILE_NAME).write_bytes(content)
    with closing(opened(folder)) as ledger:
        assert codes(ledger) == ["ledger_damaged"]
        missing = set(range(151, 401)) - set(ids(ledger))
        assert 300 in missing
        assert len(missing) < 10
        assert [token.seq for token in ledger.after(0, 1000)] == list(range(1, 251 - len(missing)))
    assert kept(folder)[0].read_bytes() == content


SPOILED = {
    "a god that nobody knows": "god = 'chac'",
    "a token that is no number": "token = 'zzz'",
    "a time beyond all clocks": "at_ms = 9000000000000000000",
    "a width below nothing": "width_ns = -5",
    "a flag that nobody knows": "flags = 'jbm'",
}


@pytest.mark.parametrize("change", SPOILED.values(), ids=SPOILED)
def test_a_row_that_is_damaged_is_repaired_for_a_person_to_decide_and_the_others_are_delivered(
    folder: Path, change: str
) -> None:
    spoil(folder, f"UPDATE token SET {change} WHERE seq = 200")
    with closing(opened(folder)) as ledger:
        assert codes(ledger) == ["ledger_damaged"]
        waiting = ledger.after(ledger.delivered, 1000)
        assert [token.seq for token in waiting] == list(range(1, len(waiting) + 1))
        repaired = [token for token in waiting if token.flags]
        assert [token.flags for token in repaired] == [{Flag.JAM}]
        assert repaired[0].god is fallen(200).god
        others = {int(token.token, 16) for token in waiting if not token.flags}
        assert set(range(151, 401)) - others == {200}


def test_a_row_for_nobody_is_left_out_and_the_numbers_have_no_gap(folder: Path) -> None:
    spoil(folder, "UPDATE token SET god = 'chac', tlaloc = -1 WHERE seq = 200")
    with closing(opened(folder)) as ledger:
        assert codes(ledger) == ["ledger_damaged"]
        assert 200 not in ids(ledger)
        assert [token.seq for token in ledger.after(0, 1000)] == list(range(1, 250))


def test_a_row_that_is_gone_leaves_no_gap(folder: Path) -> None:
    spoil(folder, "DELETE FROM token WHERE seq = 200")
    with closing(opened(folder)) as ledger:
        assert codes(ledger) == ["ledger_damaged"]
        assert set(range(151, 401)) - set(ids(ledger)) == {200}
        assert [token.seq for token in ledger.after(0, 1000)] == list(range(1, 250))


@pytest.mark.parametrize("change", ["DELETE FROM meta", "UPDATE meta SET source = 'gone'", "DROP TABLE meta"])
def test_a_ledger_that_does_not_know_who_it_is_begins_a_new_source_with_what_waits(folder: Path, change: str) -> None:
    spoil(folder, change)
    with closing(opened(folder)) as ledger:
        assert codes(ledger) == ["ledger_damaged"]
        assert set(range(151, 401)) <= set(ids(ledger))


def test_a_mark_beyond_the_last_token_is_clamped(folder: Path) -> None:
    spoil(folder, "UPDATE meta SET delivered = 5000")
    with closing(opened(folder)) as ledger:
        assert ledger.delivered == ledger.last_seq == 400


def test_a_new_ledger_is_whole_and_keeps_its_history_and_the_marks_of_its_boards(folder: Path) -> None:
    with closing(opened(folder)) as ledger:
        ledger.record([fallen(401)], {"uno": (7, 3)})
        old = ledger.source
    spoil(folder, "UPDATE token SET god = 'chac' WHERE seq = 200")
    with closing(opened(folder)) as ledger:
        assert ledger.source != old
        assert ledger.boards() == {"uno": (7, 3)}
        assert len(list(ledger.tokens())) == 401
        assert ledger.totals == {God.HUITZILOPOCHTLI: 200, God.TLALOC: 201}
    with closing(opened(folder)) as again:
        assert codes(again) == ["ledger_damaged"]
        assert again.dismiss("ledger_damaged")
    assert len(kept(folder)) == 1


@pytest.mark.parametrize("step", range(1, 6))
def test_an_exchange_that_is_cut_at_any_step_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    spoil(folder, "UPDATE token SET god = 'chac' WHERE seq = 200")
    calls = itertools.count(1)

    class Cut(BaseException):
        """The power goes."""

    def cut(then: object) -> object:
        def at(*given: object, **more: object) -> object:
            if next(calls) == step:
                raise Cut
            return then(*given, **more)  # type: ignore[operator]

        return at

    for name in ("rename", "replace"):
        monkeypatch.setattr(Path, name, cut(getattr(Path, name)))
    monkeypatch.setattr(ledger_recovery, "sync", cut(sync))
    with pytest.raises(Cut):
        opened(folder)
    monkeypatch.undo()
    with closing(opened(folder)) as ledger:
        assert codes(ledger) == ["ledger_damaged"]
        assert set(range(151, 401)) <= set(ids(ledger)) | {200}
        assert len(ids(ledger)) == 250


def test_a_ledger_of_a_newer_release_is_left_alone(folder: Path) -> None:
    spoil(folder, "UPDATE meta SET schema = 7")
    with pytest.raises(NewerError, match="a newer release wrote it"):
        opened(folder)
    assert kept(folder) == []


def test_a_damaged_ledger_on_a_disk_without_room_is_trouble_and_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(folder, "UPDATE token SET god = 'chac' WHERE seq = 200")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger_recovery, "sync", full)
    with pytest.raises(LedgerTrouble, match="No space left"):
        opened(folder)
    assert kept(folder) == []


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder without a disk to wait for."""
    with TemporaryDirectory(prefix="templo-test-", dir=MEMORY) as name:
        yield Path(name)


def test_a_flipped_bit_never_ends_the_temple_and_costs_at_most_the_page_that_it_hit(memory: Path) -> None:
    begun, folder = memory / "begun", memory / "flipped"
    begun.mkdir()
    with closing(opened(begun)) as ledger:
        ledger.record([fallen(number) for number in range(1, 201)])
        ledger.deliver(80)
    content = (begun / FILE_NAME).read_bytes()
    whole = {fallen(number).token for number in range(1, 201)}
    waiting = {fallen(number).token for number in range(81, 201)}
    ends = {"whole": 0, "begun afresh": 0}
    for bit in range(0, len(content) * 8, 97):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        folder.mkdir()
        (folder / FILE_NAME).write_bytes(flipped)
        with closing(opened(folder)) as ledger:
            found = [token.token for token in ledger.tokens()]
            sent = {token.token for token in ledger.after(ledger.delivered, 1000)}
            if codes(ledger):
                ends["begun afresh"] += 1
                assert codes(ledger) == ["ledger_damaged"]
                assert kept(folder)[0].read_bytes() == flipped
                assert len(whole.difference(found)) <= 7, f"bit {bit}"  # the tokens of a page
                assert waiting.intersection(found) <= sent, f"bit {bit}"
            else:
                ends["whole"] += 1
                assert len(found) == 200, f"bit {bit}"
                assert len(whole.difference(found)) <= 1, f"bit {bit}"  # another id is an id, too
        shutil.rmtree(folder)
    assert sum(ends.values()) == len(range(0, len(content) * 8, 97))
    assert ends["begun afresh"] > 500


LOG = f"{FILE_NAME}-wal"


def as_killed(folder: Path) -> dict[str, bytes]:
    """Return the files of a state folder as a temple leaves them that is killed now."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")}


def test_what_is_left_of_the_last_commit_is_no_damage(tmp_path: Path) -> None:
    begun, folder = tmp_path / "begun", tmp_path / "cut"
    begun.mkdir()
    with closing(opened(begun)) as ledger:
        for number in range(1, 6):
            ledger.record([fallen(number)])
        whole = len(as_killed(begun)[LOG])
        ledger.record([fallen(number) for number in range(6, 40)])
        killed = as_killed(begun)
    frame = 24 + 512
    assert len(killed[LOG]) > whole + 4 * frame
    for torn in range(whole + frame // 2, len(killed[LOG]), frame):
        folder.mkdir()
        for name, content in killed.items():
            cut = content[:torn] + bytes(frame) + content[torn + frame :] if name == LOG else content
            (folder / name).write_bytes(cut)
        with closing(opened(folder)) as ledger:
            assert (codes(ledger), ledger.last_seq) == ([], 5)
        shutil.rmtree(folder)


def test_what_is_left_behind_a_commit_of_a_longer_one_that_failed_before_it_is_no_damage(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as ledger:
        for number in range(1, 6):
            ledger.record([fallen(number)])
        before = as_killed(tmp_path)
        ledger.record([fallen(number) for number in range(6, 40)])
        failed = as_killed(tmp_path)[LOG]
    (tmp_path / f"{FILE_NAME}-shm").unlink(missing_ok=True)
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as raw:
        raw.execute("UPDATE meta SET delivered = 3, delivered_at = 5")
        log = as_killed(tmp_path)[LOG]
        assert log.startswith(before[LOG])
        assert len(before[LOG]) < len(log) < len(failed)
        killed = {**as_killed(tmp_path), LOG: log + failed[len(log) :]}
    for name, content in killed.items():
        (tmp_path / name).write_bytes(content)
    with closing(opened(tmp_path)) as ledger:
        assert (codes(ledger), ledger.last_seq, ledger.delivered) == ([], 5, 3)
    assert Log(killed[LOG]).into(killed[FILE_NAME]) == Log(log).into(killed[FILE_NAME])


def test_a_flipped_bit_in_the_log_costs_at_most_the_commits_on_the_page_that_it_hit(memory: Path) -> None:
    """Each token is a commit of its own, and nothing was moved from the log into the ledger yet."""
    begun, folder = memory / "begun", memory / "flipped"
    begun.mkdir()
    with closing(opened(begun)) as ledger:
        for number in range(1, 201):
            ledger.record([fallen(number)])
        ledger.deliver(80)
        killed = as_killed(begun)
    whole = {fallen(number).token for number in range(1, 201)}
    bits = [*range(0, 256, 16), *range(256, len(killed[LOG]) * 8, 19_997)]
    ends = {"whole": 0, "begun afresh": 0}
    for bit in bits:
        flipped = bytearray(killed[LOG])
        flipped[bit // 8] ^= 1 << bit % 8
        folder.mkdir()
        for name, content in {**killed, LOG: bytes(flipped)}.items():
            (folder / name).write_bytes(content)
        with closing(opened(folder)) as ledger:
            found = [token.token for token in ledger.tokens()]
            sent = {token.token for token in ledger.after(ledger.delivered, 1000)}
            missing = whole.difference(found)
            assert len(found) == len({*found}), f"bit {bit}"
            assert len(missing) <= 2, f"bit {bit}"  # the commits of a frame, and of the next, which it begins
            if codes(ledger):
                ends["begun afresh"] += 1
                assert codes(ledger) == ["ledger_damaged"]
                assert {fallen(number).token for number in range(81, 201)} - missing <= sent, f"bit {bit}"
            else:
                ends["whole"] += 1
        shutil.rmtree(folder)
    assert ends["begun afresh"] > len(bits) * 0.9


@pytest.mark.parametrize("schema", [b"\xc3REATE TABLE", None], ids=["no UTF-8", "zeros"])
def test_a_schema_that_cannot_be_read_costs_no_token_and_no_mark_of_a_board(
    folder: Path, schema: bytes | None
) -> None:
    with closing(opened(folder)) as ledger:
        ledger.record([], {"pico": (7, 3)})
    content = (folder / FILE_NAME).read_bytes()
    spoiled = content.replace(b"CREATE TABLE", schema) if schema else bytes(512) + content[512:]
    (folder / FILE_NAME).write_bytes(spoiled)
    with closing(opened(folder)) as ledger:
        assert codes(ledger) == ["ledger_damaged"]
        assert {token.token for token in ledger.tokens()} == {fallen(number).token for number in range(1, 401)}
        assert ledger.boards() == {"pico": (7, 3)}
        assert set(range(151, 401)) <= set(ids(ledger))


@pytest.mark.parametrize("number", [21, 5000])
def test_a_token_whose_number_was_damaged_is_delivered_all_the_same(folder: Path, number: int) -> None:
    content = bytearray((folder / FILE_NAME).read_bytes())
    place = content.index(f"{300:032x}".encode())
    record = content.rindex(bytes([0x82, 0x2C]), place - 32, place)  # 300 as a variable-length integer
    content[record : record + 2] = bytes([0x80 | number >> 7, number & 0x7F])
    (folder / FILE_NAME).write_bytes(content)
    with closing(opened(folder)) as ledger:
        assert codes(ledger) == ["ledger_damaged"]
        assert 300 in ids(ledger)


def test_a_ledger_that_another_program_holds_is_trouble_and_stays(folder: Path) -> None:
    with closing(sqlite3.connect(folder / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerTrouble):
            opened(folder)
    assert kept(folder) == []
    with closing(opened(folder)) as ledger:
        assert (codes(ledger), ledger.last_seq) == ([], 400)
