"""The bowl is drawn as it was simulated, and it stays over its shrine until somebody lifts it."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import manifold3d
import numpy as np
import pytest
from shapely.geometry import MultiPolygon, Polygon
from shapely.ops import unary_union

from hardware import checks
from hardware.catalogue import Piece
from hardware.making import Workshop
from hardware.parameters import SIDES, Temple
from hardware.parts import plaza, shell
from hardware.shapes import BIG

FINGER = 7.5
"""The radius of a finger: 15 mm across, as the simulation has it."""
OVER = 1.5
"""How high its tip is over the floor as it sweeps, likewise."""
LEAN = 2.5
"""Degrees that a bowl may not lean: its far edge sinks by 0.9 mm."""

Body: TypeAlias = manifold3d.Manifold


@pytest.fixture(scope="module")
def drawn(kit: dict[str, Piece], workshop: Workshop) -> Body:
    """Return the bowl around its hole, its underside on z = 0."""
    return checks.solid(workshop.mesh(kit["bowl"]))


@pytest.fixture(scope="module")
def glued(kit: dict[str, Piece], workshop: Workshop) -> list[Body]:
    """Return both bowls on their stands, in the order of `SIDES`."""
    pairs = zip(*(kit[name].places for name in ("bowl", "bowl_stand")), strict=True)
    return [
        checks.solid(workshop.placed(kit["bowl"], over)) + checks.solid(workshop.placed(kit["bowl_stand"], under))
        for over, under in pairs
    ]


@pytest.fixture(scope="module")
def under(kit: dict[str, Piece], workshop: Workshop) -> Body:
    """Return what both stand on: the plaza and the shrines."""
    names = ("plaza", *(f"shrine_{god}" for god in SIDES))
    return Body.batch_boolean(
        [checks.solid(workshop.placed(kit[name], kit[name].places[0])) for name in names], manifold3d.OpType.Add
    )


def _at(body: Body, z: float) -> MultiPolygon | Polygon:
    """Return a body's section at a height."""
    rings = [Polygon(ring) for ring in body.slice(z).to_polygons()]
    outer = max(rings, key=lambda ring: ring.area)
    return outer - unary_union([ring for ring in rings if ring is not outer])


def _room(body: Body, z: float) -> Polygon:
    """Return what a section encloses."""
    return Polygon(max(_at(body, z).interiors, key=lambda ring: Polygon(ring).area))


@pytest.mark.parametrize("over", [1, 2, 3.7, 10, 21.9])
def test_the_inside_is_the_one_that_was_simulated(over: float, temple: Temple, drawn: Body) -> None:
    shape = temple.bowl
    wanted = Polygon(shape.outline()).buffer(-max(0.0, shape.bank - over), join_style="mitre")
    assert _room(drawn, shape.floor + over).symmetric_difference(wanted).area < 0.05 * wanted.length


def test_hole_lip_floor_and_rim_are_the_ones_that_were_simulated(temple: Temple, drawn: Body) -> None:
    shape, radius = temple.bowl, temple.throat / 2
    low, high = drawn.bounding_box()[2], drawn.bounding_box()[5]
    assert (low, high) == pytest.approx((0, shape.floor + shape.rim))
    hole = Body.cylinder(high + 2, radius - 0.05, -1, 96).translate((0, 0, -1))
    assert checks.overlap(hole, drawn) == 0
    top = drawn ^ Body.cylinder(shape.floor + 8, radius + shape.lip_wide - 0.05, -1, 96).translate((0, 0, -1))
    assert top.bounding_box()[5] == pytest.approx(shape.floor + shape.lip)
    assert checks.overlap(top, Body.cylinder(high, radius + 0.1, -1, 96)) > 0.5
    level = checks.box((radius + shape.lip_wide + 0.5, -2, 0), (shape.reach + shape.basin - shape.bank - 1, 2, high))
    assert (drawn ^ level).bounding_box()[5] == pytest.approx(shape.floor)


