"""Which extras an environment lacks: ``python tools/extras.py lacking ENVIRONMENT EXTRA,EXTRA`` prints them.

With ``installed`` in place of ``lacking`` it notes that they are there now. An extra is as it should be while its own
requirements, the pins and what every extra brings are the same as then; nothing else in ``pyproject.toml`` counts.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTE = "installed.json"


def main(argv: Sequence[str]) -> int:
    """Print the extras that are lacking, or note that they are installed."""
    command, environment, named = argv
    extras = named.split(",")
    wanted, note = _wanted(ROOT, extras), Path(environment) / NOTE
    there = json.loads(note.read_text()) if note.exists() else {}
    if there.get("") != wanted[""]:
        there = {}
    if command == "installed":
        note.write_text(json.dumps(there | wanted))
    else:
        print(",".join(each for each in extras if there.get(each) != wanted[each]))
    return 0


def _wanted(root: Path, extras: Sequence[str]) -> dict[str, str]:
    """Return the digest of what each extra requires, and under an empty name that of what all of them share."""
    read = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    requirements = read["project"].pop("optional-dependencies")
    shared = [(root / "constraints.txt").read_text("utf-8"), read["build-system"], read["project"]]
    shared.append(read["tool"]["setuptools"])
    return {"": _digest(shared), **{extra: _digest(requirements.get(extra)) for extra in extras}}


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
