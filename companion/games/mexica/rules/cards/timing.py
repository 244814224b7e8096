"""When a card may be played from a hand: at a landing, in a battle or in the card step."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from companion.games.mexica.rules.cards.effects import Attack, Boost, Draw, Effect, Gain, Reroll, Ward

Moment: TypeAlias = Literal["landing", "landed", "attack", "defence", "dice", "cards"]
"""A landing before and after collecting, a battle before and after its dice, and the card step."""

MOMENTS: tuple[Moment, ...] = get_args(Moment)

_ARMS = frozenset({"battle", "loot", "ransom"})
_GATHERS = frozenset({"gather", "tribute"})


def may_play(pile: str, effect: Effect, moment: Moment) -> bool:
    """Return whether a card of a pile that has an effect, and is no sign, may be played at a moment."""
    what = effect.what if isinstance(effect, Boost) else ""
    if moment == "cards":  # attacks, and Day cards that were held (ruling M38)
        return pile == "day" or (pile == "war" and isinstance(effect, Attack))
    if moment == "landing":
        return pile == "rain" and not _may_move(effect) and (isinstance(effect, Gain | Draw) or what in _GATHERS)
    if moment == "landed":
        return pile == "rain" and _may_move(effect)
    if pile not in ("war", "rain"):
        return False
    if moment == "dice":
        return isinstance(effect, Reroll)
    return what == moment or what in _ARMS or (moment == "defence" and isinstance(effect, Ward))


def _may_move(effect: Effect) -> bool:
    """Return whether a Rain card may move the tribe that plays it: by the event of the Day card that it draws."""
    return isinstance(effect, Draw) and effect.pile == "day"
