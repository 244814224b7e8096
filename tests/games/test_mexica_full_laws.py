"""What is always so in the full game of Mexica: nothing made or lost, hands hidden, chance exact."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import pytest

from companion.games.kit import CHANCE, TEMPLE, Move, Seat, replace
from companion.games.mexica import GAME
from companion.games.mexica.rules import apocalypse, course
from companion.games.mexica.rules.hands import DRAWN, pile_of, settler, unseen
from companion.games.mexica.rules.laws import TOKENS_IN_THE_BOX as TOKENS
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import EVEN, GODS
from tests.games.full_sitting import Full, full_options
from tests.games.playouts import Combination, Step, accepted, doubted, drop

PRESETS = [preset for preset in GAME.presets if preset != "temple_only"]
GAMES_EACH = 4


def random_game(preset: str, seed: int, longest: int = 1200) -> list[Step]:
    """Play at random: mostly what carries the game on, a token through the temple and a correction now and then."""
    random = Random(f"{preset} {seed}")
    here = Combination(GAME, preset, GAME.seatings[random.choice((2, 3, 4))])
    options = here.options() if seed == 0 else here.any_options(random)
    state, steps = GAME.rules.setup(options, here.seats), []
    while not state.over and len(steps) < longest:
        if random.random() < 0.02 and (doubt := doubted(GAME, state, random)):
            seat, move = TEMPLE, doubt
        elif random.random() < 0.04:
            seat, move = TEMPLE, GAME.temple.drop(state, drop(len(steps), random))
        else:
            seat = random.choice(GAME.rules.to_act(state))
            moves = GAME.rules.moves(state, seat)
            name = random.choice(sorted({each.name for each in moves}))
            if name in ("propose", "dismiss") and random.random() < 0.9:
                name = random.choice(sorted({each.name for each in moves}))
            move = random.choice([each for each in moves if each.name == name])
        after = accepted(GAME.rules.play(state, seat, move), move)
        steps.append(Step(state, seat, move, after))
        state = after
    return steps


def outcomes(state: State) -> dict[Move, Fraction]:
    """Return what chance may bring now with its probabilities; empty where nothing is due."""
    due = GAME.rules.chance(state)
    return dict(due.outcomes) if due else {}


@cache
def games() -> tuple[tuple[Step, ...], ...]:
    """Return the games that the laws below are checked against."""
    return tuple(tuple(random_game(preset, seed)) for preset in PRESETS for seed in range(GAMES_EACH))


def steps() -> Iterator[Step]:
    for game in games():
        yield from game


def test_the_games_show_every_move_and_every_kind_of_thing_due() -> None:
    """Or the laws below would be checked against less than they claim."""
    moves = {step.move.name for step in steps()}
    due = {task.name for step in steps() if (task := course.due(step.before))}
    assert moves >= {
        "roll", "draw", "play", "pass", "attack", "give", "sacrifice", "tonantzin", "end_turn", "choose", "take",
        "return", "token", "doubt", "claim", "dismiss", "propose", "confirm", "withdraw",
    }  # fmt: skip
    assert due >= {*course.DECISIONS, "roll", "die", "draw"}
    assert {step.after.outcome.kind for step in steps() if step.after.outcome} >= {"flood", "war", "settled"}


def test_no_token_is_made_or_lost() -> None:
    for step in steps():
        board = step.after.laid
        total = sum(board.spaces) + sum(tribe.tokens for tribe in board.tribes) + len(step.after.tallies.lake)
        total += board.reserve + board.pile + board.lost
        assert total == TOKENS or (step.after.rules.refill == "unlimited" and total > TOKENS)


def test_every_card_is_in_one_hand_one_pile_or_among_the_discards() -> None:
    for step in steps():
        state = step.after
        held = [each for tribe in state.laid.tribes for each in tribe.hand]
        cards = [*held, *state.laid.discards, *(each for pile in DRAWN for each in unseen(state, pile))]
        assert Counter(pile_of(each) for each in cards) == {"day": 260, "war": 40, "rain": 40}
        assert len({*cards}) == 340


def test_a_day_count_is_0_to_12_or_13_where_the_space_is_bare() -> None:
    for step in steps():
        assert all(0 <= tokens <= 13 for tokens in step.after.laid.spaces)
        held = {place for place, seat in enumerate(step.after.laid.holders, 1) if seat}
        assert step.after.week_cards == len(held.union(step.after.laid.returned))


def test_what_counts_is_what_tribes_gave_and_each_token_that_fell_is_counted_once() -> None:
    for game in games():
        fell: list[str] = []
        for step in game:
            fell += [str(step.move.args[0])] if step.move.name == "token" else []
            state = step.after
            known = [*state.counted, *state.dismissed, *(each.id for each in state.unclaimed)]
            assert sorted(known) == sorted(fell)
            for god in GODS:
                assert state.tallies.of(god) == sum(tally.given(god) for tally in state.tallies)
                assert all(tally.given(god) >= 0 for tally in state.tallies)


def test_the_countdown_never_increases_and_is_forestalled_exactly_while_even_and_not_bare() -> None:
    for step in steps():
        before, after = step.before.clock, step.after.clock
        if before and after is None:
            assert (step.move.name, before.cause) == ("doubt", apocalypse.TOKENS)
        elif before:
            assert before.left - 1 <= after.left <= before.left
        if after and not step.after.over:
            even = step.after.tallies.leader == EVEN
            bare = step.after.rules.forestall == "bare" and not any(step.after.laid.spaces)
            assert apocalypse.forestalled(step.after) == (even and not bare)


def test_whoever_holds_the_three_signs_has_won() -> None:
    for step in steps():
        holder = settler(step.after)
        if step.after.outcome and step.after.outcome.kind == "settled":
            assert step.after.outcome.seat == holder
        elif not step.after.over:
            assert holder is None


def test_at_every_moment_of_a_running_game_somebody_or_chance_decides() -> None:
    for step in steps():
        decider = course.decider(step.after)
        assert (decider is None) == step.after.over
        assert decider is None or GAME.rules.moves(step.after, decider)
        if decider:
            assert decider in GAME.rules.to_act(step.after)


# Secrecy


def hidden_otherwise(state: State, seat: Seat | None, random: Random) -> State:
    """Return a state that differs only in what a seat cannot know: others' cards, dealt again from the unseen."""
    board = state.laid
    others = [n for n, each in enumerate(state.seats) if each != seat]
    unknown = {pile: unseen(state, pile) + [
        each for n in others for each in board.tribes[n].hand if pile_of(each) == pile
    ] for pile in DRAWN}  # fmt: skip
    if state.rules.card_timing == "text":  # of a Day card in hand everybody knows that it is a sign
        unknown["day"] = [each for each in unknown["day"] if state.rules.cards.card(each).sign]
    for pile in DRAWN:
        random.shuffle(unknown[pile])
    for n in others:
        board = board.tribe(n, hand=tuple(sorted(unknown[pile_of(each)].pop() for each in board.tribes[n].hand)))
    return replace(state, board=board)


