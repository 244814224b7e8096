"""The options of Mexica with their rulings, its presets and its seats."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from companion.games.kit import Option, Seat, Struct, Value, complete
from companion.games.mexica.rules.cards import DEFAULT, READER, played
from companion.games.mexica.rules.cards.deck import Deck

TEMPLE_ONLY = "temple_only"
FULL = "full"

_OFF_ON = ("off", "on")
_ON_OFF = ("on", "off")

_BOARD = ("scope", FULL)
"""The options that matter only in the full game."""

_BOTH: tuple[Option, ...] = (
    Option(
        "apocalypse_trigger",
        "first_of",
        "M23",
        ("first_of", "tokens", "all_week", "disc1", "disc2", "disc3"),
        group="age",
    ),
    Option("apocalypse_tokens", 260, "M23", (52, 104, 260), low=13, high=360, group="age"),
    Option("countdown", "turns13", "M25", ("turns13", "rounds13"), group="age"),
    Option("apocalypse_locks_type", "off", "M26", _OFF_ON, group="age"),
    Option("doom_by", "most", "M27", ("most", "least"), group="age"),
    Option("doom_effects", "countdown", "M34", ("countdown", "doom"), group="age"),
    Option("forestall", "bare", "M35", ("bare", "forever"), group="age"),
)
"""What both scopes may choose."""

OPTIONS: tuple[Option, ...] = (
    # What the app keeps. A table's log holds it, so that a table which asked for the temple alone stays one.
    Option("scope", TEMPLE_ONLY, "", (TEMPLE_ONLY, FULL)),
    Option("day_card_cost", 7, "M1", (7, 13), only=_BOARD, group="offering"),
    Option("god_card_cost", 7, "M3", (7, 13, 1), only=_BOARD, group="offering"),
    Option("sacrifice_credit", "off", "M4", _OFF_ON, only=_BOARD, group="offering"),
    Option("turn_order", "text", "M5", ("text", "tester", "flower_war"), only=_BOARD, group="turn"),
    Option("refill", "reserve", "M7", ("reserve", "recycle_mary", "unlimited"), only=_BOARD, group="turn"),
    Option("disc_transfer", "give", "M8", ("give", "battle"), only=_BOARD, group="turn"),
    Option("first_landing", "full", "M9", ("full", "ever", "per_player", "none"), only=_BOARD, group="turn"),
    Option("tribute_debt", "off", "M10", _OFF_ON, only=_BOARD, group="turn"),
    Option("battle_loot", "lower", "M12", ("lower", "difference", "one"), only=_BOARD, group="battle"),
    Option("battle_tie", "none", "M13", ("none", "reroll", "occupant"), only=_BOARD, group="battle"),
    Option("melee", "each", "M14", ("each", "all", "first"), only=_BOARD, group="battle"),
    Option("card_payment", "may", "M16", ("may", "must"), only=_BOARD, group="battle"),
    Option("signs_protected", "on", "M16", ("on", "off"), only=_BOARD, group="battle"),
    Option("reshuffle", "on", "M17", ("on", "off"), only=_BOARD, group="cards"),
    Option("flower_copies", 13, "M18", (1, 13, 39, 65), only=_BOARD, group="cards"),
    Option("sign_copies", 1, "M19", (1, 5, 10), only=_BOARD, group="cards"),
    Option("day_signs", "flower_only", "M19", ("flower_only", "all"), only=_BOARD, group="cards"),
    Option("week_signs", "on", "M19", ("on", "off"), only=_BOARD, group="cards"),
    Option("deck", DEFAULT, "M20", (DEFAULT,), reader=READER, only=_BOARD, group="cards"),
    Option("open_hands", "off", "M21", _OFF_ON, only=_BOARD, group="cards"),
    *_BOTH[:2],
    Option("mary_counts", "off", "M24", _OFF_ON, only=_BOARD, group="offering"),
    *_BOTH[2:],
    Option("war", "drain", "M29", ("drain", "netzero", "cortez5"), only=_BOARD, group="age"),
    Option("starts", "compass", "M31", ("compass", "all_crocodile"), only=_BOARD, group="turn"),
    Option("mary_exclusive", "on", "M36", ("on", "off"), only=_BOARD, group="offering"),
    Option("cards_per_step", "many", "M37", ("many", "one"), only=_BOARD, group="offering"),
    Option("card_timing", "text", "M38", ("text", "hold_all"), only=_BOARD, group="cards"),
    Option("loot_die", "natural", "M39", ("natural", "modified"), only=_BOARD, group="battle"),
    Option("forced_landing", "all", "M40", ("all", "battle_only"), only=_BOARD, group="turn"),
    Option("flood_day_card", "off", "M41", _OFF_ON, only=_BOARD, group="turn"),
    Option("week_cards_pay", "on", "M44", _ON_OFF, only=_BOARD, group="battle"),
    Option("flood_gather", "on", "M48", _ON_OFF, only=_BOARD, group="turn"),
    Option("gather_from", "reserve", "M49", ("reserve", "space"), only=_BOARD, group="turn"),
    Option("weeks_issued", "ever", "M51", ("ever", "out"), only=_BOARD, group="age"),
)
"""What a table may choose, in the order of the rulings."""

PRESETS: Mapping[str, Mapping[str, Value]] = {
    TEMPLE_ONLY: {"scope": TEMPLE_ONLY},
    "classic": {"scope": FULL},
    "wandering": {"scope": FULL, "sign_copies": 5},
    "evening": {"scope": FULL, "apocalypse_tokens": 52, "sign_copies": 10, "flower_copies": 65},
    "century": {"scope": FULL, "apocalypse_tokens": 104, "sign_copies": 5, "flower_copies": 39},
    "flower_war": {
        "scope": FULL,
        "apocalypse_trigger": "disc1",
        "countdown": "rounds13",
        "battle_loot": "one",
        "disc_transfer": "battle",
        "war": "cortez5",
        "turn_order": "flower_war",
    },
}

MINUTES = {
    "temple_only": 220,
    "classic": 220,
    "wandering": 200,
    "evening": 200,
    "century": 210,
    "flower_war": 120,
}
"""About how long a game takes: the app's games in the lab, a turn at 40 seconds."""

