"""A game of one's own: the page's few lines are a game and pass the suite; a flawed one is found out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.games import test_conformance
from tests.games.playouts import combinations
from tests.games.your_own_game import files, loaded


def test_its_rules_are_short() -> None:
    rules = files()["beans/__init__.py"]
    assert len([line for line in rules.splitlines() if line.strip()]) <= 52


def test_it_passes_the_conformance_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_conformance, "STATES", 400)
    with loaded(tmp_path) as game:
        for here in combinations([game]):
            test_conformance.test_random_play_keeps_every_law_of_a_game(here)
            test_conformance.test_nobody_but_the_seats_and_the_temple_ever_has_a_move(here)
            test_conformance.test_setup_is_the_same_every_time(here)
            test_conformance.test_a_written_state_with_a_distortion_is_a_value_error_or_another_state(here)


@pytest.mark.parametrize(
    ("was", "is_", "found"),
    [
        ('[Move("stop")] * bool(state.gathered) + [Move("throw")]', '[Move("throw"), Move("stop")]', "not sorted"),
        ("not is_listed(move, moves(state, seat))", "False", "is not listed, but legal"),
        ("Fraction(1, 6)", "Fraction(1, 7)", "sum"),
        ("moves=moves,", "moves=moves, choices=lambda state, seat, picked=(): [],", "choices and moves do not agree"),
        (
            "return State(state.goal, scores, state.turn + 1)",
            "return State(state.goal, scores, state.turn - 1)",
            "turn",
        ),
        (
            "view=view,",
            "view=view, known=lambda before, by, move, seat: move if seat else Move(move.name),",
            "is told the same",
        ),
        ('return Refusal("not_now")', 'return Refusal("not now!")', "isidentifier"),
    ],
    ids=["order", "unlisted", "odds", "choices", "turn", "secrecy", "code"],
)
def test_the_suite_finds_what_is_wrong_with_a_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, was: str, is_: str, found: str
) -> None:
    monkeypatch.setattr(test_conformance, "STATES", 0)
    with loaded(tmp_path, ((was, is_),)) as game, pytest.raises((AssertionError, ValueError), match=found):
        test_conformance.test_random_play_keeps_every_law_of_a_game(combinations([game])[0])
