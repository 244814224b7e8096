"""Checks of a mesh before anybody prints it, measured on the STL and not on the drawing.

Each check returns what it found as numbers or as `Fault`s with words; it draws nothing. Lengths in millimetres.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import atan2, cos, degrees, radians, sin, tan

import manifold3d
import numpy as np
import shapely
import trimesh
from shapely import affinity
from shapely.geometry import LineString, MultiPolygon, Point, Polygon
from shapely.ops import unary_union

from hardware.parameters import Bed

LAYER = 0.6
"""Between two sections of a check."""
CRUMB = 1.2
"""Square millimetres of a section that may be thin: the tip of a relief, which prints blunt and carries nothing."""
PATCH = 5.0
"""Square millimetres that may hang in the air: they droop by a layer, and the next one closes them."""
SLOPING = 100.0
"""Square millimetres of a part's ceilings that may slope a little: edges of the relief, and undersides of eyes."""


@dataclass(frozen=True)
class Fault:
    """A fault of a part that will not print or not work: where, and by how much."""

    check: str
    words: str


def sound(mesh: trimesh.Trimesh) -> list[Fault]:
    """Find holes in the skin, and more than one body."""
    faults = []
    if not mesh.is_watertight:
        edges, counts = np.unique(mesh.edges_sorted, axis=0, return_counts=True)
        loose = int((counts != 2).sum())
        faults.append(Fault("watertight", f"edges that do not join two faces: {loose} of {len(edges)}"))
    if mesh.body_count != 1:
        faults.append(Fault("one body", f"there are {mesh.body_count} bodies"))
    if mesh.is_watertight and mesh.volume <= 0:
        faults.append(Fault("watertight", "its inside is outside"))
    return faults


def fits(mesh: trimesh.Trimesh, bed: Bed) -> list[Fault]:
    """Find what is too large for the printer, and what does not lie on its bed."""
    low, high = mesh.bounds
    faults = [
        Fault("bed", f"it is {high[axis] - low[axis]:.1f} mm in {name}, the bed {room:g}")
        for axis, (name, room) in enumerate((("x", bed.x), ("y", bed.y), ("z", bed.z)))
        if high[axis] - low[axis] > room
    ]
    if abs(low[2]) > 0.01:
        faults.append(Fault("bed", f"it begins {low[2]:.2f} mm over the bed"))
    return faults


def sections(mesh: trimesh.Trimesh, step: float = LAYER) -> list[tuple[float, Polygon | MultiPolygon]]:
    """Return what lies at each height, from below: heights are between those where faces lie flat."""
    low, high = mesh.bounds[:, 2]
    heights = np.arange(low + step / 2 + 0.013, high, step)
    cuts = mesh.section_multiplane([0, 0, 0], [0, 0, 1], heights)
    found = []
    for height, cut in zip(heights, cuts, strict=True):
        if cut is None:
            continue
        area = unary_union([shapely.make_valid(each) for each in cut.polygons_full])
        # A section lies in its own frame: back to the bed's.
        move = cut.metadata["to_3D"]
        found.append(
            (float(height), affinity.affine_transform(area, [*move[0][:2], *move[1][:2], move[0][3], move[1][3]]))
        )
    return found


def thin(mesh: trimesh.Trimesh, least: float, *, area: float = CRUMB) -> list[Fault]:
    """Find walls under `least`: what an opening by half of it takes away, beyond mere corners."""
    faults = []
    for axis, name in ((2, "z"), (0, "x"), (1, "y")):
        turned = mesh.copy()
        if axis != 2:
            turned.apply_transform(trimesh.geometry.align_vectors(np.eye(3)[axis], [0, 0, 1]))
        slices = [(height, _lost(solid, least)) for height, solid in sections(turned, least / 2)]
        # The tip of a slope is thin in one slice only; a wall is thin over a depth of its own thickness.
        for (height, lost), (_, next_), (_, after) in zip(slices, slices[1:], slices[2:], strict=False):
            both = (
                lost & next_.buffer(0.1) & after.buffer(0.2)
                if not lost.is_empty and not next_.is_empty
                else lost & next_
            )
            worst = max((_core(each, least) for each in _parts(both)), default=0.0)
            if worst > area:
                words = f"a wall thinner than {least:g} mm, {worst:.1f} mm2 of it at {name} {height:.1f}"
                faults.append(Fault("thin", words))
                break
    return faults


def _lost(solid: Polygon | MultiPolygon, least: float) -> Polygon | MultiPolygon:
    """Return what an opening by nearly `least` takes from a section."""
    return solid.difference(solid.buffer(-least / 2 * 0.98).buffer(least / 2 * 1.06, join_style="mitre"))


def _core(piece: Polygon, least: float) -> float:
    """Return the area of a removed piece if it is a wall and not a corner's tip: long beside its width."""
    length = piece.length / 2
    width = piece.area / length if length else 0.0
    return float(piece.area) if width > 0.12 and length > 2.2 * least else 0.0


