"""What an author reads of a game with faults: each fault in a line, and no pages of tracebacks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_docs import ROOT
from tests.games.your_own_game import written

RUN = ["tests/games/test_checked.py", "tests/companion/web/security/test_posted_moves.py"]


@pytest.mark.parametrize("where", [{}, {"CI": "true"}], ids=["at home", "in CI"])
def test_each_distinct_fault_of_a_game_is_one_line_at_the_end(tmp_path: Path, where: dict[str, str]) -> None:
    folder = written(tmp_path, (("kit.Line(move.name", "kit.Line('x' + move.name"),))
    command = [sys.executable, "-m", "pytest", "-p", "tests.authors", "-p", "no:cacheprovider", *RUN]
    home = {name: value for name, value in os.environ.items() if name not in {"CI", "BUILD_NUMBER"}}
    environment = {**home, "TEMPLO_GAMES": str(folder), "TEMPLO_POSTS": "200", "PYTHONPATH": str(ROOT), **where}
    printed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False).stdout
    lines = printed.splitlines()
    assert len(lines) < 60, printed
    _, _, after = printed.partition("what is wrong")
    faults = [line for line in after.splitlines() if line.startswith(str(folder))]
    assert len(faults) == len({*faults}) > 0
    assert f"{folder / 'texts/en.toml'}:1: no words for 'log.xthrow' in 'en'" in faults
