"""How long the games of a playtest take: Mexica with four app players, on two processes."""

from __future__ import annotations

from bench.games import app_players
from bench.tools.figures import Chapter, Row
from bench.tools.programs import THIS_TREE, Tree, figures_in

AIM_S = 60.0
"""Seconds on two cores that 1,000 games may take."""


def measure(games: int) -> Chapter:
    """Play so many games."""
    cpu, seconds = timed(THIS_TREE, games)
    share = games / 1000
    return Chapter(
        "A playtest",
        (
            Row(f"mexica classic, four app players: {games:,} games, CPU", "s", cpu, target=2 * AIM_S * share),
            Row(f"the same on {app_players.PROCESSES} processes, elapsed", "s", seconds),
        ),
        f"Seeds 0 to {games - 1}. The target is that two free cores play 1,000 games in {AIM_S:.0f} s; a busy machine"
        " takes longer, not more CPU time.",
    )


def timed(tree: Tree, games: int) -> tuple[float, float]:
    """Return the CPU seconds and the seconds that so many games take in a tree; raises `BenchError`."""
    cpu, seconds = figures_in(tree, app_players.__file__, games)
    return cpu, seconds
