"""Measures how even the seats of each preset are, and writes the data that a game's own page shows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from companion.games.balance import Played
from companion.games.kit import Value
from lab.matches import Record, Setup, games, options_of
from lab.runs import jobs_of
from lab.studies import Runner

SAMPLE = 3
"""Games whose winners are stored one by one, so that a run with the same seeds can be compared."""


def setups(name: str, folders: tuple[str, ...] = ()) -> list[Setup]:
    """Return the setups to be played of a game: each preset at its largest table, and with its handicap if any."""
    game = games(folders)[name]
    every = [
        Setup(game=name, preset=preset, seats=max(game.seatings), chosen=chosen, folders=folders)
        for preset in game.presets
        for chosen in ({}, game.playtest.handicaps.get(preset, {}))[: 1 + (preset in game.playtest.handicaps)]
    ]
    return [each for each in every if game.playtest.plays(options_of(each))]


def measured(every: Sequence[Setup], count: int, first: int, play: Runner) -> list[Played]:
    """Play a number of games of each setup and return their results."""
    jobs = [jobs_of(each, count, first, _name(each)) for each in every]
    return [_played(setup, first, found) for setup, found in zip(every, play(jobs), strict=True)]


def written(found: Iterable[Played], command: str) -> str:
    """Return the text of ``data/balance.toml``."""
    parts = [f"# Written by `{command}`.\n"]
    for each in found:
        fields = {name: value for name, value in msgspec.to_builtins(each).items() if value != {}}
        parts.append("\n".join(("[[played]]", *(f"{name} = {_toml(value)}" for name, value in fields.items()), "")))
    return "\n".join(parts)


def _name(setup: Setup) -> str:
    return " ".join((setup.preset, *(f"{key}={value}" for key, value in setup.chosen.items())))


def _played(setup: Setup, first: int, records: Sequence[Record]) -> Played:
    seats = games(setup.folders)[setup.game].seatings[setup.seats]
    return Played(
        preset=setup.preset,
        seats=setup.seats,
        chosen=setup.chosen,
        games=len(records),
        first=first,
        won={seat: sum(seat in each.winners for each in records) for seat in seats},
        nobody=sum(not each.winners for each in records),
        sample=tuple(each.winners for each in records[:SAMPLE]),
    )


def _toml(value: Value | Mapping[str, Value] | Sequence[Sequence[str]]) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {json.dumps(each)}" for name, each in value.items()) + " }"
    return json.dumps(value)
