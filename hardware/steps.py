"""Pictures of every step of the guide, made from the assembly: pulled apart, cut away, with wires in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import manifold3d
import numpy as np
import trimesh
from PIL import Image

from hardware import cabling, checks
from hardware.cabling import Bundle, Spot
from hardware.catalogue import OCHRE, Piece
from hardware.making import Workshop, matrix
from hardware.parameters import SIDES, Controller, Sensor, Temple
from hardware.parts import chute, plaza, plinth, shell, trays
from hardware.pictures import PAPER, Body, draw
from hardware.seats import seat

COPPER, CARD, STEEL, PLUG, LENS, TABLE = "#3F7A4A", "#B98A4A", "#9A9DA3", "#EFE9DC", "#33415C", "#B98A5A"
SIZE = (1200, 1000)
SCREW, HEAD = 1.5, 2.8
"""The radii of an M3 screw and of its head."""
OVER = 16.0
"""How far a screw is drawn from where it goes in."""
SEAT = 24.0
"""Degrees around from the stairs where somebody sits who sees the table."""
BUD = 68.0
"""How far a cotton bud reaches, along the level."""

SEAM = 2.0
"""How wide the line between the board's two halves is drawn."""

FILM, FRAME = 20.0, (600, 500)
"""How many seconds the film of the assembly lasts, and its size."""

Seen = tuple[float, float]
"""From where a picture is taken: degrees around from the stairs, and degrees up."""


class Bench:
    """The pieces of one temple, to be laid out for pictures."""

    def __init__(self, workshop: Workshop, kit: Iterable[Piece]) -> None:
        """Take the chosen and the optional pieces."""
        self.temple = workshop.temple
        self._workshop = workshop
        self._pieces = {piece.name: piece for piece in kit if piece.chosen or piece.optional}
        self.board: Controller = next(each for each in self.temple.controllers if each.name == self.temple.controller)
        self.sensor: Sensor = self.temple.sensor
        self.chute = next(f"chute_{name}" for name, sensor in self.temple.sensors.items() if sensor == self.sensor)

    @property
    def names(self) -> tuple[str, ...]:
        """The chosen pieces by their names."""
        return tuple(name for name, piece in self._pieces.items() if piece.chosen)

    def piece(self, name: str, move: Spot = (0, 0, 0), cut: manifold3d.Manifold | None = None) -> list[Body]:
        """Return every copy of a piece where it stands, moved, and without what is cut away."""
        found: list[Body] = []
        piece = self._pieces[name]
        for at in piece.places:
            whole = [(self._workshop.placed(piece, at), piece.colour)] if cut is not None else []
            for mesh, colour in whole or self._workshop.coloured(piece):
                if cut is not None:
                    mesh = skin(checks.solid(mesh) - cut)
                else:
                    mesh.apply_transform(matrix(at))
                mesh.apply_translation(move)
                found.append((mesh, colour))
        return found

    def lying(self, name: str) -> Body:
        """Return a piece as it lies on the bed."""
        return self._workshop.mesh(self._pieces[name]), self._pieces[name].colour

    def on(self, name: str, bodies: Sequence[Body], move: Spot) -> list[Body]:
        """Return what is mounted on a piece that lies on the bed, for every copy of it where it stands, moved."""
        return [
            (mesh.copy().apply_transform(matrix(at)).apply_translation(move), colour)
            for at in self._pieces[name].places
            for mesh, colour in bodies
        ]

    def controller(self, move: Spot = (0, 0, 0)) -> list[Body]:
        """Return the board with its header and its power socket."""
        if not self.board.inside:
            return []
        x, y = trays.corner(self.board)
        low = trays.board_low(self.temple)
        body: list[Body] = [(_block(((x - self.board.x, y - self.board.y, low), (x, y, low + 1.6)), move), COPPER)]
        for (left, near, _), (right, far, _) in cabling.housings(self.temple, self.board):
            body.append((_block(((left, near, low + 1.6), (right, far, low + 4)), move), cabling.BLACK))
        return body

    def wired(self) -> list[Body]:
        """Return the strip, the plugs, the board's wires and the cable."""
        (left, back, low), (right, front, high) = trays.strip(self.temple, self.board)
        body: list[Body] = [(_block(((left, back, low), (right, front, low + 1.6))), CARD)]
        for n in range(4):
            x, y, _ = cabling.plug_at(self.temple, self.board, n)
            body.append((_block(((x - 5, y - 3, low + 1.6), (x + 5, y + 3, high))), PLUG))
        body += [(_block(box), cabling.BLACK) for box in cabling.housings(self.temple, self.board)]
        cable = cabling.power(self.temple, self.board)
        if self.board.inside:
            plug, _ = trays.plug(self.temple, self.board)
            body.append((_block(plug), cabling.BLACK))
            x, y, _ = cable.corners[0]
            out = ((plug[0][0] + plug[1][0]) / 2, (plug[0][1] + plug[1][1]) / 2, (plug[0][2] + plug[1][2]) / 2)
            turned = (out, (x, y, out[2]), *cable.corners[1:])
            cable = Bundle(cable.name, turned, cable.radius, cable.bend, cable.colour)
        return [*body, *_drawn([*cabling.to_strip(self.temple, self.board), cable])]

    def leads(self) -> list[Body]:
        """Return the sensors' wires."""
        return _drawn(cabling.sensors(self.temple, self.board, self.sensor))


