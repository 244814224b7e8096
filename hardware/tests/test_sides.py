"""Where each god's parts stand in the printed temple and in its wiring: everything follows one constant."""

from __future__ import annotations

import pytest

from hardware.catalogue import Piece
from hardware.making import Workshop
from hardware.parameters import SIDES
from hardware.wiring import joins
from templo.shrines import LEFT_TO_RIGHT


def test_the_left_of_whoever_faces_the_stairs_is_towards_plus_x() -> None:
    assert {god: 1 - 2 * n for n, god in enumerate(LEFT_TO_RIGHT)} == SIDES


@pytest.mark.parametrize("god", SIDES)
@pytest.mark.parametrize("name", ["shrine_{}", "lake_{}_front", "lake_{}_back"])
def test_each_gods_mesh_stands_on_its_side(name: str, god: str, kit: dict[str, Piece], workshop: Workshop) -> None:
    piece = kit[name.format(god)]
    (low, high) = workshop.placed(piece, piece.places[0]).bounds[:, 0]
    assert (low + high) / 2 * SIDES[god] > 10


def test_the_figure_with_the_bowl_lies_before_tlalocs_door(kit: dict[str, Piece], workshop: Workshop) -> None:
    """Its cap is the highest that stands before the doors, above the stone of sacrifice before the other."""
    piece = kit["plaza"]
    mesh = workshop.placed(piece, piece.places[0])
    front = mesh.vertices[(mesh.vertices[:, 1] > 16) & (mesh.vertices[:, 1] < 22)]
    highest = front[front[:, 2].argmax()]
    assert highest[0] * SIDES["tlaloc"] > 0


def test_the_wiring_names_the_gods_in_the_order_of_their_shrines() -> None:
    assert joins.GODS == LEFT_TO_RIGHT
