"""Packages from an apt repository of the test's own: installed, upgraded to the next release, and back."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from templo import __version__
from tests import fresh
from tests.appliance.machine import APT, Machine, drop, must, run_in, say, simulate, status
from tools import packages, repository

NEXT = re.sub(r"\d+$", lambda last: str(int(last[0]) + 1), __version__)
"""The release after this one, 1.0.1 after 1.0.0: to apt it is newer than every build before it."""

ADDRESS = "http://127.0.0.1:8088"
FIRST, SECOND = "/srv/repository-first", "/srv/repository-second"
"""The repository with this release alone, and with the next one added."""

KEY = """
export GNUPGHOME=/run/gnupg
mkdir -m 700 $GNUPGHOME
gpg --batch --quiet --passphrase '' --quick-generate-key 'The test <test@localhost>' ed25519 sign never
gpg --batch --export-secret-keys >/srv/key.gpg
gpgconf --kill all
"""
"""Makes a key for the test."""

VERSION = "dpkg-query --show --showformat='${Version}' templo-mayor"


def published(root: fresh.Root, files: Sequence[Path]) -> None:
    """Put both repositories into a root that is not booted, where `files` were built, and build the next release."""
    for folder in (FIRST, SECOND):
        repository.add(Path(f"{root.folder}{folder}"), files)
    run_in(root, KEY)
    key = root.folder / "srv/key.gpg"
    repository.make(root, key, ADDRESS, FIRST)
    for file in files:
        file.unlink()
    repository.add(Path(f"{root.folder}{SECOND}"), packages.build_in(root, NEXT))
    repository.make(root, key, ADDRESS, SECOND)
    apt = root.folder / "etc/apt"
    shutil.copy(Path(f"{root.folder}{FIRST}") / "templo-mayor.sources", apt / "sources.list.d")
    (apt / "sources.list").write_text("")


def updated(machine: Machine) -> None:
    """Install from the repository, upgrade when it has the next release, and go back."""
    print("From an apt repository:", flush=True)
    first = machine.run(VERSION)
    serve(machine, FIRST)
    machine.run(f"{APT} update --error-on=any")
    machine.run(f"{APT} remove templo-mayor && {APT} install templo-mayor")
    simulate(machine)
    machine.run("systemctl restart templo-controller")
    machine.until("the temple counts", machine.counts)
    must("installed from it, this release runs", machine.run(VERSION), first)
    drop(machine, 3)
    tokens = machine.received()

    serve(machine, SECOND)
    signed = f"{SECOND}/dists/stable/InRelease"
    machine.run(f"cp -a {signed} /srv; sed -i 's/^Origin: .*/Origin: Somebody/' {signed}")
    refused = machine.attempt(f"{APT} update --error-on=any")
    must("an index that its builder did not sign is refused", refused.returncode != 0)
    machine.run(f"cp -a /srv/InRelease {signed}; {APT} update --error-on=any")
    must(
        "status and the page name it", [NEXT in status(machine), NEXT in machine.page("/setup/step/name")], [True] * 2
    )
    begun = time.monotonic()
    machine.run(f"{APT} upgrade")
    machine.until("the temple counts", machine.counts)
    say("apt upgrade, to counting again", f"{time.monotonic() - begun:.1f} s")
    must("brings the next release", machine.run(VERSION), NEXT)
    must("with every token", machine.received(), tokens)
    must("and nothing names another", NEXT + " is there" in status(machine), False)
    drop(machine, 1)
    machine.run(f"{APT} install --allow-downgrades templo-mayor={first}")
    machine.until("the temple counts", machine.counts)
    must("and the earlier one can be had back", machine.run(VERSION), first)
    must("with every token again", machine.received(), tokens + 1)


def serve(machine: Machine, folder: str) -> None:
    """Serve a folder as any static host does."""
    machine.run(
        f"systemctl stop served 2>/dev/null || true; systemd-run --quiet --unit=served --collect \
        python3 -m http.server --bind 127.0.0.1 --directory {folder} {ADDRESS.rpartition(':')[2]}"
    )
    machine.until(
        "the repository is served",
        lambda: (
            machine.attempt(
                f"python3 -c 'import urllib.request as u; u.urlopen(\"{ADDRESS}/templo-mayor.sources\")'"
            ).returncode
            == 0
        ),
    )
