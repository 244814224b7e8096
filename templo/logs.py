"""The log of both programs: lines of one format on standard error."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable


def set_up(program: str, level: str, deprecated: Iterable[str] = ()) -> None:
    """Log from this level on under a program's name, and first what there is to say of old names of settings."""
    logging.basicConfig(stream=sys.stderr, level=level.upper(), format=f"{program}: %(levelname)s: %(message)s")
    for message in deprecated:
        logging.getLogger(__name__).warning("%s", message)
