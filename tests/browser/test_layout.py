"""Every page that links lead to fits a small phone, in both fonts that the tests install."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests import fonts
from tests.browser.conftest import Companion, Device

Make = Callable[..., Device]

SAMPLE = '<p id=sample style="font-family: {family}; display: inline-block">Huitzilopochtli fights Tlaloc</p>'


def shown_in(page: Page, font_family: str) -> tuple[list[str], float]:
    """Return the fonts that a sample of text is drawn in, and its width in px."""
    page.set_content(SAMPLE.format(family=font_family))
    session = page.context.new_cdp_session(page)
    for domain in ("DOM", "CSS"):
        session.send(f"{domain}.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    node = session.send("DOM.querySelector", {"nodeId": root, "selector": "#sample"})["nodeId"]
    drawn = session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
    return [each["familyName"] for each in drawn], page.evaluate("sample.getBoundingClientRect().width")


def test_both_fonts_are_forced_upon_whatever_a_page_asks_for(browser_in: Callable[[str], Browser]) -> None:
    widths = {}
    for font, family in fonts.FAMILIES.items():
        page = browser_in(font).new_page()
        for asked in ("sans-serif", "system-ui", "'Alegreya Sans', 'Noto Sans', Calibri, sans-serif"):
            drawn, widths[font] = shown_in(page, asked)
            assert drawn == [family], asked
        page.close()
    assert widths["wide"] > widths["narrow"]


def test_pages_and_sheets_are_drawn_in_the_font_that_the_companion_serves(companion: Companion, device: Make) -> None:
    reader = device(font="narrow").page
    for path, words in (("/", "h1"), ("/games/market/print/score_pad", "svg text")):
        reader.goto(companion.address + path)
        reader.evaluate("document.fonts.ready")
        session = reader.context.new_cdp_session(reader)
        session.send("DOM.enable")
        session.send("CSS.enable")
        root = session.send("DOM.getDocument")["root"]["nodeId"]
        node = session.send("DOM.querySelector", {"nodeId": root, "selector": f"main {words}"})["nodeId"]
        drawn = session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        assert {(each["familyName"], each["isCustomFont"]) for each in drawn} == {("Noto Sans", True)}, path


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("font", fonts.FAMILIES)
def test_the_words_of_a_score_pad_stand_beside_its_boxes_and_inside_the_cut(
    companion: Companion, device: Make, font: str, language: str
) -> None:
    page = device(font=font, language=language).page
    page.goto(companion.address + "/games/market/print/score_pad")
    page.evaluate("document.fonts.ready")
    covered = """() => {
      const [leaf] = document.querySelectorAll(".leaf > svg[role]"), middle = leaf.getBoundingClientRect();
      const boxes = [...leaf.querySelectorAll("rect")].map(each => each.getBoundingClientRect());
      return [...leaf.querySelectorAll("text")].map(each => [each.textContent, each.getBoundingClientRect()])
        .filter(([, text]) => text.left < middle.x + middle.width / 2 && text.right > middle.x + middle.width / 2
          || boxes.some(box => text.left < box.right && text.right > box.left
            && text.top + text.height / 4 < box.bottom && text.bottom - text.height / 4 > box.top))
        .map(([words]) => words);
    }"""
    assert page.evaluate(covered) == []


def test_a_font_that_is_missing_is_not_replaced_by_another(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match=r"NotoSans-Regular\.ttf of Noto Sans .* package fonts-noto-core"):
        fonts.environment("narrow", tmp_path, installed=tmp_path)
