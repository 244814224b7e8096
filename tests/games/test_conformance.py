"""The conformance suite: what holds for every game, in every seating and preset, in every state of random play."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import msgspec
import pytest

from companion.games.kit import (
    CHANCE,
    TEMPLE,
    Game,
    Move,
    Refusal,
    Seat,
    TokenAudit,
    TokenDrop,
    UnclaimedToken,
    decoded,
    encoded,
)
from companion.games.standstill import led_by, standstill
from tests.games.playouts import (
    COMBINATIONS,
    CUT_SHORT,
    GODS,
    LIGHT,
    LONGEST,
    STATES,
    WHOLE_GAMES,
    Combination,
    Step,
    accepted,
    check_value,
    fuzzed,
    god_of,
    is_arg,
    leaves,
    playout,
)

MANY = 27
"""Moves of one seat, or of chance, above which so many of them are drawn to be played: 260 cards in a pile."""

SAMPLED = 0.05
"""How many states of a lasting game are looked at closely; every step and every replay is."""

CLOSELY = 30
"""States of any other game that are all looked at closely; of those that follow in a long one, a few are."""

LATER = 0.05

DOUBTED = 3
"""Tokens that are doubted in each state that is looked at closely."""

OTHER_OPTIONS = 4
"""Games by other house rules in which each game's states are resampled, besides one by its preset alone."""

everywhere = pytest.mark.parametrize("here", COMBINATIONS, ids=str)


@everywhere
def test_random_play_keeps_every_law_of_a_game(here: Combination) -> None:
    random, game = Random(str(here)), here.game
    states, games, ends = 0, 0, Counter[str]()
    secrets = set[bool | None]()
    # Only the first game, by its preset alone, has to come to its end.
    whole = 1 if here.lasting else WHOLE_GAMES
    while games < whole or states < STATES // len(COMBINATIONS):
        options = here.options() if games == 0 else here.any_options(random)
        opening = game.rules.setup(options, here.seats)
        steps: list[Step] = []
        seen: list[tuple[Any, int]] = [(opening, hash(opening))]
        _check_state(here, opening, random)
        longest = LONGEST if games == 0 else 300 if here.lasting else CUT_SHORT
        for step in playout(game, opening, random, longest):
            steps.append(step)
            _check_step(game, step)
            secrets.add(_hidden(here, step))
            often = SAMPLED if here.lasting else LATER if len(seen) > CLOSELY else 1.0
            if random.random() < often:
                _check_state(here, step.after, random, [each.move for each in steps])
            seen.append((step.after, hash(step.after)))
        for earlier, hashed in seen:
            assert hash(earlier) == hashed, "a state that was given out has changed"
        _check_replay(game, options, here.seats, steps)
        states, games = states + len(seen), games + 1
        end = game.rules.result(seen[-1][0])
        ends[end.kind if end else "cut short"] += 1
    assert True in secrets or False not in secrets, (
        "chance decides in secret, but Page.known gives everybody what it decided"
    )
    print(f"{here}: {states:,} states of {games} games:", ", ".join(f"{n} x {end}" for end, n in ends.most_common()))


@everywhere
def test_nobody_but_the_seats_and_the_temple_ever_has_a_move(here: Combination) -> None:
    game = here.game
    opening = game.rules.setup(here.options(), here.seats)
    for stranger in ("", "nobody", TEMPLE):
        assert game.rules.moves(opening, stranger) == []
        assert game.rules.choices(opening, stranger) == []
    for stranger in ("", "nobody"):
        for move in game.rules.moves(opening, game.rules.to_act(opening)[0]):
            assert isinstance(game.rules.play(opening, stranger, move), Refusal)


@everywhere
def test_setup_is_the_same_every_time(here: Combination) -> None:
    assert here.game.rules.setup(here.options(), here.seats) == here.game.rules.setup(here.options(), here.seats)


@everywhere
def test_a_written_state_with_a_distortion_is_a_value_error_or_another_state(here: Combination) -> None:
    random, game = Random(f"distort {here}"), here.game
    opening = game.rules.setup(here.options(), here.seats)
    kind, texts = type(opening), [encoded(step.after) for step in playout(game, opening, random, longest=40)]
    for text in ["", "x", "é\0\ud800", "[" * 5_000, *texts]:
        for _ in range(10):
            spot = random.randrange(len(text) + 1)
            other = text[:spot] + random.choice("-:,= 0a9h+\n") + text[spot + random.randrange(3) :]
            try:
                state = decoded(other, kind)
            except ValueError:
                continue
            assert encoded(state) == other


