"""What a card may do: the small closed set of effects, each a frozen value within its ranges.

Rows are those of the author's list of effects: 33 for the Day cards, six standing bonuses for the Week cards (ruling
M20).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from companion.games.kit import Arg, Struct, fields

Space: TypeAlias = Literal[
    "crocodile", "wind", "house", "lizard", "serpent", "death", "deer", "rabbit", "water", "dog",
    "monkey", "grass", "reed", "jaguar", "eagle", "vulture", "movement", "flint", "rain", "flower",
]  # fmt: skip
"""A space of the calendar by its day sign."""

SPACES: tuple[Space, ...] = get_args(Space)
"""The twenty spaces in calendar order, which is the direction of play: crocodile is 1, flower 20."""

Direction: TypeAlias = Literal["east", "north", "west", "south"]
GodName: TypeAlias = Literal["huitzilopochtli", "tlaloc"]
SignName: TypeAlias = Literal["eagle", "serpent", "flower"]

Boosted: TypeAlias = Literal[
    "attack", "defence", "battle", "loot", "ransom", "movement", "gather", "tribute", "price"
]  # fmt: skip
"""A number that a card raises or lowers once.

- ``attack``, ``defence``, ``battle``: the die of a tribe that began a battle, that did not, in either case
- ``loot``, ``ransom``: the tokens that a battle won brings, that a battle lost costs
- ``movement``: the spaces of a roll
- ``gather``: the tokens taken from the space landed on, the further ones from the reserve
- ``tribute``: the tokens owed to the holders of a week card; ``price``: those that a drawn card costs
"""

Lasting: TypeAlias = Literal["range", "defence", "attack", "movement", "income", "price"]
"""A number that a week card changes while it is held: as in `Boosted`, and two more.

- ``income``: the tokens received from the reserve at the start of each turn
- ``range``: the spaces between two tribes that may fight; at 0 they must stand together
"""


class EffectError(ValueError):
    """No effect: a code with words in the texts under ``fault``, and the facts they need."""

    def __init__(self, code: str, **facts: Arg) -> None:
        super().__init__(f"{code} {facts}")
        self.code = code
        self.facts = facts


class Whole(Struct, frozen=True):
    """The range of a whole number, both ends included; 0 is in it only where it is one of them."""

    low: int
    high: int

    def __contains__(self, value: object) -> bool:
        """Return whether a value is a whole number of this range."""
        return type(value) is int and self.low <= value <= self.high and (value != 0 or 0 in (self.low, self.high))

    def __str__(self) -> str:
        """Return the range as every language writes it."""
        hole = ", ≠ 0" if self.low < 0 < self.high else ""
        return f"{self.low} … {self.high}{hole}"


class _Ranged(Struct, frozen=True):
    """Law: an effect that exists is within its ranges. Construction raises `EffectError` otherwise."""

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, allowed in parameters(kind).items():
            if (value := getattr(self, name)) not in allowed:
                raise _out_of_range(_NAMES[kind], name, value, allowed)


class GoTo(_Ranged, frozen=True):
    """Go to a space and land there; then receive `bonus` tokens, doubled by a battle won there (rows 1, 25)."""

    space: Space
    bonus: Annotated[int, Whole(0, 6)] = 0


class GoToStart(_Ranged, frozen=True):
    """Go to the start of a direction and land there, whether or not a tribe plays it (rows 21 to 24)."""

    of: Direction


class Walk(_Ranged, frozen=True):
    """Go forward, or back where `spaces` is below 0, and land there (rows 2, 3)."""

    spaces: Annotated[int, Whole(-13, 13)]


class AnotherTurn(_Ranged, frozen=True):
    """Take another turn after this one (row 4)."""


class Gain(_Ranged, frozen=True):
    """Receive tokens from the reserve, as far as it reaches (row 5)."""

    tokens: Annotated[int, Whole(1, 13)]


class Lose(_Ranged, frozen=True):
    """Put tokens into the reserve, as many as one has (row 6)."""

    tokens: Annotated[int, Whole(1, 13)]


class Pay(_Ranged, frozen=True):
    """Pay tokens to each other tribe in turn order, or to one of one's choice (rows 7, 8)."""

    tokens: Annotated[int, Whole(1, 7)]
    to: Literal["each", "one"]


class Demand(_Ranged, frozen=True):
    """A tribe of one's choice pays tokens to oneself, or sacrifices them to a god (row 9)."""

    tokens: Annotated[int, Whole(1, 13)]
    to: Literal["me", "huitzilopochtli", "tlaloc"]


class Give(_Ranged, frozen=True):
    """Sacrifice tokens of one's own to a god, as many as one has (rows 19, 20)."""

    god: GodName
    tokens: Annotated[int, Whole(1, 13)]


class Draw(_Ranged, frozen=True):
    """Draw a card for nothing (rows 10 to 12)."""

    pile: Literal["day", "war", "rain"]


class TakeWeek(_Ranged, frozen=True):
    """Take a week card that is still at its space: where one stands, or any (row 13). It counts as issued."""

    which: Literal["here", "any"]


