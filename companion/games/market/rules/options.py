"""The options of The Aztec Market with their rulings, its presets and its seats."""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kit import Option, Seat, TableRules, Value

BLIND, EQUAL = "blind", "equal"
DRAFT, RANDOM = "draft", "random"
ON, OFF = "on", "off"

OPTIONS: tuple[Option, ...] = (
    Option("slide", "any", "A3", ("any", "adjacent")),
    Option("pass_moves_distinct", ON, "A4", (ON, OFF)),
    Option("setup", DRAFT, "A5", (DRAFT, RANDOM)),
    Option("removed", 4, "A8", tuple(range(0, 41, 4))),
    Option("removed_mode", BLIND, "A8", (BLIND, EQUAL)),
    Option("toll_order", "path", "A12", ("path", "choice")),
    Option("toll_stack", "each", "A12", ("each", "once_per_kind")),
    Option("partner_tie", "once", "A18", ("once", "none", "both")),
    Option("tie_sum", OFF, "A19", (OFF, ON)),
    Option("start", "random", "A24", ("random", "host")),
)

PRESETS: Mapping[str, Mapping[str, Value]] = {
    "classic": {},
    "short": {"removed": 40},
    "no_luck": {"removed_mode": EQUAL},
}

MINUTES = {"classic": 20, "short": 10, "no_luck": 20}
"""About how long a game takes: the app's games in the lab, a turn at 40 seconds."""

SEATINGS: Mapping[int, tuple[Seat, ...]] = {
    2: ("south", "east"),
    3: ("south", "west", "north"),
    4: ("south", "west", "north", "east"),
}
"""Clockwise, seen from above. Two sit beside each other (ruling A2). Which of the four sides three players leave
empty is theirs to say, by how they turn the market: turned with its seats it is the same game (A23)."""


class HouseRules(TableRules, frozen=True):
    """One table's choice: a field for each option, under its key."""

    OPTIONS = OPTIONS

    slide: str
    pass_moves_distinct: str
    setup: str
    removed: int
    removed_mode: str
    toll_order: str
    toll_stack: str
    partner_tie: str
    tie_sum: str
    start: str
