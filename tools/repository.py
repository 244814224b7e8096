"""Adds the built packages to an apt repository, signed, in a folder that any web server can serve.

``make repository`` is this command. Packages that are in the folder already stay, so that a machine can go back to an
earlier release. Debian's own tools do the work, in a Debian 13 of their own; the key is not copied anywhere.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests import fresh
from tools import packages

FOLDER = fresh.PROJECT / "build" / "repository"
TOOLS = ("apt-utils", "gpg", "gpg-agent", "xz-utils")
SERVED = "/srv/repository"
"""Where it is made, in the root."""

MAKE_A_KEY = """\
A repository is signed with an OpenPGP key of yours. To make one, once, and to keep it where nobody else reads it:
  gpg --quick-generate-key 'NAME <MAIL>' ed25519 sign never
  gpg --export-secret-keys MAIL >key.gpg
Then: make repository ARGS="--key key.gpg --address https://where.it/is/served"
"""

MAKE = r"""
set -eu
address=$1
export GNUPGHOME=/run/gnupg LC_ALL=C.UTF-8
umask 022
mkdir -m 700 $GNUPGHOME
gpg --batch --quiet --import /run/key.gpg
index=$(mktemp)
apt-ftparchive packages pool >"$index"
for architecture in amd64 arm64 armhf; do
    folder=dists/stable/main/binary-$architecture
    mkdir -p $folder
    cp "$index" $folder/Packages
    xz --keep --force $folder/Packages
done
cd dists/stable
rm -f Release InRelease Release.gpg
field() { printf -- '-oAPT::FTPArchive::Release::%s' "$1"; }
apt-ftparchive "$(field Origin='Templo Mayor')" "$(field Label='Templo Mayor')" "$(field Suite=stable)" \
    "$(field Codename=stable)" "$(field Architectures='amd64 arm64 armhf')" "$(field Components=main)" \
    release . >"$index"
cp "$index" Release
gpg --batch --quiet --clearsign --output InRelease Release
gpg --batch --quiet --armor --detach-sign --output Release.gpg Release
cd ../..
chmod -R u=rwX,go=rX .
{
    printf 'Types: deb\nURIs: %s\nSuites: stable\nComponents: main\nSigned-By:\n' "$address"
    gpg --batch --armor --export | sed 's/^$/./; s/^/ /'
} >templo-mayor.sources
gpgconf --kill all
"""
"""Makes the index of `pool` and signs it; writes what a machine's apt reads to find it."""


def main(argv: Sequence[str]) -> int:
    """Write the repository; returns 1 where that is not possible."""
    parser = argparse.ArgumentParser(prog="make repository ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("--key", type=Path, metavar="FILE", help="a secret OpenPGP key without a passphrase")
    parser.add_argument("--address", default="", metavar="URL", help="where the folder will be served")
    parser.add_argument("--into", type=Path, default=FOLDER, metavar="FOLDER", help="(build/repository)")
    given = parser.parse_args(argv)
    if not given.key or not given.address:
        print(MAKE_A_KEY, end="", file=sys.stderr)
        return 1
    try:
        if not given.key.is_file():
            raise fresh.FreshError(f"--key is {given.key}, where no file is; expected a secret key.")
        if not re.match("https?://.", given.address):
            raise fresh.FreshError(f"--address is {given.address!r}; expected one such as https://example.org/apt.")
        fresh.check_machine(os.geteuid(), shutil.which, "make repository")
        files = sorted(packages.BUILT.glob("*.deb"))
        if not files:
            raise fresh.FreshError(f"{packages.BUILT} holds no packages: 'make packages' builds them.")
        with fresh.Root.made(packages.SUITE, purpose="repository", packages=TOOLS) as root:
            add(given.into, files)
            inside = Path(f"{root.folder}{SERVED}")
            shutil.copytree(given.into, inside)
            make(root, given.key, given.address)
            shutil.copytree(inside, given.into, dirs_exist_ok=True)
    except fresh.FreshError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{given.into}: serve this folder at {given.address}. On each machine, once:")
    print(f"  sudo curl -o /etc/apt/sources.list.d/templo-mayor.sources {given.address}/templo-mayor.sources")
    return 0


def add(folder: Path, files: Sequence[Path]) -> None:
    """Copy packages into a repository's pool; raises `FreshError` for another package of a version that is there."""
    pool = folder / "pool"
    pool.mkdir(parents=True, exist_ok=True)
    for file in files:
        there = pool / file.name
        if there.exists() and there.read_bytes() != file.read_bytes():
            raise fresh.FreshError(f"{there} is another package of the same version: expected a new version.")
        shutil.copy(file, there)


def make(root: fresh.Root, key: Path, address: str, served: str = SERVED) -> None:
    """Index and sign the repository that is in a root; raises `FreshError`."""
    with_key = replace(root, files=(*root.files, (key.resolve(), "/run/key.gpg")))
    fresh.run(*with_key.inside(["sh", "-c", MAKE, "make", address], served), environment=root.environment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
