"""The package's controller under systemd, and a board at a USB port: which devices its unit lets it open.

The machine is that of the hotspot, with a USB controller and QEMU's serial adapter instead of radios. What is written
to the adapter's port arrives in a file.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.kernel import machine

MODULES = ("xhci_pci", "usbserial", "ftdi_sio", *machine.SIMULATED_LINES)


def tried(disk: Path) -> list[str]:
    """Boot it with a board plugged in, and try what the unit may open; returns the faults."""
    with tempfile.TemporaryDirectory(dir=machine.BUILD, prefix="usb-") as folder:
        written = Path(folder) / "written"
        board = ["-device", "qemu-xhci", "-chardev", f"file,id=board,path={written}"]
        board += ["-device", "usb-serial,chardev=board"]
        if machine.run_guest(disk, "usb_guest.py", MODULES, Path(folder), board):
            return ["the devices of the controller's unit"]
        if not (said := written.read_bytes() if written.exists() else b"").startswith(b"?"):
            return [f"the board was sent {said[:40]!r}; expected the controller's question '?'"]
    print("  what it writes to the port arrives at the board", flush=True)
    return []
