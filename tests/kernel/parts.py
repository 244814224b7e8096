"""What the parts of a long run found: they are recorded one by one, add up, and are not run again under one key."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.kernel import machine

RECORD = machine.BUILD / "parts.jsonl"


@dataclass
class Found:
    """Figures that add up, durations in seconds, and what was wrong."""

    figures: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Add what another part found.

        >>> whole = Found({"fell": 2}, {"cut": [3.5]})
        >>> whole.add(Found({"fell": 1, "lost": 1}, {"cut": [4.0]}, ["one was lost"]))
        >>> whole
        Found(figures={'fell': 3, 'lost': 1}, seconds={'cut': [3.5, 4.0]}, faults=['one was lost'])
        """
        for name, number in other.figures.items():
            self.figures[name] = self.figures.get(name, 0) + number
        for name, seconds in other.seconds.items():
            self.seconds[name] = [*self.seconds.get(name, ()), *seconds]
        self.faults += other.faults


def once(key: str, run: Callable[[], dict[str, Found]], record: Path = RECORD) -> dict[str, Found]:
    """Return what a part found, by name: from the record, or by running the part, which is then recorded.

    `key` names everything that decides what the part does.
    """
    for line in record.read_text().splitlines() if record.exists() else ():
        entry = json.loads(line)
        if entry["key"] == key:
            return {name: Found(**each) for name, each in entry["found"].items()}
    found = run()
    record.parent.mkdir(parents=True, exist_ok=True)
    with record.open("a") as file:
        print(json.dumps({"key": key, "found": {name: asdict(each) for name, each in found.items()}}), file=file)
    return found
