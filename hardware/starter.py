"""The starter: two printed chutes in a temple of card. Its set of parts, its body on the table, and its pictures.

The card's sizes are the print sheet's own, `companion.games.mexica.page.card_temple`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import manifold3d
import numpy as np
from build123d import Location

from companion.games.mexica.page import card_temple as card
from hardware import cabling, checks
from hardware.catalogue import PAPER, RAIN, WAR, WATER_RAIN, WATER_WAR, Piece
from hardware.making import Workshop, matrix
from hardware.parameters import SIDES, Temple
from hardware.parts import chute
from hardware.pictures import Body, draw
from hardware.steps import SIZE, STEEL, Bench, Seen, chutes, halves, skin

BOARD, PINS, LEAF = "#F4EFE4", "#3F7A4A", "#FBF3E0"
THICK = 0.8
"""How thick card is drawn, so that its edges are seen."""
COLOURS = {"huitzilopochtli": WAR, "tlaloc": RAIN}
BREADBOARD = (82.0, 55.0, 9.0)
BEHIND = 9.0
"""From the shore to the breadboard."""


def parts(kit: Iterable[Piece]) -> tuple[Piece, ...]:
    """Return what of a temple's pieces is printed for the starter: its chutes."""
    return tuple(piece for piece in kit if piece.chosen and piece.instead == "chute")


def places(temple: Temple) -> tuple[Location, ...]:
    """Return where both chutes lie in the card temple: as in the printed one, and lower."""
    down = Location((0, 0, card.SILL - temple.sill))
    return tuple(down * chute.place(temple, side) for side in SIDES.values())


def cradle(god: str, thick: float = card.STOCK) -> manifold3d.Manifold:
    """Return a folded cradle as it stands on the plan, with its ears."""
    wide = card.cradle_width()
    walls = _prism(card.cradle_side(), wide)
    inner = _prism(_inside(card.cradle_side(), thick), wide - 2 * thick)
    ears = [
        _prism(card.ear_side(), thick).translate((0, side * (wide - thick) / 2, 0)) for side in (-1, 1)
    ]  # fmt: skip
    found = walls - inner
    for ear in ears:
        found += ear
    turned = 90 - SIDES[god] * card.turn()
    x, y = card.SHAFT
    return found.rotate((0, 0, turned)).translate((SIDES[god] * x, y, 0))


def box(n: int, thick: float = card.STOCK) -> manifold3d.Manifold:
    """Return a box in its place: without a bottom, its top open for the next one or with the two slots."""
    tier = card.TIERS[n]
    found = checks.box((-tier.half, tier.back, tier.low), (tier.half, tier.front, tier.high))
    found -= checks.box(
        (-tier.half + thick, tier.back + thick, tier.low - 1),
        (tier.half - thick, tier.front - thick, tier.high - thick),
    )
    if n + 1 < len(card.TIERS):
        above = card.TIERS[n + 1]
        found -= checks.box((-above.half, above.back, 0), (above.half, above.front, tier.high + 1))
    else:
        for side in SIDES.values():
            half = card.SLOT / 2
            slot = checks.box((-half, -half, 0), (half, half, tier.high + 1)).rotate((0, 0, -side * card.turn()))
            found -= slot.translate((side * card.SHAFT[0], card.SHAFT[1], 0))
    if n == 0:
        inner, outer, high = card.DOOR
        for left, right in ((inner, outer), (-outer, -inner)):
            found -= checks.box((left, tier.front - 5, -1), (right, tier.front + 5, high))
        half, wires = card.WIRES
        found -= checks.box((-half, tier.back - 5, -1), (half, tier.back + 5, wires))
    return found


def stairs() -> manifold3d.Manifold:
    """Return both stairs as a body."""
    profile = [(card.STAIR_FOOT, 0.0), (card.TIERS[-1].front, card.TOP)]
    for upper, lower in zip(reversed(card.TIERS[1:]), reversed(card.TIERS[:-1]), strict=True):
        profile += [(upper.front, upper.low), (lower.front, upper.low)]
    profile.append((card.TIERS[0].front, 0.0))
    return _prism(profile, 2 * card.STAIR_HALF).rotate((0, 0, 90))


def shore() -> manifold3d.Manifold:
    """Return the ring around the lake."""
    whole = manifold3d.Manifold.cylinder(card.RING_HIGH, card.RING, -1, 120)
    whole -= manifold3d.Manifold.cylinder(card.RING_HIGH * 3, card.RING - THICK, -1, 120).translate((0, 0, -9))
    wide, high = card.NOTCH
    return whole - checks.box((-6 - wide, -card.RING - 9, -1), (-6, -card.RING + 20, high))


def _prism(profile: Sequence[tuple[float, float]], wide: float) -> manifold3d.Manifold:
    """Return a profile along x and z as a body, `wide` across, its middle at y = 0."""
    section = manifold3d.CrossSection([np.array(profile)], manifold3d.FillRule.NonZero)
    if section.is_empty() or section.area() <= 0:
        section = manifold3d.CrossSection([np.array(profile[::-1])], manifold3d.FillRule.NonZero)
    return section.extrude(wide).translate((0, 0, -wide / 2)).rotate((90, 0, 0))


