"""Wires, plugs and the power cable lie in the closed temple without meeting a part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from math import dist

import manifold3d
import pytest

from hardware import cabling, checks
from hardware.cabling import Bundle
from hardware.catalogue import Piece
from hardware.making import Workshop
from hardware.parameters import SENSORS, TEMPLE, Controller, Temple, deep
from hardware.parts import plaza, trays

BOARDS = {board.name: board for board in TEMPLE.controllers}
EVERY = pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
INSIDE = pytest.mark.parametrize(
    "board", [each for each in BOARDS.values() if each.inside], ids=lambda each: each.name
)
HAND = 80.0
"""How far shell and base must come apart, so that a hand plugs the wires in."""


def _bundles(temple: Temple, board: Controller, sensor: str) -> tuple[Bundle, ...]:
    return (
        *cabling.sensors(temple, board, SENSORS[sensor]),
        *cabling.to_strip(temple, board),
        cabling.power(temple, board),
        *cabling.lamps(temple, board),
        *filter(None, (cabling.piezo(temple, board),)),
    )


@pytest.fixture(scope="module")
def stands(temple: Temple, kit: dict[str, Piece], workshop: Workshop) -> Callable[[str], list[manifold3d.Manifold]]:
    """Return what places every copy of a part where it stands, each once."""
    known: dict[str, list[manifold3d.Manifold]] = {}

    def placed(name: str) -> list[manifold3d.Manifold]:
        if name not in known:
            known[name] = [checks.solid(workshop.placed(kit[name], at)) for at in kit[name].places]
        return known[name]

    return placed


@EVERY
@pytest.mark.parametrize("sensor", SENSORS)
def test_no_wire_meets_a_part_a_board_a_plug_or_another_wire(
    sensor: str, board: Controller, temple: Temple, stands: Callable[[str], list[manifold3d.Manifold]]
) -> None:
    names = ("shell", "base", "plaza", "plinth", f"chute_{sensor}", f"tray_{board.name}")
    things = {f"{name}/{n}": body for name in names for n, body in enumerate(stands(name))}
    power = {}
    if board.inside:
        x, y = trays.corner(board)
        low = trays.board_low(temple)
        things["board"] = checks.box((x - board.x, y - board.y, low), (x, y, low + 1.6))
        power = {f"power plug/{n}": checks.box(*box) for n, box in enumerate(trays.plug(temple, board))}
    things["strip"] = checks.box(*trays.strip(temple, board))
    things |= {f"plug on pins/{n}": checks.box(*box) for n, box in enumerate(cabling.housings(temple, board))}
    if board.lights is not None:
        things |= {f"light's plug/{n}": checks.box(*box) for n, box in enumerate(cabling.light_plugs(temple, board))}
        things |= {name: body for name, body in cabling.light_bodies(temple).items() if "WS2812" not in name}
    bundles = {bundle.name + f"/{n}": bundle.solid() for n, bundle in enumerate(_bundles(temple, board, sensor))}
    met = {
        (wire, thing): round(volume, 2)
        for wire, body in bundles.items()
        for thing, other in (things | ({} if "cable" in wire else power)).items()
        if (volume := checks.overlap(body, other)) > 0.05
    }
    met |= {
        (one, other): round(volume, 2)
        for one, other in combinations(bundles, 2)
        if (volume := checks.overlap(bundles[one], bundles[other])) > 0.05
    }
    assert met == {}


@INSIDE
def test_plugs_on_the_pins_have_room_beside_the_power_plug_and_the_strip(
    board: Controller, temple: Temple, stands: Callable[[str], list[manifold3d.Manifold]]
) -> None:
    bodies = [body for name in ("shell", "plinth", "base", "plaza", "chute_5mm") for body in stands(name)]
    bodies += [checks.box(*box) for box in trays.plug(temple, board)]
    bodies.append(checks.box(*trays.strip(temple, board)))
    for box in cabling.housings(temple, board):
        assert [checks.overlap(checks.box(*box), body) for body in bodies] == [0] * len(bodies)


@EVERY
@pytest.mark.parametrize("sensor", SENSORS)
def test_a_sensors_wires_are_as_long_as_the_guide_cuts_them_and_let_a_hand_between_shell_and_base(
    sensor: str, board: Controller, temple: Temple
) -> None:
    for bundle in cabling.sensors(temple, board, SENSORS[sensor]):
        assert bundle.length == pytest.approx(cabling.lead(temple), abs=0.5), bundle.name
        assert cabling.lead(temple) - dist(bundle.corners[0], bundle.corners[-1]) >= HAND, bundle.name


@EVERY
def test_the_wires_of_a_deep_lakes_temple_have_room_for_their_bends_and_stay_between_its_walls(
    board: Controller,
) -> None:
    temple = deep(TEMPLE)
    for bundle in (*cabling.sensors(temple, board, temple.sensor), *cabling.lamps(temple, board)):
        assert bundle.length <= 250, f"a pair's own wires and what they are joined to: {bundle.name}"
        depth = [y for _, y, _ in bundle.line]
        assert temple.tiers[0].back + temple.wall < min(depth)
        assert max(depth) < temple.tiers[0].front - temple.wall


@EVERY
def test_the_boards_wires_reach_the_strip_as_long_as_the_guide_cuts_them(board: Controller, temple: Temple) -> None:
    for bundle in cabling.to_strip(temple, board):
        assert 20 < bundle.length < cabling.TO_STRIP - 10, bundle.name
    pins = sum(each.wires for each in board.pins)
    assert pins == {"pico": 5, "outside": 0}.get(board.name, 6)


@EVERY
def test_lamps_and_piezo_are_wired_as_long_as_the_guide_cuts_them_and_let_a_hand_in(
    board: Controller, temple: Temple
) -> None:
    for bundle in cabling.lamps(temple, board):
        assert bundle.length == pytest.approx(cabling.lamp_lead(temple, board), abs=0.5), bundle.name
        assert cabling.lamp_lead(temple, board) - dist(bundle.corners[0], bundle.corners[-1]) >= HAND, bundle.name
    sound = cabling.piezo(temple, board)
    assert (sound is None) == (board.lights is None) == (board.name == "outside")
    assert sound is None or 20 < sound.length < cabling.PIEZO_LEAD - 5


@EVERY
def test_lamps_and_piezo_have_their_places_beside_parts_boards_and_plugs(
    board: Controller, temple: Temple, stands: Callable[[str], list[manifold3d.Manifold]]
) -> None:
    names = ("shell", "plinth", "base", "plaza", "chute_5mm", "chute_3mm", f"tray_{board.name}")
    others = {f"{name}/{n}": body for name in names for n, body in enumerate(stands(name))}
    if board.inside:
        others |= {f"power/{n}": checks.box(*box) for n, box in enumerate(trays.plug(temple, board))}
    others["strip"] = checks.box(*trays.strip(temple, board))
    lights = cabling.light_bodies(temple) if board.lights else {}
    lights |= {f"plug/{n}": checks.box(*box) for n, box in enumerate(cabling.light_plugs(temple, board))}
    met = {
        (light, other): round(volume, 2)
        for light, body in lights.items()
        for other, solid in others.items()
        if (volume := checks.overlap(body, solid)) > 0.02
    }
    assert met == {}


def test_a_lamp_is_held_by_its_hole_and_shines_over_the_brazier(
    temple: Temple, stands: Callable[[str], list[manifold3d.Manifold]]
) -> None:
    (lid,) = stands("plaza")
    for name, body in cabling.light_bodies(temple).items():
        if name.endswith("LED"):
            assert checks.overlap(body.translate((0, 0, 1)), lid) > 1, "its flange stops it"
            assert body.bounding_box()[5] > temple.top + plaza.BRAZIER_HIGH + 2


def test_a_bend_that_is_narrower_than_wires_allow_is_refused(temple: Temple) -> None:
    wires = cabling.sensors(temple, temple.controllers[0], temple.sensor)[0]
    with pytest.raises(ValueError, match="no room for a bend of 30 mm"):
        replace(wires, bend=30.0).solid()


def test_straight_wires_are_found_to_meet_a_part(
    temple: Temple, stands: Callable[[str], list[manifold3d.Manifold]]
) -> None:
    wires = cabling.sensors(temple, temple.controllers[0], temple.sensor)[0]
    straight = replace(wires, corners=(wires.corners[0], wires.corners[-1]))
    bodies = [body for name in ("chute_5mm", "shell", "base") for body in stands(name)]
    assert max(checks.overlap(straight.solid(), body) for body in bodies) > 5
