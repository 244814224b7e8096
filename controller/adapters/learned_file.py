"""The limits that a calibration learned, in one small JSON file that is replaced atomically."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from controller.core.counting import MS
from controller.core.learned_limits import Measured
from templo.contract import God
from templo.files import write_whole

FILE_NAME = "learned.json"
VERSION = 1
_LONGEST_MS = 60_000

log = logging.getLogger(__name__)


def load(folder: Path) -> dict[God, Measured]:
    """Read what was learned; nothing if no file is, or none that can be used."""
    path = folder / FILE_NAME
    try:
        value = json.loads(path.read_text("utf-8"))
        if value["v"] != VERSION:
            raise ValueError(f"v is {value['v']!r}; expected {VERSION}")
        found = {God(name): _read(entry) for name, entry in value["learned"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        log.warning("what was learned is not used, %s cannot be read: %s", path, error)
        return {}
    return found


def save(folder: Path, learned: Mapping[God, Measured]) -> None:
    """Make what was learned durable; raises `OSError`."""
    entries = {
        god: {"low_ms": each.low_ns / MS, "high_ms": each.high_ns / MS, "tokens": each.tokens}
        for god, each in learned.items()
    }
    content = json.dumps({"v": VERSION, "learned": entries}, indent=1)
    write_whole(folder / FILE_NAME, content.encode())


def _read(entry: Mapping[str, object]) -> Measured:
    low, high, tokens = entry["low_ms"], entry["high_ms"], entry["tokens"]
    if not (isinstance(low, int | float) and isinstance(high, int | float) and type(tokens) is int):
        raise ValueError(f"an entry is {ascii(entry)[:80]}; expected numbers")
    if not 0 < low <= high <= _LONGEST_MS:
        raise ValueError(f"widths are {low} to {high} ms; expected 0 to {_LONGEST_MS}, in order")
    return Measured(round(low * MS), round(high * MS), tokens)