def _check_state(here: Combination, state: Any, random: Random, led: Sequence[Move] = ()) -> None:
    game = here.game
    acting = game.rules.to_act(state)
    assert set(acting) <= {*here.seats, CHANCE}
    assert game.rules.on_turn(state) in (*here.seats, None)
    if game.rules.on_turn(state) is not None:
        assert acting, "somebody is on turn, but nobody may act"
    for seat in (*here.seats, CHANCE):
        moves = game.rules.moves(state, seat)
        assert moves == sorted(set(moves)), "the legal list is not sorted, or not unique"
        assert bool(moves) == (seat in acting), (
            standstill(game, state, led)
            or f"{seat} {'has no move' if seat in acting else 'has a move'}, {led_by(led)}"
        )
        typed = set(leaves(game, state, seat))
        assert typed == set(moves) or (seat == CHANCE and typed > set(moves)), "choices and moves do not agree"
    for seat in dict.fromkeys((random.choice(here.seats), *acting[-1:])):
        _check_moves(game, state, seat, random)
    _check_chance(game, state)
    _check_doubts(here, state, random)
    _check_secrecy(here, state, random)
    check_value(game, state)
    assert "\n" not in game.rules.notation(state)
    for viewer in (*here.seats, None):
        view = game.page.view(state, viewer)
        plain = msgspec.json.decode(msgspec.json.encode(view, enc_hook=dict)) == view
        assert plain, f"the view of {viewer} is not plain JSON, with lists and not tuples: {view}"
        assert game.page.regions(view)
    regions = game.page.regions(game.page.view(state, random.choice((*here.seats, None))))
    text = json.dumps(regions)  # fails where a region is not plain JSON
    assert msgspec.json.encode(msgspec.json.decode(text)) == msgspec.json.encode(regions)


@everywhere
def test_a_game_says_how_it_ended_when_it_has(here: Combination) -> None:
    random, game = Random(f"ended {here}"), here.game
    opening = game.rules.setup(here.options(), here.seats)
    last = opening
    assert game.rules.result(opening) is None
    for step in playout(game, opening, random, 300 if here.lasting else LONGEST):
        assert (game.rules.result(step.before) is None) == (game.rules.on_turn(step.before) is not None)
        last = step.after
    end = game.rules.result(last)
    assert (end is None) == (game.rules.on_turn(last) is not None)
    if end:
        assert end.kind.isidentifier()
        assert {*end.winners} <= {*here.seats}
        assert not end.points or {*end.points} == {*here.seats}


@everywhere
def test_a_seat_cannot_distinguish_a_resampled_state_from_the_real_one(here: Combination) -> None:
    random, game = Random(f"resampled {here}"), here.game
    differs = secret = False
    for options in (here.options(), *(here.any_options(random) for _ in range(OTHER_OPTIONS))):
        steps = list(playout(game, game.rules.setup(options, here.seats), random, 400))
        for step in random.sample(steps, min(len(steps), 40)):
            state, seat = step.after, random.choice(here.seats)
            found = game.rules.resample(state, seat, random.randrange)
            check_value(game, found)
            assert game.page.view(found, seat) == game.page.view(state, seat)
            assert game.rules.moves(found, seat) == game.rules.moves(state, seat)
            assert (game.rules.to_act(found), game.rules.on_turn(found)) == (
                game.rules.to_act(state),
                game.rules.on_turn(state),
            )
            differs = differs or found != state
            secret = secret or game.page.known(step.before, step.seat, step.move, seat) != step.move
    assert differs or not secret, "moves are hidden from a seat, but it may believe in nothing else"


def _check_doubts(here: Combination, state: Any, random: Random) -> None:
    """What is doubted counts no more, and counts as before once all of it was given back to whose it was."""
    game = here.game
    if game.temple is None:
        return
    before = game.temple.audit(state)
    doubted, taken = state, list[str]()
    for token in random.sample(sorted(before.counted), min(len(before.counted), DOUBTED)):
        drop = TokenDrop(token, god_of(token), random.choice(LIGHT))
        if (move := game.temple.doubted(doubted, drop)) is not None:
            doubted = accepted(game.rules.play(doubted, TEMPLE, move), move)
            check_value(game, doubted)
            assert isinstance(game.rules.play(doubted, TEMPLE, move), Refusal), "what waits can be doubted again"
            assert game.temple.doubted(doubted, drop) is None
            taken.append(token)
    during = _audit(game, doubted)
    assert during.counted == before.counted - {*taken}
    assert {each.id for each in during.waiting} == {*taken, *(each.id for each in before.waiting)}
    given, dismissed = (
        _decided(here, doubted, taken, decide, random) for decide in (_given_back, lambda waiting: waiting.dismiss)
    )
    for decided in (given, dismissed):
        assert {each.id for each in _audit(game, decided).waiting} == {each.id for each in before.waiting}
    # Where a correction has taken tokens out, the one that is doubted may be one of them.
    if not any(delta < 0 for _, _, delta in before.corrected):
        assert _totals(_audit(game, given)) == _totals(before)
        out = {god: sum(god_of(token) == god for token in taken) for god in GODS}
        fewer = {god: n - out[god] for god, n in _totals(before).items()}
        assert _totals(_audit(game, dismissed)) == fewer


def _decided(
    here: Combination, state: Any, tokens: list[str], decide: Callable[[UnclaimedToken], Move], random: Random
) -> Any:
    """Return the state after any seat has decided about tokens that wait, each for good."""
    game = here.game
    for token in random.sample(tokens, len(tokens)):
        waiting = next(each for each in _audit(game, state).waiting if each.id == token)
        move = decide(waiting)
        state = accepted(game.rules.play(state, random.choice(here.seats), move), move)
        check_value(game, state)
        assert game.temple.doubted(state, TokenDrop(token, waiting.god, "flicker")) is None, (
            "a decision can be doubted"
        )
    return state


