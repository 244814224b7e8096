"""Decks of cards: reads them from TOML, checks every card and says which line is wrong and why. It deals nothing.

A deck file holds a table for each pile, ``[day]``, ``[week]``, ``[war]``, ``[rain]``, with a line for each card
under its id, and may hold the words on them::

    [day]
    day-crocodile-7 = { effect = "walk", spaces = 4 }

    [words.en]
    day-crocodile-7 = { title = "The shallows", story = "Reeds, then water to the knee, then reeds again." }

A deck of one's own names only the cards that it changes. The ids are given: 20 signs by 13 numbers make the 260 Day
cards, ``day-crocodile-1`` to ``day-flower-13``; then ``week-crocodile`` to ``week-flower``, ``war-1`` to ``war-40``,
``rain-1`` to ``rain-40``. So a printed deck and the app always agree on which card was drawn.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, get_args

from companion.games.kit import Arg, Fault, Struct, replace, toml
from companion.games.mexica.rules.cards.effects import (
    KINDS,
    SPACES,
    Attack,
    Boost,
    Draw,
    Effect,
    EffectError,
    Gain,
    Nothing,
    Reroll,
    Sign,
    SignName,
    Space,
    Standing,
    Ward,
    from_table,
    name_of,
    parameters,
    quoted,
    wrong_in,
)
from companion.games.mexica.rules.cards.timing import MOMENTS, Moment, may_play

Pile: TypeAlias = Literal["day", "week", "war", "rain"]

PILES: tuple[Pile, ...] = get_args(Pile)
MOST_FAULTS = 1_000
"""How many faults of a deck are kept."""

NUMBERS = 13
GOD_CARDS = 40
"""How many cards each god's deck holds."""

LANGUAGES = ("en", "es")
LONGEST = {"title": 40, "story": 120}
"""The most letters of the words on a card, as they fit on a printed one."""

_SIGNS: tuple[SignName, ...] = get_args(SignName)

# The Day cards that count as the nopal where a table wants more of them (ruling M18): the days of the South, whose
# last is the Flower, in the order in which they are taken.
_SOUTH: tuple[Space, ...] = ("flower", "grass", "lizard", "rabbit", "vulture")


Bearers: TypeAlias = tuple[frozenset[str], tuple[int, ...]]
"""What counts as a sign: cards by their ids, and week cards by their places in the calendar, from 0."""


