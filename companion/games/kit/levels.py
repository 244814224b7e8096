"""The app's levels of play, and the declaration of a bot's constants."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from companion.games.kit.chance import Below
from companion.games.kit.moves import Move

BEGINNER = "beginner"
"""The name of the level that makes the most slips."""

CASUAL = "casual"
"""The name of the level between a beginner's and a practised player's."""

PRACTISED = "practised"
"""The name of the level that every game has."""

STRONG = "strong"
"""The name of the level that beats the practised one."""

LEVELS = (BEGINNER, CASUAL, PRACTISED, STRONG)
"""The weakest first. `PRACTISED` is every game's, and how the app plays where nobody chose a level.

A game with levels has three: `STRONG` where a player was found that beats the practised one, else `CASUAL`.
"""


class Skill(Struct, frozen=True, kw_only=True):
    """How well a bot plays; a game's own class adds constants, each with the practised player's value."""

    slips: int = 0
    """In so many of 100 decisions it makes a random legal move.

    First its name is drawn, then its arguments, so that a move with many arguments is not drawn more often than
    others.
    """


def slipped(moves: Sequence[Move], below: Below) -> Move:
    """Return a random legal move, drawn by its name first."""
    names = sorted({move.name for move in moves})
    name = names[below(len(names))]
    drawn = [move for move in moves if move.name == name]
    return drawn[below(len(drawn))]
