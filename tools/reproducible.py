"""Builds parts of a release twice, from clones in different folders, and says which are the same to the byte.

``make reproducible`` is this command. The packages are compared too where this machine can build them.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tools import packages

ROOT = Path(__file__).resolve().parent.parent
BUILDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "wheel and source distribution": (("-m", "tools.distributions"), "build/wheels/*"),
    "sheets": (("-m", "companion", "sheets", "mexica"), "build/sheets/**/*.pdf"),
    "site": (("-m", "mkdocs", "build", "--strict", "--quiet"), "build/site/**/*"),
    "manual": (("-m", "tools.manual_pdf"), "build/manual/*"),
    "packages": (("-m", "tools.packages"), "build/packages/*.deb"),
}
"""Each part, what builds it from a clone, and its files."""

TWO = ({"TZ": "UTC", "umask": "022"}, {"TZ": "Pacific/Kiritimati", "umask": "077"})
"""What differs between the two builds beside their folder and their time."""


def main(argv: Sequence[str]) -> int:
    """Return 1 where a part differs, else 0."""
    parser = argparse.ArgumentParser(prog="make reproducible ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of: {', '.join(BUILDS)} (all)")
    given = parser.parse_args(argv)
    if unknown := set(given.parts) - set(BUILDS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    wanted = {name: BUILDS[name] for name in given.parts or BUILDS}
    if "packages" in wanted and (why := packages.why_not(os.geteuid(), shutil.which)):
        print(f"packages: not compared. {why}")
        del wanted["packages"]
    with tempfile.TemporaryDirectory() as folder:
        clones = [Path(folder) / name for name in ("one", "another/of-it")]
        for clone in clones:
            subprocess.run(["git", "clone", "--quiet", f"file://{ROOT}", clone], check=True)
        found = {name: differing(clones, part, built) for name, part in wanted.items()}
    for name, files in found.items():
        print(f"{name}: {'differs in ' + ', '.join(files) if files else 'the same'}", flush=True)
    return int(any(found.values()))


def built(clone: Path, command: Sequence[str], settings: Mapping[str, str]) -> None:
    """Run a module in a clone; raises `CalledProcessError`."""
    show = ["git", "log", "-1", "--format=%ct"]
    environment = {
        **os.environ,
        "TZ": settings["TZ"],
        "PYTHONPATH": str(clone),
        "NO_MKDOCS_2_WARNING": "1",
        "SOURCE_DATE_EPOCH": subprocess.run(
            show, cwd=clone, check=True, capture_output=True, text=True
        ).stdout.strip(),
    }
    subprocess.run(
        [sys.executable, *command],
        cwd=clone,
        env=environment,
        umask=int(settings["umask"], 8),
        check=True,
        stdout=subprocess.DEVNULL,
    )


def differing(
    clones: Sequence[Path],
    part: tuple[Sequence[str], str],
    build: Callable[[Path, Sequence[str], Mapping[str, str]], None],
) -> list[str]:
    """Build a part in both clones; returns the files that differ, or that one of them lacks."""
    command, pattern = part
    sums = []
    for clone, settings in zip(clones, TWO, strict=True):
        build(clone, command, settings)
        sums.append(
            {
                file.relative_to(clone).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
                for file in clone.glob(pattern)
                if file.is_file()
            }
        )
    first, second = sums
    if not first:
        return [f"nothing built as {pattern}"]
    return sorted(name for name in {*first, *second} if first.get(name) != second.get(name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
