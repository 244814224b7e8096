"""The command `scenario`: plays scenario files as fast as possible, and prints what came of them."""

from __future__ import annotations

import argparse
import json
import logging
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from controller import simulation
from controller.adapters.sqlite_ledger import FILE_NAME
from controller.app.explanations import selftest_lines
from controller.core.counting import SECOND
from controller.core.settings import Settings
from controller.simulation.fast import Outcome, play_fast
from controller.simulation.parser import MAX_BYTES, ScenarioError, Script, variants
from controller.simulation.parser import read as read_script
from templo.contract import God
from templo.quoting import counted

EXIT_REFUSED = 1
SHIPPED = Path(simulation.__file__).parent / "scenarios"


def shipped() -> list[Path]:
    """Return the scenario files that come with this program, those in subfolders last."""
    return sorted(SHIPPED.glob("*.toml")) + sorted(SHIPPED.glob("*/*.toml"))


def script(file: Path) -> Script:
    """Read a scenario file, the first variant where it has several; raises `ScenarioError`."""
    return read_script(_bytes(file), str(file))


def play(settings: Settings, given: argparse.Namespace) -> int:
    """Play the given files with all their variants; raises `ScenarioError` for one that cannot be used."""
    files = [*given.files, *(shipped() if given.all else ())]
    if not files:
        raise ScenarioError("no scenario is named; expected a FILE, or --all for those that come with this program")
    # The result is printed at the end, in one place; each provoked fault in the log would only hide it.
    logging.getLogger("controller").setLevel(logging.CRITICAL)
    complained = False
    if given.table:
        print(_row("scenario", "fell", "counted", "scored", "found"))
    for file, name, outcome, title in _outcomes(settings, files, given.below):
        if given.json:
            print(json.dumps(outcome.to_dict(), indent=2))
        elif given.table:
            print(_row(f"{file.stem}{name and ': '}{name}", *_figures(outcome)), flush=True)
        else:
            print("\n".join(_lines(f"{title or file}{name and ': '}{name}", outcome)))
        for complaint in outcome.complaints:
            complained = True
            print(f"{file}: {name}{name and ': '}{complaint}", file=sys.stderr)
    return EXIT_REFUSED if complained else 0


def _outcomes(settings: Settings, files: list[Path], below: str | None) -> Iterator[tuple[Path, str, Outcome, str]]:
    for file in files:
        for name, each in variants(_bytes(file), str(file)).items():
            with TemporaryDirectory(prefix="templo-scenario-") as folder:
                path = Path(folder) / FILE_NAME
                if below is not None:  # the file expects what the temple finds without second beams, or with others
                    each = replace(each, below=below, expected=replace(each.expected, findings={}))
                try:
                    outcome = play_fast(each, settings.counting, path, lambda: secrets.token_hex(16))
                except ScenarioError as error:
                    raise ScenarioError(f"{file}: {error}") from None
            yield file, name, outcome, each.title


def _bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise ScenarioError(f"{file}: it cannot be read: {error.strerror}") from None


def _lines(title: str, outcome: Outcome) -> Iterator[str]:
    yield f"{title}: {outcome.lasted_ns / SECOND:.4g} s"
    for god in God:
        fell = counted(outcome.fell[god], "token")
        scored = f"{outcome.counted(god)} counted, {outcome.scored(god)} scored"
        yield f"  {god.capitalize():<16} {fell} fell, {scored}"
    yield f"  Ledger           {counted(len(outcome.tokens), 'token')}, {len(outcome.delivered)} of them delivered"
    yield from selftest_lines(outcome.selftest)


def _figures(outcome: Outcome) -> tuple[str, str, str, str]:
    """Return what fell, was counted and scored in either slot, and what was found, for a line of the table."""
    codes = [{str(each["code"]) for each in outcome.findings(god)} - {"unproved"} for god in God]
    found = " | ".join(", ".join(sorted(each)) or "-" for each in codes)
    counts = (outcome.fell.__getitem__, outcome.counted, outcome.scored)
    fell, counted, scored = (" + ".join(str(number(god)) for god in God) for number in counts)
    return fell, counted, scored, found


def _row(scenario: str, fell: str, counted: str, scored: str, found: str) -> str:
    return f"{scenario:<52} {fell:>9} {counted:>13} {scored:>11}  {found}"
