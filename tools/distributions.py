"""Writes the wheel and the source distribution of the last commit into `build/wheels`.

The source distribution is everything that the commit holds, and what Python's tools expect: PKG-INFO, taken from the
wheel, which pip builds from those files alone. The same commit gives the same two files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from templo import __version__

ROOT = Path(__file__).resolve().parent.parent
NAME = f"templo_mayor-{__version__}"
BUILT_WITH = "setuptools==84.2.1"
"""Another release of it may write another wheel."""


def write(into: Path) -> list[Path]:
    """Write both files; returns them, raises `CalledProcessError`."""
    into.mkdir(parents=True, exist_ok=True)
    when = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{NAME}.tar.gz"
        _archive(source)
        subprocess.run(["tar", "--extract", "--no-same-permissions", f"--file={source}"], cwd=folder, check=True,
                       umask=0o022)  # fmt: skip
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
        pinned = Path(folder) / "constraints.txt"
        pinned.write_text(f"{BUILT_WITH}\n")
        subprocess.run(
            [*pip, "--wheel-dir", str(into), str(Path(folder) / NAME)],
            env={**os.environ, "SOURCE_DATE_EPOCH": when, "PIP_CONSTRAINT": str(pinned)},
            check=True,
            umask=0o022,
        )
        wheel = next(into.glob(f"{NAME}-*.whl"))
        information = Path(folder) / "PKG-INFO"
        with zipfile.ZipFile(wheel) as packed:
            information.write_bytes(packed.read(f"{NAME}.dist-info/METADATA"))
        information.chmod(0o644)
        _archive(into / source.name, information)
    return [wheel, into / source.name]


def _archive(into: Path, *more: Path) -> None:
    added = [f"--add-file={each}" for each in more]
    command = ["git", "-c", "tar.umask=0022", "archive", f"--prefix={NAME}/", f"--output={into}", *added, "HEAD"]
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    print(*write(ROOT / "build" / "wheels"), sep="\n")
