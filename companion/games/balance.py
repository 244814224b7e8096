"""Reads how even a game's seats are: the results of equal app players for each preset, from ``data/balance.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from companion.games import registry
from companion.games.kit import Game, Seat, Value


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """The results of the games of one preset, with seeds from `first` on.

    `chosen` are options that differ from the preset, `won` the games that each seat won, alone or with others,
    `nobody` those without a winner, `sample` the winners of the first few.
    """

    preset: str
    seats: int
    chosen: Mapping[str, Value] = {}
    games: int
    first: int
    won: Mapping[Seat, int]
    nobody: int
    sample: tuple[tuple[Seat, ...], ...]


def of(game: Game[Any]) -> tuple[Played, ...]:
    """Return the balance data in a game's folder, empty if there are none; raises `ValueError`."""
    return _read(registry.folder(game) / "data" / "balance.toml")


@lru_cache(maxsize=16)
def _read(path: Path) -> tuple[Played, ...]:
    if not path.is_file():
        return ()
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")).get("played"), tuple[Played, ...])
    except ValueError as error:
        raise ValueError(f"{path} is not what `lab balance` writes: {error}") from error
