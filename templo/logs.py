"""The log of both programs: lines of one format on standard error."""

from __future__ import annotations

import logging
import sys


def set_up(program: str, level: str) -> None:
    """Log from this level on under a program's name."""
    logging.basicConfig(stream=sys.stderr, level=level.upper(), format=f"{program}: %(levelname)s: %(message)s")
