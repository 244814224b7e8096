"""The app as a tribe: hoards until it knows which signs it must buy. It knows what its seat sees alone.

The way to win is eagle, serpent and flower (ruling M22), and week cards bring them for nothing to whoever empties a
space. Nobody chooses where to land, so what a tribe gives, when, and to whom, is most of what it can decide:

- It hoards while signs may still come by themselves. A gift for a sign that comes anyhow is wasted, and each one
  brings the end nearer (ruling M23): what is given early costs the turns in which the signs would have come.
- A sign is lost where its space is bare and its week card is not the tribe's own: then only a card can bring it. Once
  every sign is either safe or lost there is nothing to wait for, and a hoard is only prey to ransom and tribute.
- It does not wait either when a rival shows two signs and may settle at any landing.
- In both cases it leaves the gods enough time for the signs that are still open, and does not call them itself.
- On a bare board nothing comes by itself any more. Then it buys what it lacks, and calls the gods with what is left.
- Once the clock runs, it spends all it has on what it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from companion.games.kit import BEGINNER, CASUAL, Below, Json, Move, Skill, best_of
from companion.games.mexica.rules.calendar import AROUND
from companion.games.mexica.rules.cards import played
from companion.games.mexica.rules.cards.deck import Card
from companion.games.mexica.rules.cards.deck import Pile as DeckPile
from companion.games.mexica.rules.cards.effects import Boost, Draw, Effect, Gain, SignName, Standing, Ward
from companion.games.mexica.rules.odds import Pile, Sign, found
from companion.games.mexica.rules.sacrifice import MOST_AT_ONCE
from companion.games.mexica.rules.tallies import GODS, HUITZILOPOCHTLI, TLALOC, God

GOD_OF: Mapping[SignName, God] = {"eagle": HUITZILOPOCHTLI, "serpent": TLALOC}
"""Whose cards hold a sign; the flower is Tonantzin's."""

PILE_OF: Mapping[SignName, DeckPile] = {"eagle": "war", "serpent": "rain", "flower": "day"}

_TONANTZIN = Move("tonantzin")

_VALUED = {"income": 3, "price": 2, "range": 1}
"""Week cards worth taking for what they do, beside those that are signs."""


class Chief(Skill, frozen=True, kw_only=True):
    """What a tribe goes by."""

    enough: int = 4
    """What a die needs on top before further cards are kept for another battle."""
    afford: int = 3
    """The most tokens that it gives only to keep the gods even, which stops the clock."""
    still_worth: int = 8
    """Tokens on the spaces for each one that it gives to keep the gods even, where more than a few are needed."""
    tolls: int = 5
    """Week cards of its own from which on the tribute of others makes it worth while to hold the clock."""
    forlorn: float = 0.2
    """How likely its tokens must find all that it lacks, or else it plays for time."""
    kept: float = 0.3
    """How likely what it keeps must still find another sign when it buys the flower before it."""
    given: float = 0.9
    """Tokens that a tribe without a plan gives to the gods in a turn of its own."""
    shown: int = 2
    """Signs that a rival shows when it may settle at any landing."""
    desperate: int = 1
    """The most tokens with which it challenges a tribe: it has next to nothing to lose."""
    eager: int = 0
    """In how many of 100 turns before the clock runs it buys a card of a god whose sign it lacks, whatever waits."""


PRACTISED_CHIEF = Chief()

SKILLS = {BEGINNER: Chief(slips=30), CASUAL: Chief(slips=12)}
"""How it plays at the other levels. No constants were found that win more, so none is strong."""


def decide(
    view: Mapping[str, Json], moves: Sequence[Move], below: Below, chief: Chief = PRACTISED_CHIEF
) -> Move | None:
    """Return the move of a tribe in a full game; one of several alike is drawn, none waits where there is no move."""
    if not moves:
        return None
    tribe = Tribe(view, chief, below)
    choose = _DECISIONS.get(tribe.task)
    chosen = choose(tribe, moves) if choose else None
    if chosen not in moves:
        chosen = _let_be(tribe, moves)
    return chosen or moves[below(len(moves))]


