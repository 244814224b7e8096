"""Builds an image of a card for a Raspberry Pi 3, 4, 400 or Zero 2 W, from Debian's archive and the last commit.

``make image`` is this command. The image is built in a Debian 13 of its own and nothing is mounted on this machine;
it needs what ``make packages`` needs, and Linux 6.7 or later.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from templo import __version__
from tests import fresh
from tools import packages

HERE = Path(__file__).resolve().parent
IMAGES = fresh.PROJECT / "build"
NEWEST = f"templo-mayor-{__version__}-arm64.img.xz"
LIST = fresh.BUILD / "image.files"
TOOLS = (
    *("ca-certificates", "dosfstools", "e2fsprogs", "fdisk", "mtools", "openssl", "python3"),
    *("qemu-system-arm", "qemu-user", "xz-utils"),
)
LINUX = (6, 7)
"""Since then a namespace can run foreign programs without a change to this machine."""


def main(argv: Sequence[str]) -> int:
    """Build; returns 0 if there is an image."""
    parser = argparse.ArgumentParser(prog="make image ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("--renew", action="store_true", help="rebuild a base system younger than a week")
    parser.add_argument("--with", dest="extra", nargs="*", default=[], metavar="PACKAGE", help="more of Debian")
    parser.add_argument("--compare", action="store_true", help="compare it with the last one, of the same commit")
    parser.add_argument("--where-allowed", action="store_true", help="pass where this machine may not do that")
    given = parser.parse_args(argv)
    begun = time.monotonic()
    try:
        check_machine()
    except fresh.FreshError as error:
        print(error, file=sys.stderr)
        return 0 if given.where_allowed else 1
    try:
        last = Built.last() if given.compare else None
        image = build(extra=given.extra, renew=given.renew)
    except fresh.FreshError as error:
        print(error, file=sys.stderr)
        return 1
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{image.relative_to(fresh.PROJECT)}: {image.stat().st_size >> 20} MiB;"
        f" {used.ru_utime + used.ru_stime:.0f} s of CPU in {time.monotonic() - begun:.0f} s"
    )
    return 0 if last is None else differences(last, Built.last())


@dataclass(frozen=True)
class Built:
    """What one build made: the packed image's hash, and a line for the kind and one for the bytes of each file."""

    image: str
    files: frozenset[str]

    @classmethod
    def last(cls) -> Built:
        """Return what the last build made; raises `FreshError` where there is none."""
        try:
            files = LIST.read_text("utf-8", "surrogateescape").splitlines()
            with (IMAGES / NEWEST).open("rb") as image:
                return cls(hashlib.file_digest(image, "sha256").hexdigest(), frozenset(files))
        except FileNotFoundError:
            raise fresh.FreshError("There is no image to compare with: run 'make image' before.") from None


def differences(one: Built, other: Built) -> int:
    """Print what differs between two builds; returns 0 where nothing does."""
    differ = sorted(one.files ^ other.files, key=lambda line: line.split(" ")[-1])
    print(*differ, sep="\n", end="\n" * bool(differ))
    same = "are the same" if one.image == other.image else "differ"
    print(f"Of {len(other.files)} lines on files, {len(differ)} are in one build alone; the packed images {same}.")
    return int(one != other)


def check_machine() -> None:
    """Raise `FreshError` where no image can be built."""
    fresh.check_machine(os.geteuid(), shutil.which, "make image")
    release = os.uname().release
    found = re.match(r"(\d+)\.(\d+)", release)
    if not found or (int(found[1]), int(found[2])) < LINUX:
        raise fresh.FreshError(f"make image needs Linux {LINUX[0]}.{LINUX[1]} or later; this is {release}.")


def build(*, extra: Sequence[str] = (), renew: bool = False, into: Path = IMAGES / NEWEST) -> Path:
    """Build the image of the last commit, packed by xz; raises `FreshError` if it fails."""
    epoch = fresh.run("git", "-C", fresh.PROJECT, "log", "-1", "--format=%ct").strip()
    package = package_of_last_commit()
    (fresh.BUILD / "image.log").unlink(missing_ok=True)
    with fresh.Root.made(packages.SUITE, purpose="image", packages=TOOLS, renew=renew) as tools:
        inside = tools.folder / "srv"
        for script in ("system.sh", "card.sh"):
            shutil.copy(HERE / script, inside)
        shutil.copytree(HERE / "files", inside / "files")
        shutil.copy(package, inside)
        (inside / "templo-mayor.example.toml").write_text(example(), "utf-8")
        _run(tools, ["sh", "/srv/system.sh", f"/srv/{package.name}", epoch, *extra])
        _run(tools, ["sh", "/srv/card.sh", f"/srv/{into.stem}", epoch])
        shutil.copy(inside / "files.list", LIST)
        into.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(inside / into.name, into)
    return into


def package_of_last_commit() -> Path:
    """Return our package of the last commit, built unless it is there."""
    named = f"templo-mayor_{packages.version('HEAD')}_all.deb"
    if not (packages.BUILT / named).exists():
        packages.build()
    return packages.BUILT / named


def example(page: Path = fresh.PROJECT / "docs" / "image.md") -> str:
    """Return the settings file that the manual explains, with every line commented out.

    >>> example().splitlines()[3].split(" = ")[0]
    '# name'
    """
    block = page.read_text("utf-8").partition("```toml\n")[2].partition("```")[0]
    lines = (f"# {line}".rstrip() for line in block.splitlines())
    head = (
        "# Rename this file to templo-mayor.toml and take away the '# ' before what you give; docs/image.md explains"
    )
    return "\n".join([f"{head} it.", "# The temple reads it when it starts.", "", *lines, ""])


def _run(tools: fresh.Root, command: Sequence[str]) -> None:
    """Run a command in the root of tools, where programs for arm64 run."""
    namespace = [sys.executable, str(HERE / "namespace.py"), str(tools.folder / "usr/bin/qemu-aarch64")]
    log = fresh.BUILD / "image.log"
    with log.open("ab") as out:
        done = subprocess.run(
            [*namespace, *tools.inside(command, "/srv")],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=tools.environment,
            check=False,
        )
    if done.returncode:
        last = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
        raise fresh.FreshError(f"{last}\nThe image was not built; the whole output is in {log}.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
