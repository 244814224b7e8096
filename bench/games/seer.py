"""How often a tribe could win Mexica if it knew the order of every pile and all future dice rolls.

What a player is measured by beside this is how much of it can be had without knowing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from bench.games.players import PRESETS
from bench.games.playouts import Field
from bench.tools.figures import Chapter, Row
from companion.games.mexica import GAME
from companion.games.mexica.bot import PRACTISED_CHIEF, Tribe
from companion.games.mexica.rules.odds import Pile
from companion.games.mexica.rules.play import CHORES

SHUFFLES = 200
"""Orders of the piles that each game is judged by."""


class Moment(NamedTuple):
    """What a tribe lacks in one of its sacrifice steps, its tokens, and what a card for each of those signs costs."""

    tokens: int
    prices: Mapping[str, int]

    def reaches(self, depths: Mapping[str, int]) -> bool:
        """Return whether the tokens buy all that is lacking, given how deep each sign lies in its pile."""
        return sum([depths[sign] * price for sign, price in self.prices.items()]) <= self.tokens


def measure(games: int, presets: Sequence[str] = PRESETS) -> Chapter:
    """Play some games with each preset."""
    rows = []
    for preset in presets:
        field = Field(GAME, preset, GAME.seatings[2])
        won = sum(_share(field, seed) for seed in range(games))
        rows.append(Row(f"mexica {preset}: in a seer's reach", "%", 100 * won / games, more=True))
    return Chapter(
        "A tribe that knows all",
        tuple(rows),
        f"{games} games for two with each preset, seeds 0 to {games - 1}. The tribe gives nothing, so that the gods"
        " are called late, and in hindsight spends its hoard in the one sacrifice step in which it reaches all that"
        f" is then lacking, if there is one; over {SHUFFLES} orders of the piles. It is no strict bound: what is"
        " spent early cannot be lost to tribute and ransom, and who keeps the gods even holds the clock.",
    )


def _share(field: Field, seed: int) -> float:
    """Return in how many orders of the piles, of all, a game is won."""
    random, seat = Random(seed), field.seats[seed % 2]
    moments: list[Moment] = []
    piles: Mapping[str, Pile] = {}
    state: Any = field.game.rules.setup(field.options(), field.seats)
    while acting := field.game.rules.to_act(state):
        moves = [move for move in field.game.rules.moves(state, acting[0]) if move.name not in CHORES]
        if acting[0] == seat:
            tribe = Tribe(field.game.page.view(state, seat), PRACTISED_CHIEF, random.randrange)
            if tribe.task == "sacrifice":
                piles = {name: sign.pile for name, sign in tribe.signs.items()}
                moments.append(Moment(tribe.tokens, {name: piles[name].price for name in tribe.lacking}))
                move: Any = next(each for each in moves if each.name in ("pass", "end_turn"))
            else:
                move = field.game.decide(tribe.view, moves, random.randrange)
        else:
            move = random.choice(moves)
        state = field.game.rules.play(state, acting[0], move)
    if state.outcome.seat == seat:
        return 1.0
    orders = _orders(piles, Random(f"{field.preset} {seed}"))
    return sum(any(each.reaches(depths) for each in moments) for depths in orders) / SHUFFLES


def _orders(piles: Mapping[str, Pile], random: Random) -> Iterator[Mapping[str, int]]:
    """Yield how many cards must be drawn for each sign, in as many orders of the piles as a game is judged by."""
    for _ in range(SHUFFLES):
        yield {name: 1 + min(random.sample(range(pile.cards), pile.copies)) for name, pile in piles.items()}