class Tribe:
    """What a tribe knows of the game: its own hand, and what is open."""

    def __init__(self, view: Mapping[str, Any], chief: Chief, below: Below) -> None:
        self.view, self.chief, self.below = view, chief, below
        self.me: str = view["me"]
        self.task: str = view["due"]["task"] if view["due"] else ""
        self.own: Mapping[str, Any] = view["tribes"][self.me]
        self.tokens: int = self.own["tokens"]
        self.deck = played(*view["deck"])
        self.others: list[str] = [each for each in view["seats"] if each != self.me]

    @cached_property
    def hand(self) -> list[Card]:
        """The cards that it holds."""
        return [self.deck.card(each) for each in self.view["hands"][self.me]]

    @cached_property
    def spaces(self) -> Mapping[str, Mapping[str, Any]]:
        """What everybody sees of each space, by its sign."""
        return {each["sign"]: each for each in self.view["spaces"]}

    @cached_property
    def signs(self) -> Mapping[SignName, Sign]:
        """How each sign stands, the rarest first."""
        held = {card.sign for card in self.hand}
        return {
            sign: Sign(self._pile(sign), self._lying(sign), kept=sign in held, mine=self._week_card(sign, self.me))
            for sign in PILE_OF
        }

    @property
    def lacking(self) -> list[SignName]:
        """The signs that it lacks, the rarest first."""
        return [name for name, sign in self.signs.items() if sign.lacking]

    @property
    def left(self) -> int | None:
        """The turns left on the clock, or none before it runs."""
        countdown = self.view["countdown"]
        return countdown["left"] * self._turns_a_tick if countdown else None

    @property
    def lead(self) -> int:
        """How many tokens more Huitzilopochtli has."""
        gods: Mapping[God, int] = self.view["gods"]
        return gods[HUITZILOPOCHTLI] - gods[TLALOC]

    @cached_property
    def behind(self) -> God:
        """The god that has less, one at random where they are even."""
        return best_of(GODS, lambda god: -self.view["gods"][god], self.below)

    @property
    def on_board(self) -> int:
        """The tokens on the spaces."""
        return sum(each["tokens"] for each in self.view["spaces"])

    @property
    def decided(self) -> bool:
        """Whether no sign may come or go by itself any more."""
        return all(sign.safe or sign.lost for sign in self.signs.values())

    @property
    def threatened(self) -> bool:
        """Whether a rival shows so many signs that it may settle at any landing."""
        return any(self._shows(each) >= self.chief.shown for each in self.others)

    @property
    def to_spare(self) -> float:
        """How many tokens it may give before the clock runs, so that the open signs still have their time.

        The space of an open sign is landed on once around; so long the others feed the gods without its help.
        """
        if self.view["left"] is None:
            return self.tokens
        open_ = max((sign.tokens for sign in self.signs.values() if sign.lacking), default=0)
        fed = self.chief.given * len(self.others) / len(self.view["seats"])
        return float(self.view["left"] - 1 - open_ * AROUND * fed)

    @property
    def last(self) -> bool:
        """Whether this turn is its last one if the clock ticks on."""
        return self.left is not None and self.left <= len(self.view["seats"])

    @property
    def hope(self) -> float:
        """How likely all its tokens find all that it lacks."""
        return found(tuple(sign.pile for sign in self.signs.values() if sign.lacking), self.tokens)

    def chance(self, sign: SignName) -> float:
        """Return how likely all its tokens find a sign."""
        return found((self.signs[sign].pile,), self.tokens)

    @property
    def _turns_a_tick(self) -> int:
        countdown = self.view["countdown"]
        return len(self.view["seats"]) if countdown and countdown["unit"] == "rounds" else 1

    def _pile(self, sign: SignName) -> Pile:
        """Return the pile to look for a sign in; a card in another hand counts as in the pile."""
        pile = PILE_OF[sign]
        cards = self.view["piles"][pile] + sum(self.view["tribes"][each]["cards"][pile] for each in self.others)
        copies = self.deck.copies[sign, pile]
        price: int = self.own["prices"]["god" if sign in GOD_OF else "day"]
        return Pile(max(cards, copies), copies, price)

    def _lying(self, sign: str) -> int:
        """Return the tokens on the space whose week card counts as a sign, or none if no such card counts."""
        if not self.view["week_signs"]:
            return 0
        lying = [self.spaces[card.space]["tokens"] for card in self.deck.week if card.sign == sign and card.space]
        return min(lying, default=0)

    def _shows(self, seat: str) -> int:
        """Return how many signs a rival shows; a Day card that is kept is a flower, by its back (ruling M38)."""
        flower = bool(self.view["tribes"][seat]["cards"]["day"]) or self._week_card("flower", seat)
        return flower + sum(self._week_card(sign, seat) for sign in GOD_OF)

    def _week_card(self, sign: str, seat: str) -> bool:
        """Return whether a tribe holds a week card that counts as a sign (ruling M19)."""
        if not self.view["week_signs"]:
            return False
        return any(self.deck.card(f"week-{space}").sign == sign for space in self.view["tribes"][seat]["week_cards"])


