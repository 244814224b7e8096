"""What a token costs the memory card: bytes handed to the system and syncs, checkpoints included."""

from __future__ import annotations

import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from controller.adapters.sqlite_ledger import FILE_NAME, Ledger
from controller.core.ports import UnnumberedToken
from templo.contract import God
from tests.crash.__main__ import SYNCED_AT_ONCE
from tests.crash.recording import recorded

TOKENS = 10_000
MOST_BYTES = 900
"""Measured 791: a small page of the log with its frame, and a share of the pages in the file at each checkpoint."""


def test_a_token_costs_one_sync_and_little_more_than_one_page(capsys: pytest.CaptureFixture[str]) -> None:
    with tempfile.TemporaryDirectory(dir=SYNCED_AT_ONCE) as folder, recorded() as recording:
        with closing(Ledger.open(Path(folder) / FILE_NAME, lambda: "5" * 32)) as ledger:
            for n in range(TOKENS):
                ledger.record([UnnumberedToken(f"{n:032x}", God.TLALOC, datetime.now(UTC), 12_000_000)])
                ledger.deliver(ledger.last_seq)
        wear, syncs = recording.written / TOKENS, recording.syncs / TOKENS
    with capsys.disabled():
        print(f"\n{TOKENS:,} tokens, one at a time: {wear:,.0f} bytes and {syncs:.3f} syncs a token")
    assert wear <= MOST_BYTES
    assert syncs <= 1.01
