"""What the command line does with a ledger while no daemon runs: adds simulated tokens, describes it, exports it."""

from __future__ import annotations

import csv
import json
import os
import secrets
import sys
import time
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from controller.adapters.ledger_recovery import open_ledger
from controller.adapters.sqlite_ledger import FILE_NAME, Ledger
from controller.core.counting import simulate
from controller.core.ports import UnnumberedToken
from controller.core.settings import Settings
from templo.contract import Flag, God, Token, format_utc

_BATCH = 256
COLUMNS = ("source", "seq", "token", "god", "at", "width_ms", "flags")


def drop(settings: Settings, god: God, count: int) -> int:
    """Record simulated tokens and return the number of the last; the caller holds the state directory.

    If the settings name real beams they are tests, which are never scored.
    """
    flags = {Flag.SIMULATED} if settings.simulated else {Flag.SIMULATED, Flag.TEST}
    opened = open_ledger(settings.state, lambda: secrets.token_hex(16), lambda: datetime.now(UTC))
    with closing(opened) as ledger:
        for first in range(0, count, _BATCH):
            counted = [
                simulate(settings.counting, time.monotonic_ns()) for _ in range(first, min(first + _BATCH, count))
            ]
            ledger.record(
                [
                    UnnumberedToken(secrets.token_hex(16), god, datetime.now(UTC), each.width_ns, each.flags | flags)
                    for each in counted
                ]
            )
        return ledger.last_seq


def status(settings: Settings) -> dict[str, object]:
    """Return a temple's status as far as its ledger shows it."""
    facts: dict[str, object] = {"temple": settings.temple, "state": "stopped", "source": None, "last_seq": 0,
                                "delivered": 0, "waiting": 0, "totals": dict.fromkeys(God, 0)}  # fmt: skip
    if (settings.state / FILE_NAME).exists():
        with closing(_reading(settings)) as ledger:
            facts |= {
                "source": ledger.source,
                "last_seq": ledger.last_seq,
                "delivered": ledger.delivered,
                "waiting": ledger.last_seq - ledger.delivered,
                "totals": dict(ledger.totals),
                "notices": [{"code": each.code, "at": format_utc(each.at)} for each in ledger.notices],
            }
    return facts


def dismiss(settings: Settings, code: str) -> bool:
    """Remove a notice; return False if there is none. The caller holds the state directory."""
    with closing(Ledger.open(settings.state / FILE_NAME, lambda: secrets.token_hex(16))) as ledger:
        return ledger.dismiss(code)


def export(settings: Settings, form: str, output: Path | None) -> int:
    """Write every token as JSON lines or CSV, atomically; return how many there are."""
    with closing(_reading(settings)) as ledger:
        if output is None:
            return _write(ledger.tokens(), form, sys.stdout)
        partial = output.with_name(f".{output.name}.{os.getpid()}")
        try:
            with partial.open("w", encoding="utf-8", newline="") as file:
                number = _write(ledger.tokens(), form, file)
            partial.replace(output)
        finally:
            partial.unlink(missing_ok=True)
        return number


def _reading(settings: Settings) -> Ledger:
    return Ledger.open(settings.state / FILE_NAME, str, read_only=True)


def _write(tokens: Iterable[Token], form: str, file: TextIO) -> int:
    number = 0
    table = csv.writer(file)
    if form == "csv":
        table.writerow(COLUMNS)
    for number, token in enumerate(tokens, 1):  # noqa: B007 (the last number is how many there are)
        row = (token.source, token.seq, token.token, token.god.value, format_utc(token.at), token.width_ms)
        if form == "csv":
            table.writerow((*row, " ".join(sorted(token.flags))))
        else:
            file.write(json.dumps(dict(zip(COLUMNS, (*row, sorted(token.flags)), strict=True))) + "\n")
    file.flush()
    return number
