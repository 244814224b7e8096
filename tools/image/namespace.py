"""Runs a command as root of a user namespace in which programs for arm64 run, through QEMU.

Since Linux 6.7 a user namespace can have its own list of foreign programs (binfmt_misc), so that this machine's stays
as it is. It must be made outside of a changed root. As a program: ``namespace.py QEMU COMMAND ...``, by root.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from pathlib import Path

NEW_MOUNTS, NEW_USERS = 0x00020000, 0x10000000
RECURSIVE_PRIVATE = 0x4000 | 1 << 18
IDS = "0 0 65536\n"
"""Users and groups are those of this machine, so that files belong to whom the packages say."""

FORMATS = "/proc/sys/fs/binfmt_misc"
MAGIC = rb"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
MASK = rb"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
"""The first bytes of a program for 64-bit ARM, as ELF writes them."""

_libc = ctypes.CDLL(None, use_errno=True)


def main(argv: Sequence[str]) -> int:
    """Make the namespace and become the command in it; returns only if that fails."""
    qemu, *command = argv
    made, mapped = os.pipe(), os.pipe()
    parent = os.getpid()
    if not (mapper := os.fork()):
        # A namespace's ids are given from outside of it.
        os.read(made[0], 1)
        for kind in ("uid", "gid"):
            Path(f"/proc/{parent}/{kind}_map").write_text(IDS)
        os.write(mapped[1], b"x")
        os._exit(0)
    _check(_libc.unshare(NEW_USERS | NEW_MOUNTS))
    os.write(made[1], b"x")
    os.read(mapped[0], 1)
    os.waitpid(mapper, 0)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    _check(_libc.mount(b"none", b"/", None, RECURSIVE_PRIVATE, None))
    _check(_libc.mount(b"binfmt_misc", FORMATS.encode(), b"binfmt_misc", 0, None))
    # F opens QEMU now, at its place on this machine, which a changed root does not show; O and C pass on whose it is.
    (Path(FORMATS) / "register").write_bytes(b":arm64:M::%s:%s:%s:OCF" % (MAGIC, MASK, os.fsencode(qemu)))
    os.execvp(command[0], command)  # noqa: S606 - as the caller wants it


def _check(code: int) -> None:
    if code:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
