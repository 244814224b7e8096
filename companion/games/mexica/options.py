"""What a table may choose about Mexica: the options with their rulings, the presets, the seats. It plays nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from companion.games.kernel import Option, Seat, Value
from companion.games.mexica.cards import DEFAULT, READER

TEMPLE_ONLY = "temple_only"
FULL = "full"

_OFF_ON = ("off", "on")

APOCALYPSE: tuple[Option, ...] = (
    Option("apocalypse_trigger", "first_of", "M23", ("first_of", "tokens", "all_week", "disc1", "disc2", "disc3")),
    Option("apocalypse_tokens", 260, "M23", (52, 104, 260), low=13, high=360),
    Option("countdown", "turns13", "M25", ("turns13", "rounds13")),
    Option("apocalypse_locks_type", "off", "M26", _OFF_ON),
    Option("doom_by", "most", "M27", ("most", "least")),
    Option("doom_effects", "countdown", "M34", ("countdown", "doom")),
    Option("forestall", "bare", "M35", ("bare", "forever")),
)
"""What both scopes may choose."""

OPTIONS: tuple[Option, ...] = (
    # What the app keeps. A table's log holds it, so that a table which asked for the temple alone stays one.
    Option("scope", TEMPLE_ONLY, "", (TEMPLE_ONLY,)),
    *APOCALYPSE,
)

FULL_OPTIONS: tuple[Option, ...] = (
    Option("scope", FULL, "", (FULL,)),
    Option("day_card_cost", 7, "M1", (7, 13)),
    Option("god_card_cost", 7, "M3", (7, 13, 1)),
    Option("sacrifice_credit", "off", "M4", _OFF_ON),
    Option("turn_order", "text", "M5", ("text", "tester", "flower_war")),
    Option("refill", "reserve", "M7", ("reserve", "recycle_mary", "unlimited")),
    Option("disc_transfer", "give", "M8", ("give", "battle")),
    Option("first_landing", "full", "M9", ("full", "ever", "per_player", "none")),
    Option("tribute_debt", "off", "M10", _OFF_ON),
    Option("battle_loot", "lower", "M12", ("lower", "difference", "one")),
    Option("battle_tie", "none", "M13", ("none", "reroll", "occupant")),
    Option("melee", "each", "M14", ("each", "all", "first")),
    Option("card_payment", "may", "M16", ("may", "must")),
    Option("signs_protected", "on", "M16", ("on", "off")),
    Option("reshuffle", "on", "M17", ("on", "off")),
    Option("flower_copies", 13, "M18", (1, 13, 39, 65)),
    Option("sign_copies", 1, "M19", (1, 5, 10)),
    Option("day_signs", "flower_only", "M19", ("flower_only", "all")),
    Option("week_signs", "on", "M19", ("on", "off")),
    Option("deck", DEFAULT, "M20", (DEFAULT,), reader=READER),
    Option("open_hands", "off", "M21", _OFF_ON),
    *APOCALYPSE[:2],
    Option("mary_counts", "off", "M24", _OFF_ON),
    *APOCALYPSE[2:],
    Option("war", "drain", "M29", ("drain", "netzero", "cortez5")),
    Option("starts", "compass", "M31", ("compass", "all_crocodile")),
    Option("mary_exclusive", "on", "M36", ("on", "off")),
    Option("cards_per_step", "many", "M37", ("many", "one")),
    Option("card_timing", "text", "M38", ("text", "hold_all")),
    Option("loot_die", "natural", "M39", ("natural", "modified")),
    Option("forced_landing", "all", "M40", ("all", "battle_only")),
    Option("flood_day_card", "off", "M41", _OFF_ON),
)
"""What a table may choose whose board, hands and ledger the app keeps."""

PRESETS: Mapping[str, Mapping[str, Value]] = {TEMPLE_ONLY: {"scope": TEMPLE_ONLY}}

FULL_PRESETS: Mapping[str, Mapping[str, Value]] = {
    "classic": {"scope": FULL},
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

SEATINGS: Mapping[int, tuple[Seat, ...]] = {
    2: ("east", "west"),
    3: ("east", "north", "west"),
    4: ("east", "north", "west", "south"),
}
"""East begins, and turns go round as the calendar runs, counter-clockwise (ruling M31)."""


@dataclass(frozen=True, slots=True)
class HouseRules:
    """One table's choice: a field for each option of either scope, under its key."""

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

    @classmethod
    def of(cls, chosen: Mapping[str, Value], options: tuple[Option, ...] | None = None) -> HouseRules:
        """Read a complete choice among `options`, or those of the scope that it names.

        Raises `ValueError` for one that is incomplete or that no option accepts.
        """
        known = options_of(chosen.get("scope")) if options is None else options
        for option in known:
            if option.key not in chosen:
                raise ValueError(f"option {option.key} is missing; expected a value for each of Mexica's options")
            if not option.accepts(chosen[option.key]):
                raise ValueError(
                    f"option {option.key} is {ascii(chosen[option.key])[:60]}; expected {_accepted(option)}"
                )
        if unknown := sorted(set(chosen) - {option.key for option in known}):
            raise ValueError(f"option {ascii(unknown[0])[:60]} is unknown; expected only Mexica's options")
        return cls(**chosen)  # type: ignore[arg-type]  # each value was accepted by the option of its field

    def chosen(self) -> dict[str, Value]:
        """Return the choice as it was given to `of`."""
        return {each.key: getattr(self, each.key) for each in options_of(self.scope)}


def options_of(scope: object) -> tuple[Option, ...]:
    """Return the options that there are in a scope."""
    return FULL_OPTIONS if scope == FULL else OPTIONS


def _accepted(option: Option) -> str:
    if option.high:
        return f"a whole number from {option.low} to {option.high}"
    return " or ".join((*map(str, option.values), *("a text without faults",) * (option.reader is not None)))
