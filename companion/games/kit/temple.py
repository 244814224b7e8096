"""What a table and a game exchange about tokens."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from companion.games.kit.moves import Move, Seat
from templo.shrines import LEFT_TO_RIGHT as LEFT_TO_RIGHT


class TokenDrop(Struct, frozen=True):
    """What a table knows of a token that is offered to a game.

    Of its doubts, ``"earlier"`` fell before the turn now running, ``"elsewhere"`` before this temple served this
    table, ``"jam"`` may be no token at all, ``"stranger"`` comes from a second counter under the temple's name;
    ``"old"`` and ``"held"`` came here by a person's decision. Any other is the temple's own, such as ``"flicker"``.
    """

    id: str
    """The token's own."""
    god: str
    """The god of its slot."""
    doubt: str = ""
    """Why it should wait for a person, or empty."""


class UnclaimedToken(Struct, frozen=True):
    """A token that is not credited to anybody yet, and the moves that settle it, which any seat may make."""

    id: str
    """The token's own."""
    god: str
    """The god of its slot."""
    doubt: str
    """Why it waits; it has words in the texts."""
    claims: Mapping[Seat, Move]
    """For each seat that may have dropped it the move that says so, the likeliest first."""
    dismiss: Move
    """The move that says that it was not a token."""
    suggested: Seat | None = None
    """The seat that is offered first, where there is one."""


class TokenAudit(Struct, frozen=True):
    """What a game made of its tokens, and what it counts besides them.

    Law: each token that fell is, by its id, exactly one of `counted`, `dismissed` and `waiting`.
    """

    counted: frozenset[str]
    """The ids of the tokens that count."""
    dismissed: frozenset[str]
    """The ids of those that were none."""
    waiting: tuple[UnclaimedToken, ...]
    """The tokens that wait for a person."""
    credited: Mapping[str, int]
    """For each god all that counts, by token or by tap, before corrections."""
    corrected: tuple[tuple[Seat, str, int], ...] = ()
    """The sums of the corrections: seat, god and change."""


class Mood(Struct, frozen=True):
    """What a game has a temple's lamps show. `templo.contract.Mood` lists the codes."""

    signals: tuple[str, ...] = ()
    """Codes such as ``"flood"``; lamps ignore one that they do not know."""
    left: int | None = None
    """The turns that are left, where the game counts them."""
