"""The Pico's judge comes to the controller's doubts, token by token."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from controller.core import judge
from controller.core.counting import MS, Limits
from controller.simulation.parser import Script, variants
from controller.simulation.timeline import expand
from firmware.tests.counters import reference
from templo.contract import God
from tests.firmware.test_pico import module

ROOT = Path(__file__).parents[2]
SCENARIOS = {
    f"{file.stem} {name}": script
    for file in sorted((ROOT / "controller" / "simulation" / "scenarios").glob("[cl]*/*.toml"))
    for name, script in variants(file.read_bytes(), file.name).items()
}
Token = tuple[God, int, int]


def both(limits: Limits) -> tuple[judge.Judge, Any]:
    """Return the controller's judge and the Pico's, with the same limits."""
    us = [None if each is None else each // 1000 for each in (limits.band, limits.narrow)]
    slots = module("slots").Limits(band=us[0], narrow=us[1], fastest=limits.fastest)
    return judge.Judge(limits), module("judge").Judge(slots)


def said(found: Iterable[judge.Doubted]) -> list[tuple[str, int]]:
    return sorted((str(each.reason), int(token)) for each in found for token in each.tokens)


def shown(found: Iterable[tuple[int, int]]) -> list[tuple[str, int]]:
    return sorted((module("judge").REASONS[reason], token) for reason, token in found)


def compare(tokens: Iterable[Token], limits: Limits) -> int:
    """Give both the same tokens, in microseconds rounded to the Pico's ticks; return how many they doubt."""
    theirs, ours = both(limits)
    doubted = 0
    for number, (god, *times) in enumerate(tokens):
        start_us, width_us = (us // 20 * 20 for us in times)
        expected = said(theirs.take(god, str(number), start_us * 1000, width_us * 1000))
        found = ours.take(list(God).index(god), number, start_us, width_us)
        assert shown(found) == expected
        doubted += len(found)
    return doubted


def a_train(chance: random.Random) -> list[Token]:
    """Return tokens at changing rates, evenly and unevenly, now and then in both slots at once."""
    tokens, at_us = [], 0
    while len(tokens) < 1_200:
        every_us, spread = chance.choice([10, 25, 60, 120, 300, 2_500]) * MS // 1000, chance.choice([0, 0.02, 0.9])
        together = chance.choice([0.0, 0.0, 0.3, 1.0])
        gods = chance.choice([[God.TLALOC], list(God)])
        for _ in range(chance.choice([3, 12, 30, 150])):
            at_us += round(every_us * (1 + spread * (chance.random() - 0.5)))
            width_us = chance.choice([4_000, 9_000, chance.randrange(3_000, 30_000)])
            god = chance.choice(gods)
            tokens.append((god, at_us, width_us))
            if chance.random() < together:
                other = next(each for each in God if each is not god)
                tokens.append((other, at_us + chance.randrange(0, 2_500), width_us))
    return sorted(tokens, key=lambda token: token[1] + token[2])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "limits", [Limits(), Limits(band=20 * MS, narrow=4 * MS), Limits(fastest=7), Limits(fastest=40)], ids=repr
)
def test_any_train_of_tokens_is_doubted_as_by_the_controller(seed: int, limits: Limits) -> None:
    assert compare(a_train(random.Random(seed)), limits) > 20


@pytest.mark.parametrize("script", SCENARIOS.values(), ids=SCENARIOS)
def test_every_scenario_of_light_and_of_people_is_doubted_as_by_the_controller(script: Script) -> None:
    limits = script.limits(Limits())
    tokens = [
        (god, each.start_ns // 1000, each.width_ns // 1000)
        for god, found in reference(expand(script), limits).items()
        for each in found
    ]
    compare(sorted(tokens, key=lambda token: token[1] + token[2]), limits)


def test_what_a_beam_made_since_it_was_proved_and_before_it_flickered_is_doubted_as_by_the_controller() -> None:
    for seed in range(20):
        chance, (theirs, ours) = random.Random(seed), both(Limits())
        for number in range(300):
            at_us, god = number * 400_000 + 20 * chance.randrange(15_000), chance.choice(list(God))
            place = list(God).index(god)
            theirs.take(god, str(number), at_us * 1000, 9 * MS)
            ours.take(place, number, at_us, 9_000)
            if chance.random() < 0.05:
                since_us = at_us - 20 * chance.randrange(3_000_000)
                expected = said(theirs.unproved(god, since_us * 1000))
                assert shown(ours.unproved(place, since_us)) == expected
            if chance.random() < 0.05:
                expected = said(theirs.flickers(god, at_us * 1000))
                assert shown(ours.flickers(place, at_us)) == expected


def test_a_board_that_is_on_for_weeks_doubts_as_on_its_first_evening() -> None:
    """Its numbers stay small by moving their zero, between two tokens of a handful too."""
    chance, day_us = random.Random(7), 86_400_000_000
    evenings = [
        (god, day * day_us + hour * 1_000_000 + start_us, width_us)
        for day in range(20)
        for hour in (0, 5_366)
        for god, start_us, width_us in a_train(chance)[:300]
    ]
    assert compare(evenings, Limits()) > 20