class Card(Struct, frozen=True):
    """One card: its id, its pile, what it does, and the sign that it counts as, or none.

    `space` and `number` are a Day card's day; a Week card has a space and the number 0, a god's card its number in
    the deck. `plain` is what a sign's card does at a table that plays with fewer of them.
    """

    id: str
    pile: Pile
    space: Space | None
    number: int
    effect: Effect
    sign: SignName | None = None
    plain: Effect | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Deck:
    """The four piles, each in the order of its ids, and the words on the cards of a custom deck.

    Laws: each id of `ids` is exactly one card of its pile, whatever the table's options; no card is in two piles.
    """

    day: tuple[Card, ...]
    week: tuple[Card, ...]
    war: tuple[Card, ...]
    rain: tuple[Card, ...]
    words: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict, hash=False)
    signs: Mapping[SignName, frozenset[str]] = dataclasses.field(init=False, repr=False, compare=False)
    """The cards that count as each sign, by their ids; those of the week, which no hand holds, left out."""
    week_signs: Mapping[SignName, tuple[int, ...]] = dataclasses.field(init=False, repr=False, compare=False)
    """The week cards that count as each sign, by their places in the calendar, from 0."""
    bearers: tuple[Bearers, ...] = dataclasses.field(init=False, repr=False, compare=False)
    """Of each sign `signs` and `week_signs` together."""
    hand_bearers: tuple[Bearers, ...] = dataclasses.field(init=False, repr=False, compare=False)
    """The same for a table at which week cards count as no sign."""
    standing: Mapping[str, tuple[tuple[int, int], ...]] = dataclasses.field(init=False, repr=False, compare=False)
    """For each number that week cards raise or lower: their places in the calendar, from 0, and by how much."""
    playable: Mapping[Moment, frozenset[str]] = dataclasses.field(init=False, repr=False, compare=False)
    """The cards that may be played from a hand at each moment, by their ids; signs are only shown."""
    copies: Mapping[tuple[SignName, Pile], int] = dataclasses.field(init=False, repr=False, compare=False)
    """How many cards of a pile count as a sign."""
    _by_id: Mapping[str, Card] = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Lay the indexes."""
        signs = {
            sign: frozenset(card.id for card in (*self.day, *self.war, *self.rain) if card.sign == sign)
            for sign in _SIGNS
        }
        weeks = {sign: tuple(place for place, card in enumerate(self.week) if card.sign == sign) for sign in _SIGNS}
        index: dict[str, object] = {
            "signs": signs,
            "week_signs": weeks,
            "bearers": tuple((signs[sign], weeks[sign]) for sign in _SIGNS),
            "hand_bearers": tuple((signs[sign], ()) for sign in _SIGNS),
            "standing": _standing(self.week),
            "playable": {
                moment: frozenset(
                    card.id for card in self if card.sign is None and may_play(card.pile, card.effect, moment)
                )
                for moment in MOMENTS
            },
            "copies": {
                (sign, pile): sum(card.sign == sign for card in self.pile(pile)) for sign in _SIGNS for pile in PILES
            },
            "_by_id": {card.id: card for card in self},
        }
        for name, value in index.items():
            object.__setattr__(self, name, value)

    def __iter__(self) -> Iterator[Card]:
        """Run through all cards, pile by pile."""
        for pile in PILES:
            yield from self.pile(pile)

    def pile(self, name: Pile) -> tuple[Card, ...]:
        """Return the cards of a pile."""
        cards: tuple[Card, ...] = getattr(self, name)
        return cards

    def card(self, card_id: str) -> Card:
        """Return the card of an id; raises `KeyError`."""
        return self._by_id[card_id]

    def with_signs(self, flowers: int = 13, copies: int = 1, day_signs: str = "flower_only") -> Deck:
        """Return the deck with as many signs as a table wants (rulings M18, M19).

        `flowers` Day cards are the nopal: one, or the 13 of the Flower, or those of three or of all five days of the
        South. `copies` cards of each god's deck are its sign, spread evenly, the fortieth always. With `day_signs`
        ``all``, the Day cards of the Eagle and of the Serpent are those signs too. Raises `ValueError`.
        """
        if flowers not in (1, 13, 39, 65) or copies not in (1, 5, 10) or day_signs not in ("flower_only", "all"):
            raise ValueError(
                f"signs are {flowers!r}, {copies!r}, {day_signs!r}; expected 1, 13, 39 or 65 flowers, "
                "1, 5 or 10 copies, flower_only or all"
            )
        nopales = _SOUTH[: max(1, flowers // NUMBERS)]
        step = GOD_CARDS // copies

        def of_day(card: Card) -> SignName | None:
            if card.space in nopales and (flowers > 1 or card.number == 1):
                return "flower"
            return card.space if day_signs == "all" and card.space in ("eagle", "serpent") else None

        return dataclasses.replace(
            self,
            day=tuple(_as_sign(card, of_day(card)) for card in self.day),
            war=tuple(_as_sign(card, None if card.number % step else "eagle") for card in self.war),
            rain=tuple(_as_sign(card, None if card.number % step else "serpent") for card in self.rain),
        )


class DeckError(ValueError):
    """A deck that cannot be played: `faults` holds everything that is wrong, in order, each with its file's name."""

    def __init__(self, faults: Iterable[tuple[str, Fault]]) -> None:
        self.faults = tuple(faults)
        super().__init__(
            "\n".join(f"{file}:{each.line}:{each.column}: {each.code} {each.facts}" for file, each in self.faults)
        )


def _standing(week: tuple[Card, ...]) -> dict[str, tuple[tuple[int, int], ...]]:
    found: dict[str, tuple[tuple[int, int], ...]] = {}
    for place, card in enumerate(week):
        if isinstance(card.effect, Standing):
            found[card.effect.what] = (*found.get(card.effect.what, ()), (place, card.effect.by))
    return found


def ids(pile: Pile) -> list[str]:
    """Return the ids of a pile's cards in order."""
    if pile == "day":
        return [f"day-{space}-{number}" for space in SPACES for number in range(1, NUMBERS + 1)]
    if pile == "week":
        return [f"week-{space}" for space in SPACES]
    return [f"{pile}-{number}" for number in range(1, GOD_CARDS + 1)]


def to_toml(cards: Iterable[Card]) -> str:
    """Return cards in the form of a deck file, from which `read` makes the same cards."""
    lines: dict[Pile, list[str]] = {}
    for card in cards:
        table = _table(card.effect)
        if card.plain is not None:
            table.append(f"plain = {{ {', '.join(_table(card.plain))} }}")
        elif card.sign and card.pile == "week":
            table.append(f'sign = "{card.sign}"')
        lines.setdefault(card.pile, []).append(f"{card.id} = {{ {', '.join(table)} }}")
    return "\n\n".join("\n".join((f"[{pile}]", *of_pile)) for pile, of_pile in lines.items()) + "\n"


