"""What a table and a game exchange about tokens."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from companion.games.kit.moves import Move, Seat
from templo.shrines import LEFT_TO_RIGHT as LEFT_TO_RIGHT


class TokenDrop(Struct, frozen=True):
    """What a table knows of a token that is offered to a game.

    `id` is the token's own; `god` its slot. `doubt` says why it should wait for a person, or is empty:
    ``"earlier"`` fell before the turn now running, ``"elsewhere"`` before this temple served this table,
    ``"jam"`` may be no token at all, ``"stranger"`` comes from a second counter under the temple's name; ``"old"``
    and ``"held"`` came here by a person's decision. Any other is the temple's own, such as ``"flicker"``.
    """

    id: str
    god: str
    doubt: str = ""


class UnclaimedToken(Struct, frozen=True):
    """A token that is not credited to anybody yet, and the moves that settle it, which any seat may make.

    `doubt` has words in the texts; `claims` holds for each seat that may have dropped it the move that says so,
    the likeliest first, and `suggested` names that one where there is one. `dismiss` says that it was not a token.
    """

    id: str
    god: str
    doubt: str
    claims: Mapping[Seat, Move]
    dismiss: Move
    suggested: Seat | None = None


class TokenAudit(Struct, frozen=True):
    """What a game made of its tokens, and what it counts besides them.

    Law: each token that fell is, by its id, exactly one of `counted`, `dismissed` and `waiting`. `credited` is for
    each god all that counts, by token or by tap, before corrections; `corrected` their sums: seat, god, change.
    """

    counted: frozenset[str]
    dismissed: frozenset[str]
    waiting: tuple[UnclaimedToken, ...]
    credited: Mapping[str, int]
    corrected: tuple[tuple[Seat, str, int], ...] = ()


class Mood(Struct, frozen=True):
    """What a game has a temple's lamps show: codes such as ``"flood"``, and the turns that are left where it counts.

    `templo.contract.Mood` lists the codes; lamps ignore one that they do not know.
    """

    signals: tuple[str, ...] = ()
    left: int | None = None
