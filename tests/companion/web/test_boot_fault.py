"""What is wrong with the settings on the boot partition stands on the first page, as text."""

from __future__ import annotations

import pytest

from companion.web.routes.setup import STEPS
from tests.companion.web.conftest import Browser, WebHome


@pytest.mark.parametrize(("language", "words"), [("en", "has a mistake"), ("es", "tiene un error")])
def test_the_first_page_says_what_is_wrong_with_the_file(home: WebHome, language: str, words: str) -> None:
    home.configure(boot_fault=lambda: "name is '<b>x</b>'; expected letters")
    page = home.browser(language=language).get("/").text
    assert words in page
    assert "name is &#39;&lt;b&gt;x&lt;/b&gt;&#39;; expected letters" in page


def test_a_new_card_whose_first_page_is_the_setup_says_it_there(home: WebHome) -> None:
    home.configure(boot_fault=lambda: "beams.tlaloc is 99", first_start="on")
    phone = home.browser()
    assert phone.get("/").headers["Location"] == "/setup"
    for step in STEPS:
        page = phone.get(f"/setup/step/{step}").text
        assert "has a mistake" in page, step
        assert "beams.tlaloc is 99" in page, step


def test_without_a_fault_the_first_page_says_nothing_of_it(phone: Browser) -> None:
    assert 'role="alert"' not in phone.get("/").text
