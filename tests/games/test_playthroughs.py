"""Golden playthroughs: what the rules make of written games is what stands in the files, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.games.playouts import GAMES
from tests.games.playthrough import FILES, heading_of, written


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_playthrough_goes_as_it_is_written(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert written(text) == text, f"if the change is meant: python -m tests.games.playthrough {path.name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_playthrough_begins_with_a_remark_that_says_what_it_shows(path: Path) -> None:
    assert any(line.startswith("# ") for line in path.read_text(encoding="utf-8").splitlines()[:8])


def test_every_game_and_every_preset_has_a_playthrough() -> None:
    headings = [heading_of(path.read_text(encoding="utf-8")) for path in FILES]
    shown = {(heading["game"], heading["preset"]) for heading in headings}
    assert shown == {(game.name, preset) for game in GAMES.values() for preset in game.presets}
