"""The font comes with the companion: phones load small files of it, made once from either package."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from companion.web.rendering import subsets
from companion.web.rendering.fonts import Fonts
from companion.web.rendering.subsets import FontError
from tests.companion.web.conftest import KEPT, WebHome

TRUETYPE = b"\x00\x01\x00\x00"
WOFF2 = b"wOF2"
MOST = 16_000
"""The most bytes of what all pages need of a face."""


def named_by(css: str) -> list[str]:
    return re.findall(r'url\("/fonts/(.+?)"\)', css)


def letters_of(data: bytes) -> set[str]:
    return set(map(chr, TTFont(io.BytesIO(data)).getBestCmap()))


def test_every_font_that_the_pages_name_is_served_and_kept_for_a_year(home: WebHome) -> None:
    named = named_by(home.browser().get("/styles.css").get_data(as_text=True))
    assert len(named) == len(subsets.NAMES)
    for name in named:
        answer = home.browser().get(f"/fonts/{name}")
        assert answer.content_type == "font/woff2"
        assert answer.data.startswith(WOFF2)
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert "-latin." not in name or len(answer.data) <= MOST


def test_pages_for_the_printer_bring_the_same_fonts(home: WebHome) -> None:
    page = home.browser().get("/games/mexica/print/board").get_data(as_text=True)
    found = re.search(r'href="(\S+/styles/fonts\.css)"', page)
    assert found
    sheet = home.browser().get(found[1]).get_data(as_text=True)
    assert named_by(sheet) == named_by(home.browser().get("/styles.css").get_data(as_text=True))


def test_the_first_file_has_every_letter_of_both_languages_and_the_others_have_those_of_other_names() -> None:
    fonts = Fonts(KEPT / "fonts")
    texts = "".join(
        path.read_text(encoding="utf-8") for path in (Path(subsets.__file__).parents[1] / "texts").glob("*.toml")
    )
    whole = letters_of(subsets.whole("regular"))
    first = letters_of(fonts.file(fonts.files["regular-latin"]))
    assert (set(texts) & whole) - first <= {"\n"}
    for name, part in {"Żółć Ășțéğåñ": "latin", "Nguyễn": "latin-more", "Ἀθηνᾶ Юлия": "greek-cyrillic"}.items():
        known = first | letters_of(fonts.file(fonts.files[f"regular-{part}"]))
        assert set(name) <= known, name


def test_the_name_of_a_file_changes_with_the_font(tmp_path: Path) -> None:
    (tmp_path / "NotoSans-Bold.ttf").write_bytes(b"another font")
    names = [subsets.file_name("bold-latin"), subsets.file_name("bold-latin", tmp_path)]
    assert len(set(names)) == 2
    assert all(re.fullmatch(r"bold-latin\.[0-9a-f]{12}\.woff2", name) for name in names)


def test_a_file_is_made_once_and_kept_in_place_of_an_earlier_one(tmp_path: Path) -> None:
    earlier = tmp_path / "italic-latin.0123456789ab.woff2"
    earlier.write_bytes(b"an earlier font's")
    fonts = Fonts(tmp_path)
    name = fonts.files["italic-latin"]
    made = fonts.file(name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    (tmp_path / name).write_bytes(b"kept")
    assert Fonts(tmp_path).file(name) == b"kept"
    assert made.startswith(WOFF2)


def test_without_a_folder_to_keep_it_a_font_is_made_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    fonts = Fonts(tmp_path / "file")
    assert fonts.file(fonts.files["bold-latin"]).startswith(WOFF2)


def test_what_a_package_brings_comes_first_and_needs_no_other_font(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bold-latin.0123456789ab.woff2").write_bytes(b"Debian's")
    monkeypatch.setattr(subsets, "file_name", lambda name: (_ for _ in ()).throw(FontError(name)))
    fonts = Fonts(tmp_path / "kept", tmp_path)
    assert fonts.files == {"bold-latin": "bold-latin.0123456789ab.woff2"}
    assert fonts.file("bold-latin.0123456789ab.woff2") == b"Debian's"
    assert named_by(fonts.css("/fonts/{}".format)) == ["bold-latin.0123456789ab.woff2"]


def test_debians_package_gets_its_files_from_the_same_program(tmp_path: Path) -> None:
    program = [sys.executable, subsets.__file__, str(tmp_path), "regular-latin", "bold-latin-more"]
    subprocess.run(program, check=True, env={"PATH": ""}, cwd=tmp_path)
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {subsets.file_name("regular-latin"), subsets.file_name("bold-latin-more")}


def test_no_other_file_is_served_as_a_font(home: WebHome) -> None:
    for name in ("NotoSansThai-Regular.ttf", "regular-latin.000000000000.woff2", "regular-latin"):
        assert home.browser().get(f"/fonts/{name}").status_code == 404


@pytest.mark.parametrize("face", subsets.FACES)
def test_pythons_package_has_the_same_fonts_as_debians(face: str, tmp_path: Path) -> None:
    assert subsets.whole(face, tmp_path).startswith(TRUETYPE)


def test_debians_package_comes_first(tmp_path: Path) -> None:
    (tmp_path / "NotoSans-Bold.ttf").write_bytes(b"Debian's")
    assert subsets.whole("bold", tmp_path) == b"Debian's"


def test_a_font_that_no_package_brought_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymupdf_fonts", None)
    with pytest.raises(FontError, match=r"NotoSans-Italic\.ttf is not in .*fonts-noto-core on Debian"):
        subsets.whole("italic", tmp_path)


def test_what_makes_the_files_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fontTools", None)
    with pytest.raises(FontError, match="expected fonttools and brotli"):
        subsets.cut("regular-latin")
