"""The record: durable before it is published, once, in order, and honest about a disk that refuses."""

from __future__ import annotations

import dataclasses
import itertools
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from controller.adapters.sqlite_ledger import LOG_BOUND, Ledger
from controller.app import offline
from controller.app.settings import load
from controller.core.ports import LedgerError, LedgerTrouble, UnnumberedToken
from templo.contract import Flag, God, Notice, Trouble

ROOT = Path(__file__).parents[3]
numbers = itertools.count(1)
NOW = datetime(2026, 11, 21, 18, 42, 7, 123_000, tzinfo=UTC)


def fallen(god: God = God.TLALOC, *flags: Flag) -> UnnumberedToken:
    return UnnumberedToken(f"{next(numbers):032x}", god, NOW, 12_345_678, frozenset(flags))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


def opened(path: Path) -> Ledger:
    return Ledger.open(path, lambda: "5" * 32)


def test_tokens_come_back_as_they_were_recorded(path: Path) -> None:
    with closing(opened(path)) as ledger:
        recorded = ledger.record([fallen(), fallen(God.HUITZILOPOCHTLI, Flag.JAM, Flag.TEST)])
    with closing(opened(path)) as ledger:
        assert list(ledger.tokens()) == recorded
        first, second = recorded
        assert (first.seq, second.seq, first.source) == (1, 2, "5" * 32)
        assert (first.at, first.width_ms) == (NOW, 12.346)
        assert second.flags == {Flag.JAM, Flag.TEST}
        assert ledger.totals == {God.TLALOC: 1, God.HUITZILOPOCHTLI: 1}
        assert ledger.last_seq == 2


def test_the_source_is_made_with_the_file_and_stays(path: Path) -> None:
    opened(path).close()
    with closing(Ledger.open(path, lambda: "9" * 32)) as ledger:
        assert ledger.source == "5" * 32


def test_the_times_of_a_clock_that_jumps_ten_years_are_kept_and_the_order_is_the_numbers(path: Path) -> None:
    ten_years = timedelta(days=3652)
    with closing(opened(path)) as ledger:
        for at in (NOW, NOW - ten_years, NOW + ten_years, datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)):
            ledger.record([UnnumberedToken(f"{next(numbers):032x}", God.TLALOC, at, 1)])
        assert [token.at.year for token in ledger.tokens()] == [2026, 2016, 2036, 1969]


def test_a_replay_reads_in_batches_down_the_primary_key(path: Path) -> None:
    with closing(opened(path)) as ledger:
        ledger.record([fallen() for _ in range(50)])
        assert [token.seq for token in ledger.after(17, 20)] == list(range(18, 38))
        assert ledger.after(50, 20) == []
    with closing(sqlite3.connect(path)) as raw:
        plan = raw.execute("EXPLAIN QUERY PLAN SELECT seq FROM token WHERE seq > 17 ORDER BY seq LIMIT 20").fetchall()
        assert "SEARCH token USING INTEGER PRIMARY KEY" in plan[0][3]
        assert raw.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'index'").fetchone() == (0,)


def test_the_delivered_mark_rides_with_the_next_token_and_is_written_at_the_end(path: Path) -> None:
    ledger = opened(path)
    ledger.record([fallen(), fallen(), fallen()])
    ledger.deliver(2)
    ledger.abandon()
    with closing(opened(path)) as again:
        assert again.delivered == 0
        again.deliver(2)
        again.record([fallen()])
        again.abandon()
    with closing(opened(path)) as again:
        assert again.delivered == 2
        again.deliver(4)
    with closing(opened(path)) as again:
        assert again.delivered == 4
        again.deliver(99)
        assert again.delivered == 4


def test_what_is_to_be_delivered_again_survives_a_kill(path: Path) -> None:
    ledger = opened(path)
    ledger.record([fallen() for _ in range(5)])
    ledger.deliver(5)
    ledger.deliver_again(3)
    ledger.abandon()
    with closing(opened(path)) as again:
        assert again.delivered == 2
        again.record([fallen()])
        again.abandon()
    with closing(opened(path)) as again:
        assert again.delivered == 2


