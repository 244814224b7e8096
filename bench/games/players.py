"""How often the app beats a random player: seeded games of Mexica for two, with alternating seats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

from bench.games.playouts import Field
from bench.tools.figures import Chapter, Row
from companion.games.kit import CHANCE, Seat
from companion.games.mexica import GAME
from companion.games.mexica.rules.options import FULL
from companion.games.mexica.rules.play import CHORES

LEAST = 65.0
"""Per cent of all games, those that nobody wins among them."""

PRESETS = tuple(name for name, chosen in GAME.presets.items() if chosen["scope"] == FULL)
"""What can be played: the presets that keep the whole board."""


def measure(games: int, presets: Sequence[str] = PRESETS) -> Chapter:
    """Play some games with each preset."""
    rows: list[Row] = []
    for preset in presets:
        ends = Counter(_end(Field(GAME, preset, GAME.seatings[2]), seed) for seed in range(games))
        for end in ("won", "lost", "nobody's"):
            target = LEAST if end == "won" else None
            rows.append(Row(f"mexica {preset}: {end}", "%", 100 * ends[end] / games, target=target, more=True))
    return Chapter(
        "The app against a random player",
        tuple(rows),
        f"{games} games for two with each preset, seeds 0 to {games - 1}, the app in the first seat where the seed is"
        " even. The random player draws from its full legal list without the table's chores. Nobody's is a game that"
        " the gods ended.",
    )


def _end(field: Field, seed: int) -> str:
    random, app = Random(seed), field.seats[seed % 2]
    state: Any = field.game.rules.setup(field.options(), field.seats)
    while acting := field.game.rules.to_act(state):
        state = field.game.rules.play(state, acting[0], _move(field, state, acting[0], app, random))
    winner = state.outcome.seat
    return "nobody's" if winner is None else "won" if winner == app else "lost"


def _move(field: Field, state: Any, seat: Seat, app: Seat, random: Random) -> Any:
    moves = field.game.rules.moves(state, seat)
    if seat == app:
        return field.game.decide(field.game.page.view(state, seat), moves, random.randrange)
    return random.choice(moves if seat == CHANCE else [move for move in moves if move.name not in CHORES])
