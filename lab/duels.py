"""Duels between two kinds of player at one game, and a search for constants that win."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from lab import figures, habits
from lab.figures import Share
from lab.matches import Record, Setup, first_seat, game_of
from lab.runs import Job
from lab.studies import Runner

STEPS = (0.5, 0.75, 1.3, 2.0)
"""By what a constant is multiplied in the search for a better one."""

BETTER = 0.02
"""By how much a constant must raise the share of won games to replace the one before."""


@dataclass(frozen=True, slots=True)
class Duel:
    """The result of a duel: of all won games, the share that the one player won, and that of equal players."""

    won: Share
    fair: float
    games: int
    p: float


def job(setup: Setup, one: str, other: str, games: int, first: int = 0) -> Job:
    """Return the games of a duel; the one player sits one seat further with each seed."""
    players = (one, *(other,) * (setup.seats - 1))
    return Job(f"{one} / {other}", replace(setup, habits=players, rotating=True), tuple(range(first, first + games)))


def judged(setup: Setup, records: Sequence[Record]) -> Duel:
    """Return the result of a duel's games; a shared win counts for each who shares it."""
    wins = sum(len(each.winners) for each in records)
    rotating = replace(setup, rotating=True)
    own = sum(first_seat(rotating, each.seed) in each.winners for each in records)
    fair = 1 / len(game_of(setup).seatings[setup.seats])
    return Duel(figures.share(own, wins), fair, len(records), figures.chance(own, wins, fair))


def fitted(
    setup: Setup, base: str, other: str, play: Runner, games: int, first: int, report: Callable[[str], None]
) -> str:
    """Return the player that wins most against another one, found one constant after the other, from `base` on.

    Each constant is tried at a few multiples. All are tried on the same seeds, so the result must be judged on
    others.
    """
    best, constants = base, _constants(setup, base)
    for name, value in constants.items():
        players = [best, *(_player({**constants, name: each}) for each in _others(value))]
        found = play([job(setup, each, other, games, first) for each in players])
        won = {each: judged(setup, one).won for each, one in zip(players, found, strict=True)}
        for each, share in won.items():
            report(f"{name}: {100 * share.share:5.1f} % of {share.of}  {each}")
        winner = max(players, key=lambda each: won[each].share)
        if won[winner].share >= won[best].share + BETTER:
            best, constants = winner, _constants(setup, winner)
    return best


def _constants(setup: Setup, player: str) -> dict[str, float]:
    skill = habits.skill(game_of(setup), player.removeprefix(f"{habits.APP} "))
    return {name: value for name, value in msgspec.to_builtins(skill).items() if name != "slips"}


def _player(constants: Mapping[str, float]) -> str:
    return " ".join((habits.APP, *(f"{name}={value}" for name, value in constants.items())))


def _others(value: float) -> list[float]:
    """Return the values to try instead of a constant."""
    if isinstance(value, int) and abs(value) < 5:
        return [value - 2, value - 1, value + 1, value + 2]
    return [round(value * by) if isinstance(value, int) else round(value * by, 3) for by in STEPS]
