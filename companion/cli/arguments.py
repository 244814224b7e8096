"""What the command lines of several commands read in the same way."""

from __future__ import annotations

import argparse
from pathlib import Path


def readable_file(text: str) -> Path:
    """Return the path of a file that an argument names; raises `ArgumentTypeError` if it cannot be read."""
    try:
        Path(text).open("rb").close()
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"file is {text!r}; expected one that can be read ({error})") from None
    return Path(text)
