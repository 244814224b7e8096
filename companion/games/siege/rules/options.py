"""The options of the siege with their rulings, its presets and its seats."""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kit import Option, Seat, TableRules, Value
from companion.games.siege.rules.maps import READER
from companion.games.siege.rules.roster import FULL, THIRD

FIRST_FOUR = "first_4"
"""A bodyguard that stays for four turns and then is gone."""

GUARDS: Mapping[Value, tuple[int, bool]] = {3: (3, True), 4: (4, True), FIRST_FOUR: (4, False)}
"""For each bodyguard the turns in which it is fresh, and whether it is still there afterwards, tired (ruling S44)."""

_OFF_ON = ("off", "on")
_ON_OFF = ("on", "off")

OPTIONS: tuple[Option, ...] = (
    Option("map", "full", "S1", ("full", "skirmish"), reader=READER),
    Option("forces", FULL, "", (FULL, THIRD)),
    Option("garrison", "setup", "S3", ("setup", "always", "off")),
    Option("capture", "destroyed", "S4", ("destroyed", "defeated")),
    Option("leader_immune", "on", "S5", _ON_OFF),
    Option("rogues_are_allies", "off", "S5", _OFF_ON),
    Option("min_one_hex", "off", "S7", _OFF_ON),
    Option("boat_capacity", 1, "S10", (1, 2)),
    Option("boarding", "points", "S11", ("points", "whole_move")),
    Option("empty_boats", "vehicle", "S12", ("vehicle", "unit")),
    Option("rout_measure", "nearest", "S14", ("nearest", "any")),
    Option("rout_contact", "now", "S15", ("now", "next_move")),
    Option("rout_move", "exact", "S16", ("exact", "at_most", "hexes")),
    Option("panic", "once", "S18", ("once", "chain")),
    Option("cortez_conquistador", "off", "S21", _OFF_ON),
    Option("inner_walls", "on", "S23", _ON_OFF),
    Option("advance", "chain", "S25", ("chain", "once")),
    Option("setup_order", "aztecs_first", "S31", ("aztecs_first", "spaniards_first")),
    Option("turn_limit", "off", "S32", ("off", 20, 40)),
    Option("natural_hit", "off", "S34", _OFF_ON),
    Option("panic_move", "on", "S35", _ON_OFF),
    Option("cortez_afloat", "on", "S40", _ON_OFF),
    Option("quiet_limit", 10, "S41", (10, "off")),
    Option("roll_bonus", "attack", "S42", ("attack", "all")),
    Option("bodyguard", "off", "S44", ("off", 3, 4, FIRST_FOUR)),
)

PRESETS: Mapping[str, Mapping[str, Value]] = {
    "classic": {},
    "skirmish": {"map": "skirmish", "forces": THIRD, "turn_limit": 20},
    "long_retreat": {"rout_move": "at_most"},
}

HANDICAPS: Mapping[str, Mapping[str, Value]] = {
    "classic": {"bodyguard": FIRST_FOUR},
    "skirmish": {"bodyguard": 3},
    "long_retreat": {"bodyguard": FIRST_FOUR},
}
"""With what equal players win about as often on either side."""

PACES = {"classic": 1200, "skirmish": 400, "long_retreat": 1200}
"""Seconds of a turn in which both sides march and attack: about 13 for each of the 92 or 31 units."""

MINUTES = {
    "classic": 480,
    "skirmish": int(PRESETS["skirmish"]["turn_limit"]) * PACES["skirmish"] // 60,
    "long_retreat": 480,
}
"""About how long a game takes: the whole city one long day, or several evenings; the skirmish all its turns."""

AZTECS: Seat = "aztecs"
SPANIARDS: Seat = "spaniards"

SEATINGS: Mapping[int, tuple[Seat, ...]] = {2: (AZTECS, SPANIARDS)}


class HouseRules(TableRules, frozen=True):
    """One table's choice: a field for each option, under its key."""

    OPTIONS = OPTIONS

    map: str
    forces: str
    garrison: str
    capture: str
    leader_immune: str
    rogues_are_allies: str
    min_one_hex: str
    boat_capacity: int
    boarding: str
    empty_boats: str
    rout_measure: str
    rout_contact: str
    rout_move: str
    panic: str
    cortez_conquistador: str
    inner_walls: str
    advance: str
    setup_order: str
    turn_limit: Value
    natural_hit: str
    panic_move: str
    cortez_afloat: str
    quiet_limit: Value
    roll_bonus: str
    bodyguard: Value