def test_a_view_and_a_list_of_moves_say_nothing_of_what_a_seat_cannot_know() -> None:
    random = Random(4)
    closed = [step.after for step in steps() if step.after.rules.open_hands == "off"]
    for state in random.sample(closed, 600):
        for seat in (*state.seats, None):
            other = hidden_otherwise(state, seat, random)
            assert GAME.page.view(state, seat) == GAME.page.view(other, seat)
            if seat:
                assert GAME.rules.moves(state, seat) == GAME.rules.moves(other, seat)
                assert GAME.rules.choices(state, seat) == GAME.rules.choices(other, seat)
            assert GAME.rules.to_act(state) == GAME.rules.to_act(other)


def test_a_card_in_hand_is_named_in_no_other_view_and_a_spectator_sees_no_hand() -> None:
    random = Random(5)
    closed = [step.after for step in steps() if step.after.rules.open_hands == "off"]
    for state in random.sample(closed, 600):
        due = course.due(state)
        for n, seat in enumerate(state.seats):
            for viewer in (*state.seats, None):
                seen = json.dumps({**GAME.page.view(state, viewer), "due": None}, default=dict)
                for card in state.laid.tribes[n].hand:
                    assert (f'"{card}"' in seen) == (viewer == seat)
        assert GAME.page.view(state, None)["hands"] == {}
        assert due is None or not {*map(str, due.args)} & {each for t in state.laid.tribes for each in t.hand}


