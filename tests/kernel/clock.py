"""A machine without a battery for its clock: it boots in 1970, and its clock is set while tokens fall.

The machine is that of the hotspot without radios, with mosquitto and the controller beside the companion.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.kernel import machine


def tried(disk: Path) -> list[str]:
    """Boot it, play before and after its clock is set, and judge every token; returns the faults."""
    with tempfile.TemporaryDirectory(dir=machine.BUILD, prefix="clock-") as folder:
        failed = machine.run_guest(disk, "clock_guest.py", (), Path(folder), ("-rtc", "base=1970-01-01T00:00:00"))
    return ["an evening whose clock was set from 1970 to now"] if failed else []
