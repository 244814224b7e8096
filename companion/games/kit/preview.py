"""Computes what a move would change, with the game's own rules, to show it to the player before it is confirmed."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from companion.games.kit.game import Game
from companion.games.kit.log import Line
from companion.games.kit.moves import CHANCE, Move, Refusal, Seat

FOLLOWED = Fraction(1, 36)
"""The least probability of a state from which further dice are followed; less likely ones stay undecided."""


class Way(NamedTuple):
    """One possible outcome of a move."""

    share: Fraction
    """Its probability."""
    lines: tuple[Line, ...]
    """What it changes besides what is certain."""
    open: bool = False
    """Whether more dice follow that were not computed."""


class Preview(NamedTuple):
    """What a move changes for certain and, if dice follow, what each possible outcome changes."""

    certain: tuple[Line, ...] = ()
    """What the move changes for certain."""
    ways: tuple[Way, ...] = ()
    """Each possible outcome of the dice that follow, the likeliest first."""
    assumed: bool = False
    """Whether a seat that must decide between the dice was taken to do as little as the rules allow."""


def preview(game: Game[Any], state: Any, seat: Seat, move: Move) -> Preview:
    """Return what a seat's move would change: nothing if the rules refuse it.

    It is played on a state that only looks like the real one to the seat: everything that the seat cannot know was
    drawn again. So a preview reveals nothing hidden.

    >>> from companion.games.market import GAME
    >>> options = {option.key: option.default for option in GAME.options}
    >>> preview(GAME, GAME.rules.setup(options, GAME.seatings[2]), "south", Move("pass"))
    Preview(certain=(), ways=(), assumed=False)
    """
    before = game.rules.resample(state, seat, lambda n: 0)
    after = game.rules.play(before, seat, move)
    if isinstance(after, Refusal):
        return Preview()
    page = game.page
    certain = tuple(page.changes(before, seat, move, after))
    if move.name in game.chores or not page.follows(after):
        return Preview(certain)
    assumed, ways = False, list[Way]()
    for share, ended, decided in _ends(game, after, Fraction(1)):
        assumed |= decided
        lines = tuple(line for line in page.changes(before, seat, move, ended) if line not in certain)
        way = Way(share, lines, bool(page.follows(ended)))
        at = next((n for n, known in enumerate(ways) if known[1:] == way[1:]), None)
        if at is None:
            ways.append(way)
        else:
            ways[at] = way._replace(share=ways[at].share + share)
    return Preview(certain, tuple(sorted(ways, key=lambda each: -each.share)), assumed)


def _ends(game: Game[Any], state: Any, share: Fraction) -> Iterator[tuple[Fraction, Any, bool]]:
    """Yield the states in which what was begun ends, how likely each is, and whether somebody decided before it."""
    if share < FOLLOWED or not game.page.follows(state):
        yield share, state, False
    elif due := game.rules.chance(state):
        for outcome, likely in due.outcomes.items():
            yield from _ends(game, _played(game, state, CHANCE, outcome), share * likely)
    else:
        seat = game.rules.to_act(state)[0]
        move = game.bot.idle(game.rules.moves(state, seat))
        if move is None:
            yield share, state, False
            return
        for likely, ended, _ in _ends(game, _played(game, state, seat, move), share):
            yield likely, ended, True


def _played(game: Game[Any], state: Any, seat: Seat, move: Move) -> Any:
    after = game.rules.play(state, seat, move)
    if isinstance(after, Refusal):
        raise ValueError(f"{game.name} lists {move} for {seat!r} and refuses it: {after.code!r}; expected a state")
    return after
