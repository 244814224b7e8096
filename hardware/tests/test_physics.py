"""Tokens that fall on paper are counted by the real controller, one for one while they come one at a time."""

from __future__ import annotations

import tomllib

import pytest

from controller.counting import Limits
from controller.script import read
from hardware.parameters import TEMPLE
from hardware.physics.__main__ import MEASURED
from hardware.physics.counting import band, count_tokens, counted, measured, scenario
from hardware.physics.drops import MOST, Batch, Spell, singles

APART_MS = 400
"""One after the other, each alone in its chute."""


@pytest.fixture(scope="module")
def batches() -> list[Batch]:
    return [singles(TEMPLE, kind, seed, 6, APART_MS) for seed, kind in enumerate(TEMPLE.tokens)]


def test_every_token_that_falls_alone_is_counted_once(batches: list[Batch]) -> None:
    outcome = count_tokens(scenario(batches), Limits())
    assert outcome.complaints == ()
    assert counted(outcome) == sum(batch.dropped for batch in batches)


def test_every_kind_comes_out_and_is_wider_than_the_least_that_counts(batches: list[Batch]) -> None:
    assert [batch.through for batch in batches] == [batch.dropped for batch in batches]
    assert measured(batches).low_ns > Limits().min_break


def test_the_same_seed_drops_the_same_tokens(batches: list[Batch]) -> None:
    assert singles(TEMPLE, TEMPLE.tokens[0], 0, 6, APART_MS) == batches[0]


def test_two_tokens_that_merge_are_missed_and_said_to_be() -> None:
    merged = Batch("bead 12", 1, 2, 2, (Spell(100.0, 36.0),), 500.0)
    outcome = count_tokens(scenario([merged]), Limits())
    assert outcome.complaints
    assert counted(outcome) == 1


def test_a_temple_that_learned_its_tokens_flags_what_merged(batches: list[Batch]) -> None:
    beads = [batch for batch in batches if batch.kind == "bead 12"]
    limits = band(beads)
    widest = max(spell.width_ms for batch in beads for spell in batch.spells)
    outcome = count_tokens(scenario([Batch("bead 12", 1, 2, 2, (Spell(100.0, 2 * widest),), 500.0)]), limits)
    assert [sorted(token.flags) for token in outcome.tokens] == [["overlap", "simulated"]]


def test_a_batch_that_would_not_finish_is_refused() -> None:
    with pytest.raises(ValueError, match="41 tokens in one batch; expected at most 40"):
        singles(TEMPLE, TEMPLE.tokens[0], 1, MOST + 1)


def test_a_scenario_of_drops_is_one_that_the_controller_reads(batches: list[Batch]) -> None:
    script = read(scenario(batches).encode())
    assert sum(script.expected.tokens.values()) == sum(batch.dropped for batch in batches)


def test_the_counters_defaults_follow_from_what_was_measured() -> None:
    """What no token was ever narrower, closer or longer than, with room to both sides."""
    known = tomllib.loads(MEASURED.read_text("utf-8"))
    limits = Limits()
    kinds = known["kinds"].values()
    assert set(known["kinds"]) == {token.name for token in TEMPLE.tokens}
    assert min(kind["low_ms"] for kind in kinds) * 1e6 > limits.min_break
    assert max(kind["high_ms"] for kind in kinds) * 1e6 * 4 < limits.max_break
    assert known["limits"]["min_clear_ms"] * 1e6 == limits.min_clear