def _inside(profile: Sequence[tuple[float, float]], thick: float) -> list[tuple[float, float]]:
    (x0, _), (x1, _), (_, high1), (_, high0) = profile
    fall = (high1 - high0) / (x1 - x0)
    low = thick * 1.2
    return [
        (x0 + thick, -1),
        (x1 - thick, -1),
        (x1 - thick, high1 - fall * thick - low),
        (x0 + thick, high0 + fall * thick - low),
    ]


class Table:
    """The starter's things, to be laid out for pictures."""

    def __init__(self, workshop: Workshop, kit: Iterable[Piece]) -> None:
        """Take the pieces of the temple that the chutes belong to."""
        kit = tuple(kit)
        self.temple = workshop.temple
        self.bench = Bench(workshop, kit)
        (self._chute,) = parts(kit)
        self._workshop = workshop

    def chutes(self, up: float = 0, sensors: bool = True) -> list[Body]:
        """Return both chutes where they lie, with their sensors."""
        found: list[Body] = []
        for at in places(self.temple):
            bodies = [(self._workshop.mesh(self._chute), self._chute.colour)]
            bodies += halves(self.bench) if sensors else []
            for mesh, colour in bodies:
                mesh.apply_transform(matrix(at)).apply_translation((0, 0, up))
                found.append((mesh, colour))
        return found

    def plan(self) -> list[Body]:
        """Return the plan with both halves of the lake and the cradles' places."""
        disc = manifold3d.Manifold.cylinder(0.6, card.RING, -1, 120).translate((0, 0, -0.7))
        left = checks.box((0, -200, -5), (200, 200, 5))
        found: list[Body] = [
            (skin(_leaf((210, 240)).translate((0, 0, -1.2))), LEAF),
            (skin(disc ^ left), WATER_RAIN if SIDES["tlaloc"] > 0 else WATER_WAR),
            (skin(disc - left), WATER_WAR if SIDES["tlaloc"] > 0 else WATER_RAIN),
        ]
        for god in SIDES:
            corners = np.array(card.footprint(god))
            if SIDES[god] < 0:
                corners = corners[::-1]
            section = manifold3d.CrossSection([corners], manifold3d.FillRule.NonZero)
            if section.is_empty():
                section = manifold3d.CrossSection([corners[::-1]], manifold3d.FillRule.NonZero)
            found.append((skin(section.extrude(0.4).translate((0, 0, -0.1))), COLOURS[god]))
        return found

    def cradles(self, up: float = 0) -> list[Body]:
        """Return both cradles where they stand."""
        return [(skin(cradle(god, THICK).translate((0, 0, up))), PAPER) for god in SIDES]

    def boxes(self, apart: float = 0) -> list[Body]:
        """Return the boxes over each other, or so far apart, with a red edge each."""
        found: list[Body] = []
        for n, tier in enumerate(card.TIERS):
            body = box(n, THICK).translate((0, 0, apart * (n + 1) if apart else 0))
            edge = tier.high + (apart * (n + 1) if apart else 0) - 3
            low, rest = body.split_by_plane((0, 0, -1), -edge)
            band, top = rest.split_by_plane((0, 0, -1), -(edge + 3 - THICK))
            found += [(skin(low), PAPER), (skin(band), WAR), (skin(top), PAPER)]
        return found

    def shrines(self, up: float = 0) -> list[Body]:
        """Return towers and fronts over the slots."""
        found: list[Body] = []
        for god, side in SIDES.items():
            x, y = side * card.SHAFT[0], card.SHAFT[1]
            half, high = card.SHRINE / 2, card.SHRINE_HIGH
            tower = checks.box((-half, -half, 0), (half, half, high))
            tower -= checks.box((-half + THICK, -half + THICK, -1), (half - THICK, half - THICK, high + 1))
            wide, tall = card.FACADE
            front = checks.box((-wide / 2 + 3, half, 0), (wide / 2 - 3, half + THICK, tall - card.ROOF))
            roof = _prism(
                [
                    (-wide / 2, tall - card.ROOF),
                    (wide / 2, tall - card.ROOF),
                    (wide / 2 - 6, tall),
                    (6 - wide / 2, tall),
                ],
                THICK,
            ).translate((0, half + THICK / 2, 0))
            face = checks.box((-7, half + THICK, 3), (7, half + THICK + 0.4, 17))
            for body, colour in ((tower + front + roof, COLOURS[god]), (face, PAPER)):
                found.append((skin(body.translate((x, y, card.TOP + up))), colour))
        return found

    def lake(self) -> list[Body]:
        """Return the shore, and the roads between both lakes."""
        first = card.TIERS[0]
        roads = [
            checks.box((-THICK / 2, begin, 0), (THICK / 2, end, card.ROAD_HIGH))
            for begin, end in ((-card.RING, first.back), (card.STAIR_FOOT, card.RING))
        ]
        return [(skin(shore()), PAPER), *((skin(road), PAPER) for road in roads)]

    def stair(self) -> list[Body]:
        """Return both stairs with their steps."""
        found: list[Body] = [(skin(stairs()), PAPER)]
        back, high = card.STAIR_FOOT - card.TIERS[-1].front, card.TOP
        count = 14
        for k in range(count):
            y, z = card.TIERS[-1].front + back * (k + 0.8) / count, high * (1 - (k + 0.8) / count)
            for side in (-1, 1):
                step = checks.box((side * 8 - 6, y - 1, z - 1.6), (side * 8 + 6, y + 1, z + 1.6))
                found.append((skin(step), "#D99B2B"))
        return found

    def counter(self) -> list[Body]:
        """Return the breadboard with the Pico behind the temple, and the sensors' wires to it."""
        long, wide, high = BREADBOARD
        back = -card.RING - BEHIND
        left, middle = -long / 2, back - wide / 2
        found: list[Body] = [
            (skin(checks.box((-long / 2, back - wide, 0), (long / 2, back, high))), BOARD),
            (skin(checks.box((left, middle - 10.5, high + 2), (left + 51, middle + 10.5, high + 3.6))), PINS),
            (skin(checks.box((left - 1.5, middle - 4, high + 3.6), (left + 6, middle + 4, high + 6.2))), STEEL),
        ]
        for n in range(4):
            x, y = -30.0 + 5 * n, card.TIERS[0].back
            way = ((x, y + 12, 5), (x, y - 8, 3), (x, back + 4, 3), (x, back + 4, high + 6), (x, back - 7, high + 6))
            bundle = cabling.Bundle("leads", way, cabling.RADII[2], cabling.WIRE_BEND, cabling.GREY)
            found.append((skin(bundle.solid()), cabling.GREY))
        return found


