"""Players of a playtest by name: the app as it is, one that draws any move, and the app with one habit pushed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from companion.games.kit import ANYONE, PLAYERS, Below, Game, Move, Seat

APP, RANDOM = "app", "random"
EAGER, NEVER = "eager", "never"

FEW = 6
"""Values of a move's first argument up to which each of them is a habit of its own."""

Player: TypeAlias = Callable[[Game[Any], Any, Seat, Sequence[Move], Below], Move | None]


def player(name: str) -> Player:
    """Return a player: ``app``, ``random``, ``eager MOVE`` or ``never MOVE``; raises `ValueError`.

    A move may be named with its first argument: ``eager sacrifice tlaloc``. Who is eager for a move makes it
    whenever it is legal; who never makes one avoids it as long as there is another.
    """
    kind, _, what = name.partition(" ")
    if name == APP:
        return _app
    if name == RANDOM:
        return lambda game, state, seat, moves, below: moves[below(len(moves))]
    if kind in (EAGER, NEVER) and what:
        return lambda game, state, seat, moves, below: _pushed(
            game, state, seat, moves, below, what.split(), kind == EAGER
        )
    raise ValueError(f"player is {name!r}; expected app, random, eager MOVE or never MOVE")


def of(game: Game[Any]) -> list[str]:
    """Return the habits that the moves of a game suggest: each kind of move made whenever possible, or never."""
    found: dict[str, None] = {}
    for each in game.table or ():
        if each.by not in (PLAYERS, ANYONE) or each.name in game.playtest.chores:
            continue
        values = next(iter(each.args.values())).values if each.args else ()
        words = [value for value in values if isinstance(value, str)]
        for what in [f"{each.name} {word}" for word in words] if 0 < len(words) <= FEW else [each.name]:
            found |= dict.fromkeys((f"{EAGER} {what}", f"{NEVER} {what}"))
    return list(found)


def _app(game: Game[Any], state: Any, seat: Seat, moves: Sequence[Move], below: Below) -> Move | None:
    return game.decide(game.view(state, seat), moves, below)


def _pushed(
    game: Game[Any],
    state: Any,
    seat: Seat,
    moves: Sequence[Move],
    below: Below,
    what: Sequence[str],
    eager: bool,
) -> Move | None:
    """Return the app's move among those that the habit leaves, any of them where the app wants none of these."""
    fits = [move for move in moves if [move.name, *map(str, move.args[:1])][: len(what)] == list(what)]
    left = fits if eager else [move for move in moves if move not in fits]
    if not left:
        return _app(game, state, seat, moves, below)
    chosen = _app(game, state, seat, left, below)
    return chosen if chosen in left else left[below(len(left))]
