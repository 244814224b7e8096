"""The app as a tribe: hoards, then buys the signs that it lacks with all it has. It knows what its seat sees alone.

The way to win is eagle, serpent and flower (ruling M22). Tokens to the gods bring the end nearer (ruling M23), so
they are kept until they reach far enough into a god's pile, until another tribe is about to settle, or until the
clock runs out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from companion.games.kernel import Below, Json, Move
from companion.games.mexica.cards import played
from companion.games.mexica.cards.deck import Card
from companion.games.mexica.cards.effects import Boost, Draw, Effect, Gain, Standing, Ward
from companion.games.mexica.rules.sacrifice import MOST_AT_ONCE
from companion.games.mexica.rules.tallies import HUITZILOPOCHTLI, TLALOC, God

GOD_OF: Mapping[str, God] = {"eagle": HUITZILOPOCHTLI, "serpent": TLALOC}
"""Whose cards hold a sign; the flower is Tonantzin's."""

PILE_OF = {"eagle": "war", "serpent": "rain", "flower": "day"}

SURE = 0.6
"""How likely each sign that it lacks should be before it breaks its hoard."""

LATE = 2
"""Turns on the clock at which it waits no longer."""

ENOUGH = 4
"""What a die needs on top before further cards are kept for another battle."""

AFFORD = 3
"""The most tokens that it gives only to keep the gods even, so that the clock stands still."""

KEPT = 0.5
"""How much of what the other signs cost must stay in the hoard when it buys the flower before them."""

THREAT = 2
"""Signs among another's week cards that make it hurry."""

_TONANTZIN = Move("tonantzin")

_VALUED = {"income": 3, "price": 2, "range": 1}
"""Week cards worth taking for what they do, beside those that are signs."""


def decide(view: Mapping[str, Json], moves: Sequence[Move], below: Below) -> Move | None:
    """Return the move of a tribe in a full game; one of several alike is drawn, none waits where there is no move."""
    if not moves:
        return None
    tribe = _Tribe(view)
    choose = _DECISIONS.get(tribe.task)
    chosen = choose(tribe, moves) if choose else None
    return chosen if chosen in moves else moves[below(len(moves))]


class _Tribe:
    """What a tribe knows of the game: its own hand, and what lies open."""

    def __init__(self, view: Mapping[str, Any]) -> None:
        self.view = view
        self.me: str = view["me"]
        self.task: str = view["due"]["task"] if view["due"] else ""
        self.own: Mapping[str, Any] = view["tribes"][self.me]
        self.tokens: int = self.own["tokens"]
        self.deck = played(*view["deck"])
        self.hand: list[Card] = [self.deck.card(each) for each in view["hands"][self.me]]

    @property
    def lacking(self) -> list[str]:
        """The signs that it lacks, the rarest first."""
        held = {card.sign for card in self.hand}
        held |= {self.deck.card(f"week-{space}").sign for space in self.own["week_cards"]}
        return [sign for sign in PILE_OF if sign not in held]

    @property
    def left(self) -> int | None:
        """The turns left on the clock, or none before it runs."""
        return self.view["countdown"]["left"] if self.view["countdown"] else None

    @property
    def lead(self) -> int:
        """How many tokens more Huitzilopochtli has."""
        gods: Mapping[God, int] = self.view["gods"]
        return gods[HUITZILOPOCHTLI] - gods[TLALOC]

    def draws(self, sign: str) -> int:
        """Return how many cards of its pile must be drawn for a sign to be among them as likely as `SURE`."""
        left: int = self.view["piles"][PILE_OF[sign]]
        copies = sum(card.sign == sign and card.pile != "week" for card in self.deck)
        missed: float = (1 - SURE) ** (1 / max(1, copies))
        return max(1, round(left * (1 - missed)))

    def cost(self, sign: str) -> int:
        """Return what it takes to find a sign as likely as `SURE`, in tokens."""
        price: int = self.own["prices"]["god" if sign in GOD_OF else "day"]
        return price * self.draws(sign)

    @property
    def ripe(self) -> bool:
        """Whether it is time to break the hoard: the clock runs out, or it reaches far enough."""
        if self.left is not None and self.left <= LATE:
            return True
        return self.threatened or self.tokens >= sum(map(self.cost, self.lacking))

    @property
    def threatened(self) -> bool:
        """Whether another tribe shows two signs as week cards, and may settle any turn."""
        return any(
            sum(1 for space in other["week_cards"] if self.deck.card(f"week-{space}").sign) >= THREAT
            for seat, other in self.view["tribes"].items()
            if seat != self.me
        )


