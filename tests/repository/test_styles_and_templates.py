"""Style sheets are in layers, one file for each subject; no template line is longer than a screen is wide."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from companion.web.rendering import styles

ROOT = Path(__file__).parents[2]
COMPANION = ROOT / "companion"
STATIC = COMPANION / "web" / "static"
GAMES = sorted(COMPANION.glob("games/*/static"))
TEMPLATES = sorted(
    path
    for pattern in ("companion/**/templates/**/*.*", "lab/*.html", "docs/examples/**/*.html", "tests/**/*.html")
    for path in ROOT.glob(pattern)
)
LONGEST = 120


def of_site() -> list[Path]:
    """Return the style sheets of the site's pages, each of which is in one layer."""
    return [*(STATIC / "styles").glob("*/*.css"), *(STATIC / "pages").glob("*.css")]


def for_printer() -> list[Path]:
    """Return the style sheets for the printer. What lays out PDFs knows no layers, so they have none."""
    return [*STATIC.glob("print/**/*.css"), *COMPANION.glob("games/*/static/print/*.css")]


def test_no_line_of_a_template_is_longer_than_120_characters() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{n}: {len(line)}"
        for path in TEMPLATES
        for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > LONGEST
    ]
    assert len(TEMPLATES) > 100
    assert long == []


def test_every_style_sheet_is_in_exactly_one_layer() -> None:
    listed = {*of_site(), *for_printer(), STATIC / "styles" / styles.ORDER}
    listed |= {path for folder in GAMES for path in folder.glob("*.css")}
    assert {*COMPANION.rglob("*.css")} == listed
    assert [path for path in listed if path.name != styles.ORDER and "@layer" in path.read_text("utf-8")] == []


def test_the_layers_are_declared_once_and_each_folder_is_one_of_them() -> None:
    order = re.findall(r"@layer ([\w, ]+);", (STATIC / "styles" / styles.ORDER).read_text(encoding="utf-8"))
    assert len(order) == 1
    declared = order[0].split(", ")
    assert declared == ["reset", "tokens", "base", "layout", "components", "games", "utilities"]
    folders = {path.name for path in (STATIC / "styles").iterdir() if path.is_dir()}
    assert folders | {styles.GAMES_LAYER} == {*declared}
    assert styles.PAGES_LAYER in declared


def test_what_is_delivered_opens_and_closes_its_layers() -> None:
    sheets = [
        styles.of_site(STATIC / "styles", "@font-face {}"),
        *styles.of_pages(STATIC / "pages").values(),
        *map(styles.of_game, GAMES),
    ]
    for sheet in sheets:
        rules = re.sub(r"(?s)/\*.*?\*/", "", sheet.text)
        outside = re.sub(r"@layer [\w, ]+;", "", rules)
        while (inside := re.sub(r"[^{}]*\{[^{}]*\}", "", outside)) != outside:
            outside = inside
        assert outside.strip() == ""
        assert re.match(r"\s*@layer ", rules)


@pytest.mark.parametrize("game", GAMES, ids=lambda folder: folder.parent.name)
def test_no_two_style_sheets_of_a_page_have_one_name(game: Path) -> None:
    names = Counter(path.name for path in [*of_site(), *STATIC.glob("print/**/*.css"), *game.rglob("*.css")])
    assert [name for name, times in names.items() if times > 1] == []


def test_no_style_sheet_and_no_script_has_a_number_in_its_name() -> None:
    files = [*COMPANION.rglob("*.css"), *COMPANION.rglob("static/**/*.js")]
    assert [path.name for path in files if re.match(r"\d", path.name) or re.search(r"-\d", path.name)] == []


def test_no_rule_is_marked_important() -> None:
    """The order of the layers decides; what must win over everything is in `utilities`."""
    assert [path for path in COMPANION.rglob("*.css") if "!important" in path.read_text(encoding="utf-8")] == []


def test_every_class_that_a_rule_names_is_on_some_page() -> None:
    """A template, a script or the code that fills them names it, whole or as a beginning that is completed there."""
    suffixes = {".html", ".js", ".py", ".svg", ".toml"}
    text = "".join(
        path.read_text(encoding="utf-8") for path in sorted(COMPANION.rglob("*")) if path.suffix in suffixes
    )
    words = set(re.findall(r"[\w-]+", text))
    beginnings = tuple(word for word in words if word.endswith("-") and len(word) > 2)
    named = {
        name
        for path in COMPANION.rglob("*.css")
        for prelude in re.findall(r"([^{};]+)\{", re.sub(r"(?s)/\*.*?\*/", "", path.read_text(encoding="utf-8")))
        for name in re.findall(r"\.([a-zA-Z][\w-]*)", prelude)
    }
    assert sorted(name for name in named if name not in words and not name.startswith(beginnings)) == []
