"""What Mexica adds to a story: a plot that shows the tallies of each turn, and who fed whom."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from random import Random
from typing import Any

from companion.games.mexica import GAME
from tests.games.full_sitting import full_options
from tests.games.playouts import playout
from tests.games.sitting import RAIN_GOD, WAR_GOD, Sitting, all_options


def drawn(states: Iterable[Any]) -> Any:
    return GAME.page.charts(GAME.page.view(state, None) for state in states)


def followed(sitting: Sitting, *moves: tuple[Any, ...]) -> list[Any]:
    """Make moves; returns the state before them and after each."""
    states = [sitting.state]
    for name, *args in moves:
        sitting.do(name, *args)
        states.append(sitting.state)
    return states


def test_the_plot_shows_the_tallies_at_the_end_of_each_turn() -> None:
    states = followed(
        Sitting(2),
        ("sacrifice", WAR_GOD, 3),
        ("sacrifice", RAIN_GOD, 1),
        ("end_turn",),
        ("end_turn",),
        ("sacrifice", RAIN_GOD, 2),
    )
    rows = drawn(states)["plot"]["rows"]
    assert [(row["turn"], row["gods"], row["total"]) for row in rows] == [
        (1, [3, 1], 4),
        (2, [3, 1], 4),
        (3, [3, 3], 6),
    ]


def test_a_turn_that_was_taken_back_leaves_no_trace_in_the_plot() -> None:
    states = followed(Sitting(2), ("sacrifice", WAR_GOD, 3), ("end_turn",), ("sacrifice", RAIN_GOD, 5))
    rows = drawn([*states, states[1]])["plot"]["rows"]
    assert [(row["turn"], row["gods"]) for row in rows] == [(1, [3, 0])]


def test_trigger_countdown_and_the_line_of_the_age_are_marked() -> None:
    sitting = Sitting(2, apocalypse_tokens=14)
    states = followed(
        sitting,
        ("end_turn",),
        ("sacrifice", WAR_GOD, 7),
        ("sacrifice", RAIN_GOD, 7),
        ("end_turn",),
        ("end_turn",),  # even: the countdown waits
        ("sacrifice", RAIN_GOD, 1),
        ("end_turn",),
        ("end_turn",),
    )
    plot = drawn(states)["plot"]
    assert plot["trigger"]["turn"] == 2
    assert plot["threshold"]["n"] == 14
    assert [(mark["left"], mark["fell"]) for mark in plot["countdown"]] == [(13, False), (12, True), (11, True)]


def test_the_doom_itself_is_the_last_mark() -> None:
    sitting = Sitting(2, apocalypse_tokens=13)
    states = followed(sitting, ("sacrifice", WAR_GOD, 13), *[("end_turn",)] * 14)
    plot = drawn(states)["plot"]
    assert plot["outcome"] == "war"
    assert [mark["left"] for mark in plot["countdown"]] == [*range(12, 0, -1), 0]


def test_far_from_the_end_the_line_of_the_age_does_not_press_the_plot_flat() -> None:
    plot = drawn(followed(Sitting(2), ("sacrifice", WAR_GOD, 3)))["plot"]
    assert (plot["threshold"], plot["limit"]) == (None, 260)
    assert plot["across"][-1]["n"] == 8


def test_numbers_of_lines_on_the_ground_stand_above_it_and_apart() -> None:
    plot = drawn(followed(Sitting(2)))["plot"]
    ends = [end["y"] for end in plot["ends"]]
    assert max(ends) < plot["field"]["bottom"]
    assert all(after - before >= 11.9 for before, after in pairwise(ends))


def test_law_every_number_of_the_plot_lies_in_its_field_and_no_two_ends_on_each_other() -> None:
    for seed in range(6):
        options = all_options() if seed % 2 else full_options(apocalypse_tokens=52)
        opening = GAME.rules.setup(options, GAME.seatings[4])
        steps = list(playout(GAME, opening, Random(seed), 400))
        page = drawn([opening, *(step.after for step in steps)])
        plot, view = page["plot"], GAME.page.view(steps[-1].after, None)
        field = plot["field"]
        for mark in [*plot["across"], *([plot["threshold"]] if plot["threshold"] else [])]:
            assert field["top"] <= mark["y"] <= field["bottom"]
        for mark in [*plot["along"], *plot["countdown"]]:
            assert field["left"] <= mark["x"] <= field["right"]
        ends = [end["y"] for end in plot["ends"]]
        assert all(after - before >= 11.9 for before, after in pairwise(ends))
        assert plot["rows"][-1]["gods"] == list(view["gods"].values())  # type: ignore[union-attr]


def test_who_fed_whom_adds_up_with_tonantzin_in_the_full_game() -> None:
    opening = GAME.rules.setup(full_options(), GAME.seatings[3])
    steps = list(playout(GAME, opening, Random(5), 300))
    fed = drawn([opening, *(step.after for step in steps)])["fed"]
    state = steps[-1].after
    assert fed["columns"] == [RAIN_GOD, WAR_GOD, "tonantzin"]
    assert sum(row["gifts"][2]["n"] for row in fed["rows"]) == sum(tribe.fed for tribe in state.laid.tribes)
    assert sum(row["gifts"][1]["n"] for row in fed["rows"]) == state.tallies.of(WAR_GOD)
    assert [row["wins"] for row in fed["rows"]] == [tribe.wins for tribe in state.laid.tribes]
    assert all(0 <= gift["bar"] <= 100 for row in fed["rows"] for gift in row["gifts"])


def test_in_the_temples_scope_two_gods_are_fed() -> None:
    fed = drawn(followed(Sitting(2), ("sacrifice", WAR_GOD, 3), ("end_turn",), ("sacrifice", RAIN_GOD, 6)))["fed"]
    assert fed["columns"] == [RAIN_GOD, WAR_GOD]
    assert [[gift["n"] for gift in row["gifts"]] for row in fed["rows"]] == [[0, 3], [6, 0]]
    assert not fed["wins"]


def test_a_game_without_a_moment_has_no_charts() -> None:
    assert drawn([]) == {}
