"""Writes and reads what a Pico keeps in its flash, by the board's own program: `pico.py write|read FOLDER`."""

from __future__ import annotations

import itertools
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

BOARD = Path(__file__).parents[2] / "firmware" / "micropython"
SETTINGS = {"ssid": "Home", "wifi_password": "a b", "broker": "192.168.1.5", "temple": "attic", "tlaloc": 20}
TOKENS = [[0, 1_795_903_200_000 + n, 9_000 + n, ["jam"] if n == 3 else []] for n in range(5)]


def main(action: str, folder: Path) -> None:
    """Write the files of a board on which tokens fell, or print what this release makes of them."""
    sys.path.insert(0, str(BOARD))
    if action == "write":
        written(folder)
    else:
        print(json.dumps(found(folder)))


def _ledger(folder: Path) -> Any:
    numbers = itertools.count(1)
    return import_module("ledger").Ledger(str(folder / "tokens"), lambda: next(numbers).to_bytes(16, "big"))


def written(folder: Path) -> None:
    """Record tokens under two sources, of which some are delivered and one is doubted."""
    folder.mkdir()
    ledger = _ledger(folder)
    ledger.begin()
    ledger.record(TOKENS)
    ledger.renew(1)
    ledger.deliver(2)
    ledger.record([[1, 0, 12_000, []]], [(1, 1_795_903_300_000, 2)])
    ledger.close()
    (folder / "settings.json").write_text(json.dumps(SETTINGS))
    import_module("calibration").save({"tlaloc": (9_000, 21_000, 40)}, os.rename, str(folder / "learned.json"))


def found(folder: Path) -> dict[str, Any]:
    """Return what the board's program reads."""
    ledger = _ledger(folder)
    settings = import_module("settings").load(str(folder / "settings.json"))
    return {
        "source": ledger.source,
        "damaged": ledger.damaged,
        "delivered": ledger.delivered,
        "totals": ledger.totals,
        "tokens": [ledger.read(seq) for seq in range(ledger.first, ledger.last_seq + 1)],
        "doubts": [ledger.doubt(number) for number in range(1, ledger.last_doubt + 1)],
        "learned": import_module("calibration").load(str(folder / "learned.json")),
        "settings": {name: settings[name] for name in SETTINGS},
    }


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
