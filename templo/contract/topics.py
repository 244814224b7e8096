"""The topic of each message."""

from __future__ import annotations

from templo.contract.declarations import TABLES_ROOT
from templo.contract.field_types import is_hex_id, refuse
from templo.contract.messages import CONTRACT, Changed


def topic(temple: str, leaf: str) -> str:
    """Return the topic of one leaf of a temple.

    Raises `WireError` if the name could not be a temple's.

    >>> topic("attic", "token")
    'templo/attic/token'
    """
    return CONTRACT.topic(temple, leaf)


def parse_topic(text: str) -> tuple[str, str]:
    """Return the temple and the leaf that a topic names; raises `WireError`.

    >>> parse_topic("templo/attic/token")
    ('attic', 'token')
    """
    return CONTRACT.parse_topic(text)


def table_topic(table: str) -> str:
    """Return the topic under which a table's changes are published.

    Raises `WireError` if the id could not be a table's.

    >>> table_topic("77" * 16)
    'templo-tables/77777777777777777777777777777777/changed'
    """
    if not is_hex_id(table):
        refuse("table", table, "32 hexadecimal digits")
    return f"{TABLES_ROOT}/{table}/{Changed.leaf}"
