"""The options of Mexica with their rulings, its presets and its seats."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Annotated

from companion.games.kit import Seat, TableRules, Value, rule, switch
from companion.games.mexica.rules.cards import DEFAULT, READER, played
from companion.games.mexica.rules.cards.deck import Deck

TEMPLE_ONLY = "temple_only"
FULL = "full"


_board = partial(rule, only=("scope", FULL))
_on_board = partial(switch, only=("scope", FULL))
"""Options that matter only in the full game."""


class HouseRules(TableRules, frozen=True, dict=True):
    """What a table may choose, in the order of the rulings."""

    # A table's log holds it, so that a table which asked for the temple alone stays one.
    scope: Annotated[str, rule(TEMPLE_ONLY, "", (TEMPLE_ONLY, FULL))]
    """What the app runs."""
    day_card_cost: Annotated[int, _board(7, "M1", (7, 13), group="offering")]
    god_card_cost: Annotated[int, _board(7, "M3", (7, 13, 1), group="offering")]
    sacrifice_credit: Annotated[str, _on_board("off", "M4", group="offering")]
    turn_order: Annotated[str, _board("text", "M5", ("text", "tester", "flower_war"), group="turn")]
    refill: Annotated[str, _board("reserve", "M7", ("reserve", "recycle_mary", "unlimited"), group="turn")]
    disc_transfer: Annotated[str, _board("give", "M8", ("give", "battle"), group="turn")]
    first_landing: Annotated[str, _board("full", "M9", ("full", "ever", "per_player", "none"), group="turn")]
    tribute_debt: Annotated[str, _on_board("off", "M10", group="turn")]
    battle_loot: Annotated[str, _board("lower", "M12", ("lower", "difference", "one"), group="battle")]
    battle_tie: Annotated[str, _board("none", "M13", ("none", "reroll", "occupant"), group="battle")]
    melee: Annotated[str, _board("each", "M14", ("each", "all", "first"), group="battle")]
    card_payment: Annotated[str, _board("may", "M16", ("may", "must"), group="battle")]
    signs_protected: Annotated[str, _on_board("on", "M16", group="battle")]
    reshuffle: Annotated[str, _on_board("on", "M17", group="cards")]
    flower_copies: Annotated[int, _board(13, "M18", (1, 13, 39, 65), group="cards")]
    sign_copies: Annotated[int, _board(1, "M19", (1, 5, 10), group="cards")]
    day_signs: Annotated[str, _board("flower_only", "M19", ("flower_only", "all"), group="cards")]
    week_signs: Annotated[str, _on_board("on", "M19", group="cards")]
    deck: Annotated[str, _board(DEFAULT, "M20", (DEFAULT,), reader=READER, group="cards")]
    """`DEFAULT`, or the whole text of a deck of the table's own."""
    open_hands: Annotated[str, _on_board("off", "M21", group="cards")]
    apocalypse_trigger: Annotated[
        str, rule("first_of", "M23", ("first_of", "tokens", "all_week", "disc1", "disc2", "disc3"), group="age")
    ]
    apocalypse_tokens: Annotated[int, rule(260, "M23", (52, 104, 260), low=13, high=360, group="age")]
    mary_counts: Annotated[str, _on_board("off", "M24", group="offering")]
    countdown: Annotated[str, rule("turns13", "M25", ("turns13", "rounds13"), group="age")]
    apocalypse_locks_type: Annotated[str, switch("off", "M26", group="age")]
    doom_by: Annotated[str, rule("most", "M27", ("most", "least"), group="age")]
    doom_effects: Annotated[str, rule("countdown", "M34", ("countdown", "doom"), group="age")]
    forestall: Annotated[str, rule("bare", "M35", ("bare", "forever"), group="age")]
    war: Annotated[str, _board("drain", "M29", ("drain", "netzero", "cortez5"), group="age")]
    starts: Annotated[str, _board("compass", "M31", ("compass", "all_crocodile"), group="turn")]
    mary_exclusive: Annotated[str, _on_board("on", "M36", group="offering")]
    cards_per_step: Annotated[str, _board("many", "M37", ("many", "one"), group="offering")]
    card_timing: Annotated[str, _board("text", "M38", ("text", "hold_all"), group="cards")]
    loot_die: Annotated[str, _board("natural", "M39", ("natural", "modified"), group="battle")]
    forced_landing: Annotated[str, _board("all", "M40", ("all", "battle_only"), group="turn")]
    flood_day_card: Annotated[str, _on_board("off", "M41", group="turn")]
    week_cards_pay: Annotated[str, _on_board("on", "M44", group="battle")]
    flood_gather: Annotated[str, _on_board("on", "M48", group="turn")]
    gather_from: Annotated[str, _board("reserve", "M49", ("reserve", "space"), group="turn")]
    weeks_issued: Annotated[str, _board("ever", "M51", ("ever", "out"), group="age")]

    @cached_property
    def cards(self) -> Deck:
        """The deck that is played, with as many signs in it as the options want (rulings M18 to M20).

        It is found once, as the rules want its cards at every step.
        """
        return played(self.deck, self.flower_copies, self.sign_copies, self.day_signs)


OPTIONS = HouseRules.options()

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
