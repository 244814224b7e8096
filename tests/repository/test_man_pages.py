"""Every program has a manual page, made of the reference that its own parser writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import man_pages

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("man")
    man_pages.main([str(folder)])
    return folder


def test_each_package_brings_the_pages_of_its_programs_and_each_page_is_made(folder: Path) -> None:
    listed = {
        package: {Path(line).name for line in (ROOT / f"debian/{package}.manpages").read_text().splitlines()}
        for package in ("templo-mayor", "templo-mayor-companion", "templo-mayor-controller")
    }
    made = {file.name for file in folder.iterdir()}
    assert listed == {
        "templo-mayor": made,
        "templo-mayor-companion": {"templo-companion.1"},
        "templo-mayor-controller": {"templo-controller.1"},
    }


def test_a_page_names_every_command_of_the_reference(folder: Path) -> None:
    sections = man_pages.read((ROOT / "docs/commands.md").read_text("utf-8"))
    for program, (section, _) in man_pages.PROGRAMS.items():
        page = (folder / f"{program}.{section}").read_text("utf-8").replace("\\-", "-")
        commands = re.findall(r"^\| `([^`]+)` \|", "\n".join(sections[program]), re.MULTILINE)
        missing = [each for each in commands if f"\\fB{each.replace(chr(92) + '|', '|')}\\fR" not in page]
        assert not missing
        assert re.search(r"^\.SH SEE ALSO$", page, re.MULTILINE)


def test_no_line_of_text_is_taken_for_a_request_of_roff(folder: Path) -> None:
    requests = {".TH", ".SH", ".B", ".PP", ".TP", ".br"}
    for file in folder.iterdir():
        lines = file.read_text("utf-8").splitlines()
        assert {line.split()[0] for line in lines if line.startswith(".")} <= requests
        assert not [line for line in lines if line.startswith("'")]
