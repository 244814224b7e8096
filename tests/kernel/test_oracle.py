"""The oracle that `make kernel` compares a temple's ledger with."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.kernel.oracle import MAX_BREAK, MS, Counted, Spell, compare, plan, spells


def as_written(tokens: int, stall_ms: float = 0.0) -> list[Spell]:
    """Return the spells of a plan for one line whose every write took 20 us, some of them after a stall."""
    at, writes, random_ = 0, [], random.Random(1)
    for wait_us, _, dark in plan(tokens, (17,), seed=3):
        at += wait_us * 1000 + (round(stall_ms * MS) if random_.random() < 0.1 else 0)
        writes.append((at, at + MS // 50, dark))
    return spells(writes)


def counted(fell: list[Spell]) -> list[Counted]:
    return [Counted(spell.start_ns, spell.widest) for spell in fell if spell.fewest]


def test_a_plan_lets_as_many_tokens_fall_as_it_was_asked_for() -> None:
    fell = as_written(500)
    assert sum(spell.fewest for spell in fell) == sum(spell.most for spell in fell) == 500


def test_what_was_counted_as_it_fell_is_neither_lost_nor_invented() -> None:
    fell = as_written(500)
    verdict = compare(fell, counted(fell))
    assert (verdict.fell, verdict.lost, verdict.invented, verdict.uncertain) == (500, (), (), 0)


def test_each_token_that_is_missing_is_found() -> None:
    fell = as_written(100)
    there = counted(fell)
    assert compare(fell, there[:30] + there[31:70] + there[72:]).lost == (fell[30], fell[70], fell[71])


def test_each_token_that_never_fell_is_found() -> None:
    fell = as_written(100)
    there = counted(fell)
    false = replace(there[50], width_ns=there[50].width_ns + 80 * MS)
    assert compare(fell, [*there[:51], false, *there[51:]]).invented == (false,)


def test_a_token_counted_twice_is_found() -> None:
    fell = as_written(100)
    there = counted(fell)
    assert len(compare(fell, [*there[:51], *there[50:]]).invented) == 1


def test_a_machine_that_stands_still_between_two_writes_makes_other_spells_and_no_fault() -> None:
    fell = as_written(300, stall_ms=8)
    assert sum(spell.most for spell in fell) > 300  # a stalled bounce is long enough for a token, or for a gap
    verdict = compare(fell, counted(fell))
    assert (verdict.lost, verdict.invented) == ((), ())


def test_a_gap_that_may_be_just_long_enough_allows_one_token_and_two() -> None:
    (spell,) = spells([(0, 0, 1), (4 * MS, 4 * MS, 0), (9 * MS - 9000, 9 * MS + 9000, 1), (14 * MS, 14 * MS, 0)])
    assert (spell.fewest, spell.most) == (1, 2)


def test_a_jam_is_false_where_the_beam_was_never_dark_for_so_long() -> None:
    narrow, wide = Spell(0, 1, 1, 12 * MS, 12 * MS), Spell(900 * MS, 1, 1, 300 * MS, 300 * MS)
    tokens = [Counted(0, 12 * MS, jam=True), Counted(900 * MS, 300 * MS, jam=True)]
    assert compare([narrow, wide], tokens).false_jams == 1


def test_a_token_that_was_counted_before_its_last_bounce_came_is_cut_short_and_not_lost() -> None:
    writes = [(0, 0, 1), (4 * MS, 4 * MS, 0), (6 * MS, 6 * MS, 1), (20 * MS, 20 * MS, 0)]
    verdict = compare(spells(writes), [Counted(0, 4 * MS)])
    assert (verdict.lost, verdict.invented, verdict.cut_short) == ((), (), 1)
    assert compare(spells(writes), [Counted(0, 20 * MS)]).cut_short == 0
    assert compare(spells(writes), [Counted(0, 9 * MS)]).lost


def test_tokens_that_stay_in_their_beam_are_jams_of_a_plan_and_no_false_ones() -> None:
    at, writes = 0, []
    for wait_us, _, dark in plan(500, (17,), seed=3, jams=0.1):
        at += wait_us * 1000
        writes.append((at, at, dark))
    fell = spells(writes)
    jams = [spell for spell in fell if spell.narrowest >= MAX_BREAK]
    assert 20 < len(jams) < 100
    there = [Counted(spell.start_ns, MAX_BREAK if spell in jams else spell.widest, spell in jams) for spell in fell]
    verdict = compare(fell, [each for each, spell in zip(there, fell, strict=True) if spell.fewest])
    assert (verdict.fell, verdict.lost, verdict.invented, verdict.false_jams) == (500, (), (), 0)
