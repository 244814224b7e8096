"""The lab counts how often a temple's lake has to be levelled."""

from __future__ import annotations

import pytest

from lab import lake
from lab.command_line import main
from templo.lake import KINDS


def test_each_preset_and_kind_of_token_has_its_calls(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lake", "mexica", "--games", "2", "--first", "3"]) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head.endswith("| bead 8, never | bead 10, at 150 | bead 12, at 75 | bean, at 110 | skull, at 55 |")
    cells = {name: rest for name, *rest in (row.strip("| ").split(" | ") for row in rows)}
    assert "temple_only" not in cells
    assert cells["evening"][3:] == ["0"] * len(KINDS)
    calls, _, games = cells["classic"][-1].partition(" at most; in ")
    assert int(calls.split(", ")[1]) > 1
    assert games == "2"


def test_both_heaps_are_levelled_at_a_call_of_one() -> None:
    assert lake.calls("hhtthhtt", 3) == 1
    assert lake.calls("hhhtthh", 3) == 1


@pytest.mark.parametrize(("game", "message"), [("chess", "game is 'chess'"), ("market", "expected one with a lake")])
def test_a_game_without_a_lake_is_refused(game: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lake", game, "--games", "1"]) == 2
    assert message in capsys.readouterr().err