def test_a_drop_into_a_temple_that_does_not_run_is_recorded(tmp_path: Path) -> None:
    settings = load(file=None, environ={"TEMPLO_STATE": str(tmp_path)}, flags={}, home=tmp_path)
    assert offline.drop(settings, God.TLALOC, 3) == 3
    assert offline.status(settings)["totals"] == {God.TLALOC: 3, God.HUITZILOPOCHTLI: 0}


def test_the_latest_tokens_are_amended_with_the_commit_that_records_the_next(path: Path) -> None:
    with closing(opened(path)) as ledger:
        settled, draft, behind, fresh = fallen(), fallen(), fallen(God.HUITZILOPOCHTLI), fallen()
        before = ledger.record([settled, draft, behind])
        ledger.deliver(1)
        later = replace(draft, at=NOW + timedelta(days=1), width_ns=20_000_000, flags=frozenset({Flag.OVERLAP}))
        after = ledger.record([later, behind, fresh])
        assert [token.seq for token in after] == [2, 3, 4]
        assert ledger.totals == {God.TLALOC: 3, God.HUITZILOPOCHTLI: 1}
    with closing(opened(path)) as again:
        amended = dataclasses.replace(before[1], width_ms=20.0, flags=frozenset({Flag.OVERLAP}))
        assert list(again.tokens()) == [before[0], amended, before[2], after[2]]
        assert (again.totals, again.last_seq, again.delivered) == (ledger.totals, 4, 1)


def test_a_token_whose_commit_seemed_to_fail_is_recorded_once(path: Path) -> None:
    tokens = [fallen(), fallen(), fallen()]
    ledger = opened(path)
    ledger.record(tokens[:2])
    ledger.abandon()
    with closing(opened(path)) as again:
        recorded = again.record(tokens)
        assert [(token.seq, token.token) for token in recorded] == [
            (seq, token.token) for seq, token in enumerate(tokens, 1)
        ]
        assert again.totals[God.TLALOC] == 3


def test_a_lone_token_costs_one_page_of_the_disk_and_a_burst_shares_it(path: Path) -> None:
    log = Path(f"{path}-wal")
    frame = 512 + 24
    with closing(opened(path)) as ledger:
        ledger.record([fallen()])
        for burst in (1, 1, 2):
            size = log.stat().st_size
            ledger.deliver(ledger.last_seq)
            ledger.record([fallen() for _ in range(burst)])
            assert log.stat().st_size - size == frame


def test_reading_takes_as_many_steps_after_a_hundred_thousand_tokens_as_after_the_first(path: Path) -> None:
    ran: list[None] = []
    steps = set()
    with closing(opened(path)) as ledger:
        for _ in range(20):
            ledger.record([fallen() for _ in range(5000)])
        ledger._connection.set_progress_handler(lambda: ran.append(None), 1)
        for seq in range(0, 100_000, 500):
            ran.clear()
            assert ledger.after(seq, 20)[0].seq == seq + 1
            steps.add(len(ran))
    assert len(steps) == 1
    assert steps != {0}
    with closing(opened(path)) as ledger:
        assert ledger.totals[God.TLALOC] == 100_000


# -- the log --


def test_the_log_stays_below_its_bound_while_another_process_reads_in_a_loop(path: Path) -> None:
    script = """
import sys
from pathlib import Path
from controller.adapters.sqlite_ledger import Ledger
reader = Ledger.open(Path(sys.argv[1]), str, read_only=True)
print("reading", flush=True)
while True:
    for _ in reader.tokens():
        pass
"""
    with closing(opened(path)) as ledger:
        ledger.record([fallen() for _ in range(3000)])
        run = [sys.executable, "-c", script, str(path)]
        with (
            subprocess.Popen(run, cwd=ROOT, stdout=subprocess.PIPE) as first,
            subprocess.Popen(run, cwd=ROOT, stdout=subprocess.PIPE) as second,
        ):
            try:
                for each in (first, second):
                    assert each.stdout is not None
                    assert each.stdout.readline() == b"reading\n"
                assert _largest_log(path, ledger, 1200) < LOG_BOUND
                assert (first.poll(), second.poll()) == (None, None)
            finally:
                first.kill()
                second.kill()


