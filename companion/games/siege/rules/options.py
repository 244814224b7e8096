"""The options of the siege with their rulings, its presets and its seats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from companion.games.kit import Seat, TableRules, Value, rule, switch
from companion.games.siege.rules.maps import READER
from companion.games.siege.rules.roster import FULL, THIRD

FIRST_FOUR = "first_4"
"""A bodyguard that stays for four turns and then is gone."""

GUARDS: Mapping[Value, tuple[int, bool]] = {3: (3, True), 4: (4, True), FIRST_FOUR: (4, False)}
"""For each bodyguard the turns in which it is fresh, and whether it is still there afterwards, tired (ruling S44)."""


class HouseRules(TableRules, frozen=True):
    """What a table may choose, in the order of the rulings."""

    map: Annotated[str, rule("full", "S1", ("full", "skirmish"), reader=READER)]
    forces: Annotated[str, rule(FULL, "", (FULL, THIRD))]
    garrison: Annotated[str, rule("setup", "S3", ("setup", "always", "off"))]
    capture: Annotated[str, rule("destroyed", "S4", ("destroyed", "defeated"))]
    leader_immune: Annotated[str, switch("on", "S5")]
    rogues_are_allies: Annotated[str, switch("off", "S5")]
    min_one_hex: Annotated[str, switch("off", "S7")]
    boat_capacity: Annotated[int, rule(1, "S10", (1, 2))]
    boarding: Annotated[str, rule("points", "S11", ("points", "whole_move"))]
    empty_boats: Annotated[str, rule("vehicle", "S12", ("vehicle", "unit"))]
    rout_measure: Annotated[str, rule("nearest", "S14", ("nearest", "any"))]
    rout_contact: Annotated[str, rule("now", "S15", ("now", "next_move"))]
    rout_move: Annotated[str, rule("exact", "S16", ("exact", "at_most", "hexes"))]
    panic: Annotated[str, rule("once", "S18", ("once", "chain"))]
    cortez_conquistador: Annotated[str, switch("off", "S21")]
    inner_walls: Annotated[str, switch("on", "S23")]
    advance: Annotated[str, rule("chain", "S25", ("chain", "once"))]
    setup_order: Annotated[str, rule("aztecs_first", "S31", ("aztecs_first", "spaniards_first"))]
    turn_limit: Annotated[Value, rule("off", "S32", ("off", 20, 40))]
    natural_hit: Annotated[str, switch("off", "S34")]
    panic_move: Annotated[str, switch("on", "S35")]
    cortez_afloat: Annotated[str, switch("on", "S40")]
    quiet_limit: Annotated[Value, rule(10, "S41", (10, "off"))]
    roll_bonus: Annotated[str, rule("attack", "S42", ("attack", "all"))]
    bodyguard: Annotated[Value, rule("off", "S44", ("off", 3, 4, FIRST_FOUR))]


OPTIONS = HouseRules.options()

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
