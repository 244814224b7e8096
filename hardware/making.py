"""Turns parts into meshes and files; drawings whose sources and sizes have not changed are reused."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import trimesh
from build123d import Location, export_step, export_stl

from hardware import threemf
from hardware.catalogue import Piece
from hardware.parameters import Temple
from hardware.shapes import Part

FINE, TURN = 0.02, 0.15
"""How far a mesh may lie off its part, in millimetres, and how far a facet may turn, in radians."""
FOLDER = Path(__file__).resolve().parent
BUILD = FOLDER.parent / "build" / "hardware"


class Workshop:
    """Draws pieces of one temple, each once."""

    def __init__(self, temple: Temple, folder: Path = BUILD) -> None:
        """Keep the files in a folder."""
        self.temple = temple
        self.folder = folder
        self._meshes: dict[str, trimesh.Trimesh] = {}

    def stl(self, piece: Piece) -> Path:
        """Return the piece's STL file, drawn if it must be, beside its STEP file."""
        path = self.folder / "stl" / f"{piece.name}.stl"
        mark = self.folder / "made" / piece.name
        wanted = fingerprint(self.temple)
        if not (path.exists() and self.step(piece).exists() and mark.exists() and mark.read_text("utf-8") == wanted):
            part = piece.draw(self.temple)
            for each in (path, mark, self.step(piece)):
                each.parent.mkdir(parents=True, exist_ok=True)
            export_stl(part, path, tolerance=FINE, angular_tolerance=TURN)
            export_step(part, self.step(piece), timestamp="2026-01-01T00:00:00")
            mark.write_text(wanted, "utf-8")
        return path

    def step(self, piece: Piece) -> Path:
        """Return where the piece's STEP file is."""
        return self.folder / "step" / f"{piece.name}.step"

    def threemf(self, piece: Piece) -> Path:
        """Write the piece's 3MF file, with its name, licence and heights of other colours, and return it."""
        body = threemf.Body(piece.name, self.mesh(piece))
        path = self.folder / "3mf" / f"{piece.name}.3mf"
        return threemf.write(path, piece.name, [body], piece.colour, changes=piece.changes)

    def mesh(self, piece: Piece) -> trimesh.Trimesh:
        """Return the piece as it lies on the bed, from its STL file: what a printer gets is what is checked."""
        if piece.name not in self._meshes:
            self._meshes[piece.name] = trimesh.load(self.stl(piece), force="mesh")
        return self._meshes[piece.name].copy()

    def placed(self, piece: Piece, at: Location) -> trimesh.Trimesh:
        """Return the piece as it stands in the temple."""
        mesh = self.mesh(piece)
        mesh.apply_transform(matrix(at))
        return mesh

    def coloured(self, piece: Piece) -> list[tuple[trimesh.Trimesh, str]]:
        """Return the piece's skin as it lies on the bed, cut where the filament is changed, with its colours."""
        mesh = self.mesh(piece)
        heights = [-math.inf, *(high for high, _ in piece.changes), math.inf]
        found = []
        for (low, high), colour in zip(
            pairwise(heights), (piece.colour, *(to for _, to in piece.changes)), strict=True
        ):
            band = mesh
            for height, way in ((low, 1), (high, -1)):
                if math.isfinite(height):
                    band = trimesh.intersections.slice_mesh_plane(band, (0, 0, way), (0, 0, height))
            found.append((band, colour))
        return found


def matrix(at: Location) -> list[list[float]]:
    """Return a place as a 4 by 4 matrix."""
    move = at.wrapped.Transformation()
    rows = [[float(move.Value(row, column)) for column in (1, 2, 3, 4)] for row in (1, 2, 3)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def to_mesh(part: Part) -> trimesh.Trimesh:
    """Return a part's mesh by way of the file that a printer would get."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.stl"
        export_stl(part, path, tolerance=FINE, angular_tolerance=TURN)
        return trimesh.load(path, force="mesh")


def fingerprint(temple: Temple) -> str:
    """Return what a part's shape depends on: the sizes, and the words it is drawn by."""
    digest = hashlib.sha256(repr(temple).encode())
    for path in _sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources() -> Iterable[Path]:
    return sorted(
        [
            *(FOLDER / "parts").glob("*.py"),
            *(FOLDER / name for name in ("parameters.py", "shapes.py", "ornament.py")),
            FOLDER.parent / "templo" / "shrines.py",
        ]
    )
