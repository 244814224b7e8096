"""Every command that a page shows is run: here, on an installed temple by `make appliance`, or dry by `make -n`."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from companion.cli import sheets
from companion.cli.club import command_line as club
from tests.appliance import written as on_appliance
from tests.cases import every_case
from tests.docs.pages import ROOT, code
from tests.docs.test_docs import PAGES

GUIDES = [page for page in PAGES if page.parent.name != "decisions"]

WAITS = "goes on until it is ended; tests of the program start and end it"
LONG = "takes minutes or hours"
OUTSIDE = "installs packages from the network"
PART = "the name of a program, or the beginning of a command"
OWN = "needs a file, a table or a token that the reader has"
SAME = "run by its other name"
PLAYED = "takes half a minute; test_scenario_files.py plays every scenario"
LAB = (
    ".venv/bin/python -m lab run mexica classic --seats 4 --games 2000 --set apocalypse_tokens=130 --report out.html"
)
TUTORIAL = "test_tutorial.py takes this step"
LEFT_OUT = {
    ".venv/bin/python -m companion": PART,
    ".venv/bin/python -m lab run milpa usual --folder milpa --games 400 --report milpa.html": TUTORIAL,
    ".venv/bin/python -m pytest milpa": TUTORIAL,
    ".venv/bin/python -m companion launch": WAITS,
    ".venv/bin/python -m controller run --beams gpiod": WAITS,
    ".venv/bin/python -m controller run --state build/workbench": WAITS,
    ".venv/bin/python -m controller selftest": SAME,
    ".venv/bin/python -m controller selftest --state build/workbench": SAME,
    ".venv/bin/python -m controller status --state build/workbench": SAME,
    ".venv/bin/python -m controller": PART,
    ".venv/bin/python -m pytest tests/backends": "make test runs it",
    ".venv/bin/python -m firmware.tests.limits": LONG,
    LAB: LONG,
    "templo-controller scenario --all --table": PLAYED,
    "templo-controller scenario --all --table --below apart": PLAYED,
    ".venv/bin/python -m tools.tables": "test_tables.py compares what it writes",
    ".venv/bin/python -m tests.games.moves_page": "writes a page",
    "python -m tests.games.moves_page": "writes a page",
    "python -m tests.browser.first_paint": LONG,
    "python -m tests.browser.first_taps": LONG,
    "python -m tests.browser.siege_latency 60": LONG,
    "templo-companion deck check mine.toml": SAME,
    "templo-companion game check milpa": TUTORIAL,
    "templo-companion map walls mine.toml": OWN,
    "templo-companion new-game NAME --cards": TUTORIAL,
    "templo-companion new-game NAME --dice --cards --temple": TUTORIAL,
    "templo-companion replay FILE": OWN,
    "templo-companion forget person": PART,
    "templo-companion backup all.sqlite": OWN,
    "templo-companion map check mine.toml": "test_siege_editor.py judges the page's example",
    "templo-companion restore --store 'postgresql+psycopg://templo:<password>@db.local/templo' all.sqlite": OWN,
    "templo-companion run --port 8001 --state /var/lib/templo/1 --set shared=on": WAITS,
    "templo-controller run --simulate controller/simulation/scenarios/evening.toml": WAITS,
    "templo-controller run --beams serial:/dev/ttyACM0": WAITS,
    "templo-controller pair https://example.org/club-b CODE": OWN,
    "tools/environment": PART,
    "tools/environment --system-lgpio controller": OUTSIDE,
    "tools/environment companion,lab": OUTSIDE,
    "tools/environment controller,companion,broker": OUTSIDE,
    "tools/environment controller,companion,broker,gpiod": OUTSIDE,
}
"""Commands that nothing runs as they are written, each with the reason."""

PARSERS: Mapping[str, Callable[[], argparse.ArgumentParser]] = {
    "sheets": sheets.make_parser,
    "club": club.make_parser,
}
"""What reads the words of `ARGS`, by the target of make."""

SHOWN = re.compile(
    r"(?:\.venv/bin/python -m |python -m |templo-(?:controller|companion) |tools/environment|make [a-z])"
)
HERE = re.compile(
    r"templo-controller (?:scenario (?!--all)|check|--version)|\.venv/bin/python -m companion deck check"
)


def commands() -> list[str]:
    """Return each command for a checkout that the pages show, once."""
    pieces = (piece.strip().removeprefix("$ ").partition("  #")[0].strip() for page in GUIDES for piece in code(page))
    return list(dict.fromkeys(piece for piece in pieces if SHOWN.match(piece)))


ALL = commands()
MAKE = [each for each in ALL if each.startswith("make ")]
RUN = [each for each in ALL if HERE.match(each)]
INSTALLED = {
    each for page in on_appliance.PAGES for each in on_appliance.commands(page) if each not in on_appliance.NOT_RUN
}


def test_each_command_is_run_somewhere_or_left_out_for_a_reason() -> None:
    assert len(RUN) > 3
    assert [each for each in ALL if each not in {*MAKE, *RUN, *INSTALLED, *LEFT_OUT}] == []
    assert LEFT_OUT.keys() <= set(ALL)


@every_case("command", MAKE)
def test_make_takes_each_target_with_its_arguments(command: str) -> None:
    words = shlex.split(command)
    done = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    given = next((word.removeprefix("ARGS=") for word in words if word.startswith("ARGS=")), "")
    if parser := PARSERS.get(words[1]):
        parser().parse_args(shlex.split(given))


@every_case("command", RUN)
def test_each_command_that_ends_by_itself_does(command: str, tmp_path: Path) -> None:
    example = (ROOT / "docs" / "your-own-deck.md").read_text("utf-8").split("```toml\n")[1].partition("```")[0]
    (tmp_path / "mine.toml").write_text(example, "utf-8")
    line = command.replace("controller/simulation/", f"{ROOT}/controller/simulation/")
    line = re.sub(r"^(?:\.venv/bin/)?python -m |^templo-", "", line)
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    words = [sys.executable, "-m", *shlex.split(line)]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
