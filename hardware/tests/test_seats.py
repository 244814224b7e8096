"""What is hidden from a seat is what stands between it and the eye."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from hardware import seats
from hardware.parameters import TEMPLE


def test_a_wall_hides_what_is_behind_it_and_nothing_else() -> None:
    wall = trimesh.creation.box((200, 2, 100)).apply_translation((0, 0, 50))
    spots = np.array([[0.0, -50.0, 0.0], [0.0, 50.0, 0.0], [150.0, -50.0, 0.0]])
    assert seats.hidden(wall, seats.seat(0), spots).tolist() == [True, False, False]
    assert seats.hidden(wall, seats.seat(180), spots).tolist() == [False, True, False]


def test_the_spots_lie_all_over_the_ring() -> None:
    spots = seats.on_board(TEMPLE)
    radius = np.hypot(spots[:, 0], spots[:, 1])
    assert TEMPLE.shore < radius.min()
    assert radius.max() < TEMPLE.board.across / 2
    middle = np.sqrt((TEMPLE.shore**2 + (TEMPLE.board.across / 2) ** 2) / 2)
    assert np.mean(radius < middle) == pytest.approx(0.5, abs=0.01)


def test_sizes_that_break_a_rule_show_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert seats.main(["--set", "slope=20"]) == 1
    assert "slope: at 20 degrees" in capsys.readouterr().err
