"""The owner's code: whoever enters it on a page has shown that they can read this machine's files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from templo import files
from templo.codes import CODE_LETTERS

FILE = "owner-code"
"""Its name in the state directory."""

ORGANISER_FILE = "organiser-code"
"""The name of the file with the organiser's code, which works like the owner's."""

LENGTH = 8
_FORM = re.compile(rf"([{CODE_LETTERS}]{{{LENGTH}}}) ([0-9a-f]{{32}})\s*")


@dataclass(frozen=True, slots=True)
class Owner:
    """A code of 40 bits that a person types once, and a 128-bit proof that the browser stores."""

    code: str = field(repr=False)
    proof: str = field(repr=False)


def owner_in(file: Path) -> Owner | None:
    """Return the code in a file, or None if there is no such file or it may not be read."""
    try:
        return _read(file)
    except OSError:
        return None


def make_owner(file: Path, entropy: Callable[[int], bytes]) -> Owner:
    """Return the code in a private file, or write a new code if there is no such file.

    `entropy` returns that many random bytes. Raises `OSError` if the file can be neither read nor made; a file that
    exists is never changed, because another companion may have the same code.
    """
    try:
        found = _read(file)
    except FileNotFoundError:
        made = Owner("".join(CODE_LETTERS[byte % len(CODE_LETTERS)] for byte in entropy(LENGTH)), entropy(16).hex())
        files.write_whole(file, f"{made.code} {made.proof}\n".encode())
        return made
    if found is None:
        raise OSError(f"it holds no code; expected {LENGTH} letters and 32 hexadecimal digits, or no such file")
    return found


def _read(file: Path) -> Owner | None:
    try:
        found = _FORM.fullmatch(file.read_text("ascii"))
    except ValueError:
        return None
    return Owner(*found.groups()) if found else None
