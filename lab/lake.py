"""How often a temple calls for a hand that levels its lake, in games of app players, by kind of token."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from lab.matches import Setup, SetupError, games, options_of, players, steps
from templo.lake import KINDS


def calls(fallen: str, heap: int | None) -> int:
    """Return how often one side's heap calls for a hand, which levels both: a letter for each token, by its god.

    >>> calls("tttht", 2), calls("thth", 3), calls("tttt", None)
    (2, 0, 0)
    """
    found, sides = 0, dict.fromkeys(fallen, 0)
    for side in fallen:
        sides[side] += 1
        if heap and sides[side] >= heap:
            found, sides = found + 1, dict.fromkeys(fallen, 0)
    return found


def table(game: str, number: int, first: int) -> Iterator[str]:
    """Yield a table of the calls for each preset that app players end, at its largest table, and each kind of token.

    Each cell has the median and the most, and how many of the games had a call. Raises `SetupError` for a game whose
    tokens leave no order in a lake.
    """
    if game not in games():
        raise SetupError(f"game is {game!r}; expected {' or '.join(games())}")
    found = games()[game]
    setups = [Setup(game=game, preset=preset, seats=max(found.seatings)) for preset in found.presets]
    if not all(
        hasattr(found.rules.setup(options_of(each), found.seatings[each.seats]), "tallies") for each in setups
    ):
        raise SetupError(f"game is {game!r}; expected one with a lake, such as mexica")
    kinds = (f"{kind.name.replace('_', ' ')}, {f'at {kind.heap}' if kind.heap else 'never'}" for kind in KINDS)
    yield f"| preset | games | fell | fuller side | {' | '.join(kinds)} |"
    yield "|---|---:|---:|---:|" + "---:|" * len(KINDS)
    for setup in setups:
        if not found.playtest.plays(options_of(setup)):
            continue
        lakes = [_lake(setup, seed) for seed in range(first, first + number)]
        fuller = [max(map(lake.count, set(lake)), default=0) for lake in lakes]
        cells = [_cell([calls(lake, kind.heap) for lake in lakes]) for kind in KINDS]
        yield (
            f"| {setup.preset} | {number} | {median(map(len, lakes)):g} | {median(fuller):g}, {max(fuller)} at most "
            f"| {' | '.join(cells)} |"
        )


def _cell(found: list[int]) -> str:
    """Return the median and the most calls, and in how many games there were any."""
    return f"{median(found):g}, {max(found)} at most; in {sum(map(bool, found))}" if any(found) else "0"


def _lake(setup: Setup, seed: int) -> str:
    """Play one game; return the tokens that fell, the first at the front, each by its god's letter."""
    lake = ""
    for *_, after in steps(setup, seed, players(setup, seed)):
        lake = after.tallies.lake
    return lake
