"""`templo-companion held`: tokens held apart are listed and decided where no companion runs, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.adapters.database import store_lock
from companion.cli.command_line import main
from companion.model.table import OWNER
from tests.companion.conftest import Home

TEMPLE = "templo"


@pytest.fixture
def evening(home: Home) -> Home:
    """A table with three tokens held apart, whose companion was stopped."""
    table = home.table(temple=TEMPLE)
    home.seated(table, "north", "Ben")
    home.services.temples.intake.receive([(TEMPLE, home.token(seq)) for seq in (1, 2, 3)])
    home.services.temples.intake.receive(
        [(TEMPLE, home.token(seq, "huitzilopochtli", token=f"{seq}abc" + "e" * 28)) for seq in (1, 2, 3)]
    )
    home.store.close()
    return home


def held(home: Home, *words: str) -> int:
    return main(["held", *words, "--store", home.url])


def ended(home: Home) -> list[tuple[str, str, int]]:
    home.restart()
    decisions = [
        (each.verdict, each.by, each.stored.token.seq) for each in home.services.temples.decisions.last(TEMPLE, 9)
    ]
    home.store.close()
    return sorted(decisions)


def test_they_are_listed_with_time_slot_and_reason(evening: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert held(evening, "list") == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "templo (serves 'Sunday': east, north (Ben), west, south)"
    assert "1abceeee  2026-11-21 18:00:00  huitzilopochtli  14.0 ms  its number, 1, was taken" in said[1]
    assert len(said) == 4


def test_one_counts_for_a_player_and_the_rest_are_dismissed(
    evening: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    assert held(evening, "count", "2ABC", "--for", "Ben") == 0
    assert held(evening, "dismiss", "--all") == 0
    said = capsys.readouterr().out
    assert (
        "1 of the tokens held apart of 'templo': counted for north at 'Sunday'. The log of 'Sunday' says so." in said
    )
    assert "2 of the tokens held apart of 'templo': dismissed." in said
    assert ended(evening) == [("counted", OWNER, 2), ("dismissed", OWNER, 1), ("dismissed", OWNER, 3)]
    assert held(evening, "list") == 0
    assert capsys.readouterr().out == "No token is held apart.\n"


def test_nothing_is_done_while_a_companion_uses_the_database(
    evening: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    with store_lock.hold(evening.url):
        for words in (("list",), ("dismiss", "--all"), ("count", "--all", "--for", "east")):
            assert held(evening, *words) == 2
            said = capsys.readouterr().err
            assert "which another companion" in said
            assert "decide on its page of the temple" in said
    assert ended(evening) == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("dismiss",), "dismiss is given no token; expected ids as list prints them, or --all"),
        (("dismiss", "1ab"), "token is '1ab', which fits 1 of those held apart; expected the id of one"),
        (("dismiss", "beef"), "token is 'beef', which fits 0 of those held apart"),
        (("count", "--all", "--for", "Carla"), "--for is 'Carla'; expected one of east, north (Ben), west, south"),
        (("dismiss", "--all", "--temple", "other"), "temple is 'other'; expected one of templo"),
    ],
)
def test_a_wrong_command_is_refused_with_what_was_expected(
    evening: Home, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], reason: str
) -> None:
    assert held(evening, *words) == 2
    assert reason in capsys.readouterr().err
    assert ended(evening) == []


def test_a_database_that_cannot_be_opened_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("no folder")
    assert main(["held", "list", "--store", f"sqlite:///{tmp_path / 'file' / 'x.sqlite'}"]) == 2
    assert "templo-companion: store is" in capsys.readouterr().err
