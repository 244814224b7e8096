"""One player against others: who wins more, and constants that are searched for."""

from __future__ import annotations

import pytest

from companion.games import registry
from lab import duels, habits, runs
from lab.command_line import main
from lab.matches import Setup, play
from tests.lab.coins import coin
from tests.lab.coins import play as played

GAMES = registry.load()


def test_a_player_that_wins_more_than_its_share_is_seen_to() -> None:
    (records,) = played([duels.job(coin(), "eager call", "eager bluff", 200)])
    duel = duels.judged(coin(), records)
    assert (duel.games, duel.fair, duel.won.of) == (200, 0.5, 200)
    assert duel.won.low > 0.5
    assert duel.p < 0.01


def test_equal_players_win_their_share() -> None:
    (records,) = played([duels.job(coin(), "app", "random", 200)])
    assert duels.judged(coin(), [each for each in records if not each.winners]).p == 1.0
    (records,) = played([duels.job(coin(), "app", "app", 200)])
    assert duels.judged(coin(), records).p > 0.05


def test_the_one_player_sits_in_every_seat_by_turns() -> None:
    (records,) = played([duels.job(coin(), "app", "random", 4)])
    assert [next(seat for seat, who in each.players.items() if who == "app") for each in records] == [
        "heads", "tails", "heads", "tails",
    ]  # fmt: skip


def test_constants_are_those_of_a_level_and_what_is_said_beside_them() -> None:
    game = GAMES["siege"]
    assert habits.skill(game, "strong") == game.bot.skills["strong"]
    assert habits.skill(game, "patience=3").patience == 3  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="constants of siege are 'patience=far'"):
        habits.skill(game, "patience=far")
    for wrong in ("patiense=3", "storng patience=3", "patience=3 strong"):
        with pytest.raises(ValueError, match=f"are '{wrong}'; expected values of slips, patience"):
            habits.skill(game, wrong)


def test_a_habit_of_what_no_move_has_is_refused() -> None:
    for wrong in (
        "never ",
        "never nosuch",
        "eager sacrifice nosuch",
        "eager end_turn west",
        "never sacrifice tlaloc 2",
    ):
        with pytest.raises(ValueError, match=f"is '{wrong}'; expected"):
            habits.check(GAMES["mexica"], wrong)
    habits.check(GAMES["mexica"], "eager sacrifice tlaloc")
    for name in habits.of(GAMES["mexica"]):
        habits.check(GAMES["mexica"], name)


def test_constants_of_a_game_without_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="coin has no constants"):
        runs.run([duels.job(coin(), "app luck=2", "app", 1)], processes=1)


@pytest.mark.parametrize(("name", "preset", "seats"), [
    ("market", "short", 2), ("mexica", "evening", 2), ("moctezuma", "swift", 2), ("siege", "skirmish", 2),
])  # fmt: skip
def test_players_of_every_level_end_their_games(name: str, preset: str, seats: int) -> None:
    for level in GAMES[name].bot.levels:
        setup = Setup(game=name, preset=preset, seats=seats, habits=(f"app {level}",) * seats)
        assert not play(setup, "", 1).stood_still


def test_a_duel_and_a_search_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["siege", "skirmish", "--games", "2", "--processes", "1"]
    assert main(["duel", *few, "--one", "app beginner"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("app beginner won ")
    assert "of 2 wins in 2 games" in printed
    assert "equal players 50 %" in printed
    assert main(["fit", *few, "--one", "app patience=7", "--games", "1"]) == 0
    printed = capsys.readouterr().out
    assert "guards:" in printed
    assert printed.splitlines()[-1].startswith("best: app ")
