"""The deduction help against brute force: every way in which chits and names may lie, counted one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations
from random import Random

import pytest

from companion.games.moctezuma import GAME
from companion.games.moctezuma.page.view import knowledge
from companion.games.moctezuma.rules.deduction import Knowledge, deduce
from companion.games.moctezuma.rules.knowledge import untouched
from companion.games.moctezuma.rules.pieces import COPIES, KINGS, SPACES, TEMPLES, UNSEEN, chits
from companion.games.moctezuma.rules.scoring import cursed_kings, factor
from tests.games.moctezuma_sitting import Sitting, played_out

NOTHING = (UNSEEN,) * SPACES
NO_NAMES = (UNSEEN,) * TEMPLES


def placements(known: Knowledge) -> list[tuple[bool, ...]]:
    """Return the cursed kings of each way in which the bag's chits may lie, on the chart and beside it."""
    bag = chits(known.curse_rule)
    places = (*known.chits, *(UNSEEN,) * (bag.all - SPACES))
    found = []
    hidden = [n for n, face in enumerate(places) if face == UNSEEN]
    for cursed in combinations(hidden, bag.cursed - places.count(1)):
        faces = [int(face == 1 or n in cursed) for n, face in enumerate(places)]
        found.append(cursed_kings(faces, known.curse_rule, known.third_chit))
    return found


def namings(known: Knowledge) -> set[tuple[int, ...]]:
    """Return each way in which the names that nobody has seen may stand at the temples."""
    left = [name for name, copies in enumerate(COPIES) for _ in range(copies - known.names.count(name))]
    hidden = [n for n, name in enumerate(known.names) if name == UNSEEN]
    found = set()
    for dealt in set(permutations(left)):
        names = list(known.names)
        for temple, name in zip(hidden, dealt, strict=True):
            names[temple] = name
        found.add(tuple(names))
    return found


@pytest.mark.parametrize("third_chit", ["second", "first"])
@pytest.mark.parametrize("rule", ["any", "majority", "all"])
def test_a_king_is_as_likely_cursed_as_the_placements_say(rule: str, third_chit: str) -> None:
    random = Random(f"{rule} {third_chit}")
    for seen in (0, 3, 6, 9, 13, 15):
        faces = [1] * 7 + [0] * 9
        random.shuffle(faces)
        looked = set(random.sample(range(SPACES), seen))
        known = Knowledge(
            tuple(faces[n] if n in looked else UNSEEN for n in range(SPACES)), NO_NAMES, rule, third_chit
        )
        ways = placements(known)
        for king in range(len(KINGS)):
            assert deduce(known).kings[king] == Fraction(sum(way[king] for way in ways), len(ways))


def test_the_later_bag_of_chits_is_counted_as_well() -> None:
    random = Random("two_plus")
    faces = [1] * 14 + [0] * 11
    random.shuffle(faces)
    known = Knowledge((*faces[:11], *(UNSEEN,) * 4), NO_NAMES, "two_plus", "second")
    ways = placements(known)
    for king in range(len(KINGS)):
        assert deduce(known).kings[king] == Fraction(sum(way[king] for way in ways), len(ways))


@pytest.mark.parametrize("seed", range(4))
def test_a_temples_names_curse_and_worth_are_what_the_ways_say_together(seed: int) -> None:
    random = Random(seed)
    names = [name for name, copies in enumerate(COPIES) for _ in range(copies)]
    random.shuffle(names)
    read = set(random.sample(range(TEMPLES), 5))
    faces = [1] * 7 + [0] * 9
    random.shuffle(faces)
    known = Knowledge(
        tuple(face if n < 9 else UNSEEN for n, face in enumerate(faces[:SPACES])),
        tuple(name if n in read else UNSEEN for n, name in enumerate(names)),
        "any",
        "second",
    )
    found, ways, stand = deduce(known), placements(known), namings(known)
    for temple in range(TEMPLES):
        for name in range(len(COPIES)):
            share = Fraction(sum(way[temple] == name for way in stand), len(stand))
            assert found.temples[temple].names[name] == share
        both = [(way[temple], cursed) for way in stand for cursed in ways]
        assert found.temples[temple].cursed == Fraction(
            sum(name < 7 and cursed[name] for name, cursed in both), len(both)
        )
        assert found.temples[temple].worth == Fraction(sum(factor(name, cursed) for name, cursed in both), len(both))