def test_the_story_names_no_card_that_somebody_holds_afterwards() -> None:
    for step in steps():
        held = {each for tribe in step.after.laid.tribes for each in tribe.hand}
        for line in GAME.page.log(step.before, step.seat, step.move, step.after):
            assert not {*map(str, line.facts.values())} & held


def test_the_story_of_a_draw_into_a_hand_is_the_same_whichever_card_it_was() -> None:
    sitting = Full(card_timing="hold_all").land(1)
    assert sitting.due == ("draw", "east")
    stories = set()
    for _, card in sitting.can("draw"):
        move = Move("draw", ("day", card))
        after = accepted(GAME.rules.play(sitting.state, CHANCE, move), move)
        stories.add(str(GAME.page.log(sitting.state, CHANCE, move, after)))
    assert len(stories) == 1


# Chance


def test_every_outcome_has_its_exact_probability_and_they_are_one_together() -> None:
    for step in steps():
        odds = outcomes(step.after)
        assert [*odds] == GAME.rules.moves(step.after, CHANCE)
        assert not odds or sum(odds.values()) == 1
        if task := course.due(step.after):
            if task.name in ("roll", "die"):
                assert odds == {Move("roll", (n,)): Fraction(1, 6) for n in range(1, 7)}
            elif task.name == "draw":
                left = unseen(step.after, pile_of(f"{task.args[0]}-"))
                assert {*odds.values()} == {Fraction(1, len(left))}


def test_the_first_day_card_is_a_flower_with_a_chance_of_13_in_260() -> None:
    sitting = Full().land(1)
    known = sitting.state.rules.cards
    odds = outcomes(sitting.state)
    assert sum(p for move, p in odds.items() if known.card(str(move.args[1])).sign) == Fraction(13, 260)


@pytest.mark.parametrize("preset", PRESETS)
def test_dice_that_the_app_rolls_and_dice_that_are_typed_in_play_the_same_game(preset: str) -> None:
    """The app draws from `odds` with its own randomness; whoever types feeds what lay on the table."""
    options = full_options(**GAME.presets[preset])
    app, players = Random(7), Random(8)
    state, log = GAME.rules.setup(options, ("east", "north", "west")), []
    while not state.over and len(log) < 600:
        seat = course.decider(state) or ""
        odds = outcomes(state)
        moves: list[Any] = [*odds] if odds else GAME.rules.moves(state, seat)
        move = app.choices(moves, [float(each) for each in odds.values()])[0] if odds else players.choice(moves)
        log.append((seat, Move.from_json(json.loads(json.dumps(move.to_json())))))
        state = accepted(GAME.rules.play(state, seat, move), move)
    typed = GAME.rules.setup(options, ("east", "north", "west"))
    for seat, move in log:
        typed = accepted(GAME.rules.play(typed, seat, move), move)
    assert typed == state


def test_no_order_of_a_pile_is_stored_and_no_die_is_rolled_ahead() -> None:
    opening = Full(4).state
    assert opening == Full(4).state
    assert [*outcomes(opening)] == [Move("roll", (n,)) for n in range(1, 7)]
