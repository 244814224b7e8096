"""The drawings show what the wiring says."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardware.bill import bill
from hardware.parameters import TEMPLE
from hardware.wiring import __main__ as command
from hardware.wiring import additions, circuit, harness
from hardware.wiring.boards import BOARDS, Board
from hardware.wiring.joins import BASE, GUARD, HOLD, PULL_UP, wiring
from hardware.wiring.pages import PAGES


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_a_harness_shows_each_end_of_each_wire(board: Board, tmp_path: Path) -> None:
    drawn = harness.draw(wiring(board), tmp_path).read_text(encoding="utf-8")
    for wire in wiring(board).wires:
        assert wire.start[1] in drawn
        assert wire.end[0].replace("'", "&#39;") in drawn


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_a_circuit_shows_both_pull_ups_and_the_transistor_where_it_is_driven(board: Board, tmp_path: Path) -> None:
    joined = wiring(board)
    drawn = circuit.draw(joined, tmp_path).read_text(encoding="utf-8")
    assert drawn.count(PULL_UP) == 2 + (HOLD == PULL_UP and joined.switch is not None)
    assert drawn.count(GUARD) == 2 + (BASE == GUARD and joined.switch is not None)
    assert ("BC547" in drawn) == (joined.switch is not None)
    assert f"{joined.receivers}<" in drawn


def test_each_addition_has_a_picture_on_the_page_with_the_values_of_the_bill(
    tmp_path: Path,
) -> None:
    drawn = {path.name: path.read_text(encoding="utf-8") for path in additions.draw(tmp_path)}
    page = PAGES[0].read_text(encoding="utf-8")
    assert [name for name in drawn if f"pictures/wiring/{name}" not in page] == []
    bought = " ".join(item.what for item in bill()["sensors"])
    for value in (additions.SERIES, additions.SPIKES, additions.DIPS):
        assert value in drawn["addition-capacitor.svg"]
        assert value in bought
    assert additions.MODULE in drawn["addition-modulated.svg"]
    assert f"{TEMPLE.below:g} mm" in drawn["addition-second-beam.svg"]
    assert f"{TEMPLE.below:g} mm" in page
    assert "receiver" in drawn["addition-shroud.svg"]


@pytest.mark.parametrize(("argument", "status"), [("--help", 0), ("--wrong", 2)])
def test_the_command_draws_nothing_when_it_is_asked_for_help_or_given_what_it_does_not_know(
    argument: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(command, "drawings")
    monkeypatch.delattr(command, "renew")
    with pytest.raises(SystemExit) as ended:
        command.main([argument])
    assert ended.value.code == status