def _given_back(waiting: UnclaimedToken) -> Move:
    """Give a token to whom it was credited; a tribe that holds none after corrections may not have given it."""
    return waiting.claims[waiting.suggested] if waiting.suggested else waiting.dismiss


def _audit(game: Game[Any], state: Any) -> TokenAudit:
    assert game.temple is not None
    return game.temple.audit(state)


def _totals(audit: TokenAudit) -> dict[str, int]:
    return {god: n + sum(delta for _, of, delta in audit.corrected if of == god) for god, n in audit.credited.items()}


def _check_chance(game: Game[Any], state: Any) -> None:
    due = game.rules.chance(state)
    assert (due is not None) == (CHANCE in game.rules.to_act(state))
    if due:
        assert sorted(due.outcomes) == game.rules.moves(state, CHANCE), "chance's outcomes and its moves do not agree"
        odds = list(due.outcomes.values())
        exact = all(isinstance(each, Fraction) for each in odds) and sum(odds) == 1
        assert exact, f"the probabilities of chance are {odds}; expected fractions whose sum is 1"
        assert all(probability > 0 for probability in due.outcomes.values())


def _check_secrecy(here: Combination, state: Any, random: Random) -> None:
    """Two moves that are reported alike to a viewer must look alike to it: in what it sees, and in the story."""
    game = here.game
    for seat in game.rules.to_act(state):
        moves = game.rules.moves(state, seat)
        for viewer in (*here.seats, None):
            known = defaultdict(list)
            for move in random.sample(moves, min(MANY, len(moves))):
                known[game.page.known(state, seat, move, viewer)].append(move)
            for alike in [alike for alike in known.values() if len(alike) > 1][:2]:
                pictures = {_seen(game, state, seat, move, viewer) for move in alike[:3]}
                assert len(pictures) == 1, (
                    f"{viewer} can distinguish {alike[0]} and {alike[1]}, but both read alike: "
                    "look at view, at log, and at whether the card goes to the seat that chance names"
                )


def _seen(game: Game[Any], before: Any, seat: str, move: Move, viewer: str | None) -> bytes:
    after = accepted(game.rules.play(before, seat, move), move)
    story = [(line.code, dict(line.facts), line.mark) for line in game.page.log(before, seat, move, after)]
    return msgspec.json.encode([game.page.view(after, viewer), story], enc_hook=dict)


def _check_moves(game: Game[Any], state: Any, seat: str, random: Random) -> None:
    before = game.rules.notation(state)
    moves = game.rules.moves(state, seat)
    for move in moves if len(moves) <= MANY else random.sample(moves, MANY):
        assert Move.from_json(json.loads(json.dumps(move.to_json()))) == move
        accepted(game.rules.play(state, seat, move), move)
    reports = {"token", *(row.name for row in game.rules.table or () if row.by == TEMPLE)}
    for _ in range(12):
        move = fuzzed(moves, random)
        for by in (seat, TEMPLE):
            if (by == seat and _listed(move, moves)) or (by == TEMPLE and move.name in reports):
                continue
            refusal = game.rules.play(state, by, move)
            assert isinstance(refusal, Refusal), f"{move} by {by} is not listed, but legal"
            assert refusal.code.isidentifier()
            assert all(is_arg(value) and len(str(value)) <= 100 for value in refusal.facts.values())
    assert game.rules.notation(state) == before


def _listed(move: Move, moves: list[Move]) -> bool:
    """Distinguish 1 from True and 1.0, which compare alike but are not the same argument."""
    return all(is_arg(arg) for arg in move.args) and move in moves


def _hidden(here: Combination, step: Step) -> bool | None:
    """Return whether somebody does not know what chance decided in secret; None where nothing was secret."""
    due = here.game.rules.chance(step.before)
    if step.seat != CHANCE or not (due and due.secret and due.seat):
        return None
    others = [viewer for viewer in (*here.seats, None) if viewer != due.seat]
    return any(here.game.page.known(step.before, CHANCE, step.move, viewer) != step.move for viewer in others)


def _check_step(game: Game[Any], step: Step) -> None:
    assert game.rules.turn(step.after) >= game.rules.turn(step.before)
    check_value(game, step.after)
    undoable = game.rules.undoable(step.before, step.seat, step.move)
    assert type(undoable) is bool
    assert not (undoable and step.seat == TEMPLE), "a token is a fact and never undone"
    for line in game.page.log(step.before, step.seat, step.move, step.after):
        assert line.code.isidentifier()
        assert all(is_arg(value) for value in line.facts.values())
        assert not line.adds or type(line.facts[line.adds]) is int


def _check_replay(game: Game[Any], options: Any, seats: tuple[Seat, ...], steps: list[Step]) -> None:
    state = game.rules.setup(options, seats)
    for step in steps:
        state = accepted(game.rules.play(state, step.seat, step.move), step.move)
        assert state == step.after, f"{step.move} gives another state when the game is played again"