def test_the_log_stays_below_its_bound_through_a_burst_of_thousands(path: Path) -> None:
    with closing(opened(path)) as ledger:
        recorded = ledger.record([fallen() for _ in range(6000)])
        assert [token.seq for token in recorded] == list(range(1, 6001))
        assert ledger.totals[God.TLALOC] == 6000
        assert Path(f"{path}-wal").stat().st_size < LOG_BOUND


def test_a_ledger_with_large_pages_keeps_the_bound_as_well(path: Path) -> None:
    """As releases before this one made them."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA page_size = 4096")
        raw.execute("PRAGMA user_version = 1")
    with closing(opened(path)) as ledger:
        assert ledger._connection.execute("PRAGMA page_size").fetchone() == (4096,)
        ledger.record([fallen() for _ in range(3000)])
        assert _largest_log(path, ledger, 300) < LOG_BOUND


def test_a_log_that_outgrew_its_bound_before_is_emptied_at_the_opening(path: Path) -> None:
    with closing(opened(path)) as ledger:
        ledger.record([fallen()])
        ledger.abandon()
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA wal_autocheckpoint = 0")
    for _ in range(600):
        raw.execute("UPDATE meta SET delivered_at = delivered_at + 1")
        raw.commit()
    with closing(opened(path)):
        assert Path(f"{path}-wal").stat().st_size < LOG_BOUND
    raw.close()


def test_a_reader_that_never_ends_is_trouble_once_the_log_is_full_and_nothing_is_lost(path: Path) -> None:
    ledger = opened(path)
    ledger._connection.execute("PRAGMA busy_timeout = 10")
    ledger.record([fallen()])
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM token").fetchone()
    tokens = [fallen() for _ in range(2000)]
    with pytest.raises(LedgerTrouble, match="another program has been reading") as caught:
        _record_each(ledger, tokens)
    assert caught.value.trouble is Trouble.LEDGER_FAILING
    assert Path(f"{path}-wal").stat().st_size < LOG_BOUND
    reader.close()
    recorded = ledger.last_seq - 1
    assert ledger.record([tokens[recorded]])[0].seq == recorded + 2
    ledger.close()


def _record_each(ledger: Ledger, tokens: Sequence[UnnumberedToken]) -> None:
    for token in tokens:
        ledger.record([token])


def _largest_log(path: Path, ledger: Ledger, tokens: int) -> int:
    """Record tokens one by one, and return the size of the log when it was largest."""
    largest = 0
    for _ in range(tokens):
        ledger.record([fallen()])
        largest = max(largest, Path(f"{path}-wal").stat().st_size)
    return largest


# -- files that are not a ledger, and disks that refuse --


def test_a_foreign_file_is_left_alone_and_named(path: Path) -> None:
    path.write_text("a shopping list, and long enough for SQLite to look at it " * 40)
    with pytest.raises(LedgerError, match=f"{path} is not a temple's ledger"):
        opened(path)
    path.unlink()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE recipes (soup)")
        raw.commit()
    with pytest.raises(LedgerError, match="is not a temple's ledger"):
        opened(path)


def test_a_damaged_ledger_is_named_and_not_written_to(path: Path) -> None:
    with closing(opened(path)) as ledger:
        ledger.record([fallen() for _ in range(400)])
    damaged = bytearray(path.read_bytes())
    damaged[3 * 4096 : 3 * 4096 + 2000] = os.urandom(2000)
    path.write_bytes(damaged)
    with pytest.raises(LedgerError, match="is damaged"):
        opened(path)
    assert path.read_bytes() == damaged


def test_a_ledger_of_a_later_release_is_refused(path: Path) -> None:
    opened(path).close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE meta SET schema = 7")
        raw.commit()
    with pytest.raises(LedgerError, match="has schema 7; expected 1: a newer release"):
        opened(path)


def test_a_ledger_is_read_without_being_made_or_changed(path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no ledger"):
        Ledger.open(path, str, read_only=True)
    writer = opened(path)
    writer.record([fallen()])
    with closing(Ledger.open(path, str, read_only=True)) as reader:
        assert reader.last_seq == 1
        writer.record([fallen()])
        assert len(list(reader.tokens())) == 2
        with pytest.raises(LedgerTrouble) as caught:
            reader.record([fallen()])
        assert caught.value.trouble is Trouble.LEDGER_READ_ONLY
    writer.abandon()


def test_a_ledger_left_by_a_kill_is_read_with_all_its_tokens(path: Path) -> None:
    script = (
        "import sys, os; from tests.controller.adapters.test_ledger import opened, fallen; from pathlib import Path\n"
        "ledger = opened(Path(sys.argv[1])); ledger.record([fallen()]); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], cwd=ROOT, check=False)
    assert Path(f"{path}-wal").exists()
    with closing(Ledger.open(path, str, read_only=True)) as reader:
        assert reader.last_seq == 1


def test_a_full_disk_is_trouble_until_there_is_room_again(path: Path) -> None:
    """The limit on the size of files that a process may write stands for the disk: a write past it fails for real."""
    script = """
