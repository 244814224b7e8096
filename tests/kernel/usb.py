"""The package's controller under systemd, and a board at a USB port: which devices its unit lets it open.

The machine is that of the hotspot, with a USB controller and QEMU's serial adapter instead of radios. What is written
to the adapter's port arrives in a file.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests import fresh
from tests.kernel import machine

MODULES = ("xhci_pci", "usbserial", "ftdi_sio", *machine.SIMULATED_LINES)


def tried(disk: Path) -> list[str]:
    """Boot it with a board plugged in, and try what the unit may open; returns the faults."""
    made = machine.kernel()
    with tempfile.TemporaryDirectory(dir=machine.BUILD, prefix="usb-") as folder:
        out, copy, written = Path(folder) / "out", Path(folder) / "disk.img", Path(folder) / "written"
        out.mkdir()
        shutil.copy(machine.HERE / "usb_guest.py", out / "guest.py")
        fresh.run("cp", "--sparse=always", "--reflink=auto", disk, copy)
        initrd = machine.pack(made, machine.HERE / "systemd_init", MODULES)
        board = ["-device", "qemu-xhci", "-chardev", f"file,id=board,path={written}"]
        board += ["-device", "usb-serial,chardev=board"]
        failed = machine.run([*machine.command(made, initrd, "", writable=out, disk=copy), *board])
        if failed:
            return ["the devices of the controller's unit"]
        if not (said := written.read_bytes() if written.exists() else b"").startswith(b"?"):
            return [f"the board was sent {said[:40]!r}; expected the controller's question '?'"]
    print("  what it writes to the port arrives at the board", flush=True)
    return []
