"""The players of a playtest: the app as it is, one that moves at random, the app with one habit exaggerated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

from companion.games.kit import ANYONE, LEVELS, PLAYERS, Below, Game, Move, Seat, Skill

APP, RANDOM = "app", "random"
EAGER, NEVER = "eager", "never"

FEW = 6
"""Values of a move's first argument up to which each of them is a habit of its own."""

Player: TypeAlias = Callable[[Game[Any], Any, Seat, Sequence[Move], Below], Move | None]


def player(name: str) -> Player:
    """Return a player by its name; raises `ValueError`.

    ``app`` may be followed by a level, as in ``app strong``, or by constants: ``app coin=2 reach=0.5``. ``random``
    draws any move, ``eager MOVE`` and ``never MOVE`` are the app with a habit.
    A move may be named with its first argument: ``eager sacrifice tlaloc``. An eager player makes the move whenever
    it is legal; one that never makes it avoids it while there is another.
    """
    kind, _, what = name.partition(" ")
    if name == APP:
        return _app
    if kind == APP and (what in LEVELS or "=" in what):
        return lambda game, state, seat, moves, below: game.decide(
            game.page.view(state, seat), moves, below, what, skill(game, what) if "=" in what else None
        )
    if name == RANDOM:
        return lambda game, state, seat, moves, below: moves[below(len(moves))]
    if kind in (EAGER, NEVER) and what.strip():
        return lambda game, state, seat, moves, below: _pushed(
            game, state, seat, moves, below, what.split(), kind == EAGER
        )
    raise ValueError(f"player is {name!r}; expected app, app LEVEL, random, eager MOVE or never MOVE")


def check(game: Game[Any], name: str) -> None:
    """Raise `ValueError` for a player that a game cannot have: an unknown level, constant or move."""
    player(name)
    kind, _, what = name.partition(" ")
    if kind == APP and "=" in what:
        skill(game, what)
    elif kind == APP and what and what not in game.bot.levels:
        levels = " or ".join(game.bot.levels)
        raise ValueError(f"player of {game.name} is {name!r}; expected one of its levels, {levels}")
    moves = {each.name: each for each in game.rules.table or () if each.by in (PLAYERS, ANYONE)}
    if kind in (EAGER, NEVER) and moves:
        move, *first = what.split()
        if move not in moves:
            raise ValueError(f"player of {game.name} is {name!r}; expected one of its moves, {' or '.join(moves)}")
        kind_of = next(iter(moves[move].args.values()), None)
        values = [str(each) for each in kind_of.values] if kind_of else []
        if first and (kind_of is None or len(first) > 1 or (values and first[0] not in values)):
            words = f"{move} {kind_of.expected}" if kind_of else move
            raise ValueError(f"player of {game.name} is {name!r}; expected {kind} {words}")


@lru_cache(maxsize=64)
def skill(game: Game[Any], text: str) -> Skill:
    """Return the practised player's constants changed as in ``coin=2 reach=0.5``; raises `ValueError`.

    The first word may be a level, whose constants are then those that stay.
    """
    level, *others = text.split()
    if "=" in level:
        level, others = "", [level, *others]
    base = game.bot.skills.get(level)
    own = base or next((type(each)() for each in game.bot.skills.values()), None)
    if own is None:
        raise ValueError(f"{game.name} has no constants for {text!r}; expected a game whose app players have levels")
    given = {name: value for name, _, value in (word.partition("=") for word in others)}
    known = msgspec.to_builtins(own)
    if (level and level not in game.bot.levels) or not given.keys() <= known.keys():
        raise ValueError(f"constants of {game.name} are {text!r}; expected values of {', '.join(known)}")
    try:
        return msgspec.convert({**known, **given}, type(own), strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"constants of {game.name} are {text!r}; expected those of {own!r} ({error})") from error


def of(game: Game[Any]) -> list[str]:
    """Return the habits that the moves of a game suggest: each kind of move made whenever possible, or never."""
    found: dict[str, None] = {}
    for each in game.rules.table or ():
        if each.by not in (PLAYERS, ANYONE) or each.name in game.chores:
            continue
        values = next(iter(each.args.values())).values if each.args else ()
        words = [value for value in values if isinstance(value, str)]
        for what in [f"{each.name} {word}" for word in words] if 0 < len(words) <= FEW else [each.name]:
            found |= dict.fromkeys((f"{EAGER} {what}", f"{NEVER} {what}"))
    return list(found)


def _app(game: Game[Any], state: Any, seat: Seat, moves: Sequence[Move], below: Below) -> Move | None:
    return game.decide(game.page.view(state, seat), moves, below)


def _pushed(
    game: Game[Any],
    state: Any,
    seat: Seat,
    moves: Sequence[Move],
    below: Below,
    what: Sequence[str],
    eager: bool,
) -> Move | None:
    """Return the app's move among those that the habit leaves, any of them where the app wants none of these.

    A bot that cannot choose among a part of its moves is asked with all of them.
    """
    fits = [move for move in moves if [move.name, *map(str, move.args[:1])][: len(what)] == list(what)]
    left = fits if eager else [move for move in moves if move not in fits]
    if not left:
        return _app(game, state, seat, moves, below)
    try:
        chosen = _app(game, state, seat, left, below)
    except Exception:  # it may look for a move that the habit withholds; if it is wrong anyway, this raises again
        chosen = _app(game, state, seat, moves, below)
    return chosen if chosen in left else left[below(len(left))]
