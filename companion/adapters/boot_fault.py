"""Reads what is wrong with the settings on a card's boot partition, and with the file that they are in."""

from __future__ import annotations

from pathlib import Path

FILE = Path("/run/templo-mayor/boot-fault")
"""The unit that applies the settings writes here what is wrong; there is none if all is well."""


KEPT = "boot-kept"
"""The name of the file beside it that says why the settings file, although applied, is still there."""


def read() -> str:
    """Return what is wrong, or nothing."""
    return _read(FILE)


def read_kept() -> str:
    """Return why a settings file that was applied is still there, or nothing."""
    return _read(FILE.with_name(KEPT))


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
