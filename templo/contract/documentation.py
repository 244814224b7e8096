"""Writes the tables of docs/protocol.md, which are between marks there, from the declarations."""

from __future__ import annotations

import re
from collections.abc import Iterable

from templo.contract.declarations import Catalogue, Declaration, Field, Place
from templo.contract.messages import CONTRACT

_BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def with_tables(text: str, catalogue: Catalogue = CONTRACT) -> str:
    """Return a document with every table between its marks replaced.

    A table begins after ``<!-- generated: topics -->`` or ``<!-- generated: LEAF -->`` and ends at ``<!-- end -->``.
    Raises `ValueError` for a mark that names no message, and if a message has no marks.
    """
    tables = {"topics": topics_table(catalogue)}
    tables |= {each.leaf: fields_table(each) for each in catalogue}
    names = [found[2] for found in _BLOCK.finditer(text)]
    if sorted(names) != sorted(tables):
        raise ValueError(f"the generated tables are {', '.join(names)}; expected once each {', '.join(tables)}")
    return _BLOCK.sub(lambda found: f"{found[1]}{tables[found[2]]}{found[3]}", text)


def topics_table(catalogue: Catalogue = CONTRACT) -> str:
    """Return one line for each message of a temple: who sends it, and how."""
    rows = [
        (
            f"`{each.leaf}`" if each.place is Place.TEMPLE else f"`{each.topic}`",
            " and ".join(each.sent_by),
            str(each.qos),
            "yes" if each.retained else "no",
            each.about,
        )
        for each in catalogue
    ]
    return _table(("topic", "from", "QoS", "retained", "what it is"), rows)


def fields_table(declaration: Declaration) -> str:
    """Return one line for each field of a message: what it takes, and whether it may be missing."""
    rows = [(f"`{each.name}`", each.type.expected, _presence(each)) for each in declaration.fields]
    return _table(("field", "takes", "presence"), rows)


def _presence(field: Field) -> str:
    if field.omitted:
        return "may be left out"
    return "may be null" if field.default is None else "required"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines).replace("| --- ", "|---").replace("--- |", "---|")
