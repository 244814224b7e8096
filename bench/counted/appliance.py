"""What the programs of an installed temple execute that run beside its two daemons, and end."""

from __future__ import annotations

from collections.abc import Iterator

from bench.tools.instructions import instructions_to_the_end
from bench.tools.programs import Programs

PATIENCE_S = 60.0

_BOOT = """
from pathlib import Path
from companion.appliance import boot
folder = Path({folder!r})
for login in boot.LOGINS:
    (folder / login).write_text("TEMPLO_BROKER_PASSWORD=x")
def refused(*command):
    raise boot.BootError(command)
raise SystemExit(boot.boot(None, boot.Machine(folder, folder, folder, refused), folder / "fault"))
"""
"""The boot settings, in a folder, where nothing is to be applied."""

_NETWORK = """
import os, socket
ours, theirs = socket.socketpair()
ours.sendall(b"{}\\n")
os.dup2(theirs.fileno(), 0)
from companion.appliance.command_line import main
raise SystemExit(main(["network", "serve"]))
"""
"""The program of the hotspot's check, which answers a request that changes nothing."""


def starts(programs: Programs) -> Iterator[tuple[str, int]]:
    """Run each from its start to its end."""
    folder = programs.folder / "settings"
    folder.mkdir()
    boot = programs.python("boot", "-c", _BOOT.format(folder=str(folder)))
    yield "boot settings, nothing to apply", instructions_to_the_end(programs, boot, PATIENCE_S)
    network = programs.python("network", "-c", _NETWORK)
    yield "hotspot's program, one look", instructions_to_the_end(programs, network, PATIENCE_S)