class Attack(_Ranged, frozen=True):
    """Fight a tribe where it stands, nobody moves; `bonus` is added to one's own die (rows 14 to 18).

    ``nearest`` is the fewest spaces away in either direction; of equals, the first in turn order after oneself.
    A direction that nobody plays, or one's own, is no battle.
    """

    whom: Literal["nearest", "east", "north", "west", "south"]
    bonus: Annotated[int, Whole(0, 6)] = 0


class ReturnCard(_Ranged, frozen=True):
    """A tribe of one's choice returns a card that it picks, to its pile or a week card to its space (row 26)."""

    pile: Literal["war", "rain", "week", "any"]


class Ward(_Ranged, frozen=True):
    """The next attack on oneself fails, or the next card of a pile that another tribe turns on one (rows 27, 28)."""

    against: Literal["attack", "day", "war", "rain", "any"]


class Boost(_Ranged, frozen=True):
    """Raise or lower a number the next time it matters, one's own or a chosen tribe's (rows 29 to 33).

    No number falls below 0. On a War or a Rain card, played in the battle or at the landing itself, it is this time.
    """

    what: Boosted
    by: Annotated[int, Whole(-6, 6)]
    whose: Literal["mine", "other"] = "mine"


class Reroll(_Ranged, frozen=True):
    """Roll a die of this battle again, one's own or the enemy's; the second roll stands."""

    whose: Literal["mine", "theirs"]


class Standing(_Ranged, frozen=True):
    """Raise or lower a number for as long as one holds the card: the bonus of a Week card."""

    what: Lasting
    by: Annotated[int, Whole(-2, 2)]


class Sign(_Ranged, frozen=True):
    """One of the three signs: kept, and with the two others it wins (rulings M18, M19, M22)."""

    of: SignName


class Nothing(_Ranged, frozen=True):
    """Do nothing: a blank card, such as a playtest puts in the place of one whose worth it measures."""


Effect: TypeAlias = (
    GoTo | GoToStart | Walk | AnotherTurn | Gain | Lose | Pay | Demand | Give | Draw | TakeWeek | Attack
    | ReturnCard | Ward | Boost | Reroll | Standing | Sign | Nothing
)  # fmt: skip

KINDS: Mapping[str, type[Effect]] = {
    "go_to": GoTo,
    "go_to_start": GoToStart,
    "walk": Walk,
    "another_turn": AnotherTurn,
    "gain": Gain,
    "lose": Lose,
    "pay": Pay,
    "demand": Demand,
    "give": Give,
    "draw": Draw,
    "take_week": TakeWeek,
    "attack": Attack,
    "return_card": ReturnCard,
    "ward": Ward,
    "boost": Boost,
    "reroll": Reroll,
    "standing": Standing,
    "sign": Sign,
    "nothing": Nothing,
}
"""Every kind of effect under the name that a deck calls it by."""

_NAMES = {kind: name for name, kind in KINDS.items()}


def name_of(effect: Effect) -> str:
    """Return the name that a deck calls this effect by."""
    return _NAMES[type(effect)]


@cache
def parameters(kind: Any) -> Mapping[str, Whole | tuple[str, ...]]:
    """Return what a kind of effect needs, in order: for each parameter its range or its words."""
    found: dict[str, Whole | tuple[str, ...]] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        found[name] = hint.__metadata__[0] if get_origin(hint) is Annotated else get_args(hint)
    return found


def from_table(table: Mapping[str, object]) -> Effect:
    """Read an effect as a deck writes it, ``{effect = "walk", spaces = -3}``; raises the first `EffectError`."""
    for wrong in wrong_in(table):
        raise wrong
    kind: Any = KINDS[str(table["effect"])]
    effect: Effect = kind(**{key: value for key, value in table.items() if key != "effect"})
    return effect


def wrong_in(table: Mapping[str, object]) -> Iterator[EffectError]:
    """Yield everything that is wrong with an effect as a deck writes it.

    >>> [each.code for each in wrong_in({"effect": "walk", "spaces": 99, "steps": 1})]
    ['parameter', 'value']
    """
    name = table.get("effect")
    if not isinstance(name, str) or name not in KINDS:
        yield EffectError("effect", found=quoted(name) if "effect" in table else "-", allowed=_allowed(tuple(KINDS)))
        return
    kind: Any = KINDS[name]
    known = parameters(kind)
    for unknown in sorted(table.keys() - known.keys() - {"effect"}):
        yield EffectError("parameter", effect=name, found=quoted(unknown), allowed=_allowed(tuple(known)))
    for key, allowed in known.items():
        if key in table:
            if table[key] not in allowed:
                yield _out_of_range(name, key, table[key], allowed)
        elif key not in _defaults(kind):
            yield EffectError("lacks", effect=name, name=key, allowed=_allowed(allowed))


def _out_of_range(effect: str, name: str, value: object, allowed: Whole | tuple[str, ...]) -> EffectError:
    return EffectError("value", effect=effect, name=name, found=quoted(value), allowed=_allowed(allowed))


@cache
def _defaults(kind: Any) -> frozenset[str]:
    return frozenset(each.name for each in fields(kind) if not each.required)


def quoted(found: object) -> str:
    """Return a deck's value as a fault quotes it: short and in plain letters."""
    return ascii(found)[:40]


def _allowed(allowed: Whole | tuple[str, ...]) -> str:
    return str(allowed) if isinstance(allowed, Whole) else " | ".join(allowed) or "-"
