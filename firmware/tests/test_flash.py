"""The Pico's ledger on littlefs: the power fails in the middle of every operation of the flash."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import count

from firmware.tests.flash import FOLDER, SECTOR, SECTORS, Flash, ledger_on, mounted, opening, wear

TOKENS = 40
_numbers = count(1)


def _new_id() -> bytes:
    return next(_numbers).to_bytes(16, "big")


def test_a_power_cut_in_any_operation_of_the_flash_loses_no_recorded_token() -> None:
    """Forty commits into files of six records; each cut tears the erase or the page that it falls on."""
    cut = tried = 0
    whole = False
    while not whole:
        cut += 1
        flash = Flash()
        fs = mounted(flash, fresh=True)
        returned = 0
        source = None
        with ledger_on(fs) as module:
            module.SEGMENT = 7
            with suppress(Exception):  # whatever the file system makes of a flash that has no power
                one = module.Ledger("/ledger", _new_id)
                flash.budget = cut
                for number in range(TOKENS):
                    one.record([(number % 2, number, 12_000 + number, [])])
                    returned, source = one.last_seq, one.source
        whole = flash.budget > 0
        flash.budget = -1
        with ledger_on(mounted(flash)) as module:
            module.SEGMENT = 7
            after = module.Ledger("/ledger", _new_id)
            assert returned <= after.last_seq <= returned + 1
            assert [after.read(seq)[3] for seq in range(1, after.last_seq + 1)] == [
                12_000 + number for number in range(after.last_seq)
            ]
            assert source in (None, after.source)
            after.record([(1, 0, 5_000, ["test"])])
            assert after.read(after.last_seq)[3] == 5_000
        tried += 1
    assert tried > 40
    assert returned == TOKENS


def test_a_token_costs_one_erased_sector_at_most() -> None:
    erased, programmed = wear(2000)
    assert erased <= 1.1
    assert programmed <= 3 * SECTOR
    assert SECTORS * 100_000 / erased > 15_000_000


def test_the_ledger_s_folder_hides_no_module() -> None:
    """MicroPython takes a folder before a file of the same name: the next start would import it."""
    (folder,) = re.findall(r'^FOLDER = "(\w+)"', (FOLDER / "main.py").read_text(), re.MULTILINE)
    assert folder not in {file.stem for file in FOLDER.glob("*.py")}


ROW_US, BYTE_US = 1_000, 0.5
"""More than a Pico takes for a row that is read and checked, and for a byte of its flash that littlefs reads."""


def test_a_full_ledger_is_open_within_half_the_watchdog_s_time() -> None:
    (watchdog_ms,) = re.findall(r"^WATCHDOG_MS = (\d+)$", (FOLDER / "main.py").read_text(), re.MULTILINE)
    tokens, read_bytes, rows = opening()
    assert tokens == 8_400
    assert rows * ROW_US + read_bytes * BYTE_US <= int(watchdog_ms) * 1_000 / 2, (rows, read_bytes)