def draw_all(workshop: Workshop, kit: Iterable[Piece], folder: Path) -> list[Path]:
    """Draw every step, every care and the table from a seat into a folder, and return the pictures of the steps."""
    bench = Bench(workshop, kit)
    draw(table(bench), folder / "seat.png", SIZE, seat(SEAT))
    for name, (scene, seen) in CARE.items():
        draw(scene(bench), folder / f"care-{name}.png", SIZE, seen)
    paths = []
    for name, (scene, seen) in STEPS.items():
        paths.append(folder / f"step-{name}.png")
        draw(scene(bench), paths[-1], SIZE, seen)
    return paths


def film(pictures: Sequence[Path], path: Path, seconds: float = FILM) -> Path:
    """Show pictures one after the other, each as long as the others, all in so many seconds, again and again."""
    width, height = FRAME
    frames = []
    for each in pictures:
        with Image.open(each) as picture:
            shown = picture.convert("RGB")
        shown.thumbnail(FRAME)
        frame = Image.new("RGB", FRAME, PAPER)
        frame.paste(shown, ((width - shown.width) // 2, (height - shown.height) // 2))
        frames.append(frame.quantize(64))
    lasts = round(1000 * seconds / len(frames), -1)
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=lasts, loop=0, optimize=True)
    return path


def skin(solid: manifold3d.Manifold) -> trimesh.Trimesh:
    """Return a body's surface, to be drawn."""
    mesh = solid.to_mesh()
    return trimesh.Trimesh(np.asarray(mesh.vert_properties)[:, :3], np.asarray(mesh.tri_verts))


def _block(box: trays.Box, move: Spot = (0, 0, 0)) -> trimesh.Trimesh:
    return skin(checks.box(*box).translate(move))


def _drawn(bundles: Sequence[Bundle]) -> list[Body]:
    return [(skin(bundle.solid()), bundle.colour) for bundle in bundles]


def _screws(places: Iterable[tuple[float, float]], z: float, up: int = 1, long: float = 8) -> list[Body]:
    """Return screws that are about to go in at a height, from above or from below."""
    head = manifold3d.Manifold.cylinder(1.7, SCREW, HEAD).translate((0, 0, long - 1.7))
    screw = manifold3d.Manifold.cylinder(long, SCREW) + head
    if up < 0:
        screw = screw.mirror((0, 0, 1))
    return [(skin(screw.translate((x, y, z + up * OVER))), STEEL) for x, y in places]


def _turned_over(bodies: Iterable[Body]) -> list[Body]:
    over = trimesh.transformations.rotation_matrix(np.pi, [1, 0, 0])
    return [(mesh.apply_transform(over), colour) for mesh, colour in bodies]


def halves(bench: Bench, over: float = 0.0) -> list[Body]:
    """Return the receiver in its seat of a chute that lies on the bed, and the emitter over or in the other."""
    temple, sensor = bench.temple, bench.sensor
    x, z = chute.beam(temple)
    z += chute.UNDER
    near = temple.shaft / 2 + temple.chute_wall
    low, high = x - (sensor.length - sensor.lens_from_end), x + sensor.lens_from_end
    bodies: list[Body] = []
    for side, up, wires in ((1, 0.0, 3), (-1, over, 2)):
        begin, end = sorted((side * (near + 0.1), side * (near + sensor.depth)))
        half = sensor.height / 2
        bodies.append((_block(((low, begin, z - half + up), (high, end, z + half + up))), LENS))
        y = (begin + end) / 2
        way = ((low, y, z + up), (low - 9, y, z + up), (low - 9, y, z + up + 22))
        bodies += _drawn([Bundle("wires", way, cabling.RADII[wires], cabling.WIRE_BEND, cabling.GREY)])
    return bodies


def chutes(bench: Bench) -> list[Body]:
    """Lay out an emitter over its seat, a receiver in the other, wires uphill."""
    return [bench.lying(bench.chute), *halves(bench, over=20.0)]


def lid(bench: Bench) -> list[Body]:
    """Lay out the plaza over the shell, its four screws over it."""
    temple = bench.temple
    return [
        *bench.piece("shell"),
        *bench.piece("plaza", (0, 0, 26)),
        *_screws(shell.tops(temple), temple.top + 26),
    ]


def inside_out(bench: Bench) -> list[Body]:
    """Lay out shell and plaza turned over, the chutes going in with their sensors."""
    temple = bench.temple
    move = (0, 0, -temple.plinth - 6)
    upright = [
        *bench.piece("shell"),
        *bench.piece("plaza"),
        *bench.piece(bench.chute, move),
        *bench.on(bench.chute, halves(bench), move),
        *_screws(plaza.screws(temple), temple.top, long=6),
    ]
    return _turned_over(upright)


def under(bench: Bench) -> list[Body]:
    """Lay out shell and plaza turned over, the chutes in them, and the plinth over them with its screws."""
    temple = bench.temple
    move = 34.0
    upright = [
        *bench.piece("shell"),
        *bench.piece("plaza"),
        *bench.piece(bench.chute),
        *bench.on(bench.chute, halves(bench), (0, 0, 0)),
        *bench.piece("plinth", (0, 0, -move)),
        *_screws(shell.bottoms(temple), temple.floor - move, -1),
    ]
    return _turned_over(upright)


def tray(bench: Bench) -> list[Body]:
    """Lay out tray and controller over the base, each with its screws."""
    temple, board = bench.temple, bench.board
    name = f"tray_{board.name}"
    low = trays.board_low(temple)
    return [
        *bench.piece("base"),
        *bench.piece(name, (0, 0, 22)),
        *bench.controller((0, 0, 52)),
        *_screws(trays.corners(temple), temple.floor + trays.BOSS_HIGH + temple.tray + 22 - OVER + 3),
        *_screws(trays.holes(board), low + 1.6 + 52 - OVER + 3, long=6),
    ]


def strip(bench: Bench) -> list[Body]:
    """Lay out strip, plugs and cable on the base."""
    return [
        *bench.piece("base"), *bench.piece(f"tray_{bench.board.name}"), *bench.controller(), *bench.wired()
    ]  # fmt: skip


def closed(bench: Bench) -> list[Body]:
    """Lay out the temple with half of its shell cut away: chutes, sensors' wires, strip and controller."""
    half = checks.box((-2, -300, 0), (300, 300, 400))
    return [
        *bench.piece("base"),
        *bench.piece(f"tray_{bench.board.name}"),
        *bench.controller(),
        *bench.wired(),
        *bench.leads(),
        *bench.piece(bench.chute),
        *(body for name in ("plinth", "shell", "plaza") for body in bench.piece(name, cut=half)),
        *bench.piece("shrine_huitzilopochtli"),
        *bench.piece("roof_huitzilopochtli"),
        *bench.piece("shrine_tlaloc", (0, 0, 24)),
        *bench.piece("roof_tlaloc", (0, 0, 34)),
        *_screws(plinth.bottoms(bench.temple), 0, -1),
    ]


def lake(bench: Bench) -> list[Body]:
    """Lay out the quarters of the lake beside the temple, those of one half hooked in, the causeways over it."""
    gods = [f"{part}_{god}" for part in ("shrine", "roof") for god in SIDES]
    temple = ("base", "plinth", "shell", "plaza", bench.chute, *gods)
    side = (bench.temple.shore + 14) * 0.62
    return [
        *(body for name in temple for body in bench.piece(name)),
        *bench.piece("lake_tlaloc_front", (side, 0, 26)),
        *bench.piece("lake_tlaloc_back", (side, 0, 0)),
        *bench.piece("lake_huitzilopochtli_front", (-side, 0, 0)),
        *bench.piece("lake_huitzilopochtli_back", (-side, 0, 0)),
        *bench.piece("causeway_front", (0, 26, 46)),
        *bench.piece("causeway_back", (0, -26, 46)),
    ]


def table(bench: Bench) -> list[Body]:
    """Lay out the whole temple in its board, with a rack at each space."""
    names = (*bench.names, "rack")
    return [*(body for name in names for body in bench.piece(name)), (_ring(bench.temple), TABLE)]


def empty(bench: Bench) -> list[Body]:
    """Lay out the causeways beside, the closed temple over the lake, and one half of the lake over the board."""
    temple = [name for name in bench.names if not name.startswith(("lake", "causeway", "coupon"))]
    over = bench.temple.rim + 60
    return [
        *(body for name in temple for body in bench.piece(name, (0, 0, over))),
        *(body for end in ("front", "back") for body in bench.piece(f"lake_tlaloc_{end}", (40, 0, over * 0.55))),
        *(body for end in ("front", "back") for body in bench.piece(f"lake_huitzilopochtli_{end}")),
        *bench.piece("causeway_front", (0, 130, -40)),
        *bench.piece("causeway_back", (-150, 60, -40)),
        (_ring(bench.temple), TABLE),
    ]


def bowls(bench: Bench) -> list[Body]:
    """Lay out the top of the temple: a bowl over one shrine, the other and its stand over their places."""
    low = checks.box((-300, -300, 0), (300, 300, bench.temple.platform - bench.temple.rise))
    (placed, lifted), (standing, raised) = bench.piece("bowl"), bench.piece("bowl_stand")
    lifted[0].apply_translation((0, 0, 86))
    raised[0].apply_translation((0, 0, 24))
    return [
        *bench.piece("shell", cut=low),
        *(body for name in ("plaza", "shrine_huitzilopochtli", "shrine_tlaloc") for body in bench.piece(name)),
        *(placed, lifted, standing, raised),
    ]


def jam(bench: Bench) -> list[Body]:
    """Lay out the temple cut along Tlaloc's gutter, shrine and roof off, a skewer in the shaft on a token."""
    temple = bench.temple
    high = temple.gutter(0) + 9
    token = skin(manifold3d.Manifold.sphere(7, 48).translate(_along_gutter(temple, 0, high)))
    way = (_along_gutter(temple, 0, temple.top + 80), _along_gutter(temple, 0, high))
    skewer = Bundle("skewer", way, 1.5, 3, CARD)
    return [
        *_open(bench),
        *bench.piece("shrine_tlaloc", (62, 0, 10)),
        *bench.piece("roof_tlaloc", (100, 0, 10)),
        *_drawn([skewer]),
        (token, OCHRE),
    ]


def lens(bench: Bench) -> list[Body]:
    """Lay out the temple cut along Tlaloc's gutter, a cotton bud in the door, up to the beam."""
    temple, over = bench.temple, 6.0
    s = temple.beam_at
    tip, out = (_along_gutter(temple, at, temple.straight(at) + over) for at in (s, s + BUD))
    bud = skin(manifold3d.Manifold.sphere(2.6, 32).translate(tip))
    stick = Bundle("bud", (out, tip), 1.2, 3, CARD)
    gods = [f"{part}_{god}" for part in ("shrine", "roof") for god in SIDES]
    return [*_open(bench), *(body for name in gods for body in bench.piece(name)), *_drawn([stick]), (bud, PLUG)]


def sensor(bench: Bench) -> list[Body]:
    """Lay out shell and plaza turned over with one chute in them, the other beside, an emitter over its seat."""
    temple = bench.temple
    kept, _ = bench.piece(bench.chute)
    seated = bench.on(bench.chute, halves(bench), (0, 0, 0))
    upright = [*bench.piece("shell"), *bench.piece("plaza"), kept, *seated[: len(seated) // 2]]
    beside = (temple.tiers[0].half + 70, 40, -temple.top)
    out = [(mesh.apply_translation(beside), colour) for mesh, colour in chutes(bench)]
    return [*_turned_over(upright), *out]


def _open(bench: Bench) -> list[Body]:
    """Return the temple without what stands beside the middle of Tlaloc's gutter, away from the stairs."""
    temple = bench.temple
    x, y = temple.shaft_at
    cut = checks.box((0, -300, -10), (300, 300, 400)).rotate((0, 0, -temple.turn)).translate((x, y, 0))
    names = ("base", "plinth", "shell", "plaza", bench.chute)
    return [body for name in names for body in bench.piece(name, cut=cut)]


def _along_gutter(temple: Temple, s: float, z: float) -> Spot:
    """Return a spot over the middle of Tlaloc's gutter."""
    turn, (x, y) = np.radians(temple.turn), temple.shaft_at
    return float(x + s * np.sin(turn)), float(y + s * np.cos(turn)), z


def _ring(temple: Temple) -> trimesh.Trimesh:
    thick, feet = temple.board.thickness, temple.board.feet
    ring = manifold3d.Manifold.cylinder(thick, temple.board.across / 2, -1, 180)
    hole = manifold3d.Manifold.cylinder(3 * thick, temple.board.inner, -1, 180).translate((0, 0, -thick))
    seam = checks.box((-SEAM / 2, -300, -thick), (SEAM / 2, 300, 2 * thick))
    return skin((ring - hole - seam).translate((0, 0, feet)))


STEPS: Mapping[str, tuple[Callable[[Bench], list[Body]], Seen]] = {
    "1-chutes": (chutes, (35, 32)),
    "2-plaza": (lid, (24, 30)),
    "3-shell": (inside_out, (30, 34)),
    "4-plinth": (under, (30, 34)),
    "5-tray": (tray, (150, 38)),
    "6-strip": (strip, (75, 48)),
    "7-close": (closed, (62, 16)),
    "8-lake": (lake, (20, 40)),
    "9-racks": (table, (24, 38)),
    "10-bowls": (bowls, (-14, 48)),
    "11-empty": (empty, (24, 26)),
}
"""Each step's number and name, what it shows, and from where."""

CARE: Mapping[str, tuple[Callable[[Bench], list[Body]], Seen]] = {
    "jam": (jam, (62, 16)),
    "lens": (lens, (62, 16)),
    "sensor": (sensor, (30, 34)),
}
"""What a temple needs later, and from where it is seen."""
