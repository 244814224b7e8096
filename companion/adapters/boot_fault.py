"""Reads what is wrong with the settings on a card's boot partition."""

from __future__ import annotations

from pathlib import Path

FILE = Path("/run/templo-mayor/boot-fault")
"""The unit that applies the settings writes here what is wrong; there is none if all is well."""


def read() -> str:
    """Return what is wrong, or nothing."""
    try:
        return FILE.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