def test_a_finger_reaches_the_hole_and_every_place_in_the_basin(temple: Temple, drawn: Body) -> None:
    shape = temple.bowl
    less = FINGER + 0.5
    line = replace(shape, neck=shape.neck - less, basin=shape.basin - less).outline()
    low = shape.floor + OVER + FINGER
    tip = Body.sphere(FINGER, 48)
    ends = [tip.translate((x, y, low + up)) for x, y in (*line, (0.0, 0.0)) for up in (0, 60)]
    assert checks.overlap(Body.batch_hull(ends), drawn) == 0
    reached = Polygon(line).buffer(less + 0.1)
    assert reached.contains(Polygon(shape.outline()))


@pytest.mark.parametrize("n", range(len(SIDES)))
def test_a_bowl_lifts_off_with_its_stand_and_the_other_in_place(n: int, glued: list[Body], under: Body) -> None:
    rest = under + glued[1 - n]
    assert [up for up in np.arange(0.1, 40, 2.1) if checks.overlap(glued[n].translate((0, 0, up)), rest) > 0] == []


@pytest.mark.parametrize("n", range(len(SIDES)))
def test_the_crest_holds_a_bowl_sideways(n: int, glued: list[Body], under: Body) -> None:
    lifted = glued[n].translate((0, 0, 0.05))
    assert checks.overlap(lifted, under) == 0
    for x, y in ((0.6, 0), (-0.6, 0), (0, 0.6), (0, -0.6)):
        assert checks.overlap(lifted.translate((x, y, 0)), under) > 1


@pytest.mark.parametrize("n", range(len(SIDES)))
@pytest.mark.parametrize("out", [(1, 0), (0, 1), (0, -1)])
def test_a_hand_on_the_rim_does_not_tip_a_bowl(
    out: tuple[float, float], n: int, temple: Temple, glued: list[Body], under: Body
) -> None:
    """Turned about the outer edge of its foot, it meets crest or shrine, however it slides."""
    side = list(SIDES.values())[n]
    x, y = side * out[0], side * out[1]
    box = (glued[n] ^ checks.box((-BIG, -BIG, temple.top), (BIG, BIG, temple.top + 1))).bounding_box()
    about = box[3 if x > 0 else 0], box[4 if y > 0 else 1], temple.top

    def met(angle: float, slid: float) -> float:
        turned = glued[n].translate([-each for each in about]).rotate((-y * angle, x * angle, 0)).translate(about)
        return checks.overlap(turned.translate((x * slid, y * slid, 0.02)), under)

    assert met(1.5, -0.4) == 0
    assert min(met(LEAN, slid) for slid in np.arange(-2, 2.1, 0.25)) > 1


def test_the_stands_pass_the_heads_of_the_lids_screws(temple: Temple, glued: list[Body]) -> None:
    heads = [Body.cylinder(2, plaza.HEAD, -1, 48).translate((*at, temple.top)) for at in _screws(temple)]
    assert [checks.gap(head, each) < 0.2 for head in heads for each in glued] == [False] * 2 * len(heads)


def _screws(temple: Temple) -> tuple[tuple[float, float], ...]:
    return (*plaza.screws(temple), *shell.tops(temple))


def test_a_stand_carries_its_bowl_level_under_nearly_all_of_its_basin(
    temple: Temple, kit: dict[str, Piece], workshop: Workshop, drawn: Body
) -> None:
    """So a bowl that is not glued cannot tip on it either."""
    stand = checks.solid(workshop.mesh(kit["bowl_stand"]))
    assert stand.bounding_box()[5] == pytest.approx(temple.shrine_wall + plaza.PEG_HIGH)
    top, below = _at(stand, temple.shrine_wall - 0.01), _at(drawn, 0.01)
    assert top.bounds[2] > below.bounds[2] - 4
    assert Polygon(below.exterior).buffer(0.01).contains(top)
