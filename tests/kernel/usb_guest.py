"""Runs in the virtual machine under systemd: what the controller's unit may open, and what it may not.

It imports nothing of the project. The same attempts outside the unit, as the same user, show that it is the unit that
forbids a device.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

UNIT = "templo-controller.service"
USER = "templo-controller"
PATIENCE_S = 900.0
"""An emulator on a busy host may stand still for a long time."""

PORT, MODEM = "/dev/ttyUSB0", "/dev/ttyACM0"
ALLOWED = (PORT, MODEM, "/dev/gpiochip0", "/dev/null")
FORBIDDEN = ("/dev/ttyS0", "/dev/disk-for-all", "/dev/bus/usb/001/001")
WORK = Path("/run/usb")
DROP_IN = Path(f"/run/systemd/system/{UNIT}.d")
ATTEMPT = """
import errno, json, os, sys
found = {}
for name in sys.argv[1:]:
    try:
        os.close(os.open(name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
        found[name] = "open"
    except OSError as error:
        found[name] = errno.errorcode[error.errno]
print(json.dumps(found))
"""


def main() -> int:
    WORK.mkdir()
    make_devices()
    attempt = WORK / "attempt.py"
    attempt.write_text(ATTEMPT)
    command = ["/usr/bin/python3", str(attempt), *ALLOWED, *FORBIDDEN]
    free = json.loads(run("setpriv", f"--reuid={USER}", f"--regid={USER}", "--groups=gpio,dialout", *command))
    # There is no such device, and no driver for it: that the kernel says so is all that there is to see.
    expected = dict.fromkeys((*ALLOWED, *FORBIDDEN), "open") | {MODEM: errno.errorcode[errno.ENXIO]}
    compare("outside the unit its user opens", free, expected)

    run("systemctl", "unmask", UNIT)
    lines = ("Type=oneshot", "Restart=no", "WatchdogSec=0", f"StandardOutput=file:{WORK}/found")
    drop_in("attempt.conf", *lines, "ExecStart=", f"ExecStart={' '.join(command)}", "TimeoutStartSec=900")
    run("systemctl", "start", UNIT)
    confined = json.loads((WORK / "found").read_text())
    expected |= dict.fromkeys(FORBIDDEN, errno.errorcode[errno.EPERM])
    compare("the unit lets it open", confined, expected)

    (DROP_IN / "attempt.conf").unlink()
    drop_in("patience.conf", "WatchdogSec=0", "TimeoutStartSec=900")
    Path("/etc/templo-mayor/controller.toml").write_text(f'[beams]\nsource = "serial:{PORT}"\n')
    begun = time.monotonic()
    run("systemctl", "start", UNIT)
    until("the controller opens the port", lambda: f"the port {PORT} is open" in journal())
    until("it reports that the board is silent", lambda: "board_silent" in journal())
    print(f"  the controller opens {PORT} and reports a silent board: {time.monotonic() - begun:.0f} s", flush=True)
    run("systemctl", "stop", UNIT)
    return 0


def make_devices() -> None:
    """Wait for the board, and make what is not there by itself."""
    until("the board's port", Path(PORT).exists)
    until("udev's rules for it", lambda: stat.S_IMODE(Path(PORT).stat().st_mode) == 0o660)
    owner = run("stat", "--format=%G", PORT).strip()
    assert owner == "dialout", f"{PORT} belongs to {owner}; expected the group dialout"
    simulated = Path("/sys/kernel/config/gpio-sim/temple")
    until("the kernel's simulator of lines", simulated.parent.exists)
    (simulated / "bank0").mkdir(parents=True)
    (simulated / "live").write_text("1")
    until("udev's rule for the chip", lambda: run("stat", "--format=%G", "/dev/gpiochip0", check=False) == "gpio\n")
    run("mknod", MODEM, "c", "166", "0")
    run("chgrp", "dialout", MODEM)
    disk = Path("/dev/vda").stat().st_rdev
    run("mknod", FORBIDDEN[1], "b", str(os.major(disk)), str(os.minor(disk)))
    for name in (MODEM, *FORBIDDEN):
        run("chmod", "666", name)


def compare(what: str, found: dict[str, str], expected: dict[str, str]) -> None:
    """Print what was found; raises where it is something else."""
    assert found == expected, f"{what}: found {found}; expected {expected}"
    print(f"  {what} {', '.join(f'{name} ({how})' for name, how in found.items())}", flush=True)


def drop_in(name: str, *lines: str) -> None:
    """Change the unit until the machine ends."""
    DROP_IN.mkdir(parents=True, exist_ok=True)
    (DROP_IN / name).write_text("\n".join(["[Service]", *lines]) + "\n")
    run("systemctl", "daemon-reload")


def journal() -> str:
    """Return what the unit logged."""
    return run("journalctl", "--no-pager", "--unit", UNIT)


def run(*command: str, check: bool = True) -> str:
    """Return what a program prints; raises where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    if check and done.returncode:
        raise ChildProcessError(f"{' '.join(command)} ended with {done.returncode}: {done.stdout} {done.stderr}")
    return done.stdout if done.returncode == 0 else ""


def until(what: str, true: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    begun = time.monotonic()
    while not true():
        if time.monotonic() - begun > PATIENCE_S:
            print(journal(), flush=True)
            raise TimeoutError(f"{what}: not within {PATIENCE_S:.0f} s")
        time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main())