SEATINGS: Mapping[int, tuple[Seat, ...]] = {
    2: ("east", "west"),
    3: ("east", "north", "west"),
    4: ("east", "north", "west", "south"),
}
"""East begins, and turns go round as the calendar runs, counter-clockwise (ruling M31)."""


class HouseRules(Struct, frozen=True, dict=True):
    """One table's options: a field for each, under its key; those that its scope ignores have their default."""

    scope: str
    apocalypse_trigger: str
    apocalypse_tokens: int
    countdown: str
    apocalypse_locks_type: str
    doom_by: str
    doom_effects: str
    forestall: str
    day_card_cost: int = 7
    god_card_cost: int = 7
    sacrifice_credit: str = "off"
    turn_order: str = "text"
    refill: str = "reserve"
    disc_transfer: str = "give"
    first_landing: str = "full"
    tribute_debt: str = "off"
    battle_loot: str = "lower"
    battle_tie: str = "none"
    melee: str = "each"
    card_payment: str = "may"
    signs_protected: str = "on"
    reshuffle: str = "on"
    flower_copies: int = 13
    sign_copies: int = 1
    day_signs: str = "flower_only"
    week_signs: str = "on"
    deck: str = DEFAULT
    """`DEFAULT`, or the whole text of a deck of the table's own."""
    open_hands: str = "off"
    mary_counts: str = "off"
    war: str = "drain"
    starts: str = "compass"
    mary_exclusive: str = "on"
    cards_per_step: str = "many"
    card_timing: str = "text"
    loot_die: str = "natural"
    forced_landing: str = "all"
    flood_day_card: str = "off"
    week_cards_pay: str = "on"
    flood_gather: str = "on"
    gather_from: str = "reserve"
    weeks_issued: str = "ever"

    @cached_property
    def cards(self) -> Deck:
        """The deck that is played, with as many signs in it as the options want (rulings M18 to M20).

        It is found once, as the rules want its cards at every step.
        """
        return played(self.deck, self.flower_copies, self.sign_copies, self.day_signs)

    @classmethod
    def of(cls, chosen: Mapping[str, Value]) -> HouseRules:
        """Read a choice that is complete for the scope it names; what does not matter there may be left out.

        Raises `ValueError` for one that is incomplete or that no option accepts.
        """
        return cls(**complete(OPTIONS, chosen, options_of(chosen.get("scope"))))  # type: ignore[arg-type]  # each value was accepted by the option of its field

    def chosen(self) -> dict[str, Value]:
        """Return the choice as it was given to `of`, without what does not matter."""
        return {each.key: getattr(self, each.key) for each in options_of(self.scope)}


def options_of(scope: object) -> tuple[Option, ...]:
    """Return the options that matter in a scope."""
    return _FULL if scope == FULL else _TEMPLE


_TEMPLE, _FULL = (
    tuple(option for option in OPTIONS if option.matters({"scope": scope})) for scope in (TEMPLE_ONLY, FULL)
)
