"""Builds MicroPython's firmware for a Pico from Debian's sources, in a Debian 13 of its own.

It is the plain board's: what the Wi-Fi chip of a Pico W needs is not in Debian. Nor are four drivers among its frozen
modules, of parts that a temple has not.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests import fresh

BUILT = fresh.PROJECT / "build" / "pico" / "firmware.uf2"
SUITE = "trixie"
PACKAGES = (
    *("ca-certificates", "cmake", "dpkg-dev", "g++", "gcc-arm-none-eabi", "libstdc++-arm-none-eabi-newlib", "make"),
    *("pico-sdk-source", "picotool", "pioasm", "python3", "tinyusb-source"),
)
BUILD = r"""
cd /srv
sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/source.list
apt-get --quiet --quiet update
apt-get --quiet --quiet -o APT::Sandbox::User=root source micropython mbedtls
cd micropython-*/
rm -rf lib/mbedtls lib/pico-sdk lib/tinyusb
ln -s /srv/mbedtls-*/ lib/mbedtls
ln -s /usr/src/pico-sdk /usr/src/tinyusb lib
touch lib/micropython-lib/README.md
printf 'freeze("$(PORT_DIR)/modules")\ninclude("$(MPY_DIR)/extmod/asyncio")\n' >/srv/manifest.py
make --directory=mpy-cross --jobs="$(nproc)"
cmake -S ports/rp2 -B /srv/out -DMICROPY_BOARD=RPI_PICO -DMICROPY_BOARD_DIR="$PWD/ports/rp2/boards/RPI_PICO" \
    -DMICROPY_FROZEN_MANIFEST=/srv/manifest.py
make --directory=/srv/out --jobs="$(nproc)"
"""


def built(*, renew: bool = False) -> Path:
    """Return the firmware, built unless it is there; raises `FreshError` where that fails."""
    if BUILT.exists() and not renew:
        return BUILT
    fresh.check_machine(os.geteuid(), shutil.which, "make pico")
    with fresh.Root.made(SUITE, purpose="pico", packages=PACKAGES) as root:
        log = fresh.BUILD / "pico.log"
        fresh.base_of(f"{SUITE}-pico", PACKAGES).unlink()  # four gigabytes, needed once
        (root.folder / "root" / "templo-mayor").mkdir()  # where commands begin; there is no clone
        if wrong := fresh.ran(root, ["sh", "-euc", BUILD], log):
            last = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
            raise fresh.FreshError(f"{last}\nThe build {wrong}; its whole output is in {log}.")
        BUILT.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root.folder / "srv" / "out" / "firmware.uf2", BUILT)
    return BUILT
