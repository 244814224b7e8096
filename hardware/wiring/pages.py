"""Updates the tables in pages of `docs/` from the wiring and the bill; each table is between marks with its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from hardware.bill import bill, starter_table
from hardware.bill import table as bill_table
from hardware.wiring import breadboard
from hardware.wiring.boards import BOARDS
from hardware.wiring.joins import Wire, wiring

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = (DOCS / "wiring.md", DOCS / "bill-of-materials.md", DOCS / "starter.md")
MODULATED = DOCS / "measurements" / "sensors.txt"
"""What `python -m hardware.physics --sensors` printed last, under its command."""
PICTURES = DOCS / "pictures" / "wiring"
COLOURS = {"BK": "black", "RD": "red", "OG": "orange", "YE": "yellow", "BU": "blue", "GN": "green", "WH": "white"}
_MARKED = re.compile(r"(<!-- table ([\w-]+) -->\n\n).*?(<!-- end -->)", re.DOTALL)


def renewed(page: str) -> str:
    """Return a page with each of its marked tables as it should be; raises `KeyError` for a table of no such name."""
    tables: dict[str, Iterable[str]] = {board.name: wires(wiring(board).to_strip) for board in BOARDS.values()}
    tables |= {"sensors": wires(wiring(BOARDS["pi"]).from_strip), "bill": bill_table(bill())}
    tables |= {"modulated": MODULATED.read_text(encoding="utf-8").splitlines()[2:]}
    tables |= {"starter-bill": starter_table(bill()), "breadboard": breadboard.table()}
    return _MARKED.sub(lambda found: found[1] + "\n".join([*tables[found[2]], "", found[3]]), page)


def renew() -> tuple[Path, ...]:
    """Bring the tables of every page up to date, and return the pages."""
    for page in PAGES:
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
    return PAGES


def wires(joined: tuple[Wire, ...]) -> Iterator[str]:
    """Yield the lines of a table of wires in Markdown."""
    yield f"| {joined[0].start[0]} | colour | to |"
    yield "|---|---|---|"
    for wire in joined:
        yield f"| {wire.start[1]} | {COLOURS[wire.colour]} | {wire.end[0]}, {wire.end[1]} |"
