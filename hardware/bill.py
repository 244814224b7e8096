"""The bill of materials: reads `bill.toml` and formats it as a table. Printed parts are listed elsewhere."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

BILL = Path(__file__).with_name("bill.toml")
GROUPS = {
    "electronics": "Electronics",
    "strip": "On the strip",
    "wires": "Wires and plugs",
    "screws": "Screws",
    "table": "At the table",
}
APART = {
    "lights": "Lights and sound, optional",
    "sensors": "Against light and dips of the supply, optional; nothing of it was built",
    "tools": "Tools, if you have none",
}
"""What is bought by choice: it is not in the sum of the rest."""
STARTER = "starter"
"""What is bought for the starter instead of all that."""
PARCELS, PARCEL = 3, 5.0
"""How many shops a first-timer orders from, and the postage of each, in euros."""
FILAMENT = 32.0
"""For 250 g of matt black and 1 kg of another colour, in euros."""
BEADS = "bead, 8 to 12 mm, of one kind"


@dataclass(frozen=True)
class Item:
    """One thing to buy: how many, roughly how many euros each, what for, and what may be taken instead."""

    what: str
    count: int
    euros: float
    purpose: str
    instead: str
    order: str = ""
    """A maker's number, and who sells it; empty where any will do."""
    pack: int = 1
    """How many are sold together at least."""
    pack_euros: float = 0.0
    """What such a pack costs; 0 for what is sold one by one."""
    have: bool = False
    """Whether many makers have it at home."""

    @property
    def cost(self) -> float:
        """All of them, in euros."""
        return self.count * self.euros

    @property
    def paid(self) -> float:
        """What is really paid for them: whole packs."""
        return ceil(self.count / self.pack) * (self.pack_euros or self.euros * self.pack)


def bill(file: Path = BILL) -> dict[str, Sequence[Item]]:
    """Return what to buy, group by group; raises `ValueError` for an item that lacks something."""
    groups = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: [_item(name, each) for each in groups[name]] for name in (*GROUPS, *APART, STARTER)}


def _item(group: str, found: dict[str, object]) -> Item:
    wanted = {"what": str, "count": int, "euros": float, "for": str, "instead": str}
    for key, kind in wanted.items():
        if type(found.get(key)) is not kind:
            raise ValueError(f"{group}: {key} is {found.get(key)!r}; expected a {kind.__name__} in {found}")
    order = found.get("order", "")
    if type(order) is not str:
        raise ValueError(f"{group}: order is {order!r}; expected a str in {found}")
    sold = {key: found.get(key, default) for key, default in (("pack", 1), ("pack_euros", 0.0), ("have", False))}
    for (key, value), kind in zip(sold.items(), (int, float, bool), strict=True):
        if type(value) is not kind:
            raise ValueError(f"{group}: {key} is {value!r}; expected a {kind.__name__} in {found}")
    return Item(*(found[key] for key in wanted), order, **sold)  # type: ignore[arg-type,call-arg]  # each is of its kind


def fitted(groups: dict[str, Sequence[Item]], bead: int | None) -> dict[str, Sequence[Item]]:
    """Return the bill of a temple for round beads of one size, in millimetres; None for one for every kind.

    >>> [item.what for item in fitted(bill(), 8)["table"]][0]
    'round bead, 8 mm, all of one size, without a wide hole'
    """
    if bead is None:
        return groups
    named = f"round bead, {bead} mm, all of one size, without a wide hole"
    tokens = [
        replace(item, what=named, instead="none: others do not fit into its throat") if item.what == BEADS else item
        for item in groups["table"]
    ]
    return groups | {"table": tokens}


def table(groups: dict[str, Sequence[Item]]) -> Iterator[str]:
    """Yield the lines of the table in Markdown."""
    yield "| what | how many | about | sold as | to order by | what for | instead |"
    yield "|---|---:|---:|---|---|---|---|"
    for name, title in GROUPS.items():
        yield from _group(title, groups[name])
    total = sum(item.cost for name in GROUPS for item in groups[name])
    yield f"| **together** | | **{total:.0f} €** | | | | |"
    for name, title in APART.items():
        yield from _group(title, groups[name])
    yield from _paid(groups)


def _paid(groups: dict[str, Sequence[Item]]) -> Iterator[str]:
    """Yield what a first-timer pays, who buys whole packs, has no filament yet and orders from three shops."""
    bought = [item for name in GROUPS for item in groups[name]]
    packs = sum(item.paid for item in bought)
    home = sum(item.paid for item in bought if item.have)
    rest = PARCELS * PARCEL + FILAMENT
    tools = sum(item.paid for item in groups["tools"])
    yield ""
    yield (
        f"**What a first-timer pays**: whole packs, {packs:.0f} €; {PARCELS} parcels, {PARCELS * PARCEL:.0f} €; "
        f"filament, 250 g of matt black and 1 kg of one other colour, {FILAMENT:.0f} €: together "
        f"**{packs + rest:.0f} €**. Who has at home what is marked ✓ pays {packs + rest - home:.0f} €; "
        f"who has no tools, {tools:.0f} € more."
    )


def starter_table(groups: dict[str, Sequence[Item]]) -> Iterator[str]:
    """Yield the lines of the starter's table in Markdown."""
    yield "| what | how many | about | to order by | what for | instead |"
    yield "|---|---:|---:|---|---|---|"
    for item in groups[STARTER]:
        yield f"| {item.what} | {item.count} | {item.cost:.2f} € | {item.order} | {item.purpose} | {item.instead} |"
    yield f"| **together** | | **{sum(item.cost for item in groups[STARTER]):.0f} €** | | | |"


def _group(title: str, items: Sequence[Item]) -> Iterator[str]:
    yield f"| **{title}** | | | | | | |"
    for item in items:
        sold = f"{item.pack} for {item.paid:.2f} €" if item.pack > 1 else ""
        sold = f"✓ {sold}".strip() if item.have else sold
        yield (
            f"| {item.what} | {item.count} | {item.cost:.2f} € | {sold} | {item.order} | {item.purpose} "
            f"| {item.instead} |"
        )
