"""The pictures of README and docs: each has an alternative text, and the first one moves."""

from __future__ import annotations

import re
from pathlib import Path

from PIL import Image

from tests.docs.pages import ROOT

SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")


def pictures(page: Path) -> list[tuple[str, Path]]:
    return [(alt, (page.parent / path).resolve()) for alt, path in SHOWN.findall(page.read_text("utf-8"))]


def test_the_readme_begins_with_ten_seconds_of_moving_picture() -> None:
    alt, path = pictures(ROOT / "README.md")[0]
    assert "lake" in alt
    assert path.stat().st_size <= 2_000_000
    with Image.open(path) as film:
        lasting = 0
        for n in range(film.n_frames):
            film.seek(n)
            film.load()
            lasting += film.info["duration"]
    assert film.n_frames > 20
    assert lasting == 10_000


def test_every_picture_is_shown_by_a_page_with_words_for_it() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {path: alt for page in pages for alt, path in pictures(page)}
    assert [path.name for path, alt in shown.items() if not alt.strip()] == []
    taken = {*(ROOT / "docs" / "pictures").glob("*.png"), *(ROOT / "docs" / "pictures").glob("*.webp")}
    assert sorted(path.name for path in taken - shown.keys()) == []
