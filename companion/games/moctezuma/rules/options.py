"""The options of Moctezuma's Revenge with their rulings, its presets and its seats."""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kit import Option, Seat, TableRules, Value

_OFF_ON = ("off", "on")
_ON_OFF = ("on", "off")

OPTIONS: tuple[Option, ...] = (
    Option("curse_rule", "any", "Z1", ("any", "majority", "all", "two_plus")),
    Option("third_chit", "second", "Z3", ("second", "first")),
    Option("flip", "round", "Z5", ("round", "turn")),
    Option("board", "hex434", "Z10", ("hex434", "hub_ring", "star", "custom")),
    Option("keep", "must", "Z11", ("must", "may")),
    Option("bottom", "drawn", "Z13", ("drawn", "choose", "shuffle")),
    Option("open_treasure", "off", "Z14", _OFF_ON),
    Option("peek_target_public", "on", "Z22", _ON_OFF),
    Option("deduction", "on", "Z25", _ON_OFF),
)


def options_of(*keys: str) -> tuple[Option, ...]:
    """Return some of the options, for a tool that has the same."""
    known = {option.key: option for option in OPTIONS}
    return tuple(known[key] for key in keys)


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


class HouseRules(TableRules, frozen=True):
    """One table's choice: a field for each option, under its key."""

    OPTIONS = OPTIONS

    curse_rule: str
    third_chit: str
    flip: str
    board: str
    keep: str
    bottom: str
    open_treasure: str
    peek_target_public: str
    deduction: str
