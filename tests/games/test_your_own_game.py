"""A game of one's own: a few lines are a game and pass the suite; a flawed one is found out."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.games import registry
from tests.companion.web.conftest import home_with
from tests.games import test_conformance
from tests.games.playouts import combinations
from tests.games.test_game_pages import open_every_page
from tests.games.your_own_game import BEANS, loaded


def test_the_shortest_game_is_short() -> None:
    rules = (BEANS / "__init__.py").read_text(encoding="utf-8")
    assert len([line for line in rules.splitlines() if line.strip()]) <= 52


def test_it_passes_the_conformance_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_conformance, "STATES", 400)
    with loaded(tmp_path) as game:
        for here in combinations([game]):
            test_conformance.test_random_play_keeps_every_law_of_a_game(here)
            test_conformance.test_nobody_but_the_seats_and_the_temple_ever_has_a_move(here)
            test_conformance.test_a_game_says_how_it_ended_when_it_has(here)
            test_conformance.test_a_seat_cannot_distinguish_a_resampled_state_from_the_real_one(here)
            test_conformance.test_setup_is_the_same_every_time(here)
            test_conformance.test_a_written_state_with_a_distortion_is_a_value_error_or_another_state(here)


def test_the_turn_in_which_it_ends_is_its_last(tmp_path: Path) -> None:
    with loaded(tmp_path) as game:
        state, turns = game.rules.setup({"goal": 10}, ("red", "blue")), set()
        while acting := game.rules.to_act(state):
            turns.add(game.rules.turn(state))
            moves = game.rules.moves(state, acting[0])
            state = game.rules.play(state, acting[0], moves[-1] if state.rolling else moves[0])
        assert game.rules.turn(state) == len(turns)


LISTED = "listed=lambda state: THROW.all() + STOP.all() * bool(state.gathered),"
MOVES = (
    "moves=lambda state, seat: (sorted(DIE) if state.rolling else {})"
    " if seat == (kit.CHANCE if state.rolling else on_turn(state)) else [],"
)
"""Rules that list moves themselves, without which the kit sorts them and refuses all others."""


@pytest.mark.parametrize(
    ("was", "is_", "found"),
    [
        (LISTED, MOVES.format("THROW.all() + STOP.all()"), "not sorted"),
        (LISTED, MOVES.format("STOP.all()"), "is not listed, but legal"),
        ("Fraction(1, 6)", "Fraction(1, 7)", "sum"),
        ("Rules(", "Rules(choices=lambda state, seat, picked=(): [], ", "choices and moves do not agree"),
        ("state.turn + (", "state.turn - (", "turn"),
        ("Fraction(1, 6)", "1 / 6", "the probabilities of chance are"),
        ("seats, scores, state.turn", "seats, list(scores), state.turn", "are tuples, not lists"),
        (
            "on_turn(state)) if state.rolling",
            "on_turn(state), secret=True) if state.rolling",
            "Page.known gives everybody what it decided",
        ),
        (
            "Page(",
            "Page(known=lambda before, by, move, seat: move if seat else move._replace(args=()), ",
            "both read alike: look at view, at log, and at whether the card goes to the seat that chance names",
        ),
    ],
    ids=["order", "unlisted", "odds", "choices", "turn", "float", "list", "known", "secrecy"],
)
def test_the_suite_finds_what_is_wrong_with_a_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, was: str, is_: str, found: str
) -> None:
    monkeypatch.setattr(test_conformance, "STATES", 0)
    with loaded(tmp_path, ((was, is_),)) as game, pytest.raises((AssertionError, ValueError), match=found):
        test_conformance.test_random_play_keeps_every_law_of_a_game(combinations([game])[0])


@pytest.mark.parametrize(
    ("file", "was", "is_", "found"),
    [
        (
            "templates/play/board.html",
            "slice.scores.items()",
            "slice.points.items()",
            r"board.html:3: UndefinedError",
        ),
        ("templates/play/board.html", "slice.acting)", "slice.acting", r"board.html:4: TemplateSyntaxError"),
        ("templates/play/screen.html", 'region("log")', 'region("logs")', r"screen.html:1: KeyError: 'logs'"),
        ("texts/es.toml", 'stop = "Parar', 'halt = "Parar', r"MissingText: no words for 'choice.stop' in 'es'"),
        ("texts/en.toml", 'one = "{seat:who} threw {n}', 'one = "{who:who} threw {n}', r"needs the fact 'who'"),
    ],
    ids=["unknown", "syntax", "region", "text", "fact"],
)
def test_a_page_that_does_not_open_is_found_with_its_file_and_line(
    tmp_path: Path, file: str, was: str, is_: str, found: str
) -> None:
    with loaded(tmp_path) as game:
        path = registry.folder(game) / file
        assert was in path.read_text(encoding="utf-8")
        path.write_text(path.read_text(encoding="utf-8").replace(was, is_), encoding="utf-8")
        for home in home_with(tmp_path, {game.name: game}):
            home.app.config["PROPAGATE_EXCEPTIONS"] = True
            with pytest.raises(AssertionError, match=found):
                open_every_page(home, combinations([game])[0])


COUNT = "\nCOUNT = kit.TokenCount(on_turn)\nGAME = "


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ((("\nGAME = ", COUNT), ("SHOWS)", "SHOWS, *COUNT.moves)")), "GAME.temple is None; expected what it does"),
        ((("\nGAME = ", COUNT), ("    page=", "    temple=COUNT.temple,\n    page=")), "no move of the table is the"),
        (
            (
                ("\nGAME = ", COUNT),
                ("SHOWS)", "SHOWS, *COUNT.moves)"),
                ("    page=", "    temple=COUNT.temple,\n    page="),
            ),
            "tokens may wait, but no move settles them",
        ),
    ],
    ids=["moves alone", "temple alone", "nothing settles"],
)
def test_half_a_temple_is_refused(tmp_path: Path, changes: tuple[tuple[str, str], ...], fault: str) -> None:
    with pytest.raises(registry.RegistryError, match=fault), loaded(tmp_path, changes):
        pass
