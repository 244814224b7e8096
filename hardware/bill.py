"""The bill of materials: reads `bill.toml` and formats it as a table. Printed parts are listed elsewhere."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

BILL = Path(__file__).with_name("bill.toml")
GROUPS = {
    "electronics": "Electronics",
    "strip": "On the strip",
    "wires": "Wires and plugs",
    "screws": "Screws",
    "table": "At the table",
}


@dataclass(frozen=True)
class Item:
    """One thing to buy: how many, roughly how many euros each, what for, and what may be taken instead."""

    what: str
    count: int
    euros: float
    purpose: str
    instead: str

    @property
    def cost(self) -> float:
        """All of them, in euros."""
        return self.count * self.euros


def bill(file: Path = BILL) -> dict[str, Sequence[Item]]:
    """Return what to buy, group by group; raises `ValueError` for an item that lacks something."""
    groups = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: [_item(name, each) for each in groups[name]] for name in GROUPS}


def _item(group: str, found: dict[str, object]) -> Item:
    wanted = {"what": str, "count": int, "euros": float, "for": str, "instead": str}
    for key, kind in wanted.items():
        if type(found.get(key)) is not kind:
            raise ValueError(f"{group}: {key} is {found.get(key)!r}; expected a {kind.__name__} in {found}")
    return Item(*(found[key] for key in wanted))  # type: ignore[arg-type]  # each was found to be of its kind


def table(groups: dict[str, Sequence[Item]]) -> Iterator[str]:
    """Yield the lines of the table in Markdown."""
    yield "| what | how many | about | what for | instead |"
    yield "|---|---:|---:|---|---|"
    for name, items in groups.items():
        yield f"| **{GROUPS[name]}** | | | | |"
        for item in items:
            yield f"| {item.what} | {item.count} | {item.cost:.2f} € | {item.purpose} | {item.instead} |"
    total = sum(item.cost for items in groups.values() for item in items)
    yield f"| **together** | | **{total:.0f} €** | | |"
