"""What the lab says of a coin whose answers are known."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from companion.games.kit import Move
from lab import charts, report, runs, studies
from lab.matches import Record, Setup, steps
from lab.studies import Sizes
from tests.lab.coins import coin, play

SIZES = Sizes(games=400, options=300, habits=300, cards=400, strengths=50)


def found(name: str, changes: Sequence[studies.Change]) -> studies.Change:
    return next(each for each in changes if each.name == name)


def test_seats_and_ends_are_those_of_the_coin() -> None:
    summary = studies.study(coin(), Sizes(400, 0, 0, 0, 0), play).summary
    assert summary.kinds["tossed"].count == 400
    assert summary.seats["heads"].low < 0.7 < summary.seats["heads"].high
    assert summary.even is not None
    assert summary.even < 0.001
    assert [*summary.turns] == [2] * 400


def test_an_option_that_does_nothing_is_left_grey() -> None:
    paint = found("paint = silver", studies.study(coin(), SIZES, play).options)
    assert not paint.certain
    assert paint.wins["heads"].difference == paint.length.difference == 0


def test_an_option_is_judged_by_the_wins_of_each_seat() -> None:
    findings = studies.study(coin(), Sizes(200, 200, 0, 0, 0), play)
    tenths = found("tenths = 3", findings.options)
    assert tenths.wins["heads"].certain
    assert tenths.wins["heads"].difference < -0.2 < 0.2 < tenths.wins["tails"].difference
    page = report.written(findings)
    assert "wins of a seat, difference in %" in page
    assert "heads: fewer wins, " in page


def test_a_card_is_worth_what_it_adds_for_who_drew_it() -> None:
    (card,) = studies.study(coin(), SIZES, play).cards
    assert (card.name, card.certain, card.verdict) == ("lucky", True, "better")
    assert card.wins[studies.OWNER].low < 0.2 < card.wins[studies.OWNER].high


def test_a_dominated_habit_is_called_worse_and_one_that_never_mattered_is_left_out() -> None:
    habits = studies.study(coin(), SIZES, play).habits
    assert found("eager bluff", habits).verdict == "worse"
    assert "eager call" not in {each.name for each in habits}


def test_a_game_that_stands_still_is_named_with_its_seed() -> None:
    stuck = replace(coin(), preset="stuck")
    findings = studies.study(stuck, Sizes(3, 0, 0, 0, 0), play)
    assert [each.seed for each in findings.summary.still] == [0, 1, 2]
    page = report.written(findings)
    assert "python -m lab replay coin stuck --seats 2 --longest 50 --folder FOLDER --seed 2" in page
    assert len([*steps(stuck, 2, {"heads": "app", "tails": "app"})]) == stuck.longest


def test_pairs_are_the_same_game_until_what_was_changed_matters() -> None:
    one, other = (
        [move for _, _, move, _, _ in steps(coin(blank=blank), 5, {"heads": "app", "tails": "app"})]
        for blank in ("", "lucky")
    )
    assert one[:2] == other[:2]
    assert one[1] == Move("call")


def test_the_report_is_one_page_that_fetches_nothing() -> None:
    page = report.written(studies.study(coin(), SIZES, play))
    assert page.count("<svg") == 3
    for fetched in ("<link", "<script", "<img", "src=", "@import", "url(h"):
        assert fetched not in page
    for heading in ("Wins by seat", "Each option alone", "Each card", "One habit pushed", "Games that stood still"):
        assert heading in page
    assert page.count("Fair between seats: no. heads: 7") == 2


def test_minutes_go_by_the_pace_of_the_game_unless_another_is_given() -> None:
    siege = studies.study(Setup(game="siege", preset="skirmish", seats=2), Sizes(2, 0, 0, 0, 0), play)
    assert "A turn is counted as 400 seconds." in report.written(siege)
    assert "A turn is counted as 90 seconds." in report.written(siege, pace=90)
    assert f"A turn is counted as {report.PACE_S} seconds." in report.written(
        studies.study(coin(), Sizes(2, 0, 0, 0, 0), play)
    )


def test_turns_are_drawn_as_whole_numbers() -> None:
    (ticks,) = re.findall(
        r'<g id="matplotlib.axis_1">(.*?)<g id="matplotlib.axis_2">',
        charts.lengths([2] * 5 + [3], ("", ""), ""),
        re.DOTALL,
    )
    assert {float(label) for label in re.findall(r"<text[^>]*>([^<]+)</text>", ticks)} == {0, 1, 2, 3, 4, 5}


def test_one_length_of_all_games_is_said_and_not_drawn() -> None:
    page = report.written(studies.study(coin(), Sizes(20, 0, 0, 0, 0), play))
    assert "Turns in every game: 2." in page
    assert "Length of the games" not in page


def test_a_report_of_the_same_seeds_is_the_same_page() -> None:
    one, other = (report.written(studies.study(coin(), Sizes(40, 10, 10, 10, 5), play)) for _ in range(2))
    assert one == other


def test_what_was_chosen_stands_beside_the_preset_as_it_comes() -> None:
    findings = studies.study(coin(tenths=0), Sizes(200, 0, 0, 0, 0), play, beside=True)
    assert findings.usual is not None
    assert findings.usual.seats["heads"].share > 0.6
    assert findings.summary.seats["heads"].share < 0.3
    page = report.written(findings)
    assert "Beside the preset as it comes" in page
    assert "What was chosen does this: heads: fewer wins, " in page
    assert "Beside the preset" not in report.written(studies.study(coin(), Sizes(20, 0, 0, 0, 0), play, beside=True))


def test_a_study_whose_time_is_up_is_reported_as_far_as_it_came() -> None:
    def hurried(jobs: Sequence[runs.Job]) -> list[list[Record]]:
        return runs.run(jobs, processes=1, until=0.0)

    findings = studies.study(coin(), SIZES, hurried, beside=True)
    assert findings.summary.games == 8
    assert report.written(findings).startswith("<!doctype html>")
