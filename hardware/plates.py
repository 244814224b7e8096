"""Plates: which parts lie on the bed together, and the project files for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import trimesh

from hardware import threemf
from hardware.catalogue import COLOURS, Piece
from hardware.making import Workshop
from hardware.parameters import Bed

MARGIN, BETWEEN = 4.0, 6.0
"""Left free along the bed's edge, and between two parts."""


@dataclass
class Plate:
    """Parts of one colour that lie on one bed, with the heights at which it changes."""

    colour: str
    changes: tuple[tuple[float, str], ...]
    bodies: list[threemf.Body] = field(default_factory=list)
    shelf: tuple[float, float, float] = (MARGIN, MARGIN, 0.0)
    """Where the next part goes in its row, where the row begins, and how deep it is."""

    def takes(self, name: str, mesh: trimesh.Trimesh, bed: Bed) -> bool:
        """Lay a part down if it has room, in the row or in a new one."""
        wide, deep = mesh.extents[:2]
        x, y, row = self.shelf
        if x + wide > bed.x - MARGIN:
            x, y, row = MARGIN, y + row + BETWEEN, 0.0
        if x + wide > bed.x - MARGIN or y + deep > bed.y - MARGIN:
            return False
        low = mesh.bounds[0]
        self.bodies.append(threemf.Body(name, mesh.copy().apply_translation((x - low[0], y - low[1], -low[2]))))
        self.shelf = x + wide + BETWEEN, y, max(row, deep)
        return True


def plates(workshop: Workshop, kit: Iterable[Piece]) -> list[Plate]:
    """Return plates with every chosen part, as often as it is printed, largest first; racks have none."""
    bed, found = workshop.temple.bed, list[Plate]()
    copies = [(piece, workshop.mesh(piece)) for piece in kit if piece.chosen for _ in range(piece.number)]
    for piece, mesh in sorted(copies, key=lambda each: -max(each[1].extents[:2])):
        ways = [_turned(mesh, turn) for turn in (0, 90, 45)]
        open_ = [each for each in found if (each.colour, each.changes) == (piece.colour, piece.changes)]
        if any(plate.takes(piece.name, way, bed) for plate in open_ for way in ways[:2]):
            continue
        plate = Plate(piece.colour, piece.changes)
        if not any(plate.takes(piece.name, way, bed) for way in ways):
            raise ValueError(f"{piece.name} has no room on a bed of {bed.x:g} by {bed.y:g} mm")
        found.append(plate)
    return found


def write_all(
    workshop: Workshop, kit: Sequence[Piece], profile: Mapping[str, str], cover: Path | None, folder: Path
) -> list[Path]:
    """Write a project file for each plate, and return them."""
    found = plates(workshop, kit)
    paths = []
    for n, plate in enumerate(found, start=1):
        name = COLOURS[plate.colour].replace(", ", "-").replace(" ", "-")
        title = f"Templo Mayor, plate {n} of {len(found)}, {COLOURS[plate.colour]}"
        path = folder / f"plate-{n:02}-{name}.3mf"
        paths.append(
            threemf.write(
                path, title, plate.bodies, plate.colour, changes=plate.changes, profile=profile, cover=cover
            )
        )
    return paths


def _turned(mesh: trimesh.Trimesh, degrees: float) -> trimesh.Trimesh:
    turned = mesh.copy()
    turned.apply_transform(trimesh.transformations.rotation_matrix(degrees * 3.141592653589793 / 180, (0, 0, 1)))
    return turned
