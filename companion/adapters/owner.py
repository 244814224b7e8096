"""The owner's code: what proves on a page that somebody may read this machine's files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from companion.model.lobby import CODE_LETTERS
from templo import files

FILE = "owner-code"
"""Its name in the state directory."""

ORGANISER_FILE = "organiser-code"
"""The name of the file with the code of who runs an evening of several tables, which is made and proved alike."""

LENGTH = 8
_FORM = re.compile(rf"([{CODE_LETTERS}]{{{LENGTH}}}) ([0-9a-f]{{32}})\s*")


@dataclass(frozen=True, slots=True)
class Owner:
    """A code of 40 bits that a person types once, and the 128 bits by which a browser proves it afterwards."""

    code: str
    proof: str


def owner_in(file: Path) -> Owner | None:
    """Return what a file holds, or none where there is no such file that this user may read."""
    try:
        found = _FORM.fullmatch(file.read_text("ascii"))
    except (OSError, ValueError):
        return None
    return Owner(*found.groups()) if found else None


def make_owner(file: Path, entropy: Callable[[int], bytes]) -> Owner:
    """Return what a file holds, which its owner alone can read; a new code where it holds none. Raises `OSError`.

    `entropy` returns that many random bytes.
    """
    if (found := owner_in(file)) is not None:
        return found
    made = Owner("".join(CODE_LETTERS[byte % len(CODE_LETTERS)] for byte in entropy(LENGTH)), entropy(16).hex())
    files.write_whole(file, f"{made.code} {made.proof}\n".encode())
    return made
