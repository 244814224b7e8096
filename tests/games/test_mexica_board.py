from __future__ import annotations

import random
import re
from itertools import combinations
from math import hypot
from types import SimpleNamespace

import pytest

from companion.games.mexica.page import board
from companion.games.mexica.page.regions import regions


def mixed(war: int, rain: int) -> str:
    tokens = ["h"] * war + ["t"] * rain
    random.Random(7).shuffle(tokens)
    return "".join(tokens)


def test_every_bead_lies_in_its_half_between_the_shore_and_the_temple() -> None:
    for pitch in board._PITCHES:
        for side in (-1, 1):
            for spot in board._half(pitch, side):
                x, y = (spot.x - board.CENTRE_X) * side, spot.y - board.CENTRE_Y
                assert x - pitch / 2 > board.CHANNEL
                assert hypot(x, y) + pitch / 2 < board.SHORE
                assert max(abs(x), abs(y)) - pitch / 2 >= board.TEMPLE - 0.01


def test_no_two_beads_of_a_half_lie_on_each_other() -> None:
    for pitch in board._PITCHES:
        for one, other in combinations(board._half(pitch, 1), 2):
            assert hypot(one.x - other.x, one.y - other.y) > pitch * 0.88


def test_all_360_tokens_of_the_box_find_room_in_one_half() -> None:
    beads = board.lake("h" * 360, 0)
    assert beads.war.count("M") == 359
    assert beads.newest is not None


def test_the_newest_bead_is_the_last_that_fell_and_lies_apart_from_its_row() -> None:
    beads = board.lake("htt", 130)
    assert (beads.war.count("M"), beads.rain.count("M")) == (1, 1)
    assert beads.newest_god == "tlaloc"
    assert board.lake("", 130).newest is None


def test_beads_keep_their_places_while_others_join_them() -> None:
    before, after = board.lake(mixed(40, 40), 169), board.lake(mixed(40, 40) + "hhhh", 169)
    assert after.war.startswith(before.war)


