"""What is always so in Mexica, whatever is played: the invariants of its rulings, checked after every move."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from companion.games.kit import TEMPLE, Move, replace
from companion.games.mexica import GAME
from companion.games.mexica.rules import apocalypse
from companion.games.mexica.rules.state import Outcome, State
from companion.games.mexica.rules.tallies import EVEN, GODS, HUITZILOPOCHTLI, LETTERS, TLALOC, Gifts, Tallies, Tally
from tests.games.playouts import Combination, Step, accepted, check_value, doubted, drop
from tests.games.sitting import Sitting, all_options, triggered

EVENINGS = 60


def evening(seed: int) -> tuple[dict[str, Any], tuple[str, ...], list[Step]]:
    """Play a sitting as people do: mostly small gifts and turns, a slip now and then, and hardly ever a settler."""
    random = Random(seed)
    seats = GAME.seatings[random.choice((2, 3, 4))]
    here = Combination(GAME, "temple_only", seats)
    options = here.any_options(random) | {"apocalypse_tokens": random.choice((13, 20, 52))}
    state, steps = GAME.rules.setup(options, seats), []
    weights = {"sacrifice": 6, "end_turn": 8, "settle": 0.02, "issue": 1.0, "propose": 1, "bare": 2}
    for fallen in range(400):
        seat = random.choice(seats)
        moves = GAME.rules.moves(state, seat)
        if random.random() < 0.1 and (doubt := doubted(GAME, state, random)):
            seat, move = TEMPLE, doubt
        elif random.random() < 0.3 or not moves:
            if state.over and fallen % 5 == 0:
                break
            seat, move = TEMPLE, GAME.temple.drop(state, drop(fallen, random))
        else:
            names = sorted({move.name for move in moves})
            name = random.choices(names, [weights.get(each, 1) for each in names])[0]
            move = random.choice([each for each in moves if each.name == name])
            if name == "sacrifice":
                move = Move(name, (_balancing(state, random), random.choice((1, 1, 2))))
        after = accepted(GAME.rules.play(state, seat, move), move)
        steps.append(Step(state, seat, move, after))
        state = after
    return options, seats, steps


def _balancing(state: State, random: Random) -> str:
    """Give mostly to the god who has less, so that the gods are often even."""
    leader = state.tallies.leader
    if leader == EVEN or random.random() < 0.3:
        return random.choice(GODS)
    return TLALOC if leader == HUITZILOPOCHTLI else HUITZILOPOCHTLI


@pytest.fixture(scope="module")
def evenings() -> list[tuple[dict[str, Any], tuple[str, ...], list[Step]]]:
    return [evening(seed) for seed in range(EVENINGS)]


def test_the_evenings_show_every_move_every_end_and_every_line(evenings: Any) -> None:
    """Or the laws below would be checked against less than they claim."""
    steps = [step for _, _, steps in evenings for step in steps]
    lines = Counter(
        line.code for step in steps for line in GAME.page.log(step.before, step.seat, step.move, step.after)
    )
    ends = {step.after.outcome.kind for step in steps if step.after.outcome}
    assert ends == {"flood", "war", "stillness", "settled"}
    assert set(lines) == {
        "turn_ended", "turn_ended_for", "gave", "unclaimed", "claimed", "dismissed", "proposed", "confirmed",
        "withdrawn", "issued", "bare", "triggered", "tick", "forestalled", "settled", "ended", "doubted",
    }  # fmt: skip


def test_what_counts_for_a_god_is_what_was_credited_and_corrected(evenings: Any) -> None:
    for _, _, steps in evenings:
        for step in steps:
            tallies, view = step.after.tallies, GAME.page.view(step.after, None)
            for god in GODS:
                credited = sum(tally.credited.to(god) for tally in tallies)
                corrected = sum(tally.corrected.to(god) for tally in tallies)
                assert view["gods"][god] == credited + corrected  # type: ignore[index,call-overload]
                assert all(tally.given(god) >= 0 for tally in tallies)


def test_the_lake_holds_exactly_what_counts(evenings: Any) -> None:
    for _, _, steps in evenings:
        for step in steps:
            tallies, lake = step.after.tallies, Counter(step.after.tallies.lake)
            assert len(tallies.lake) == tallies.total
            assert lake == Counter(
                {LETTERS[god]: n for god in GODS if (n := sum(each.given(god) for each in tallies))}
            )


def test_each_token_that_fell_is_counted_dismissed_or_waiting_and_only_one_of_them(evenings: Any) -> None:
    for _, _, steps in evenings:
        fell: list[str] = []
        for step in steps:
            fell += [str(step.move.args[0])] if step.move.name == "token" else []
            state = step.after
            known = [*state.counted, *state.dismissed, *(each.id for each in state.unclaimed)]
            assert sorted(known) == sorted(fell)


def test_what_was_credited_is_what_was_tapped_and_what_was_counted_of_the_temple(evenings: Any) -> None:
    for _, _, steps in evenings:
        tapped = 0
        for step in steps:
            tapped += int(step.move.args[1]) if step.move.name == "sacrifice" else 0
            credited = sum(sum(tally.credited) for tally in step.after.tallies)
            assert credited == tapped + len(step.after.counted)


def test_the_countdown_never_increases_and_only_a_doubt_ever_stops_it(evenings: Any) -> None:
    stopped = 0
    for _, _, steps in evenings:
        for step in steps:
            before, after = step.before.clock, step.after.clock
            if step.move.name == "doubt" and before is not None and after is None:
                stopped += 1
                assert before.cause == apocalypse.TOKENS
                assert apocalypse.tokens_left(step.after) > 0
            elif before is not None:
                assert after is not None
                assert before.left - 1 <= after.left <= before.left
                assert (after.turn, after.cause) == (before.turn, before.cause)
                assert after.locked == before.locked or not before.locked
                assert step.move.name == "end_turn" or after.left == before.left
    assert stopped


def test_doubted_tokens_that_are_all_given_back_leave_each_tribe_and_the_clock_as_if_there_had_been_no_doubt(
    evenings: Any,
) -> None:
    tried = 0
    for seed, (_, seats, steps) in enumerate(evenings):
        random = Random(seed)
        for step in random.choices(steps, k=20):
            state, taken = step.after, list[str]()
            while len(taken) < 5 and (doubt := doubted(GAME, state, random)):
                god, seat = doubt.args[1], seats[int(state.givers[state.counted.index(doubt.args[0])])]
                if state.tallies.tribes[seats.index(seat)].corrected.to(god) < 0:
                    break
                state, taken = accepted(GAME.rules.play(state, TEMPLE, doubt), doubt), [*taken, doubt.args[0]]
            for token in random.sample(taken, len(taken)):
                waiting = next(each for each in GAME.temple.audit(state).waiting if each.id == token)
                state = accepted(
                    GAME.rules.play(state, random.choice(seats), move := waiting.claims[waiting.suggested]), move
                )
            assert state.tallies.tribes == step.after.tallies.tribes
            assert (state.clock is None) == (step.after.clock is None)
            assert (state.outcome, {*state.counted}) == (step.after.outcome, {*step.after.counted})
            tried += len(taken)
    assert tried > 1_000


def test_the_clock_is_forestalled_exactly_while_both_gods_are_even_and_some_space_holds_a_token(
    evenings: Any,
) -> None:
    for _, _, steps in evenings:
        for step in steps:
            state = step.after
            if state.clock and not state.over:
                is_even = state.tallies.of(TLALOC) == state.tallies.of(HUITZILOPOCHTLI)
                assert apocalypse.forestalled(state) == (is_even and not state.clock.bare)
            else:
                assert not apocalypse.forestalled(state)


def test_the_end_comes_with_a_settler_or_with_a_clock_at_zero_and_never_changes(evenings: Any) -> None:
    for _, _, steps in evenings:
        for step in steps:
            before, after = step.before.outcome, step.after.outcome
            assert before is None or after == before
            if after and after.kind != "settled":
                assert step.after.clock.left == 0
            elif step.after.clock:
                assert step.after.clock.left > 0


def test_a_correction_is_only_ever_confirmed_by_another_seat_than_its_proposer(evenings: Any) -> None:
    for _, _, steps in evenings:
        for step in steps:
            if step.move.name == "confirm":
                assert step.before.proposal.by != step.seat


def test_every_state_keeps_its_laws_and_is_written_in_one_line(evenings: Any) -> None:
    for _, _, steps in evenings:
        for step in steps:
            check_value(GAME, step.after)
            assert GAME.rules.notation(step.after).isprintable()


def test_renaming_the_players_renames_everything_and_changes_nothing(evenings: Any) -> None:
    for options, seats, steps in evenings[:20]:
        names = {seat: f"tribe{n}" for n, seat in enumerate(seats)}
        state = GAME.rules.setup(options, tuple(names.values()))
        for step in steps:
            by = names.get(step.seat, step.seat)
            before, move = state, Move(step.move.name, tuple(_renamed(step.move.args, names)))
            state = accepted(GAME.rules.play(state, by, move), move)
            assert GAME.page.view(state, by) == _renamed(dict(GAME.page.view(step.after, step.seat)), names)
            story = GAME.page.log(before, by, move, state)
            assert [(line.code, line.facts) for line in story] == [
                (line.code, _renamed(line.facts, names))
                for line in GAME.page.log(step.before, step.seat, step.move, step.after)
            ]
            if step.seat in seats:
                renamed = {_renamed(each, names) for each in GAME.rules.moves(step.after, step.seat)}
                assert {*GAME.rules.moves(state, by)} == renamed


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, Move):
        return Move(value.name, _renamed(value.args, names))
    if isinstance(value, dict):
        return {_renamed(key, names): _renamed(each, names) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_renamed(each, names) for each in value)
    return names.get(value, value) if isinstance(value, str) else value


# The notation


def test_a_notation_reads_as_the_table_would_put_it() -> None:
    sitting = Sitting(3, countdown="rounds13").do("sacrifice", TLALOC, 2).do("propose", "east", TLALOC, -1)
    assert GAME.rules.notation(sitting.state) == (
        "temple_only rules=countdown:rounds13 turn=1 east=0h,2t north=0h,0t west=0h,0t lake=tt week=0 clock=- "
        "counted=- dismissed=- unclaimed=- correction=east:east:tlaloc:-1 end=-"
    )


BROKEN = {
    "a lake of what was given": lambda state: replace(state, tallies=replace(state.tallies, lake="hhh")),
    "no tribe below nothing": lambda state: replace(
        state, tallies=Tallies((Tally(Gifts(13), Gifts(-14)), Tally(Gifts(), Gifts(1))))
    ),
    "each token once": lambda state: replace(state, counted=("a1",), dismissed=("a1",)),
    "turns from 1": lambda state: replace(state, turn=0, clock=None),
    "week cards": lambda state: replace(state, week_cards=21),
    "a clock that can be": lambda state: replace(state, clock=replace(state.clock, turn=2)),
    "an end where the clock ran out": lambda state: replace(state, clock=replace(state.clock, left=0)),
    "an end that there is": lambda state: replace(state, outcome=Outcome("settled")),
}


@pytest.mark.parametrize("law", BROKEN)
def test_a_state_that_breaks_a_law_is_found_out(law: str) -> None:
    state = BROKEN[law](triggered(HUITZILOPOCHTLI).state)
    assert any(name.startswith(law) for name, kept in GAME.rules.laws(state).items() if not kept)


def test_setup_takes_its_options_from_any_order() -> None:
    options = all_options()
    backwards = dict(reversed(options.items()))
    assert GAME.rules.setup(options, ("east", "west")) == GAME.rules.setup(backwards, ("east", "west"))