def _table(effect: Effect) -> list[str]:
    kind: Any = type(effect)
    values = {"effect": name_of(effect)} | {name: getattr(effect, name) for name in parameters(kind)}
    return [
        f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value}" for name, value in values.items()
    ]


def read(files: Mapping[str, str], base: Deck | None = None) -> Deck:
    """Return the deck that some TOML files describe, given as their texts by name; raises `DeckError`.

    With a `base`, cards that no file names are as they are there; without one, every card must be named.
    """
    faults: list[tuple[str, Fault]] = []
    found: dict[str, Card] = {}
    texts: Mapping[str, Mapping[str, str]] = base.words if base else {}
    words = {language: dict(texts.get(language, {})) for language in LANGUAGES}
    for name, text in files.items():
        _File(name, text, faults).read(found, words)
    if not faults and base is None:
        last = next(reversed([*files]), "deck")
        missing = [each for pile in PILES for each in ids(pile) if each not in found]
        faults += [(last, Fault(1, "missing", {"card": each})) for each in missing]
    if faults:
        at = {name: n for n, name in enumerate(files)}
        raise DeckError(sorted(faults, key=lambda each: (at[each[0]], each[1].line)))
    known = {card.id: card for card in base or ()} | found
    day, week, war, rain = (tuple(known[each] for each in ids(pile)) for pile in PILES)
    return Deck(day, week, war, rain, words)


class _File:
    """One file while it is read: each fault goes to `faults` with its place."""

    def __init__(self, name: str, text: str, faults: list[tuple[str, Fault]]) -> None:
        self._name, self._faults = name, faults
        try:
            self._document, errors = toml.read_past_errors(text)
            faults += [(name, Fault(each.line, "toml", {"said": each.said}, each.column)) for each in errors]
        except toml.TomlLimitError as error:
            faults.append((name, error.fault))
            self._document = toml.EMPTY

    def read(self, found: dict[str, Card], words: dict[str, dict[str, str]]) -> None:
        for key, value in self._document.tree.items():
            if key in PILES and isinstance(value, dict):
                self._pile(key, value, found)
            elif key == "words" and isinstance(value, dict):
                self._words(value, words)
            else:
                self._fault((key,), "table", found=quoted(key))

    def _pile(self, pile: Pile, table: Mapping[str, Any], found: dict[str, Card]) -> None:
        known = {each: n for n, each in enumerate(ids(pile))}
        first, last = (ids(pile)[n] for n in (0, -1))
        for each, value in table.items():
            if each not in known:
                self._fault((pile, each), "unknown_card", found=quoted(each), pile=pile, first=first, last=last)
            elif each in found:
                self._fault((pile, each), "twice", card=each)
            elif not isinstance(value, dict):
                self._fault((pile, each), "card", card=each, found=quoted(value))
            elif wrong := list(_wrong_in_card(pile, value)):
                for error in wrong:
                    self._fault((pile, each), error.code, card=each, **error.facts)
            else:
                found[each] = _card(pile, each, known[each], value)

    def _words(self, table: Mapping[str, Any], words: dict[str, dict[str, str]]) -> None:
        known = {each for pile in PILES for each in ids(pile)}
        for language, cards in table.items():
            if language not in LANGUAGES or not isinstance(cards, dict):
                self._fault(("words", language), "language", found=quoted(language))
                continue
            for each, card_texts in cards.items():
                if each not in known:
                    self._fault(("words", language, each), "no_card", found=quoted(each))
                elif wrong := list(_wrong_in_words(card_texts)):
                    for error in wrong:
                        self._fault(("words", language, each), error.code, card=each, **error.facts)
                else:
                    words[language] |= {f"card.{each}.{part}": text for part, text in card_texts.items()}

    def _fault(self, path: tuple[str, ...], code: str, **facts: Arg) -> None:
        if len(self._faults) < MOST_FAULTS:
            self._faults.append((self._name, self._document.fault(path, code, **facts)))


