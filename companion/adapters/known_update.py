"""Reads which newer release this machine's apt knows; the package lets apt note it."""

from __future__ import annotations

import re
from pathlib import Path

FILE = Path("/var/lib/templo-mayor/update")
"""What apt writes after an update of its lists; there is none if this release is the newest that it knows."""


def read() -> str:
    """Return the newer version, or nothing."""
    try:
        text = FILE.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if re.fullmatch(r"[\w.+:~-]{1,80}", text) else ""
