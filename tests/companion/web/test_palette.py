from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product
from pathlib import Path

from tests.cases import every_case

STATIC = Path(__file__).parents[3] / "companion" / "web" / "static"
TOKENS = STATIC / "styles" / "tokens"
TEXT, FIGURE, CONTOUR = 4.5, 3.0, 1.8

PAPERS = ("paper", "paper-2", "card")
INKS = ("ink", "soot", "war-text", "rain-text", "jade-text")
ON_BUTTONS = [("paper", "ink"), ("paper", "soot"), ("paper", "war-text"), ("paper", "rain-text")]


def palettes() -> dict[str, dict[str, str]]:
    """Return the colours by day and by night; the night's stand over the day's."""
    colours = {
        name: dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", file.read_text(encoding="utf-8")))
        for name, file in (("day", TOKENS / "day.css"), ("night", TOKENS / "night.css"))
    }
    return {"day": colours["day"], "night": colours["day"] | colours["night"]}


def luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@every_case("time", ["day", "night"])
@every_case(("ink", "paper"), [*product(INKS, PAPERS), *ON_BUTTONS])
def test_text_is_read_on_whatever_lies_under_it(time: str, ink: str, paper: str) -> None:
    palette = palettes()[time]
    assert contrast(palette[ink], palette[paper]) >= TEXT, f"{ink} on {paper} by {time}"


@every_case("time", ["day", "night"])
@every_case("colour", ["paper", "war", "rain", "war-water", "rain-water", "ochre", "jade"])
def test_a_contour_stands_out_from_what_it_holds(time: str, colour: str) -> None:
    palette = palettes()[time]
    assert contrast(palette["ink"], palette[colour]) >= CONTOUR, f"ink round {colour} by {time}"


@every_case("time", ["day", "night"])
def test_the_two_gods_are_distinct_from_the_paper(time: str) -> None:
    palette = palettes()[time]
    assert all(contrast(palette[god], palette["paper"]) >= FIGURE for god in ("war", "rain"))


def test_no_style_sheet_has_shadows_gradients_or_glass() -> None:
    sheets = [*STATIC.rglob("*.css"), *STATIC.parents[1].glob("games/*/static/*.css")]
    assert sheets
    for sheet in sheets:
        assert not re.search(
            r"gradient\(|box-shadow|text-shadow|backdrop-filter|blur\(", sheet.read_text(encoding="utf-8")
        ), sheet


def test_every_colour_that_a_drawing_or_a_sheet_names_is_in_the_palette() -> None:
    known = palettes()["day"].keys() | {"god", "god-text", "doom", "doom-text", "sea", "bark"}
    companion = STATIC.parents[1]
    files = [*companion.glob("art/*.svg"), *STATIC.rglob("*.css"), *companion.glob("games/*/static/*.css")]
    used = {name for file in files for name in re.findall(r"var\(--([a-z0-9-]+)", file.read_text(encoding="utf-8"))}
    measures = {
        "beside-name",
        "bottom-edge",
        "corner",
        "covered",
        "deep",
        "ems",
        "ems-beside",
        "guide-height",
        "guide-width",
        "left-edge",
        "name-least",
        "right-edge",
        "second-column",
        "shape",
        "step",
        "whole-row",
    }
    assert used <= known | measures


def bare(sheets: Iterable[Path]) -> set[str]:
    """Return the classes that some of the style sheets style wherever they stand."""
    text = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"(?s)/\*.*?\*/", "", text))
    return {each.strip() for group in selectors for each in group.split(",") if re.fullmatch(r"\s*\.[\w-]+\s*", each)}


def test_the_shell_and_a_game_never_style_the_same_class() -> None:
    """Both are on a table's pages, where what one means for its own would reach the other's."""
    for folder in STATIC.parents[1].glob("games/*/static"):
        own = bare(folder.glob("*.css"))
        assert own, folder
        assert bare((STATIC / "styles").rglob("*.css")) & own == set(), folder


def mixed(one: str, other: str, percent: int) -> str:
    pairs = zip(*([int(each[i : i + 2], 16) for i in (1, 3, 5)] for each in (one, other)), strict=True)
    return "#" + "".join(f"{round((a * percent + b * (100 - percent)) / 100):02x}" for a, b in pairs)


@every_case("time", ["day", "night"])
@every_case("doom", ["flood", "war", "even"])
@every_case("ink", ["ink", "soot", "war-text", "rain-text"])
def test_what_is_written_on_the_tide_is_read_and_in_the_dusk_what_is_large(time: str, doom: str, ink: str) -> None:
    sheet = (STATIC.parents[1] / "games" / "mexica" / "static" / "tide.css").read_text(encoding="utf-8")
    rule = re.search(rf"\.tide-{doom} {{\s+--sea: var\(--([a-z0-9-]+)\);\s+--deep: (\d+)%;", sheet)
    dusk = re.search(r"\.dusk {\s+background: color-mix\(in srgb, var\(--dark\) (\d+)%", sheet)
    assert rule
    assert dusk
    colours = palettes()[time]
    water = mixed(colours[rule[1]], colours["paper"], int(rule[2]))
    assert contrast(colours[ink], water) >= TEXT
    assert contrast(colours[ink], mixed(colours["dark"], water, int(dusk[1]))) >= FIGURE
