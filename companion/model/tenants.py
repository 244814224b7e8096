"""The tenants of an installation that hosts several clubs or families: their names, codes and limits.

A tenant has tables, temples, people and an organiser of its own. Players read of it as their house.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

MEBIBYTE = 1_048_576


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one tenant may take of an installation."""

    tables: int = 50
    """Tables whose game is not over and at which something happened within a day."""
    temples: int = 10
    posts: int = 40
    """Posts a second at one companion; a burst may have ten times as many."""
    streams: int = 200
    """Pages that are open at one companion."""
    mebibytes: int = 500
    """What is stored; beyond, nothing more is, and tokens wait at their temples."""


class Hosting(NamedTuple):
    """How many tenants there are, how many are in use at one companion, and how many fail there."""

    known: int
    in_use: int
    failing: int


@dataclass(frozen=True, slots=True)
class Tenant:
    """One tenant. Its rows are in a place that is named after name and key: a name that is given again is another."""

    name: str
    key: str
    """8 hexadecimal digits."""
    code: str = field(repr=False)
    """The organiser's code, and the proof that a browser stores for it."""
    proof: str = field(repr=False)
    limits: Limits = field(default_factory=Limits)

    @property
    def place(self) -> str:
        """The name of its place in the database, and of its announcements and leases."""
        return f"{self.name}.{self.key}"
