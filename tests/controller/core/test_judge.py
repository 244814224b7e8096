"""The judge: light, loose plugs and dips are doubted, and nothing that people do with tokens is."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.core.counting import MS, SECOND, WIDTH_NS, Limits
from controller.core.judge import Judge, Reason
from controller.simulation.beams import SPACING_NS, WIDER_NS
from templo.contract import God

Spell = tuple[God, float, float]
"""A god, and the start and the width of a dark spell in milliseconds."""


def doubted(spells: Iterable[Spell], limits: Limits | None = None) -> dict[int, Reason]:
    """Return the number of each spell that is doubted in the end, and why."""
    judge = Judge(limits or Limits())
    found = {}
    for number, (god, start, width) in enumerate(spells):
        for each in judge.take(god, str(number), round(start * MS), round(width * MS)):
            found.update({int(token): each.reason for token in each.tokens})
    return found


def in_one_slot(starts: Iterable[float], width: Iterable[float] | float = 12.0) -> list[Spell]:
    widths = iter(width) if not isinstance(width, float) else None
    return [(God.TLALOC, start, 12.0 if widths is None else next(widths)) for start in starts]


@pytest.mark.parametrize("per_s", [20, 25, 30, 40, 50, 59, 60, 100])
@pytest.mark.parametrize("lasting_s", [0.2, 2, 10, 120])
def test_of_a_lamp_that_flickers_at_most_eight_spells_are_scored(per_s: int, lasting_s: float) -> None:
    draw = random.Random(per_s)
    number = round(per_s * lasting_s)
    spells = in_one_slot((n * 1000 / per_s for n in range(number)), (draw.uniform(3, 9) for _ in range(number)))
    assert number - len(doubted(spells)) <= 8


def test_of_an_irregular_contact_that_keeps_thirty_a_second_up_for_ten_seconds_nothing_is_scored() -> None:
    draw, at_ms, starts = random.Random(7), 0.0, []
    while at_ms < 10_000:
        starts.append(at_ms)
        at_ms += draw.uniform(18, 48)
    assert len(doubted(in_one_slot(starts))) == len(starts)


def test_of_a_slow_fan_of_equal_blades_everything_is_doubted_from_the_eighth_on_and_before() -> None:
    found = doubted(in_one_slot(n * 700 for n in range(12)))
    assert found == dict.fromkeys(range(12), Reason.REGULAR)


@pytest.mark.parametrize("later_ms", [n / 4 for n in range(-24, 25)])
def test_simulated_handfuls_into_both_slots_are_no_dip_however_far_apart_they_begin(later_ms: float) -> None:
    spells = sorted(
        (
            (god, n * SPACING_NS / MS + (later_ms if god is God.TLALOC else 0), (WIDTH_NS + WIDER_NS[god]) / MS)
            for n in range(6)
            for god in God
        ),
        key=lambda spell: spell[1] + spell[2],
    )
    assert doubted(spells) == {}


def test_a_slow_and_irregular_shadow_as_wide_as_a_token_cannot_be_told_from_tokens() -> None:
    draw = random.Random(3)
    at_ms, starts = 0.0, []
    for _ in range(60):
        starts.append(at_ms)
        at_ms += draw.uniform(300, 1500)
    assert doubted(in_one_slot(starts, (draw.uniform(9, 16) for _ in starts))) == {}


@pytest.mark.parametrize("apart_ms", [0, 1, 2])
def test_both_beams_that_break_and_clear_at_one_moment_are_a_dip_of_the_supply(apart_ms: float) -> None:
    spells: list[Spell] = [(God.TLALOC, 1000, 40), (God.HUITZILOPOCHTLI, 1000 + apart_ms, 40)]
    assert doubted(spells) == {0: Reason.TOGETHER, 1: Reason.TOGETHER}


def test_tokens_that_begin_together_and_end_apart_are_tokens() -> None:
    assert doubted([(God.TLALOC, 1000, 12), (God.HUITZILOPOCHTLI, 1000, 16)]) == {}


@pytest.mark.parametrize("seed", range(8))
def test_a_child_that_drops_sixty_as_fast_as_it_can_is_believed(seed: int) -> None:
    draw, at_ms, starts = random.Random(seed), 0.0, []
    for _ in range(60):
        starts.append(at_ms)
        at_ms += draw.uniform(90, 260)
    assert doubted(in_one_slot(starts, (draw.uniform(9, 16) for _ in starts))) == {}


@pytest.mark.parametrize("per_s", range(11, 18))
def test_a_bowl_of_twelve_that_is_swept_three_times_is_believed(per_s: int) -> None:
    draw, spells = random.Random(per_s), []
    for bowl in range(3):
        at_ms = bowl * 2500.0
        for _ in range(12):
            spells.append((God.TLALOC, at_ms, draw.uniform(9, 24)))
            at_ms += draw.uniform(0.7, 1.3) * 1000 / per_s
    assert doubted(spells) == {}


@pytest.mark.parametrize("number", [3, 5, 7, 12])
def test_a_hand_through_the_throat_is_believed(number: int) -> None:
    for seed in range(50):
        draw, at_ms, spells = random.Random(seed), 0.0, []
        for _ in range(number):
            spells.append((God.TLALOC, at_ms, draw.uniform(9, 24)))
            at_ms += draw.uniform(25, 110)
        assert doubted(spells) == {}, seed


def test_tokens_outside_the_learned_band_that_come_fast_are_doubted() -> None:
    draw, at_ms, starts = random.Random(5), 0.0, []
    for _ in range(24):
        starts.append(at_ms)
        at_ms += draw.uniform(80, 180)
    widths = [draw.uniform(30, 120) for _ in starts]
    assert doubted(in_one_slot(starts, widths)) == {}
    assert len(doubted(in_one_slot(starts, widths), Limits(band=20 * MS, narrow=6 * MS))) == 24


def test_a_beam_that_is_found_to_flicker_makes_its_tokens_of_two_seconds_doubtful_and_no_others() -> None:
    judge = Judge(Limits())
    for number, at_ms in enumerate((0, 5000, 5400, 5900)):
        assert judge.take(God.TLALOC, str(number), at_ms * MS, 12 * MS) == []
    assert judge.take(God.HUITZILOPOCHTLI, "other", 5500 * MS, 12 * MS) == []
    (found,) = judge.flickers(God.TLALOC, 6 * SECOND)
    assert (found.reason, found.tokens) == (Reason.FLICKER, ("1", "2", "3"))
    assert judge.flickers(God.TLALOC, 6 * SECOND) == []


def test_what_follows_within_a_second_of_light_is_light_and_what_follows_later_is_not() -> None:
    light = [n * 20.0 for n in range(12)]
    found = doubted(in_one_slot([*light, 900.0, 3000.0]))
    assert set(found) == set(range(13))


_TRAINS = st.lists(st.tuples(st.sampled_from(list(God)), st.integers(1, 400), st.integers(3, 240)), max_size=120)


@given(_TRAINS)
def test_a_token_is_doubted_at_most_once_and_never_before_it_was_counted(train: list[tuple[God, int, int]]) -> None:
    judge, at_ms, seen = Judge(Limits(band=20 * MS, narrow=5 * MS)), 0, set()
    for number, (god, step, width) in enumerate(train):
        at_ms += step
        for found in judge.take(god, str(number), at_ms * MS, width * MS):
            assert not seen & set(found.tokens)
            assert len(set(found.tokens)) == len(found.tokens)
            assert all(int(token) <= number for token in found.tokens)
            seen |= set(found.tokens)