@pytest.mark.parametrize("threshold", [13, 52, 104, 260, 360])
def test_the_ring_holds_a_bead_for_each_token_of_the_age(threshold: int) -> None:
    order = mixed(threshold // 3, threshold // 4)
    ring = board.ring(order, threshold)
    assert ring.war.count("M") == order.count("h")
    assert ring.rain.count("M") == order.count("t")
    assert ring.war.count("M") + ring.rain.count("M") + ring.to_come.count("M") == threshold


def test_there_are_thirteen_stones_and_all_lie_within_the_drawing() -> None:
    assert len(board.stones()) == 13
    for outline in board.stones():
        for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", outline):
            assert 0 <= float(x) <= board.WIDTH
            assert 0 <= float(y) <= board.HEIGHT


@pytest.mark.parametrize(
    ("number", "feathers", "flags", "dots"), [(0, 0, 0, 0), (19, 0, 0, 19), (117, 0, 5, 17), (401, 1, 0, 1)]
)
def test_a_number_is_written_with_feathers_flags_and_dots(number: int, feathers: int, flags: int, dots: int) -> None:
    numeral = board.numeral(number)
    assert (len(numeral.feathers), len(numeral.flags), len(numeral.dots)) == (feathers, flags, dots)
    assert all(0 <= x <= 160 for x in (*numeral.feathers, *numeral.flags, *numeral.dots))


def test_a_full_lake_and_its_ring_stay_small_on_the_wire() -> None:
    order = mixed(200, 160)
    lake, ring = board.lake(order, 234), board.ring(order, 360)
    assert sum(map(len, (lake.war, lake.rain, ring.war, ring.rain, ring.to_come))) < 16_000


SPECTATOR = {
    "scope": "temple_only",
    "me": None,
    "seats": ["east", "west"],
    "turn": 3,
    "round": 2,
    "on_turn": "east",
    "gods": {"huitzilopochtli": 2, "tlaloc": 1},
    "given": {"east": {"huitzilopochtli": 2, "tlaloc": 0}, "west": {"huitzilopochtli": 0, "tlaloc": 1}},
    "lake": "hht",
    "total": 3,
    "threshold": 260,
    "left": 257,
    "week_cards": 0,
    "week_threshold": 20,
    "leader": "huitzilopochtli",
    "doom_god": "huitzilopochtli",
    "countdown": None,
    "unclaimed": [],
    "correction": None,
    "outcome": None,
    "countdown_unit": "turns",
    "doom_by": "leader",
    "doom_effects": "countdown",
}


def choice(key: str, group: str, **facts: object) -> dict[str, object]:
    return {"key": key, "facts": facts, "element": "", "move": [key], "group": group, "confirm": False}


def tapped(*numbers: int) -> list[dict[str, object]]:
    return [choice("sacrifice", "tap", god=god, n=n) for god in ("huitzilopochtli", "tlaloc") for n in numbers]


def cut(**more: object) -> SimpleNamespace:
    return SimpleNamespace(**regions(SPECTATOR | more))


def test_a_token_changes_no_region_that_does_not_show_it() -> None:
    before = regions(SPECTATOR)
    gods = {"huitzilopochtli": 3, "tlaloc": 1}
    given = {"east": {"huitzilopochtli": 3, "tlaloc": 0}, "west": {"huitzilopochtli": 0, "tlaloc": 1}}
    after = regions(SPECTATOR | {"lake": "hhth", "gods": gods, "given": given, "total": 4, "left": 256})
    assert {name for name in after if after[name] != before[name]} == {
        "clock",
        "lake",
        "ring",
        "tally",
        "omen",
        "given",
        "people",
    }


def test_who_only_watches_finds_nothing_to_tap() -> None:
    page = cut()
    assert page.action["choice"] is None
    assert page.taps["gods"] == []
    assert page.drawer["taps"] == page.drawer["week"] == page.drawer["settle"] == []


def test_tapping_is_the_main_thing_only_where_no_temple_counts() -> None:
    alone = cut(acting="east", choices=tapped(1, 2, 7))
    served = cut(acting="east", choices=tapped(1, 2, 7), temple="home")
    assert [[tap["facts"]["n"] for tap in side["taps"]] for side in alone.taps["gods"]] == [[1, 7], [1, 7]]
    assert [[tap["facts"]["n"] for tap in side["taps"]] for side in alone.drawer["taps"]] == [[2], [2]]
    assert served.taps["gods"] == []
    assert [[tap["facts"]["n"] for tap in side["taps"]] for side in served.drawer["taps"]] == [[1, 2, 7], [1, 2, 7]]


def test_the_token_that_waits_longest_is_asked_about_and_the_others_are_counted() -> None:
    waiting = [{"id": name, "god": "tlaloc", "doubt": "earlier", "suggested": "west"} for name in ("first", "second")]
    claims = [choice("claim", "unclaimed", token=name, seat="west") for name in ("first", "second")]
    page = cut(acting="east", unclaimed=waiting, choices=claims)
    assert page.unclaimed["waiting"] == 2
    assert [each["facts"]["token"] for each in page.unclaimed["claims"]] == ["first"]


def test_a_shared_phone_confirms_a_correction_as_any_of_its_other_seats() -> None:
    proposal = {"by": "east", "seat": "west", "god": "tlaloc", "delta": 2}
    own = [choice("withdraw", "correction")]
    other = [choice("confirm", "correction"), choice("withdraw", "correction")]
    page = cut(acting="east", choices=own, also={"west": other}, correction=proposal)
    assert [(each["seat"], each["choice"]["key"]) for each in page.correction["answers"]] == [
        ("west", "confirm"),
        ("east", "withdraw"),
    ]


def test_the_end_takes_the_place_of_lake_and_ring() -> None:
    page = cut(outcome={"kind": "flood", "seat": None}, on_turn=None)
    assert not page.lake["shown"]
    assert not page.ring["shown"]