def test_without_any_knowledge_the_table_of_the_rulings_comes_out() -> None:
    """Moctezuma with three chits is cursed in 85 of 100 games, and 5.05 kings are on the average (Z1)."""
    found = deduce(Knowledge(NOTHING, NO_NAMES, "any", "second"))
    assert round(float(found.kings[6]), 2) == 0.85
    assert round(float(sum(found.kings)), 2) == 5.05
    assert {temple.names[7] for temple in found.temples} == {Fraction(3, 10)}


def test_the_help_knows_what_the_seat_knows_and_no_more() -> None:
    table = Sitting().peek(0, 7, faces="ss").end()
    assert table.notebook("red")["deduction"]["kings"]["chimalpopoca"] == {"exact": "0", "about": 0.0}
    assert table.notebook("blue")["deduction"] == Sitting().notebook("red")["deduction"]


def test_a_name_that_was_read_is_gone_from_all_other_temples() -> None:
    table = Sitting().explore(4, 2, "tizoc", 1, keep=1)
    said = table.notebook("red")["deduction"]
    assert said["read"]["4"]["names"] == {"tizoc": {"exact": "1", "about": 1.0}}
    assert "tizoc" not in said["unread"]["names"]
    assert said["unread"]["names"]["clue"]["exact"] == "1/3"


def test_a_table_may_do_without_the_help() -> None:
    assert Sitting(deduction="off").notebook("red")["deduction"] is None


def test_the_help_agrees_with_how_the_game_goes_on() -> None:
    """What is certain to a seat is so: over whole games, no king and no temple turns out otherwise."""
    for seed in range(3):
        steps = played_out(2, f"certain {seed}", flip="turn")
        end = steps[-1][0]
        cursed = cursed_kings(end.chits, "any", "second")
        for state, _, _ in steps[:: len(steps) // 12]:
            for at in range(2):
                found = deduce(knowledge(state, at))
                for king, chance in enumerate(found.kings):
                    assert chance != (0 if cursed[king] else 1)
                for temple, name in enumerate(end.names):
                    assert found.temples[temple].names[name] > 0


def left(table: Sitting, seat: str) -> dict[str, dict[int, int]]:
    decks = table.notebook(seat)["deduction"]["decks"]
    return {temple: {card["worth"]: card["n"] for card in cards} for temple, cards in decks.items()}


def test_the_help_counts_what_is_left_in_a_deck_that_only_this_seat_drew_from() -> None:
    table = Sitting().explore(4, 2, "tizoc", 1, keep=1).end()
    assert left(table, "red") == {"4": {1: 4, 2: 3, 3: 2, 5: 1}}
    assert left(table, "blue") == {}
    table.explore(4, 2, 5, 2, keep=5).end()
    assert left(table, "red") == left(table, "blue") == {}


def test_a_deck_from_which_another_is_drawing_is_no_longer_counted() -> None:
    table = Sitting().explore(4, 2, 1, 1, keep=1).end()
    table.put(4).do("explore", 2)
    assert left(table, "red") == {}
    table.dealt(1)
    assert left(table, "red") == {}


def test_what_the_help_counts_in_a_deck_follows_from_what_the_seat_knows_alone() -> None:
    """However the game may lie for a seat, the decks that it counts hold the same cards."""
    counted = 0
    for state, _, _ in played_out(3, "decks")[::15]:
        for at, seat in enumerate(state.seats):
            known = [untouched(state, at, temple) for temple in range(1, TEMPLES + 1)]
            counted += sum(left is not None for left in known)
            other = GAME.rules.resample(state, seat, Random(at).randrange)
            assert [untouched(other, at, temple) for temple in range(1, TEMPLES + 1)] == known
    assert counted