def _sacrifice(tribe: _Tribe, moves: Sequence[Move]) -> Move | None:
    """Return what to give: the price of a card for a sign that it lacks, or what keeps the gods even."""
    wanted = [sign for sign in tribe.lacking if sign in GOD_OF]
    if "flower" in tribe.lacking and _TONANTZIN in moves and _flower_first(tribe, wanted):
        return _TONANTZIN
    if tribe.ripe and wanted:
        sign = min(
            wanted, key=lambda each: (tribe.draws(each), (GOD_OF[each] == HUITZILOPOCHTLI) == (tribe.lead > 0))
        )
        due = tribe.own["prices"]["god"] - tribe.own["toward"][GOD_OF[sign]]
        if 0 < due <= tribe.tokens:
            return Move("sacrifice", (GOD_OF[sign], min(due, MOST_AT_ONCE)))
    if tribe.left is not None and tribe.lead and abs(tribe.lead) <= min(tribe.tokens, AFFORD):
        return Move("sacrifice", (TLALOC if tribe.lead > 0 else HUITZILOPOCHTLI, abs(tribe.lead)))
    return _let_be(tribe, moves)


def _flower_first(tribe: _Tribe, wanted: Sequence[str]) -> bool:
    """Return whether the next tokens go to Tonantzin: for the flower alone, or while enough stays for the others."""
    if not wanted:
        return tribe.ripe or tribe.left is not None
    rest = tribe.tokens - tribe.own["prices"]["day"]
    return tribe.left is not None and rest >= KEPT * sum(map(tribe.cost, wanted))


def _bless(tribe: _Tribe, moves: Sequence[Move]) -> Move | None:
    """Return a Rain card that serves here: tokens and cards at once, a bonus where there is something to gather."""
    space = next(each for each in tribe.view["spaces"] if each["sign"] == tribe.own["place"])
    for move in moves:
        if move.name == "play":
            effect = tribe.deck.card(str(move.args[0])).effect
            if isinstance(effect, Gain | Draw):
                return move
            if isinstance(effect, Boost) and effect.what == "gather" and space["tokens"] and tribe.view["reserve"]:
                return move
            if isinstance(effect, Boost) and effect.what == "tribute" and space["holder"] not in (None, tribe.me):
                return move
    return Move("pass")


def _arm(tribe: _Tribe, moves: Sequence[Move]) -> Move | None:
    """Return a card that keeps it out of a battle, or the best on its die while that is not enough."""
    by: dict[Move, int] = {}
    for move in moves:
        if move.name == "play":
            effect = tribe.deck.card(str(move.args[0])).effect
            if isinstance(effect, Ward):
                return move
            if isinstance(effect, Boost) and effect.what in ("attack", "defence", "battle"):
                by[move] = effect.by
    ready = sum(each["by"] for each in tribe.own["boosts"] if each["what"] in ("attack", "defence", "battle"))
    best = max(by, key=lambda move: by[move], default=None)
    return best if best and ready < ENOUGH else Move("pass")


def _reroll(tribe: _Tribe, moves: Sequence[Move]) -> Move | None:
    """Return a second throw where its own die is lower than the best of the others."""
    battle = tribe.view["battle"]
    dice = dict(zip(battle["sides"], battle["dice"], strict=True))
    behind = dice.pop(tribe.me) < max(dice.values())
    return next((move for move in moves if move.name == "play"), None) if behind else Move("pass")


def _part(tribe: _Tribe, moves: Sequence[Move]) -> Move | None:
    """Return nothing where it may keep its cards, else the card that it misses least."""
    if Move("pass") in moves:
        return Move("pass")
    return min(moves, key=lambda move: (_worth(tribe, tribe.deck.card(str(move.args[0]))), move))


def _take(tribe: _Tribe, moves: Sequence[Move]) -> Move | None:
    return max(moves, key=lambda move: (_worth(tribe, tribe.deck.card(f"week-{move.args[0]}")), move))


def _worth(tribe: _Tribe, card: Card) -> int:
    if card.sign:
        return 10
    effect: Effect = card.effect
    return _VALUED.get(effect.what, 0) if isinstance(effect, Standing) else 0


def _choose(tribe: _Tribe, moves: Sequence[Move]) -> Move | None:
    """Return the tribe that has the most tokens; what is turned on a tribe nearly always takes from it."""
    return max(moves, key=lambda move: (tribe.view["tribes"][move.args[0]]["tokens"], move))


def _let_be(_tribe: _Tribe, moves: Sequence[Move]) -> Move | None:
    return next((move for move in moves if move.name in ("pass", "end_turn")), None)


_DECISIONS: Mapping[str, Callable[[_Tribe, Sequence[Move]], Move | None]] = {
    "sacrifice": _sacrifice,
    "bless": _bless,
    "arm": _arm,
    "reroll": _reroll,
    "forfeit": _part,
    "return": _part,
    "take": _take,
    "choose": _choose,
    "challenge": _let_be,
    "cards": _let_be,
}
