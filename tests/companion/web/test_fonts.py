"""The font comes with the companion: every file that the style sheet names is served, from either package."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from companion.web.rendering import fonts
from companion.web.rendering.renderer import SHELL
from tests.companion.web.conftest import WebHome

FACES = (SHELL / "static" / "styles" / "base" / "font-face.css").read_text(encoding="utf-8")
TRUETYPE = b"\x00\x01\x00\x00"


def test_every_font_that_the_pages_name_is_served_and_kept(home: WebHome) -> None:
    named = re.findall(r'url\("/fonts/(.+?)"\)', FACES)
    assert set(named) == set(fonts.FILES)
    for name in named:
        answer = home.browser().get(f"/fonts/{name}")
        assert answer.content_type == "font/ttf"
        assert answer.data.startswith(TRUETYPE)
        assert answer.cache_control.max_age


def test_every_page_brings_the_font(home: WebHome) -> None:
    assert "/fonts/NotoSans-Regular.ttf" in home.browser().get("/styles.css").get_data(as_text=True)
    assert "font-face.css" in home.browser().get("/games/mexica/print/board").get_data(as_text=True)


def test_no_other_file_is_served_as_a_font(home: WebHome) -> None:
    assert home.browser().get("/fonts/NotoSansThai-Regular.ttf").status_code == 404


@pytest.mark.parametrize("name", fonts.FILES)
def test_pythons_package_has_the_same_fonts_as_debians(name: str, tmp_path: Path) -> None:
    assert fonts.font(name, tmp_path).startswith(TRUETYPE)


def test_debians_package_comes_first(tmp_path: Path) -> None:
    (tmp_path / "NotoSans-Bold.ttf").write_bytes(b"Debian's")
    assert fonts.font("NotoSans-Bold.ttf", tmp_path) == b"Debian's"


def test_a_font_that_no_package_brought_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymupdf_fonts", None)
    with pytest.raises(fonts.FontError, match=r"NotoSans-Italic\.ttf is not in .*fonts-noto-core on Debian"):
        fonts.font("NotoSans-Italic.ttf", tmp_path)
