"""The tree search on a game whose best moves are known: a hidden card is guessed, or a sure prize taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random

import pytest
from msgspec import Struct, structs
from msgspec.structs import replace

from companion.games.kit import CHANCE, Arg, Below, Chance, Move, Refusal, Search, Seat

SURE, RED, BLUE, SPOIL, SPARE = Move("sure"), Move("red"), Move("blue"), Move("spoil"), Move("spare")


class Cards(Struct, frozen=True):
    """One hidden card of four, `reds` of them red. The first seat guesses or takes a sure half; the second may spoil
    a right guess; then a coin falls that changes nothing."""

    reds: int = 2
    card: str = "red"
    guess: str = ""
    spoilt: bool = False
    spoilers: bool = False
    turn: int = 1


def to_act(state: Cards) -> tuple[Seat, ...]:
    return () if state.turn == 4 else (CHANCE,) if state.turn == 3 else ("one",) if state.turn == 1 else ("two",)


def moves(state: Cards, seat: Seat) -> list[Move]:
    return [SURE, RED, BLUE] if state.turn == 1 else [SPARE, SPOIL] if state.spoilers else [SPARE]


def play(state: Cards, seat: Seat, move: Move) -> Cards | Refusal:
    changes = {"guess": move.name} if state.turn == 1 else {"spoilt": move == SPOIL} if state.turn == 2 else {}
    return structs.replace(state, turn=state.turn + 1, **changes)


def chance(state: Cards) -> Chance | None:
    sides = {Move("coin", (side,)): Fraction(1, 2) for side in (0, 1)}
    return Chance("coin", sides) if state.turn == 3 else None


def resample(state: Cards, seat: Seat, below: Below) -> Cards:
    return structs.replace(state, card="red" if below(4) < state.reds else "blue")


def rewards(state: Cards) -> Mapping[Seat, float]:
    won = 0.5 if state.guess == "sure" else float(state.guess == state.card and not state.spoilt)
    return {"one": won, "two": 1 - won}


def first(state: Cards, seat: Seat, listed: Sequence[Move], below: Below) -> Move:
    return listed[0]


SEARCH = Search(
    to_act=to_act,
    moves=moves,
    play=play,
    chance=chance,
    turn=lambda state: state.turn,
    resample=resample,
    policy=first,
    ranked=lambda state, seat, listed, below: listed,
    rewards=rewards,
    turns=5,
)


def best(state: Cards, seed: int = 1, playthroughs: int = 120) -> Move:
    return SEARCH.best(state, "one", moves(state, "one"), Random(seed).randrange, playthroughs)


@pytest.mark.parametrize(("reds", "expected"), [(4, RED), (3, RED), (1, BLUE), (0, BLUE)])
def test_it_guesses_what_is_likely_though_the_card_in_the_state_is_another(reds: int, expected: Move) -> None:
    for card in ("red", "blue"):
        assert best(Cards(reds=reds, card=card)) == expected


def test_it_cannot_see_the_hidden_card() -> None:
    for seed in range(20):
        assert best(Cards(card="red"), seed, 12) == best(Cards(card="blue"), seed, 12)


def test_it_finds_the_answer_of_the_other_seat_that_its_policy_does_not_know() -> None:
    assert best(Cards(reds=4, spoilers=True)) == SURE


def test_of_equal_moves_it_makes_the_policys() -> None:
    search = replace(SEARCH, rewards=lambda state: {"one": 0.5, "two": 0.5})
    assert search.best(Cards(), "one", [SURE, RED, BLUE], Random(1).randrange, 60) == SURE


def test_a_single_move_is_made_without_a_playthrough() -> None:
    def never(state: Cards) -> Mapping[Seat, float]:
        raise AssertionError("played through")

    assert replace(SEARCH, rewards=never).best(Cards(), "one", [RED], Random(1).randrange, 60) == RED


def test_the_same_chance_gives_the_same_move() -> None:
    assert [best(Cards(), seed, 6) for seed in range(30)] == [best(Cards(), seed, 6) for seed in range(30)]


def test_a_playthrough_without_an_end_is_given_up() -> None:
    still = replace(SEARCH, play=lambda state, seat, move: state, moves=lambda state, seat: [RED])
    assert still.best(Cards(), "one", [RED, BLUE], Random(1).randrange, 4) == RED


def test_every_move_meets_the_same_dice_however_often_its_players_draw() -> None:
    met: dict[str, list[Arg]] = {"red": [], "blue": []}

    def watched(state: Cards, seat: Seat, move: Move) -> Cards | Refusal:
        if move.name == "coin":
            met[state.guess].append(move.args[0])
        return play(state, seat, move)

    def drawing(state: Cards, seat: Seat, listed: Sequence[Move], below: Below) -> Move:
        for _ in range(state.guess == "red"):
            below(2)
        return listed[below(len(listed))]

    replace(SEARCH, play=watched, policy=drawing).best(Cards(), "one", [RED, BLUE], Random(1).randrange, 40)
    assert set(met["red"]) == {0, 1}
    assert met["red"] == met["blue"]
