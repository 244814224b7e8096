"""`make hardware`: files to print, pictures, the tables of parts and purchases, and the wiring, into build/hardware.

A temple with other choices gets a folder of its own in there.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from hardware import checks, choices, pictures, plates, slicing, starter, steps
from hardware.bill import bill, fitted, starter_table
from hardware.bill import table as bill_table
from hardware.catalogue import Piece, pieces
from hardware.making import BUILD, Workshop
from hardware.rules import BrokenRulesError, require
from hardware.wiring import drawings
from hardware.wiring.pages import PICTURES, renew

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEAD = """# Parts to print

`make hardware` draws every part into `build/hardware` (STL, STEP and 3MF), slices it with PrusaSlicer
{profile}, and writes this table. Costs are rough, in euros, at {price:g} a
kilogram of PLA. Nothing has been printed yet; the figures come from the slicer.

Every mesh is checked (`make hardware-test`): one watertight body, no wall thinner than {thinnest:g} mm, no overhang
steeper than {overhang:g} degrees except ledges of {ledge:g} mm and bridges of {bridge:g} mm. Two exceptions are
allowed. A thin area of up to {crumb:g} mm2 in a section (a line of 3 mm from a 0.4 mm nozzle) is the tip of a
relief or of a corner: it prints blunt and carries no load. An unsupported patch of up to {patch:g} mm2 is where a
rounded edge, an eye or the corner of a bridge begins: it droops by a layer, and the next layer closes it.

"""


def folder(name: str) -> Path:
    """Return where the files of a temple go, by its choices' name."""
    return BUILD / name if name else BUILD


def main() -> int:
    """Build everything; returns 1 where the sizes break a rule or the slicer fails."""
    parser = argparse.ArgumentParser(prog="make hardware", description=__doc__)
    parser.add_argument("--docs", action="store_true", help="also write pictures and tables into docs/")
    parser.add_argument("--no-slicer", action="store_true", help="skip the slicer and the table of parts")
    parser.add_argument(
        "--starter", action="store_true", help="only the starter: two chutes for a temple of card (docs/starter.md)"
    )
    choices.add_to(parser)
    given = parser.parse_args()
    name = choices.label(given)
    if given.starter and given.bead:
        parser.error("--starter: its chutes take every token; expected it without --bead")
    if given.starter:
        name = f"{name}-starter" if name else "starter"
    if given.docs and name not in ("", "starter"):
        parser.error("docs/ shows the default temple")
    begun = monotonic()
    out = folder(name)
    try:
        workshop = Workshop(require(choices.temple(given)), out)
        kit = pieces(workshop.temple)
        if given.starter:
            _draw_starter(workshop, kit, out / "pictures")
            purchases = starter_table(bill())
            kit = starter.parts(kit)
        else:
            _draw(workshop, kit, out / "pictures")
            purchases = bill_table(fitted(bill(), given.bead))
        drawings.draw(out / "wiring")
        (out / "bill.md").write_text("\n".join(purchases) + "\n", "utf-8")
        if given.docs:
            _show(out / "pictures")
        if not given.no_slicer:
            text = _parts(workshop, kit)
            (out / "parts.md").write_text(text, "utf-8")
            if given.docs and not given.starter:
                (DOCS / "parts.md").write_text(text, "utf-8")
    except (BrokenRulesError, slicing.SlicerError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Everything is in {out.relative_to(Path.cwd()) if out.is_relative_to(Path.cwd()) else out}.")
    print(f"It took {monotonic() - begun:.0f} s.")
    return 0


def _draw(workshop: Workshop, kit: Sequence[Piece], drawn: Path) -> None:
    """Write the files and the picture of every part, and the pictures of the whole temple."""
    for piece in kit:
        workshop.threemf(piece)
        pictures.part(workshop, piece, drawn / f"{piece.name}.png")
        print(f"  {piece.name}", flush=True)
    pictures.assembly(workshop, kit, drawn / "temple.png")
    pictures.assembly(workshop, kit, drawn / "temple-behind.png", turned=200)
    pictures.assembly(workshop, kit, drawn / "temple-with-racks.png", racks=True)
    pictures.assembly(workshop, kit, drawn / "exploded.png", exploded=True)
    steps.film(steps.draw_all(workshop, kit, drawn), drawn / "film.gif")
    plates.write_all(workshop, kit, slicing.PROFILE, drawn / "temple.png", workshop.folder / "plates")


def _draw_starter(workshop: Workshop, kit: Sequence[Piece], drawn: Path) -> None:
    """Write the files of the starter's parts, and the pictures of its steps."""
    for piece in starter.parts(kit):
        workshop.threemf(piece)
        print(f"  {piece.name}, {piece.number} of them", flush=True)
    starter.draw_all(workshop, kit, drawn)


def _show(drawn: Path) -> None:
    """Write the pictures that the pages show, and the wiring, into docs/."""
    pages = "".join(page.read_text("utf-8") for page in (DOCS.parent / "README.md", *DOCS.glob("*.md")))
    for picture in (*drawn.glob("*.png"), *drawn.glob("*.gif")):
        if f"pictures/temple/{picture.name})" in pages:
            shutil.copy(picture, DOCS / "pictures" / "temple" / picture.name)
    drawings.draw(PICTURES)
    renew()


def _parts(workshop: Workshop, kit: Sequence[Piece]) -> str:
    """Slice every part; return the table of them."""
    bed = workshop.temple.bed
    head = HEAD.format(
        profile="at 0.2 mm, two walls, 12 % infill, without support, for an ordinary printer and for a fast one",
        price=slicing.PRICE,
        thinnest=bed.thinnest,
        overhang=bed.overhang,
        ledge=bed.ledge,
        bridge=bed.bridge,
        crumb=checks.CRUMB,
        patch=checks.PATCH,
    )
    return head + "\n".join(slicing.table(workshop, kit)) + "\n"


if __name__ == "__main__":
    sys.exit(main())
