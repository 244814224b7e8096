"""The packages' hotspot and first start with a real NetworkManager, on three simulated radios.

A Debian 13 with the packages, NetworkManager and wpa_supplicant, all from Debian's archive, boots with systemd under
a kernel with `mac80211_hwsim`. The first radio is the machine's own, the second a phone's, the third a home's Wi-Fi.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests import fresh
from tests.kernel import machine
from tools import packages

BASE = (
    *("ca-certificates", "dbus", "dnsmasq-base", "haproxy", "iproute2", "iw", "kmod", "network-manager", "nftables"),
    *("openssl", "python3", "systemd-sysv", "udev", "udhcpc", "wpasupplicant"),
)
RADIOS = ("mac80211_hwsim", "ccm", "ctr", "cmac", "nft_chain_nat", "nft_masq", "nft_ct")
UNUSED = (
    "avahi-daemon",
    "getty@tty1",
    "haproxy",
    "mosquitto",
    "serial-getty@ttyS0",
    "systemd-modules-load",
    "templo-controller",
    "templo-mayor-name",
)
"""What the hotspot does not need, and an emulator would start for minutes."""

FILES = {
    "etc/NetworkManager/conf.d/others.conf": "[keyfile]\nunmanaged-devices=interface-name:wlan[12]\n",
    # A Raspberry Pi's limits are too narrow for an emulator on a busy host; `make appliance` tries them.
    "etc/systemd/system.conf.d/patience.conf": "[Manager]\nDefaultTimeoutStartSec=900\nDefaultDeviceTimeoutSec=900\n",
    "etc/systemd/system/templo-companion.service.d/patience.conf": "[Service]\nWatchdogSec=0\nTimeoutStartSec=900\n",
    "etc/systemd/system/guest.service": """
[Service]
Type=oneshot
ExecStart=/usr/bin/python3 -u /run/out/guest.py
ExecStopPost=/bin/sh -c 'echo guest-exit-code $EXIT_STATUS; systemctl poweroff --force --force'
Environment=PYTHONDONTWRITEBYTECODE=1
TimeoutStartSec=infinity
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0

[Install]
WantedBy=multi-user.target
""",
}


def image(*, built: bool = False) -> Path:
    """Return the disk's image, made where there is none of this build of the packages; raises `FreshError`.

    With `built`, the packages that are in `build/packages` are taken, and the last commit's otherwise.
    """
    files = sorted(packages.BUILT.glob("*.deb")) if built else packages.build()
    whole = next((file for file in files if file.name.startswith("templo-mayor_")), None)
    if whole is None:
        raise fresh.FreshError(f"{packages.BUILT} holds no templo-mayor package; run 'make packages' first.")
    disk = machine.BUILD / f"wifi-{whole.stem}.img"
    if not disk.exists():
        for older in machine.BUILD.glob("wifi-*.img"):
            older.unlink()
        with fresh.Root.made(packages.SUITE, purpose="wifi", packages=BASE) as root:
            shutil.copy(whole, root.folder / "srv")
            for name, content in FILES.items():
                (root.folder / name).parent.mkdir(parents=True, exist_ok=True)
                (root.folder / name).write_text(content)
            masked = " ".join(f"{unit}.service" for unit in UNUSED)
            install = f"apt-get --quiet update; {machine.APT} install ./{whole.name}; apt-get clean"
            script = f"systemctl mask {masked}; {install}; systemctl enable guest.service"
            fresh.run(*root.inside(["sh", "-euc", script], "/srv"), environment=root.environment)
            machine.make_disk(root.folder, disk)
    return disk


def tried(disk: Path) -> list[str]:
    """Boot it without any Wi-Fi, go through a first start from the phone, and join the home's; returns the faults."""
    with tempfile.TemporaryDirectory(dir=machine.BUILD, prefix="wifi-") as folder:
        failed = machine.run_guest(disk, "wifi_guest.py", RADIOS, Path(folder))
    return ["the hotspot with a real NetworkManager"] if failed else []
