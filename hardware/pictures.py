"""Pictures of the parts and of the temple, assembled and exploded, in the project's colours. They need no screen."""

from __future__ import annotations

from collections.abc import Iterable
from math import cos, radians, sin
from pathlib import Path
from typing import TypeAlias

import pyvista
import trimesh

from hardware.catalogue import Piece
from hardware.making import Workshop, matrix

PAPER, INK = "#F3E4C3", "#231815"
SIZE = (1500, 1150)
CREASE = 28
"""Edges sharper than that are drawn as contours."""
VIEW = 46.0
"""Degrees that an eye takes in: the whole board from a seat."""
MARGIN = 0.03
"""Of a picture's longer side, left free around what it shows."""

Body: TypeAlias = tuple[trimesh.Trimesh, str]
"""What is drawn, and its colour."""


def part(workshop: Workshop, piece: Piece, path: Path) -> None:
    """Draw a part as it lies on the bed."""
    draw(workshop.coloured(piece), path, (900, 700), (35, 32))


def assembly(
    workshop: Workshop,
    kit: Iterable[Piece],
    path: Path,
    *,
    exploded: bool = False,
    turned: float = 24,
    racks: bool = False,
) -> None:
    """Draw the temple; `exploded` moves every piece away as far as it says."""
    bodies = []
    for piece in kit:
        if not (racks if piece.name == "rack" else piece.chosen):
            continue
        for at in piece.places:
            for mesh, colour in workshop.coloured(piece):
                mesh.apply_transform(matrix(at))
                if exploded:
                    mesh.apply_translation(piece.apart)
                bodies.append((mesh, colour))
    draw(bodies, path, (1300, 1700) if exploded else SIZE, (turned, 18 if exploded else 30))


def draw(
    bodies: Iterable[Body],
    path: Path,
    size: tuple[int, int],
    seen: tuple[float, float] | tuple[float, float, float],
) -> None:
    """Draw bodies into a file, seen from so many degrees around from the stairs and up, or by an eye at a point."""
    plotter = pyvista.Plotter(off_screen=True, window_size=size, lighting="none")
    plotter.set_background(PAPER)
    for mesh, colour in bodies:
        skin = pyvista.wrap(mesh)
        plotter.add_mesh(skin, color=colour, ambient=0.38, diffuse=0.72, specular=0)
        edges = skin.extract_feature_edges(CREASE)
        if edges.n_cells:
            plotter.add_mesh(edges, color=INK, line_width=1.6)
    for place, strength in (((300, 500, 700), 0.85), ((-500, 300, 300), 0.35), ((0, -400, 500), 0.25)):
        plotter.add_light(pyvista.Light(position=place, light_type="scene light", intensity=strength))
    centre = plotter.center
    if len(seen) == 2:
        turn, up = radians(seen[0]), radians(seen[1])
        way = (sin(turn) * cos(up), cos(turn) * cos(up), sin(up))
        plotter.camera_position = [tuple(c + 1000 * w for c, w in zip(centre, way, strict=True)), centre, (0, 0, 1)]
        plotter.enable_parallel_projection()
        plotter.reset_camera()
    else:
        plotter.camera_position = [seen, centre, (0, 0, 1)]
        plotter.camera.view_angle = VIEW
    plotter.enable_anti_aliasing("ssaa")
    path.parent.mkdir(parents=True, exist_ok=True)
    plotter.screenshot(path)
    plotter.close()
    _smaller(path)


def _smaller(path: Path) -> None:
    """Cut off what is empty, and keep a flat picture small: a hundred and twenty-eight colours are plenty."""
    from PIL import Image, ImageChops

    with Image.open(path) as picture:
        whole = picture.convert("RGB")
    left, top, right, low = ImageChops.difference(whole, Image.new("RGB", whole.size, PAPER)).getbbox() or (
        0, 0, *whole.size
    )  # fmt: skip
    margin = round(MARGIN * max(right - left, low - top))
    edges = min(whole.width, right + margin), min(whole.height, low + margin)
    whole = whole.crop((max(0, left - margin), max(0, top - margin), *edges))
    whole.quantize(128).save(path, optimize=True)
