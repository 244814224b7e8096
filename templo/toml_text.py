"""Settings written as TOML, which the standard library only reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(tables: Mapping[str, object]) -> str:
    """Return settings as TOML: plain values first, then each table of plain values.

    >>> print(to_toml({"temple": "attic", "beams": {"tlaloc": 27}}), end="")
    temple = "attic"
    <BLANKLINE>
    [beams]
    tlaloc = 27
    """
    lines = [f"{_key(key)} = {_value(value)}" for key, value in tables.items() if not isinstance(value, Mapping)]
    for name, table in tables.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{_key(name)}]", *(f"{_key(key)} = {_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _quoted(key)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return _quoted(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