def _leaf(size: tuple[float, float]) -> manifold3d.Manifold:
    wide, long = size
    return checks.box((-wide / 2, -long / 2, 0), (wide / 2, long / 2, 0.4))


def printed(table: Table) -> list[Body]:
    """Lay out both chutes as they are printed."""
    first, second = table.bench.lying(table.bench.chute), table.bench.lying(table.bench.chute)
    second[0].apply_translation((0, 62, 0))
    return [first, second]


def sensed(table: Table) -> list[Body]:
    """Lay out a chute with an emitter over its seat, a receiver in the other."""
    return chutes(table.bench)


def folded(table: Table) -> list[Body]:
    """Lay out what is folded of the sheet, side by side."""
    found: list[Body] = []
    spots = ((-70, 70), (70, 70), (-70, -52), (70, -52))
    for n, (x, y) in enumerate(spots):
        body = box(n, THICK).translate((x, y, -card.TIERS[n].low))
        found.append((skin(body), PAPER))
    found += [(skin(cradle(god, THICK).translate((side * 40, -160, 0))), PAPER) for god, side in SIDES.items()]
    found.append((skin(stairs().translate((0, -200, 0))), PAPER))
    return found


def laid(table: Table) -> list[Body]:
    """Lay out both chutes over their cradles on the plan."""
    return [*table.plan(), *table.cradles(), *table.chutes(34)]


def standing(table: Table) -> list[Body]:
    """Lay out the chutes in their cradles, the boxes over them."""
    return [*table.plan(), *table.cradles(), *table.chutes(), *table.boxes(38)]


def topped(table: Table) -> list[Body]:
    """Lay out the boxes in place, stairs and shrines about to be glued on."""
    return [
        *table.plan(), *table.cradles(), *table.chutes(), *table.boxes(), *table.stair(), *table.shrines(26)
    ]  # fmt: skip


def whole(table: Table) -> list[Body]:
    """Lay out the temple in its lake, the breadboard behind it."""
    return [
        *table.plan(), *table.cradles(), *table.chutes(), *table.boxes(), *table.stair(), *table.shrines(),
        *table.lake(), *table.counter(),
    ]  # fmt: skip


def cut_open(table: Table) -> list[Body]:
    """Lay out the temple with one half cut away."""
    half = checks.box((0, -300, -10), (300, 300, 400))
    solids = [(checks.solid(mesh) - half, colour) for mesh, colour in (*table.boxes(), *table.stair())]
    found = [(skin(left), colour) for left, colour in solids if not left.is_empty()]
    return [*table.plan(), *table.cradles(), *table.chutes(), *found, *table.counter()]


STEPS: Mapping[str, tuple[Callable[[Table], list[Body]], Seen]] = {
    "1-print": (printed, (35, 32)),
    "2-sensors": (sensed, (35, 32)),
    "3-fold": (folded, (20, 38)),
    "4-cradles": (laid, (40, 30)),
    "5-boxes": (standing, (32, 22)),
    "6-stairs": (topped, (28, 30)),
    "7-leads": (cut_open, (120, 30)),
    "10-whole": (whole, (24, 32)),
}
"""What each picture shows, and from where."""


def draw_all(workshop: Workshop, kit: Iterable[Piece], folder: Path) -> list[Path]:
    """Draw every step into a folder, and return the pictures."""
    table = Table(workshop, kit)
    paths = []
    for name, (step, seen) in STEPS.items():
        path = folder / f"starter-{name}.png"
        draw(step(table), path, SIZE, seen)
        paths.append(path)
    return paths