import resource, signal, sys
from pathlib import Path
from controller.adapters.sqlite_ledger import LedgerTrouble
from tests.controller.adapters.test_ledger import fallen, opened
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
ledger = opened(path)
ledger.record([fallen()])
size = Path(f"{path}-wal").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
lost = fallen()
try:
    ledger.record([lost])
except LedgerTrouble as error:
    print(error.trouble)
ledger.abandon()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
ledger = opened(path)
print(ledger.record([lost, fallen()])[-1].seq)
"""
    run = [sys.executable, "-c", script, str(path)]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=True)
    trouble, last = done.stdout.split()
    assert trouble in ("ledger_full", "ledger_failing")
    assert last == "3"


def test_sqlite_says_which_trouble_it_is(path: Path) -> None:
    with closing(opened(path)) as ledger:
        ledger.record([fallen()])
        pages = ledger._connection.execute("PRAGMA page_count").fetchone()[0]
        ledger._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LedgerTrouble, match="full") as caught:
            ledger.record([fallen() for _ in range(200)])
        assert caught.value.trouble is Trouble.LEDGER_FULL
        assert ledger.last_seq == 1
        ledger._connection.execute("PRAGMA max_page_count = 1000000")
        assert ledger.record([fallen()])[0].seq == 2


def test_a_folder_that_is_not_there_is_trouble(tmp_path: Path) -> None:
    with pytest.raises(LedgerTrouble) as caught:
        opened(tmp_path / "absent" / "ledger.sqlite3")
    assert caught.value.trouble is Trouble.LEDGER_READ_ONLY


# -- a new source --


def delivered_ledger(path: Path, tokens: int, delivered: int) -> Ledger:
    ledger = Ledger.open(path, lambda: "a" * 32)
    ledger.record([fallen() for _ in range(tokens)])
    ledger.deliver(delivered)
    return ledger


def test_a_new_source_begins_with_what_is_not_delivered_and_says_why(tmp_path: Path) -> None:
    with closing(delivered_ledger(tmp_path / "ledger", 10, 7)) as ledger:
        ids = [token.token for token in ledger.tokens()]
        ledger.renew("b" * 32, "ledger_restored", NOW)
        assert (ledger.source, ledger.last_seq, ledger.delivered) == ("b" * 32, 3, 0)
        assert [(token.source, token.seq, token.token) for token in ledger.after(0, 20)] == [
            ("b" * 32, seq, ids[6 + seq]) for seq in (1, 2, 3)
        ]
        assert ledger.notices == (Notice("ledger_restored", NOW),)
        assert ledger.token_id(1) == ids[7]
        assert ledger.token_id(0) == ids[6]


def test_a_new_source_may_begin_at_a_token_of_a_former_one(tmp_path: Path) -> None:
    with closing(delivered_ledger(tmp_path / "ledger", 10, 3)) as ledger:
        ids = [token.token for token in ledger.tokens()]
        ledger.renew("b" * 32, "ledger_restored", NOW)
        ledger.deliver(4)
        ledger.renew("c" * 32, "ledger_restored", NOW)
        assert [ledger.number("b" * 32, seq) for seq in (0, 1, 4, 5)] == [None, -3, 0, None]
        assert [ledger.number("a" * 32, seq) for seq in (0, 1, 3, 4)] == [None, -6, -4, None]
        assert [ledger.number("c" * 32, seq) for seq in (0, 1, 90)] == [None, 1, 90]
        assert ledger.number("d" * 32, 1) is None
        ledger.renew("d" * 32, "ledger_restored", NOW, first=-4)
    with closing(Ledger.open(tmp_path / "ledger", str)) as ledger:
        assert (ledger.source, ledger.last_seq, ledger.delivered) == ("d" * 32, 8, 0)
        assert [(token.source[0], token.seq, token.token) for token in ledger.tokens()] == [
            *(("a", seq, ids[seq - 1]) for seq in (1, 2)),
            *(("d", seq, ids[1 + seq]) for seq in range(1, 9)),
        ]
        ledger.renew("e" * 32, "ledger_restored", NOW, first=-1)
    with closing(Ledger.open(tmp_path / "ledger", str)) as ledger:
        assert [(token.source[0], token.seq) for token in ledger.tokens()] == [("e", seq) for seq in range(1, 11)]


def test_a_new_source_outlives_the_process_and_what_came_before_keeps_its_numbers(tmp_path: Path) -> None:
    with closing(delivered_ledger(tmp_path / "ledger", 10, 7)) as ledger:
        ledger.renew("b" * 32, "ledger_restored", NOW)
        assert ledger.record([fallen()])[0].seq == 4
        ledger.deliver(2)
        ledger.renew("c" * 32, "ledger_cloned", NOW)
        ledger.record([fallen()])
    with closing(Ledger.open(tmp_path / "ledger", str)) as ledger:
        assert (ledger.source, ledger.last_seq, ledger.delivered) == ("c" * 32, 3, 0)
        assert [(token.source[0], token.seq) for token in ledger.tokens()] == [
            *(("a", seq) for seq in range(1, 8)),
            *(("b", seq) for seq in (1, 2)),
            *(("c", seq) for seq in (1, 2, 3)),
        ]
        assert {notice.code for notice in ledger.notices} == {"ledger_restored", "ledger_cloned"}


def test_a_token_that_is_offered_again_after_a_new_source_began_is_known(tmp_path: Path) -> None:
    with closing(delivered_ledger(tmp_path / "ledger", 4, 3)) as ledger:
        late = fallen()
        ledger.record([late])
        ledger.renew("b" * 32, "ledger_restored", NOW)
        assert ledger.record([late])[0].seq == 2
        assert ledger.last_seq == 2


def test_a_notice_stands_until_it_is_dismissed(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with closing(delivered_ledger(path, 1, 1)) as ledger:
        ledger.renew("b" * 32, "ledger_missing", NOW)
    with closing(Ledger.open(path, str)) as ledger:
        assert ledger.notices == (Notice("ledger_missing", NOW),)
        assert not ledger.dismiss("ledger_damaged")
        assert ledger.dismiss("ledger_missing")
    with closing(Ledger.open(path, str)) as ledger:
        assert ledger.notices == ()
