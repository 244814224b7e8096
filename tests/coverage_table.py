"""Combines what `make coverage` measured, prints a table of the packages, and fails where a pure one is below 98 %.

Both figures count: a line that ran, and each way that a branch went. What a killed program covered is not known.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import coverage

REQUIRED = {"controller/core": 98.0, "companion/model": 98.0}
"""Percent of lines and branches together, of packages that are pure and so can be covered in full."""


def main() -> int:
    measured = coverage.Coverage()
    measured.combine()
    measured.save()
    report = Path(measured.config.data_file).with_name("report.json")
    measured.json_report(outfile=str(report))
    files = json.loads(report.read_text("utf-8"))["files"]
    packages: dict[str, Counter[str]] = {}
    for name, file in files.items():
        counts = {key: number for key, number in file["summary"].items() if isinstance(number, int)}
        packages.setdefault(_package(name), Counter()).update(counts)
    print(f"{'package':<32}{'lines':>16}{'branches':>16}{'covered':>11}")
    for name, counts in sorted(packages.items()):
        lines = f"{counts['covered_lines']} of {counts['num_statements']}"
        branches = f"{counts['covered_branches']} of {counts['num_branches']}"
        print(f"{name:<32}{lines:>16}{branches:>16}{_percent(counts):>9.1f} %")
    too_little = [name for name, least in REQUIRED.items() if _percent(packages[name]) < least]
    for name in too_little:
        print(f"\n{name} is covered to {_percent(packages[name]):.2f} %; expected {REQUIRED[name]} %. Not run:")
        for path, file in files.items():
            if _package(path) == name and (file["missing_lines"] or file["missing_branches"]):
                print(f"  {path}: lines {file['missing_lines']}, branches {file['missing_branches']}")
    return 1 if too_little else 0


def _package(file: str) -> str:
    """Return the folder of a file, cut after its second name."""
    return "/".join(Path(file).parent.parts[:2])


def _percent(counts: Counter[str]) -> float:
    of = counts["num_statements"] + counts["num_branches"]
    return 100 * (counts["covered_lines"] + counts["covered_branches"]) / of if of else 100.0


if __name__ == "__main__":
    sys.exit(main())
