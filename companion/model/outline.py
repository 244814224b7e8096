"""A table whose game is over as lists show it, without its log.

A companion that has run for years has thousands of them. Their logs are read when somebody opens their pages.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import msgspec

from companion.games.kit import Game, Result, Seat, TokenAudit, Value
from companion.model.table import Chair, Charter, LoggedEntry, Table


class Summary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is stored of a finished table besides its charter, its log and its phones."""

    last_at: datetime
    basis: int
    seats: tuple[tuple[Seat, str | None, str], ...]
    """For each seat the player's name, and its absence mode."""
    temple: str | None
    began_at: datetime | None
    ended_at: datetime | None
    is_closed: bool
    is_archived: bool
    renamed: str
    again: str
    amendments: dict[str, Value]
    result: Result
    turn: int
    tokens: int
    sounds: bool


@dataclass(frozen=True, slots=True)
class Outline(Table):
    """A table without its state and its log, with only what lists of tables show."""

    summary: Summary | None = None

    @property
    def phase(self) -> str:
        """``over``: other tables have no outline."""
        return "over"

    @property
    def on_turn(self) -> Seat | None:
        """No seat."""
        return None

    @property
    def audit(self) -> TokenAudit | None:
        """None: its count is in `tokens`."""
        return None

    @property
    def tokens(self) -> int:
        """How many tokens counted in its game."""
        return self._summary.tokens

    @property
    def turn(self) -> int:
        """The turn in which it ended."""
        return self._summary.turn

    @property
    def result(self) -> Result:
        """How its game ended."""
        return self._summary.result

    @property
    def _summary(self) -> Summary:
        assert self.summary is not None
        return self.summary


def summarized(table: Table) -> str | None:
    """Return the summary of a table whose game is over; None for any other, or while tokens are unclaimed."""
    if table.phase != "over" or "." in table.charter.game or table.unclaimed:
        return None
    summary = Summary(
        table.last_at,
        table.basis,
        tuple((chair.seat, chair.name, chair.away) for chair in table.chairs),
        table.temple,
        table.began_at,
        table.ended_at,
        table.is_closed,
        table.is_archived,
        table.renamed,
        table.again,
        dict(table.amendments),
        table.result,
        table.turn,
        table.tokens,
        table.sounds,
    )
    return msgspec.json.encode(summary).decode()


def outlined(charter: Charter, game: Game[Any], version: int, stored: str) -> Outline | None:
    """Return the outline of a table from its stored summary, or None if that cannot be used."""
    try:
        summary = msgspec.json.decode(stored, type=Summary)
    except msgspec.MsgspecError:
        return None
    if not {seat for seat, _, _ in summary.seats} <= {*charter.seats}:
        return None
    same = {each.name for each in fields(Table)} & set(summary.__struct_fields__)
    return Outline(
        charter,
        game,
        tuple(Chair(seat, name, away=away) for seat, name, away in summary.seats),
        version=version,
        logged=(LoggedEntry(version, summary.last_at, ()),),
        summary=summary,
        **{name: getattr(summary, name) for name in same},
    )