def _sacrifice(tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    """Return what to give: the price of a card for a sign that it lacks, or what keeps the gods even."""
    return _hoard(tribe, moves) if tribe.left is None else _spend(tribe, moves)


def _hoard(tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    """Return what to give before the clock runs: nothing, but for what is lost, and only where waiting is over."""
    if not tribe.on_board:
        return _stir(tribe, moves)
    impatient = tribe.chief.eager and tribe.below(100) < tribe.chief.eager
    if impatient and (gift := _buy_card(tribe, [sign for sign in tribe.lacking if sign in GOD_OF])):
        return gift
    if tribe.decided or tribe.threatened:
        wanted = [name for name in tribe.lacking if tribe.signs[name].lost]
        if not wanted and len(tribe.lacking) == 1:
            wanted = tribe.lacking
        gift = _buy_card(tribe, [sign for sign in wanted if sign in GOD_OF])
        if gift and int(gift.args[1]) <= tribe.to_spare:
            return gift
        if wanted == ["flower"] and _TONANTZIN in moves:
            return _TONANTZIN
    return _let_be(tribe, moves)


def _stir(tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    """Return what to give where all spaces are bare before the clock runs: nobody gains by waiting any longer."""
    if gift := _buy_card(tribe, [sign for sign in tribe.lacking if sign in GOD_OF]):
        return gift
    if "flower" in tribe.lacking and _TONANTZIN in moves:
        return _TONANTZIN
    if tribe.view["left"]:
        tokens = min(tribe.tokens, tribe.view["left"], MOST_AT_ONCE)
        return Move("sacrifice", (tribe.behind, tokens)) if tokens else None
    return _let_be(tribe, moves)


def _spend(tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    """Return what to give while the clock runs: all for what it lacks, then what keeps the gods even."""
    wanted = [sign for sign in tribe.lacking if sign in GOD_OF]
    if "flower" in tribe.lacking and _TONANTZIN in moves and _flower_first(tribe, wanted):
        return _TONANTZIN
    if gift := _buy_card(tribe, wanted):
        return gift
    if tribe.lead and abs(tribe.lead) <= _affords(tribe, wanted):
        return Move("sacrifice", (tribe.behind, min(abs(tribe.lead), MOST_AT_ONCE)))
    return _let_be(tribe, moves)


def _buy_card(tribe: Tribe, wanted: Sequence[SignName]) -> Move | None:
    """Return the price of a card of the god whose sign is the likeliest found, or none that it can pay."""
    if not wanted:
        return None
    sign = best_of(wanted, lambda each: (tribe.chance(each), -tribe.view["gods"][GOD_OF[each]]), tribe.below)
    due = tribe.own["prices"]["god"] - tribe.own["toward"][GOD_OF[sign]]
    return Move("sacrifice", (GOD_OF[sign], min(due, MOST_AT_ONCE))) if 0 < due <= tribe.tokens else None


def _affords(tribe: Tribe, wanted: Sequence[SignName]) -> int:
    """Return how many tokens it gives only to make the gods even, so that the clock stands still for a while.

    Time costs about what it brings in, as long as others upset the gods again each turn. It is worth more where they
    pay tribute and so have little left to give, and where the hoard finds too little anyhow. What goes to a god whose
    cards it wants buys some besides.
    """
    if tribe.last:
        return tribe.tokens
    if len(tribe.own["week_cards"]) >= tribe.chief.tolls:
        if any(GOD_OF[sign] == tribe.behind for sign in wanted):
            return tribe.tokens
        return min(tribe.tokens, max(tribe.chief.afford, tribe.on_board // tribe.chief.still_worth))
    return min(tribe.tokens, tribe.chief.afford) if tribe.hope < tribe.chief.forlorn else 0


def _flower_first(tribe: Tribe, wanted: Sequence[SignName]) -> bool:
    """Return whether the next tokens go to Tonantzin: for the flower alone, or while enough stays for the others."""
    rest = tribe.tokens - tribe.own["prices"]["day"]
    return not wanted or found((tribe.signs[wanted[0]].pile,), rest) >= tribe.chief.kept


def _challenge(tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    """Return an attack where it has next to nothing to lose, though something: who has nothing gives a Day card."""
    if tribe.tokens <= tribe.chief.desperate and tribe.tokens + len(tribe.hand):
        return _any(tribe, [move for move in moves if move.name == "attack"])
    return _let_be(tribe, moves)


def _bless(tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    """Return a Rain card that serves here: tokens and cards at once, a bonus where there is something to gather."""
    space = next(each for each in tribe.view["spaces"] if each["sign"] == tribe.own["place"])

    def serves(effect: Effect) -> bool:
        if not isinstance(effect, Boost):
            return isinstance(effect, Gain | Draw)
        if effect.what == "gather":
            return bool(space["tokens"] and tribe.view["reserve"])
        return effect.what == "tribute" and space["holder"] not in (None, tribe.me)

    plays = [move for move in moves if move.name == "play"]
    return _any(tribe, [move for move in plays if serves(tribe.deck.card(str(move.args[0])).effect)]) or Move("pass")


def _arm(tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    """Return a card that keeps it out of a battle, or the best on its die while that is not enough."""
    effects = {move: tribe.deck.card(str(move.args[0])).effect for move in moves if move.name == "play"}
    if wards := [move for move, effect in effects.items() if isinstance(effect, Ward)]:
        return _any(tribe, wards)
    by = {
        move: effect.by
        for move, effect in effects.items()
        if isinstance(effect, Boost) and effect.what in ("attack", "defence", "battle")
    }
    ready = sum(each["by"] for each in tribe.own["boosts"] if each["what"] in ("attack", "defence", "battle"))
    return best_of(by, lambda move: by[move], tribe.below) if by and ready < tribe.chief.enough else Move("pass")


def _reroll(tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    """Return a second throw where its own die is lower than the best of the others."""
    battle = tribe.view["battle"]
    dice = dict(zip(battle["sides"], battle["dice"], strict=True))
    behind = dice.pop(tribe.me) < max(dice.values())
    return _any(tribe, [move for move in moves if move.name == "play"]) if behind else Move("pass")


def _discard(tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    """Return nothing if it may keep its cards, else the card that it misses least."""
    if Move("pass") in moves:
        return Move("pass")
    return best_of(moves, lambda move: -_worth(tribe, tribe.deck.card(str(move.args[0]))), tribe.below)


def _take(tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    return best_of(moves, lambda move: _worth(tribe, tribe.deck.card(f"week-{move.args[0]}")), tribe.below)


def _worth(tribe: Tribe, card: Card) -> int:
    if card.sign:
        return 10
    effect: Effect = card.effect
    return _VALUED.get(effect.what, 0) if isinstance(effect, Standing) else 0


def _choose(tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    """Return the tribe that has the most tokens; what is turned on a tribe nearly always takes from it."""
    return best_of(moves, lambda move: tribe.view["tribes"][move.args[0]]["tokens"], tribe.below)


def _any(tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    return moves[tribe.below(len(moves))] if moves else None


def _let_be(_tribe: Tribe, moves: Sequence[Move]) -> Move | None:
    return next((move for move in moves if move.name in ("pass", "end_turn")), None)


_DECISIONS: Mapping[str, Callable[[Tribe, Sequence[Move]], Move | None]] = {
    "sacrifice": _sacrifice,
    "bless": _bless,
    "seek": _bless,
    "arm": _arm,
    "reroll": _reroll,
    "forfeit": _discard,
    "return": _discard,
    "take": _take,
    "choose": _choose,
    "challenge": _challenge,
    "cards": _let_be,
}
