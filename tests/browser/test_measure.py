"""What measures the rooms finds each kind of fault on a page that was made with it, and none on one without."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser

from tests.browser.layout import measured

PAGE = """<!doctype html><html lang="{language}"><style>body {{ margin: 0; font: 20px sans-serif }}
div, p {{ margin: 0 }}</style><body class="layout-screen"><main>{body}</main></body></html>"""

FAULTS = {
    "wider than the window": '<div data-region="a" style="width: 500px">Ana</div>',
    "cut": '<div data-region="a" style="width: 40px; overflow: hidden; white-space: nowrap">Tlaloc drinks</div>',
    "beside the window": '<div data-region="a" style="position: absolute; left: -20px">Ana</div>',
    "below the screen": '<div data-region="a" style="position: absolute; top: 630px">Ana</div>',
    "small": '<div data-region="a" style="font-size: 12px">Ana</div>',
    "broken in mid-word": '<div data-region="a" style="width: 50px; word-break: break-all">Maximilian</div>',
    "printed over": '<p data-region="a">Ana</p><p style="margin-top: -20px">Ben</p>',
    "under a button": '<p>Ana</p><button class="sound" style="position: fixed; inset: 0 auto auto 0">o</button>',
    "too high a bar": '<p>Ana</p><div class="doing" style="position: sticky; bottom: 0; height: 420px">Roll</div>',
    "behind the bar": '<p>Ana</p><div class="doing" style="position: sticky; bottom: 0; margin-top: -25px">'
    "Roll</div>",
    "one as many": '<p data-region="a">Ana has <b>1</b> points</p>',
    "a full stop twice": '<p data-region="a"><b>The bag is empty.</b>. 4 more are set aside ...</p>',
    "lies on": '<p style="position: relative">Ana<span style="position: absolute; inset: 0 auto auto 0; '
    'pointer-events: none">'
    '<svg width="20" height="20" style="display: block"/><svg width="20" height="20" style="display: block"/></span>'
    "</p><p>Ben</p>",
    "overlap": '<div data-region="a" style="height: 60px"></div>'
    '<div data-region="b" style="height: 60px; margin-top: -30px"></div>',
}


BROKEN_NAMES = {
    "one long word": '<h1 style="width: 200px; overflow-wrap: anywhere">Wolfeschlegelsteinhausen</h1>',
    "what hangs on it": '<p style="width: 270px; overflow-wrap: anywhere">Wolfeschlegelsteinhausen’s</p>',
    "words kept together": '<h1 style="width: 150px; overflow-wrap: anywhere">Maximiliana\u00a0Fürchtegott</h1>',
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_page_with_a_fault_is_found_to_have_it(browser_in: Callable[[str], Browser], kind: str) -> None:
    page = browser_in("wide").new_page(viewport={"width": 360, "height": 640})
    page.set_content(PAGE.format(language="en", body=FAULTS[kind]))
    found = measured(page, least=14, whole=True)
    assert kind in {each.partition(":")[0] for each in found.wrong}
    page.close()


@pytest.mark.parametrize("body", BROKEN_NAMES.values(), ids=BROKEN_NAMES)
def test_a_name_that_is_broken_is_found(browser_in: Callable[[str], Browser], body: str) -> None:
    page = browser_in("wide").new_page(viewport={"width": 360, "height": 640})
    page.set_content(PAGE.format(language="en", body=body))
    assert "broken in mid-word" in {each.partition(":")[0] for each in measured(page).wrong}
    page.close()


@pytest.mark.parametrize(
    ("language", "body"),
    [
        ("en", '<p data-region="a">Ana has <b>1</b> point, 11 points in all</p><p data-region="b">0.1 points</p>'),
        ("en", '<p data-region="a">3 \u2192 1 points. And ...</p>'),
        (
            "en",
            '<svg width="200" height="60" style="display: block"><text x="5" y="70">Texcoco</text></svg><p>Ana</p>',
        ),
        ("es", '<p data-region="a">Ana tiene 1 punto y 21 puntos</p>'),
        (
            "en",
            '<p style="position: relative">Ana <svg width="20"/><svg width="9" style="position: absolute"/></p>',
        ),
        ("en", '<p style="width: 60px">Ana’s turn, half-open, 10\u00a0km</p>'),
        ("es", '<p data-region="a">una ficha</p><button class="sound">o</button>'),
    ],
)
def test_a_page_without_a_fault_is_found_to_have_none(
    browser_in: Callable[[str], Browser], language: str, body: str
) -> None:
    page = browser_in("wide").new_page(viewport={"width": 360, "height": 640})
    page.set_content(PAGE.format(language=language, body=body))
    found = measured(page, least=14, whole=True)
    assert found.wrong == ()
    assert found.texts
    page.close()
