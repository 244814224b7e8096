"""What a temple learned of its tokens: the widths that were measured in each slot, and the limits that follow.

It keeps one small JSON file in the state directory, which appears whole or not at all. A file that cannot be read is
as good as none, and is said to be so.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from controller.counting import MS, Limits
from controller.wire import God

FILE_NAME = "learned.json"
VERSION = 1
_LONGEST_MS = 60_000

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Measured:
    """The narrowest and the widest of the tokens that were dropped to be measured, in nanoseconds."""

    low_ns: int
    high_ns: int
    tokens: int


def measured(widths: Sequence[int]) -> Measured:
    """Return what was learned from the widths of known tokens; at least one."""
    return Measured(min(widths), max(widths), len(widths))


def limits(settings: Limits, chosen: frozenset[str], learned: Mapping[God, Measured]) -> Limits:
    """Return the limits by which a temple counts: the settings', and what was learned where nobody set a value.

    Both slots share them, so they fit the narrowest and the widest token of either. A token is known by three tenths
    of the narrowest, from 1 to 5 ms; the band is six tenths of the narrowest to one and a half times the widest, as
    two tokens that overlap are wider than that unless they fall all but together; a jam is ten times the widest.
    """
    if not learned:
        return settings
    low = min(each.low_ns for each in learned.values())
    high = max(each.high_ns for each in learned.values())
    proposed = {
        "min_break": min(5 * MS, max(MS, low * 3 // 10)),
        "max_break": max(250 * MS, 10 * high),
        "band": high * 3 // 2,
        "narrow": low * 6 // 10,
    }
    return replace(
        settings, **{name: value for name, value in proposed.items() if f"counting.{name}_ms" not in chosen}
    )


def shown(of: Limits) -> dict[str, float | None]:
    """Return limits as settings name them."""
    return {
        "min_break_ms": round(of.min_break / MS, 3),
        "min_clear_ms": round(of.min_clear / MS, 3),
        "max_break_ms": round(of.max_break / MS, 3),
        "band_ms": None if of.band is None else round(of.band / MS, 3),
        "narrow_ms": None if of.narrow is None else round(of.narrow / MS, 3),
    }


def load(folder: Path) -> dict[God, Measured]:
    """Read what was learned; nothing where no file is, or none that can be used."""
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
    path = folder / FILE_NAME
    partial = path.with_suffix(".new")
    entries = {
        god: {"low_ms": each.low_ns / MS, "high_ms": each.high_ns / MS, "tokens": each.tokens}
        for god, each in learned.items()
    }
    with partial.open("w", encoding="utf-8") as file:
        json.dump({"v": VERSION, "learned": entries}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _read(entry: Mapping[str, object]) -> Measured:
    low, high, tokens = entry["low_ms"], entry["high_ms"], entry["tokens"]
    if not (isinstance(low, int | float) and isinstance(high, int | float) and type(tokens) is int):
        raise ValueError(f"an entry is {ascii(entry)[:80]}; expected numbers")
    if not 0 < low <= high <= _LONGEST_MS:
        raise ValueError(f"widths are {low} to {high} ms; expected 0 to {_LONGEST_MS}, in order")
    return Measured(round(low * MS), round(high * MS), tokens)