def _wrong_in_card(pile: Pile, table: Mapping[str, Any]) -> Iterator[EffectError]:
    given = dict(table)
    sign, plain = given.pop("sign", None), given.pop("plain", None)
    yield from _wrong_in_effect(pile, given)
    if sign is not None and (pile != "week" or sign not in _SIGNS):
        yield EffectError("counts", found=quoted(sign), allowed=" | ".join(_SIGNS))
    if plain is not None and not isinstance(plain, dict):
        yield EffectError("plain", found=quoted(plain))
    elif plain is not None:
        yield from _wrong_in_effect(pile, plain)
    if given.get("effect") == "sign" and (
        plain is None or (isinstance(plain, dict) and plain.get("effect") == "sign")
    ):
        yield EffectError("lacks_plain")


def _wrong_in_effect(pile: Pile, table: Mapping[str, Any]) -> Iterator[EffectError]:
    wrong = list(wrong_in(table))
    yield from wrong
    name = table.get("effect")
    if wrong and isinstance(name, str) and name in KINDS and KINDS[name] not in _KINDS[pile]:
        yield EffectError("pile", effect=name, pile=pile)
    elif not wrong and (misplaced := may_do(pile, from_table(table))):
        yield misplaced


def _card(pile: Pile, card_id: str, place: int, table: Mapping[str, Any]) -> Card:
    given = dict(table)
    sign, plain = given.pop("sign", None), given.pop("plain", None)
    effect = from_table(given)
    without = None if plain is None else from_table(plain)
    space = SPACES[place // NUMBERS] if pile == "day" else SPACES[place] if pile == "week" else None
    number = place % NUMBERS + 1 if pile == "day" else 0 if pile == "week" else place + 1
    return Card(card_id, pile, space, number, effect, effect.of if isinstance(effect, Sign) else sign, without)


_KINDS: Mapping[Pile, tuple[type[Effect], ...]] = {
    "day": tuple(kind for kind in KINDS.values() if kind not in (Standing, Reroll)),
    "week": (Standing, Nothing),
    "war": (Boost, Attack, Reroll, Ward, Sign, Nothing),
    "rain": (Boost, Gain, Draw, Ward, Sign, Nothing),
}
"""What the cards of a pile may do: War in battle, Rain at a landing, Week for as long as it is held."""

_BOOSTS: Mapping[Pile, tuple[str, ...]] = {
    "war": ("attack", "defence", "battle", "loot", "ransom"),
    "rain": ("defence", "gather", "tribute"),
}


def may_do(pile: Pile, effect: Effect) -> EffectError | None:
    """Return why an effect has no place in a pile (a bonus to attack on a Rain card), or None if it has one."""
    if not isinstance(effect, _KINDS[pile]):
        return EffectError("pile", effect=name_of(effect), pile=pile)
    if pile == "day":
        return None
    if isinstance(effect, Boost) and effect.what not in _BOOSTS[pile]:
        return _misplaced(pile, effect, "what", " | ".join(_BOOSTS[pile]))
    if isinstance(effect, Boost) and effect.whose != "mine":
        return _misplaced(pile, effect, "whose", "mine")
    if isinstance(effect, Ward) and effect.against != "attack":
        return _misplaced(pile, effect, "against", "attack")
    if isinstance(effect, Sign) and effect.of != (of := "eagle" if pile == "war" else "serpent"):
        return _misplaced(pile, effect, "of", of)
    return None


def _misplaced(pile: Pile, effect: Effect, name: str, allowed: str) -> EffectError:
    found = quoted(getattr(effect, name))
    return EffectError("misplaced", pile=pile, effect=name_of(effect), name=name, found=found, allowed=allowed)


def _as_sign(card: Card, sign: SignName | None) -> Card:
    """Return a card as the sign that it is set to be, or as a plain one."""
    if card.sign == sign:
        return card
    plain = card.plain if isinstance(card.effect, Sign) else card.effect
    assert plain is not None  # a card that is a sign was read with what it is otherwise
    if sign:
        return replace(card, effect=Sign(sign), sign=sign, plain=plain)
    return replace(card, effect=plain, sign=None, plain=None)


def _wrong_in_words(texts: object) -> Iterator[EffectError]:
    if not isinstance(texts, dict) or not texts or not texts.keys() <= LONGEST.keys():
        yield EffectError("words", found=quoted(texts))
    for part, text in texts.items() if isinstance(texts, dict) else ():
        if part not in LONGEST:
            continue
        if not isinstance(text, str) or not text.strip() or not text.isprintable() or {"{", "}"} & set(text):
            yield EffectError("one_line", part=part, found=quoted(text))
        elif len(text) > LONGEST[part]:
            yield EffectError("letters", part=part, length=len(text), longest=LONGEST[part])
