"""A machine without a battery for its clock: it boots in 1970, and its clock is set while tokens fall.

The machine is that of the hotspot without radios, with mosquitto and the controller beside the companion.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests import fresh
from tests.kernel import machine


def tried(disk: Path) -> list[str]:
    """Boot it, play before and after its clock is set, and judge every token; returns the faults."""
    made = machine.kernel()
    with tempfile.TemporaryDirectory(dir=machine.BUILD, prefix="clock-") as folder:
        out, copy = Path(folder) / "out", Path(folder) / "disk.img"
        out.mkdir()
        shutil.copy(machine.HERE / "clock_guest.py", out / "guest.py")
        fresh.run("cp", "--sparse=always", "--reflink=auto", disk, copy)
        initrd = machine.pack(made, machine.HERE / "systemd_init", ())
        clock = ["-rtc", "base=1970-01-01T00:00:00"]
        failed = machine.run([*machine.command(made, initrd, "", writable=out, disk=copy), *clock])
    return ["an evening whose clock was set from 1970 to now"] if failed else []
