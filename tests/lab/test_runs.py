"""Games are kept as they end, and a run that was cut short goes on where it stopped."""

from __future__ import annotations

import io
import json
import time
from functools import partial
from pathlib import Path

import pytest

from lab import runs
from lab.matches import Setup, SetupError
from tests.lab.coins import coin


def job(games: int, **chosen: object) -> runs.Job:
    return runs.jobs_of(coin(**chosen), games)


def test_a_run_that_was_cut_short_goes_on_and_ends_as_a_whole_one(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    expected = runs.run([job(30)], whole, processes=1)
    lines = whole.read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join(lines[:10]) + lines[10][:40])
    assert runs.run([job(30)], cut, processes=1) == expected
    assert sorted(cut.read_bytes().splitlines()) == sorted(whole.read_bytes().splitlines())


def test_what_a_file_holds_is_not_played_again(tmp_path: Path) -> None:
    path = tmp_path / "records"
    runs.run([job(10)], path, processes=1)
    before = path.read_bytes()
    runs.run([job(10)], path, processes=1)
    assert path.read_bytes() == before


def test_a_file_of_other_games_is_refused_with_both_setups(tmp_path: Path) -> None:
    path = tmp_path / "records"
    runs.run([job(3)], path, processes=1)
    with pytest.raises(SetupError, match=r"records:1 was played as .*expected .*tenths"):
        runs.run([job(3, tenths=3)], path, processes=1)


def test_a_line_that_is_no_record_is_refused_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "records"
    path.write_text("{}\n")
    with pytest.raises(SetupError, match="records:1 is no record"):
        runs.run([job(3)], path, processes=1)


def test_processes_change_nothing_but_the_time() -> None:
    assert runs.run([job(40)], processes=2) == runs.run([job(40)], processes=1)


def test_records_are_lines_of_json(tmp_path: Path) -> None:
    path = tmp_path / "records"
    runs.run([job(2)], path, processes=1)
    first = json.loads(path.read_text().splitlines()[0])["record"]
    assert (first["variant"], first["seed"], first["kind"], first["turns"]) == ("base", 0, "tossed", 2)


def test_progress_names_games_and_time(tmp_path: Path) -> None:
    screen = io.StringIO()
    runs.run([job(4)], processes=1, progress=runs.Bar(screen))
    assert "4 of 4 games, 0 s left   \n" in screen.getvalue()
    runs.run([job(20)], processes=1, progress=partial(runs.to_file, tmp_path / "progress"))
    assert (tmp_path / "progress").read_text() == "20 20\n"


def test_a_run_whose_time_is_up_returns_the_same_seeds_of_every_job() -> None:
    other = runs.jobs_of(coin(paint="silver"), 30, variant="other")
    one, two = runs.run([job(30), other], processes=1, until=time.monotonic())
    assert [each.seed for each in one] == [each.seed for each in two] == [0, 1, 2, 3]
    assert len(runs.run([job(300)], processes=2, until=time.monotonic())[0]) < 300


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"game": "dice"}, "game is 'dice'; expected .*coin"),
        ({"preset": "quick"}, "preset of coin is 'quick'; expected classic or stuck"),
        ({"seats": 7}, "coin has 7 seats; expected 2"),
        ({"chosen": {"colour": 1}}, "option 'colour' of coin is unknown"),
        ({"chosen": {"tenths": 9}}, "option tenths is 9; expected a whole number from 0 to 8"),
        ({"habits": ("lazy",)}, "player is 'lazy'; expected app, app LEVEL, random"),
    ],
)
def test_what_cannot_be_played_is_refused_with_what_was_expected(changed: dict[str, object], message: str) -> None:
    fields = {name: getattr(coin(), name) for name in Setup.__struct_fields__}
    with pytest.raises(ValueError, match=message):
        runs.run([runs.jobs_of(Setup(**{**fields, **changed}), 1)], processes=1)  # type: ignore[arg-type]
