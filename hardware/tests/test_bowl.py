"""The bowl is drawn as it was simulated, and it stays over its shrine until somebody lifts it."""

from __future__ import annotations

from dataclasses import replace
from math import cos, hypot, radians, sin
from typing import TypeAlias

import manifold3d
import mujoco
import numpy as np
import pytest
from shapely.geometry import MultiPolygon, Point, Polygon
from shapely.ops import unary_union

from hardware import checks
from hardware.catalogue import Piece
from hardware.making import Workshop
from hardware.parameters import SIDES, Temple
from hardware.parts import bowl, plaza, shell
from hardware.physics import bowl as simulated
from hardware.physics.world import MM, lowered
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


def test_the_bowl_is_as_high_everywhere_as_the_one_that_was_simulated(
    temple: Temple, kit: dict[str, Piece], workshop: Workshop
) -> None:
    """Rays fall into both; at the rounds of hole and lip the simulated bowl has sixteen corners."""
    shape, hole = temple.bowl, temple.throat / 2
    within, rim = Polygon(shape.outline()).buffer(-0.2), Polygon(shape.outline()).buffer(bowl.wall(temple) / 2)
    grid = [
        (x, y) for x in np.arange(-12, 44, 1.5) for y in np.arange(-24, 24.1, 1.5) if within.contains(Point(x, y))
    ]
    places = np.array(
        [
            *((x, y) for x, y in grid if min(abs(hypot(x, y) - r) for r in (hole, hole + shape.lip_wide)) > 0.25),
            *rim.exterior.coords[::4],
        ]
    )
    high, down = shape.floor + shape.rim + 10, np.array([0.0, 0.0, -1.0])
    rays = np.column_stack([places, np.full(len(places), high)])
    hits, which, _ = workshop.mesh(kit["bowl"]).ray.intersects_location(rays, np.tile(down, (len(rays), 1)))
    drawn = np.full(len(rays), -np.inf)
    np.maximum.at(drawn, which, hits[:, 2])
    model = mujoco.MjModel.from_xml_string(simulated.build(temple, temple.tokens[:1]).xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    turn, level = radians(temple.turn - 90), simulated.floor(lowered(temple)) - shape.floor
    found = []
    for x, y, z in rays:
        start = np.array([x * cos(turn) - y * sin(turn), x * sin(turn) + y * cos(turn), level + z]) * MM
        found.append(high - mujoco.mj_ray(model, data, start, down, None, 1, -1, np.zeros(1, np.int32)) / MM)
    open_ = np.isinf(drawn)
    assert open_.sum() > 50
    assert (np.array(found)[open_] < 0).all()
    assert np.abs(np.array(found) - drawn)[~open_].max() < 0.06


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
    assert min(met(LEAN, slid) for slid in np.arange(-2, 2.1, 0.4)) > 1


def test_the_bowls_pass_the_lamps_and_the_heads_of_the_lids_screws(temple: Temple, glued: list[Body]) -> None:
    heads = [(at, plaza.HEAD, 2.0) for at in (*plaza.screws(temple), *shell.tops(temple))]
    lamps = [(at, plaza.LAMP, 60.0) for at in plaza.lamps(temple).values()]
    for at, radius, high in heads + lamps:
        body = Body.cylinder(high, radius, -1, 48).translate((*at, temple.top))
        assert min(checks.gap(body, each) for each in glued) >= 0.2


def test_a_stand_carries_its_bowl_level_under_nearly_all_of_its_basin(
    temple: Temple, kit: dict[str, Piece], workshop: Workshop, drawn: Body
) -> None:
    """So a bowl that is not glued cannot tip on it either."""
    stand = checks.solid(workshop.mesh(kit["bowl_stand"]))
    assert stand.bounding_box()[5] == pytest.approx(temple.shrine_wall + plaza.PEG_HIGH)
    top, below = _at(stand, temple.shrine_wall - 0.01), _at(drawn, 0.01)
    assert top.bounds[2] > below.bounds[2] - 4
    assert Polygon(below.exterior).buffer(0.01).contains(top)
