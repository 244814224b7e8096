"""When a card may be played from a hand: at a landing, in a battle or in the card step. It plays none."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from companion.games.mexica.rules.cards.effects import Attack, Boost, Draw, Effect, Gain, Reroll, Ward

Moment: TypeAlias = Literal["landing", "attack", "defence", "dice", "cards"]
"""A landing, before the dice of a battle on either side, once they lie, and the card step."""

MOMENTS: tuple[Moment, ...] = get_args(Moment)

_ARMS = frozenset({"battle", "loot", "ransom"})
_GATHERS = frozenset({"gather", "tribute"})


def may_play(pile: str, effect: Effect, moment: Moment) -> bool:
    """Return whether a card of a pile that has an effect, and is no sign, may be played at a moment."""
    what = effect.what if isinstance(effect, Boost) else ""
    if moment == "cards":  # attacks, and Day cards that were held (ruling M38)
        return pile == "day" or (pile == "war" and isinstance(effect, Attack))
    if moment == "landing":
        return pile == "rain" and (isinstance(effect, Gain | Draw) or what in _GATHERS)
    if pile not in ("war", "rain"):
        return False
    if moment == "dice":
        return isinstance(effect, Reroll)
    return what == moment or what in _ARMS or (moment == "defence" and isinstance(effect, Ward))
