"""The options of The Aztec Market with their rulings, its presets and its seats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from companion.games.kit import Seat, TableRules, Value, rule, switch

BLIND, EQUAL = "blind", "equal"
DRAFT, RANDOM = "draft", "random"
ON, OFF = "on", "off"


class HouseRules(TableRules, frozen=True):
    """What a table may choose, in the order of the rulings."""

    slide: Annotated[str, rule("any", "A3", ("any", "adjacent"))]
    pass_moves_distinct: Annotated[str, switch(ON, "A4")]
    setup: Annotated[str, rule(DRAFT, "A5", (DRAFT, RANDOM))]
    removed: Annotated[int, rule(4, "A8", tuple(range(0, 41, 4)))]
    removed_mode: Annotated[str, rule(BLIND, "A8", (BLIND, EQUAL))]
    toll_order: Annotated[str, rule("path", "A12", ("path", "choice"))]
    toll_stack: Annotated[str, rule("each", "A12", ("each", "once_per_kind"))]
    partner_tie: Annotated[str, rule("once", "A18", ("once", "none", "both"))]
    tie_sum: Annotated[str, switch(OFF, "A19")]
    start: Annotated[str, rule("random", "A24", ("random", "host"))]


OPTIONS = HouseRules.options()

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