def overhangs(mesh: trimesh.Trimesh, bed: Bed, *, area: float = PATCH) -> list[Fault]:
    """Find areas that would print in the air: not over the layer below, no short ledge, no bridge between walls."""
    faults = []
    layers = sections(mesh)
    reach = LAYER * tan(radians(bed.overhang)) + 0.05
    below: Polygon | MultiPolygon = layers[0][1]
    for height, solid in layers[1:]:
        loose = solid.difference(below.buffer(reach, join_style="mitre"))
        for piece in _parts(loose.buffer(-0.02)):
            # A ledge no wider than the printer's ledge holds on by its side.
            if below.buffer(bed.ledge + 0.1).contains(piece) or _bridges(piece, below.buffer(reach), bed.bridge):
                continue
            if piece.area > area:
                x, y = piece.representative_point().coords[0]
                faults.append(
                    Fault("overhang", f"{piece.area:.1f} mm2 in the air at ({x:.1f}, {y:.1f}, {height:.1f})")
                )
        below = solid
    return faults


def sagging(mesh: trimesh.Trimesh, *, area: float = SLOPING) -> list[Fault]:
    """Find ceilings that are nearly level but not quite: each layer of one hangs in the air beyond the last."""
    fall = np.degrees(np.arccos(np.clip(-mesh.face_normals[:, 2], -1, 1)))
    above = mesh.triangles_center[:, 2] > mesh.bounds[0, 2] + LAYER
    found = float(mesh.area_faces[above & (fall > 1) & (fall < 22)].sum())
    return [Fault("sagging", f"{found:.0f} mm2 of ceiling slope by 1 to 22 degrees")] if found > area else []


def _bridges(piece: Polygon, support: Polygon | MultiPolygon, longest: float) -> bool:
    """Return whether straight lines across a piece, all one way, end on support at both ends and are short enough."""
    near = support.buffer(0.35)
    corners = list(piece.minimum_rotated_rectangle.exterior.coords)
    own = [degrees(atan2(b[1] - a[1], b[0] - a[0])) for a, b in pairwise(corners[:3])]
    for turn in (*own, *range(0, 180, 15)):
        turned = affinity.rotate(piece, -turn, origin=(0, 0))
        under = affinity.rotate(near, -turn, origin=(0, 0))
        x0, y0, x1, y1 = turned.bounds
        good = total = 0.0
        for y in np.arange(y0 + 0.15, y1, 0.5):
            line = LineString([(x0 - 1, y), (x1 + 1, y)]).intersection(turned)
            for part in getattr(line, "geoms", [line]):
                if part.is_empty or part.length < 0.05:
                    continue
                total += part.length
                ends = [Point(part.coords[0]), Point(part.coords[-1])]
                if part.length <= longest and all(under.contains(end) for end in ends):
                    good += part.length
        if total and good / total > 0.93:
            return True
    return False


def _parts(shape: Polygon | MultiPolygon) -> Iterable[Polygon]:
    return [each for each in getattr(shape, "geoms", [shape]) if each.geom_type == "Polygon" and not each.is_empty]


def solid(mesh: trimesh.Trimesh) -> manifold3d.Manifold:
    """Return a mesh for exact Boolean work."""
    return manifold3d.Manifold(
        manifold3d.Mesh(np.asarray(mesh.vertices, np.float32), np.asarray(mesh.faces, np.uint32))
    )


def overlap(one: manifold3d.Manifold, other: manifold3d.Manifold) -> float:
    """Return the volume that two bodies share, in cubic millimetres."""
    return float((one ^ other).volume())


def gap(one: manifold3d.Manifold, other: manifold3d.Manifold, search: float = 5.0) -> float:
    """Return the least distance between two bodies, at most `search`."""
    return float(one.min_gap(other, search))


def swept(path: Sequence[tuple[float, float, float]], radius: float, sides: int = 48) -> manifold3d.Manifold:
    """Return the room that a sphere needs on its way along a path."""
    ball = manifold3d.Manifold.sphere(radius, sides)
    legs = []
    for one, other in pairwise(path):
        legs.append(manifold3d.Manifold.batch_hull([ball.translate(one), ball.translate(other)]))
    return manifold3d.Manifold.batch_boolean(legs, manifold3d.OpType.Add)


def box(low: Sequence[float], high: Sequence[float]) -> manifold3d.Manifold:
    """Return a block between two corners."""
    size = [b - a for a, b in zip(low, high, strict=True)]
    return manifold3d.Manifold.cube(size).translate(list(low))


def ray(start: Sequence[float], end: Sequence[float], radius: float) -> manifold3d.Manifold:
    """Return a beam of light from one point to another."""
    first, last = np.asarray(start, float), np.asarray(end, float)
    ball = manifold3d.Manifold.sphere(radius, 16)
    return manifold3d.Manifold.batch_hull([ball.translate(list(first)), ball.translate(list(last))])


def turned(x: float, y: float, degrees: float) -> tuple[float, float]:
    """Return a point turned around the origin."""
    angle = radians(degrees)
    return x * cos(angle) - y * sin(angle), x * sin(angle) + y * cos(angle)
