"""The Pico's ledger under CPython: what it gives back after many files, a cut anywhere, rot and too many tokens."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from importlib import import_module as module
from pathlib import Path
from typing import Any

import pytest


def ids() -> Callable[[], bytes]:
    numbers = itertools.count(1)
    return lambda: next(numbers).to_bytes(16, "big")


def rows(ledger: Any) -> list[Any]:
    return [ledger.read(seq) for seq in range(ledger.first, ledger.last_seq + 1)]


def test_the_ledger_gives_back_what_it_took_through_many_files(tmp_path: Path) -> None:
    make = module("ledger").Ledger
    new_id = ids()
    ledger = make(str(tmp_path / "l"), new_id)
    for number in range(0, 300, 3):
        fallen = [(n % 2, 1000 + n, 12_000 + n, ["jam"] if n % 50 == 0 else []) for n in range(number, number + 3)]
        ledger.record(fallen)
    before = rows(ledger)
    ledger.close()
    again = make(str(tmp_path / "l"), new_id)
    assert (again.last_seq, again.totals, again.source) == (300, [150, 150], ledger.source)
    assert rows(again) == before
    assert [row[3] for row in before] == [12_000 + n for n in range(300)]
    assert len({row[0] for row in before}) == 300


@pytest.mark.parametrize("garbage", [b"", b"\xff" * 7, b"\x00" * 48])
def test_a_power_cut_at_every_byte_loses_nothing_that_was_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, garbage: bytes
) -> None:
    """Three tokens are appended to each ledger, across the end of a file; the files are cut at every byte of it."""
    folder, kept = tmp_path / "l", tmp_path / "kept"
    module_ = module("ledger")
    monkeypatch.setattr(module_, "SEGMENT", 9)
    new_id = ids()
    ledger = module_.Ledger(str(folder), new_id)
    ledger.record([(n % 2, n, 12_000, []) for n in range(module_.SEGMENT - 3)])
    certain = rows(ledger)
    shutil.copytree(folder, kept)
    ledger.record([(1, 7, 9_000, [])])
    ledger.record([(0, 8, 9_000, []), (0, 9, 9_000, [])])
    ledger.close()
    new_files = {file.name: file.read_bytes() for file in folder.iterdir()}
    old_files = {file.name: file.read_bytes() for file in kept.iterdir()}
    written = [
        (name, at) for name in sorted(new_files) for at in range(len(old_files.get(name, b"")), len(new_files[name]))
    ]
    assert len(written) == 4 * module_.RECORD
    for index, (name, at) in enumerate(written):
        shutil.rmtree(folder)
        folder.mkdir()
        for other in sorted(new_files):
            if other < name:
                (folder / other).write_bytes(new_files[other])
        (folder / name).write_bytes(new_files[name][:at] + garbage)
        after = module_.Ledger(str(folder), new_id)
        whole = sum(
            at_ % module_.RECORD == module_.RECORD - 1 and at_ >= module_.RECORD for _, at_ in written[:index]
        )
        assert rows(after)[: len(certain)] == certain
        assert after.last_seq == len(certain) + whole
        assert after.source == ledger.source
        after.record([(1, 10, 5_000, ["test"])])
        assert rows(module_.Ledger(str(folder), new_id))[-1][1:] == (1, 10, 5_000, ["test"])
        after.close()


def test_a_record_that_rots_hides_none_behind_it_and_is_still_a_token(tmp_path: Path) -> None:
    module_ = module("ledger")
    ledger = module_.Ledger(str(tmp_path / "l"), ids())
    ledger.record([(n % 2, n, 12_000, []) for n in range(20)])
    ledger.close()
    (file,) = (tmp_path / "l").iterdir()
    data = bytearray(file.read_bytes())
    data[module_.RECORD * 10 + 9] ^= 4
    file.write_bytes(data)
    again = module_.Ledger(str(tmp_path / "l"), ids())
    assert (again.last_seq, again.totals) == (20, [10, 10])
    assert again.read(10)[1:] == (1, 0, 0, ["missed_edge"])
    assert again.read(11)[1:] == (0, 10, 12_000, [])


@pytest.mark.parametrize("outage", [1, 21, 84, 200])
def test_tokens_stay_after_their_delivery_however_short_the_files_are(tmp_path: Path, outage: int) -> None:
    """A mark, a `resend` and a start each begin a new file; one is not full then."""
    module_, new_id = module("ledger"), ids()
    ledger = module_.Ledger(str(tmp_path / "l"), new_id)
    most = 0
    for cycle in range(max(12, 1000 // outage)):
        for _ in range(outage):
            ledger.record([(0, 0, 9_000, [])])
        ledger.deliver(ledger.last_seq)
        ledger.mark()
        if outage > 1:
            if cycle % 3 == 1:
                ledger.deliver_again(ledger.last_seq)
                ledger.deliver(ledger.last_seq)
            if cycle % 3 == 2:
                ledger.close()
                ledger = module_.Ledger(str(tmp_path / "l"), new_id)
                ledger.deliver(ledger.last_seq)
        kept = ledger.last_seq - ledger.first + 1
        assert kept >= min(module_.KEPT, ledger.last_seq)
        assert ledger.read(ledger.first) is not None
        most = max(most, len(list((tmp_path / "l").iterdir())))
    assert most <= 10 + 700 // outage
    ledger.close()


def test_short_files_of_delivered_tokens_leave_the_room_of_all_files_to_those_that_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module_ = module("ledger")
    monkeypatch.setattr(module_, "MOST", 20)
    ledger = module_.Ledger(str(tmp_path / "l"), ids())
    for _ in range(60):  # each begins a file with a single token
        ledger.record([(0, 0, 9_000, [])])
        ledger.deliver(ledger.last_seq)
        ledger.deliver_again(ledger.last_seq + 1)
        assert len(list((tmp_path / "l").iterdir())) <= 20 + module_._SPARE
    ledger.record([(0, 0, 9_000, [])] * 18 * (module_.SEGMENT - 1))
    with pytest.raises(module_.LedgerFull):
        ledger.record([(0, 0, 9_000, [])] * 3 * (module_.SEGMENT - 1))
    ledger.close()


def test_delivered_files_are_removed_and_a_full_ledger_refuses_before_it_forgets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module_ = module("ledger")
    monkeypatch.setattr(module_, "MOST", 6)
    ledger = module_.Ledger(str(tmp_path / "l"), ids())
    for _ in range(40):
        ledger.deliver(ledger.last_seq)
        ledger.record([(0, 0, 12_000, [])] * 50)
    assert len(list((tmp_path / "l").iterdir())) <= 6
    delivered = ledger.last_seq
    ledger.deliver(delivered)
    with pytest.raises(module_.LedgerFull):
        ledger.record([(0, 0, 12_000, [])] * 2000)
    assert ledger.first <= delivered + 1
    assert all(row is not None for row in rows(ledger))
    ledger.deliver(ledger.last_seq)
    ledger.record([(0, 0, 12_000, [])])
    ledger.close()


def test_a_power_cut_at_every_byte_leaves_no_token_without_its_doubt(tmp_path: Path) -> None:
    folder, module_, new_id = tmp_path / "l", module("ledger"), ids()
    ledger = module_.Ledger(str(folder), new_id)
    ledger.record([(1, 0, 9_000, [])] * 5)
    (log,) = folder.glob("*.log")
    before = log.read_bytes()
    ledger.record([(1, 0, 9_000, [])], [(0, 7, 3), (2, 8, 6)])
    names = [ledger.name(seq) for seq in range(1, 7)]
    ledger.close()
    (doubts,) = folder.glob("*.dbt")
    after, doubted = log.read_bytes(), doubts.read_bytes()
    cuts = [(before, doubted[:at]) for at in range(len(doubted))]
    cuts += [(after[:at], doubted) for at in range(len(before), len(after) + 1)]
    for tokens, written in cuts:
        log.write_bytes(tokens)
        doubts.write_bytes(written)
        again = module_.Ledger(str(folder), new_id)
        found = [again.doubt(number) for number in range(1, again.last_doubt + 1)]
        assert again.last_seq == (6 if tokens == after else 5)
        assert found == [(0, 7, names[2]), (2, 8, names[5])][: len(written) // module_.RECORD]
        again.record([], [(1, 9, 1)])
        assert again.doubt(again.last_doubt) == (1, 9, names[0])
        again.close()
        for other in folder.glob("*.dbt"):
            other.unlink()
    assert len(cuts) == 3 * module_.RECORD + 1


def test_doubts_are_kept_until_they_are_stored_and_none_of_their_numbers_is_ever_missing(tmp_path: Path) -> None:
    module_ = module("ledger")
    ledger = module_.Ledger(str(tmp_path / "l"), ids())
    ledger.record([(1, 0, 9_000, [])] * 3)
    for _ in range(10):
        ledger.record([], [(0, 7, 2)] * 85)
    assert {ledger.doubt(number) for number in range(1, 851)} == {(0, 7, ledger.name(2))}
    ledger.doubts_stored(850)
    ledger.record([], [(1, 7, 2)])
    assert ledger.last_doubt == 851
    assert len(list((tmp_path / "l").glob("*.dbt"))) <= 5
    assert ledger.doubt(1)[2] not in {ledger.name(seq) for seq in (1, 2, 3)}
    ledger.close()


def test_a_ledger_that_is_full_of_doubts_refuses_before_it_forgets(tmp_path: Path) -> None:
    module_ = module("ledger")
    ledger = module_.Ledger(str(tmp_path / "l"), ids())
    ledger.record([(1, 0, 9_000, [])])
    with pytest.raises(module_.LedgerFull):
        ledger.record([(1, 0, 9_000, [])], [(0, 7, 1)] * 110 * 85)
    for _ in range(90):
        ledger.record([(1, 0, 9_000, [])], [(0, 7, 1)] * 85)
    with pytest.raises(module_.LedgerFull):
        ledger.record([(1, 0, 9_000, [])], [(0, 7, 1)] * 20 * 85)
    assert ledger.doubt(1) == (0, 7, ledger.name(1))
    assert ledger.last_seq == 91
    ledger.doubts_stored(ledger.last_doubt)
    ledger.record([(1, 0, 9_000, [])], [(0, 7, 1)] * 20 * 85)
    ledger.close()
