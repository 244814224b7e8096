"""How a game ended."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from companion.games.kit.log import Line
from companion.games.kit.moves import Seat


class Result(Struct, frozen=True):
    """How a game ended: the kind of end, who won, and each seat's points if the game counts any.

    >>> Result("points", ("east",), {"east": 12, "west": 9}).winners
    ('east',)
    """

    kind: str
    """The kind of end: ``ending.title.<kind>`` names it, ``ending.why.<kind>`` says what it means."""
    winners: tuple[Seat, ...] = ()
    """The seats that won; none if nobody did."""
    points: Mapping[Seat, int] = field(default_factory=dict)
    """Each seat's points, if the game counts any."""
    picture: str = ""
    """The symbol of `companion/art` that stands for this end."""
    because: Line | None = None
    """Who won, by how much and why; its text is ``ending.because.<code>``."""
