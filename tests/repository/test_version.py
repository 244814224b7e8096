"""The tree has one version: the distribution takes it from `templo`, and the boards' programs carry the same."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from templo import __version__

ROOT = Path(__file__).resolve().parents[2]


def test_the_distribution_takes_its_version_from_templo() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "templo.__version__"}


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("firmware/arduino/pins.h", r'^#define SOFTWARE "(.+)"$'),
        ("firmware/micropython/temple.py", r'^SOFTWARE = "(.+)"$'),
    ],
)
def test_a_board_s_program_has_the_version_of_the_distribution(file: str, line: str) -> None:
    assert re.findall(line, (ROOT / file).read_text("utf-8"), re.MULTILINE) == [__version__]


def test_an_uno_s_program_is_compiled_with_the_version_of_the_distribution() -> None:
    command = ["make", "--dry-run", "--always-make", "-C", str(ROOT / "firmware/arduino")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"-DSOFTWARE=(\S+)", printed)) == {f"'\"{__version__}\"'"}


def test_both_changelogs_begin_with_the_version_of_the_distribution() -> None:
    assert (ROOT / "debian/changelog").read_text("utf-8").startswith(f"templo-mayor ({__version__}) ")
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == __version__


def test_nothing_else_in_the_programs_names_a_version_of_its_own() -> None:
    named = [
        path.relative_to(ROOT).as_posix()
        for program in ("templo", "controller", "companion", "firmware", "systemd", "tools")
        for path in sorted((ROOT / program).rglob("*"))
        if path.is_file()
        and "tests" not in path.parts
        and path.suffix in (".py", ".h", ".c", ".ino", ".toml", ".service", ".js", ".html")
        and re.search(rf"\"{re.escape(__version__)}\"", path.read_text("utf-8"))
    ]
    assert named == ["templo/__init__.py", "firmware/arduino/pins.h", "firmware/micropython/temple.py"]
