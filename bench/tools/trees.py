"""Unpacks the tree of a git revision into a folder, with an interpreter that has its dependencies."""

from __future__ import annotations

import importlib.metadata
import io
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

from bench.tools.programs import ROOT, BenchError, Tree

EXTRAS = ("controller", "companion")
"""What the programs that are measured need, by its name in pyproject.toml."""

_NAME = re.compile(r"^[A-Za-z0-9._-]+")


def of_revision(revision: str, folder: Path, repository: Path = ROOT) -> Tree:
    """Return the tree of a revision, unpacked into a folder that does not exist yet.

    It shares this interpreter where the packages that are installed here are those that it pins, and gets an
    environment of its own otherwise, which takes a minute or two. Raises `BenchError`.
    """
    commit = _git(repository, "rev-parse", "--short", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    archive = _git(repository, "archive", "--format=tar", commit.decode().strip())
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)  # before Python 3.11.4
        files.extractall(folder)
    interpreter = sys.executable if dependencies_agree(folder) else _environment(folder)
    return Tree(commit.decode().strip(), folder, interpreter)


def dependencies_agree(root: Path) -> bool:
    """Return whether this interpreter has every package that a tree requires, each in the version that it pins."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project.get("optional-dependencies", {})
    needed = [*project.get("dependencies", ()), *(line for extra in EXTRAS for line in extras.get(extra, ()))]
    installed = {_plain(each.name): each.version for each in importlib.metadata.distributions()}
    pins = {}
    for line in (root / "constraints.txt").read_text(encoding="utf-8").splitlines():
        name, equals, version = line.partition("==")
        if equals:
            pins[_plain(name)] = version.strip()
    # A requirement whose marker does not apply, such as lgpio's on another Python, may be missing here.
    names = {_plain(match[0]) for line in needed if ";" not in line and (match := _NAME.match(line))}
    return names <= installed.keys() and all(
        installed.get(name, version) == version for name, version in pins.items()
    )


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _environment(root: Path) -> str:
    print("its packages differ from ours: making an environment for it ...", flush=True)
    done = subprocess.run(
        [str(root / "tools" / "environment"), ",".join(EXTRAS)],
        cwd=root, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    if done.returncode:
        raise BenchError(f"tools/environment of the other tree ended with {done.returncode}: {done.stderr[-1500:]}")
    return str(root / ".venv" / "bin" / "python")


def _git(repository: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=False)
    except OSError as error:
        raise BenchError(f"git cannot be run: {error}; expected it, and a clone of the project") from error
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()
        raise BenchError(
            f"git {' '.join(arguments)} failed: {words}; expected a revision of the clone in {repository}"
        )
    return done.stdout
