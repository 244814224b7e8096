"""Every page that links lead to fits a small phone, in both fonts that the tests install."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Formatter
from urllib.parse import urldefrag, urlsplit

import pytest
from playwright.sync_api import Browser, Page

from controller.app.explanations import FINDINGS
from templo.contract import Finding, God
from tests import fonts, sanctuary
from tests.browser.conftest import PHONE, Companion, Device
from tests.browser.layout import too_full, too_small, too_wide
from tests.browser.test_look_back import doubtful

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


def opened(companion: Companion) -> Iterator[tuple[str, str]]:
    """Open and begin a table of every game and every aid, held by one phone; yields their ids and its keys."""
    services = companion.home.services
    for game in companion.home.games.values():
        table = services.tables.open(game.name, "Sunday", max(game.seatings), next(iter(game.presets)), {})
        key = services.seats.share(table.id, table.code, {})
        services.seats.begin(table.id, key)
        yield table.id, key


def linked(page: Page) -> Iterator[str]:
    """Yield the pages of ours that a page leads to."""
    for href in page.evaluate("[...document.querySelectorAll('a[href]:not([download])')].map(a => a.href)"):
        url = urlsplit(urldefrag(href).url)
        if url.netloc == urlsplit(page.url).netloc and not re.search(r"\.\w+$", url.path):
            yield url.path + (f"?{url.query}" if url.query else "")


def kind_of(path: str) -> str:
    """Return what a page has in common with others that look alike: moments, ways to print, and what was picked."""
    return re.sub(r"(?<=step=)\d+|[?&](paper|ink|sides|players)=\w+|(?<=seat=)\w+|,[^,]+?(?=%5D)", "", path)


def test_no_page_is_wider_than_a_phone(companion: Companion, device: Make) -> None:
    """Every kind of page that links lead to, tables of every game and aid, and a temple in all kinds of trouble.

    It is looked at in the longer language and the wider font, which need most room.
    """
    table, lobby = doubtful(companion), companion.home.lobby()
    facts = {field for what, _ in FINDINGS.values() for _, field, _, _ in Formatter().parse(what) if field}
    troubles = tuple(Finding(code, dict.fromkeys(facts, 1440)) for code in FINDINGS)
    sanctuary.evening(companion.home, {God.TLALOC: troubles, God.HUITZILOPOCHTLI: troubles[:3]})
    sanctuary.selftest(companion.home)
    phone = device(PHONE, "es", font="wide")
    phone.join(companion, table, "west", "Nezahualcoyotl de Texcoco")
    ahead = ["/", f"/j/{lobby.code}", f"/t/{lobby.id}/screen"]
    for id_, key in opened(companion):
        phone.context.add_cookies([{"name": f"seat-{id_}", "value": key, "url": companion.address}])
        ahead += [f"/t/{id_}", f"/t/{id_}/screen"]
    seen, wrong = {kind_of(path) for path in ahead}, {}
    while ahead:
        path = ahead.pop()
        phone.page.goto(companion.address + path)
        phone.page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
        if problems := [*too_wide(phone.page), *too_small(phone.page), *too_full(phone.page)]:
            wrong[path] = problems
        further = {kind_of(link): link for link in linked(phone.page) if kind_of(link) not in seen}
        seen |= set(further)
        ahead += further.values()
    assert len(seen) > 100
    assert wrong == {}
