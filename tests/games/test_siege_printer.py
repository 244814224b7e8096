"""What the siege's pages for the printer show."""

from __future__ import annotations

from typing import Any

from companion.games.siege import GAME


def test_the_table_of_forces_adds_up_to_both_sides_of_the_text() -> None:
    forces: Any = GAME.sheet("forces", "en")
    totals = {each["side"]: each for each in forces["totals"]}
    assert (totals["aztecs"]["full"], totals["spaniards"]["full"]) == (46, 46)
    for side, total in totals.items():
        walking = [each for each in forces["peoples"] if each["side"] == side and each["people"] != "boat"]
        assert sum(each["full"] for each in walking) == total["full"]
        assert sum(each["third"] for each in walking) == total["third"]
    assert {each["people"]: each["full"] for each in forces["peoples"]}["boat"] == 13


def test_a_tables_own_map_is_cut_into_tiles_like_those_that_ship() -> None:
    options = {option.key: option.default for option in GAME.options}
    state = GAME.setup(options, ("aztecs", "spaniards"))
    assert GAME.own_sheet(state, "map", "en") == GAME.sheet("map_full", "en")
