"""How a game ended."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from companion.games.kit.log import Line
from companion.games.kit.moves import Seat


class Result(Struct, frozen=True):
    """How a game ended: the kind of end, who won, and each seat's points if the game counts any.

    `because` says in one sentence who won, by how much and why; its text is ``ending.because.<code>``. `picture` is
    the symbol of `companion/art` that stands for this end. The game's texts may add what that means,
    ``ending.why.<kind>``, and a name, ``ending.title.<kind>``.

    >>> Result("points", ("east",), {"east": 12, "west": 9}).winners
    ('east',)
    """

    kind: str
    winners: tuple[Seat, ...] = ()
    points: Mapping[Seat, int] = field(default_factory=dict)
    picture: str = ""
    because: Line | None = None
