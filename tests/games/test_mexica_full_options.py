"""What a table may choose in the full game: every ruling with its option, default and test; and what no lobby has."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from companion.games.kit import replace
from companion.games.mexica import GAME
from companion.games.mexica.rules.board import Tribe
from companion.games.mexica.rules.options import OPTIONS, PRESETS, HouseRules
from tests.games.full_sitting import Full, full_options

RULINGS = {
    "M1": {"day_card_cost": (7, 13)},
    "M3": {"god_card_cost": (7, 13, 1)},
    "M4": {"sacrifice_credit": ("off", "on")},
    "M5": {"turn_order": ("text", "tester", "flower_war")},
    "M7": {"refill": ("reserve", "recycle_mary", "unlimited")},
    "M8": {"disc_transfer": ("give", "battle")},
    "M9": {"first_landing": ("full", "ever", "per_player", "none")},
    "M10": {"tribute_debt": ("off", "on")},
    "M12": {"battle_loot": ("lower", "difference", "one")},
    "M13": {"battle_tie": ("none", "reroll", "occupant")},
    "M14": {"melee": ("each", "all", "first")},
    "M16": {"card_payment": ("may", "must"), "signs_protected": ("on", "off")},
    "M17": {"reshuffle": ("on", "off")},
    "M18": {"flower_copies": (13, 1, 39, 65)},
    "M19": {"sign_copies": (1, 5, 10), "day_signs": ("flower_only", "all"), "week_signs": ("on", "off")},
    "M20": {"deck": ("default",)},
    "M21": {"open_hands": ("off", "on")},
    "M23": {
        "apocalypse_trigger": ("first_of", "tokens", "all_week", "disc1", "disc2", "disc3"),
        "apocalypse_tokens": (260, 52, 104),
    },
    "M24": {"mary_counts": ("off", "on")},
    "M25": {"countdown": ("turns13", "rounds13")},
    "M26": {"apocalypse_locks_type": ("off", "on")},
    "M27": {"doom_by": ("most", "least")},
    "M29": {"war": ("drain", "netzero", "cortez5")},
    "M31": {"starts": ("compass", "all_crocodile")},
    "M34": {"doom_effects": ("countdown", "doom")},
    "M35": {"forestall": ("bare", "forever")},
    "M36": {"mary_exclusive": ("on", "off")},
    "M37": {"cards_per_step": ("many", "one")},
    "M38": {"card_timing": ("text", "hold_all")},
    "M39": {"loot_die": ("natural", "modified")},
    "M40": {"forced_landing": ("all", "battle_only")},
    "M41": {"flood_day_card": ("off", "on")},
    "M44": {"week_cards_pay": ("on", "off")},
    "M48": {"flood_gather": ("on", "off")},
    "M49": {"gather_from": ("reserve", "space")},
    "M51": {"weeks_issued": ("ever", "out")},
}
"""The rulings that a table may choose otherwise: for each option its values, the default first."""


def test_every_ruling_with_an_option_has_it_with_its_default_and_its_readings() -> None:
    found: dict[str, dict[str, tuple[int | str, ...]]] = {}
    for option in OPTIONS[1:]:
        others = sorted({*option.values} - {option.default}, key=str)
        found.setdefault(option.ruling, {})[option.key] = (option.default, *others)
    expected = {
        ruling: {key: (default, *sorted(others, key=str)) for key, (default, *others) in options.items()}
        for ruling, options in RULINGS.items()
    }
    assert found == expected


def test_every_ruling_of_mexica_has_a_test_that_names_it() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_mexica_*.py"))
    named = {int(n) for line in re.findall(r"def test_\w+", tests) for n in re.findall(r"_m(\d+)(?=_)", line)}
    assert named == {*range(1, 56)}


def _mattering(scope: str) -> list[str]:
    return [option.key for option in OPTIONS if option.matters({"scope": scope})]


def test_what_matters_for_the_temple_alone_matters_for_the_full_game_too() -> None:
    assert {*_mattering("temple_only")} < {*_mattering("full")}
    assert _mattering("full") == [option.key for option in OPTIONS]


@pytest.mark.parametrize("preset", [preset for preset in PRESETS if preset != "temple_only"])
def test_a_preset_opens_and_its_rules_read_back(preset: str) -> None:
    chosen = full_options(**PRESETS[preset])
    assert HouseRules.of(chosen).chosen() == chosen
    assert GAME.rules.setup(chosen, ("east", "west")).rules.chosen() == chosen


def test_rules_of_the_board_change_nothing_at_a_table_that_keeps_it_in_wood() -> None:
    chosen = {option.key: option.default for option in OPTIONS} | {"scope": "temple_only"}
    plain = GAME.rules.setup(chosen, ("east", "west"))
    assert GAME.rules.setup(chosen | {"battle_loot": "one", "open_hands": "on"}, ("east", "west")) == plain
    short = {key: chosen[key] for key in _mattering("temple_only")}
    assert GAME.rules.setup(short, ("east", "west")) == plain


def test_the_lobby_offers_the_temple_alone_and_five_ways_to_play_the_whole_game() -> None:
    assert [*GAME.presets] == ["temple_only", "classic", "wandering", "evening", "century", "flower_war"]
    assert [preset["scope"] for preset in GAME.presets.values()] == ["temple_only", *["full"] * 5]


BROKEN: dict[str, dict[str, Any]] = {
    "tokens in all": {"reserve": 101},
    "0 to 13 tokens on a space": {"spaces": (14, *(13,) * 18, 12)},
    "holders that sit here": {"holders": ("south", *("",) * 19)},
    "visitors that sit here": {"visited": (("south",), *((),) * 19)},
    "nobody below nothing": {"reserve": 101, "pile": -1},
    "tribes on spaces": {"tribes": (Tribe(21), Tribe(10))},
    "each card once": {"tribes": (Tribe(20, hand=("war-1", "war-1")), Tribe(10))},
    "no sign among the discards": {"discards": ("day-flower-1",)},
    "something due until the end": {"agenda": ()},
    "at most three forced landings": {"forced": 4},
    "extra turns of this table": {"again": ("south",)},
    "debts of this table": {"debts": (("east", "south"),)},
}


@pytest.mark.parametrize("law", BROKEN)
def test_a_state_that_breaks_a_law_of_the_board_is_found_out(law: str) -> None:
    state = Full().state
    broken = GAME.rules.laws(replace(state, board=replace(state.laid, **BROKEN[law])))
    assert [name for name, kept in broken.items() if not kept and name.endswith(law)]
