"""3MF files: a part, or a plate of parts, with colours, heights of colour changes, profile, licence and cover.

PrusaSlicer reads all of it; other slicers read the bodies, their names and colours.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import trimesh

LICENCE = "GPL-3.0-or-later"
"""Of the models, as of the rest of the project."""
PAUSE = "M600"
"""The G-code by which a printer asks for another filament."""
STAMP = (2026, 1, 1, 0, 0, 0)
_TYPES = """<?xml version="1.0" encoding="UTF-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="model" ContentType="application/vnd.ms-package.3dmanufacturing-3dmodel+xml"/>
<Default Extension="png" ContentType="image/png"/>
</Types>
"""
_MODEL = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
_COVER = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/thumbnail"


@dataclass(frozen=True)
class Body:
    """A mesh as it lies on the bed, and its name."""

    name: str
    mesh: trimesh.Trimesh


def write(
    path: Path,
    title: str,
    bodies: Sequence[Body],
    colour: str,
    *,
    changes: Sequence[tuple[float, str]] = (),
    profile: Mapping[str, str] | None = None,
    cover: Path | None = None,
) -> Path:
    """Write bodies of one colour; from each height of `changes` on the print goes on in another."""
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": _relations(cover is not None),
        "3D/3dmodel.model": "".join(_model(title, bodies, colour, bool(profile))),
    }
    if profile:
        colours = {"extruder_colour": colour, "filament_colour": colour, "color_change_gcode": PAUSE}
        settings = {name.replace("-", "_"): value for name, value in profile.items()} | colours
        files["Metadata/Slic3r_PE.config"] = "".join(f"; {name} = {value}\n" for name, value in settings.items())
    if changes:
        files["Metadata/Prusa_Slicer_custom_gcode_per_print_z.xml"] = _changes(changes)
    if cover:
        files["Metadata/thumbnail.png"] = cover.read_bytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(zipfile.ZipInfo(name, STAMP), content, zipfile.ZIP_DEFLATED)
    return path


def _relations(covered: bool) -> str:
    targets = [("/3D/3dmodel.model", _MODEL)] + ([("/Metadata/thumbnail.png", _COVER)] if covered else [])
    lines = "".join(
        f'<Relationship Target="{to}" Id="r{n}" Type="{kind}"/>\n' for n, (to, kind) in enumerate(targets)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">\n{lines}</Relationships>\n'
    )


def _model(title: str, bodies: Sequence[Body], colour: str, project: bool) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<model unit="millimeter" xml:lang="en-US" '
    yield 'xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02" '
    yield 'xmlns:slic3rpe="http://schemas.slic3r.org/3mf/2017/06">\n'
    if project:
        # By this PrusaSlicer knows that the file holds a profile.
        yield '<metadata name="slic3rpe:Version3mf">1</metadata>\n'
    for name, value in (("Title", title), ("LicenseTerms", LICENCE)):
        yield f'<metadata name="{name}" preserve="1">{escape(value)}</metadata>\n'
    yield f'<resources>\n<basematerials id="1000"><base name="PLA" displaycolor="{colour}FF"/></basematerials>\n'
    for n, body in enumerate(bodies, start=1):
        yield f'<object id="{n}" type="model" name="{escape(body.name)}" pid="1000" pindex="0">\n<mesh>\n<vertices>\n'
        yield from (f'<vertex x="{x:.4f}" y="{y:.4f}" z="{z:.4f}"/>\n' for x, y, z in body.mesh.vertices)
        yield "</vertices>\n<triangles>\n"
        yield from (f'<triangle v1="{a}" v2="{b}" v3="{c}"/>\n' for a, b, c in body.mesh.faces)
        yield "</triangles>\n</mesh>\n</object>\n"
    yield "</resources>\n<build>\n"
    yield from (f'<item objectid="{n}"/>\n' for n in range(1, len(bodies) + 1))
    yield "</build>\n</model>\n"


def _changes(changes: Sequence[tuple[float, str]]) -> str:
    codes = "".join(
        f'<code print_z="{z:.2f}" type="0" extruder="1" color="{colour}" extra="" gcode="{PAUSE}"/>\n'
        for z, colour in changes
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<custom_gcodes_per_print_z>\n'
        f'{codes}<mode value="SingleExtruder"/>\n</custom_gcodes_per_print_z>\n'
    )
