"""The options of Moctezuma's Revenge with their rulings, its presets and its seats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from companion.games.kit import Seat, TableRules, Value, rule, switch


class HouseRules(TableRules, frozen=True):
    """What a table may choose, in the order of the rulings."""

    curse_rule: Annotated[str, rule("any", "Z1", ("any", "majority", "all", "two_plus"))]
    third_chit: Annotated[str, rule("second", "Z3", ("second", "first"))]
    flip: Annotated[str, rule("round", "Z5", ("round", "turn"))]
    board: Annotated[str, rule("hex434", "Z10", ("hex434", "hub_ring", "star", "custom"))]
    keep: Annotated[str, rule("must", "Z11", ("must", "may"))]
    bottom: Annotated[str, rule("drawn", "Z13", ("drawn", "choose", "shuffle"))]
    open_treasure: Annotated[str, switch("off", "Z14")]
    peek_target_public: Annotated[str, switch("on", "Z22")]
    deduction: Annotated[str, switch("on", "Z25")]


OPTIONS = HouseRules.options()

PRESETS: Mapping[str, Mapping[str, Value]] = {
    "classic": {},
    "majority": {"curse_rule": "majority"},
    "open": {"open_treasure": "on"},
    "swift": {"flip": "turn", "board": "hub_ring"},
    "later_chits": {"curse_rule": "two_plus", "flip": "turn"},
}

MINUTES = {"classic": 40, "majority": 40, "open": 40, "swift": 20, "later_chits": 40}
"""About how long a game takes: 40 minutes in the designer's first playtest, with two players."""

COLOURS: tuple[Seat, ...] = ("red", "blue", "yellow", "green", "white", "black")
"""The six researchers; turns go round in this order, beginning with the one that was drawn (ruling Z23)."""

SEATINGS: Mapping[int, tuple[Seat, ...]] = {players: COLOURS[:players] for players in range(2, 7)}
