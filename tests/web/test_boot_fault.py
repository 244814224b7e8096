"""What is wrong with the settings on the boot partition stands on the first page, as text."""

from __future__ import annotations

import pytest

from tests.web.conftest import Browser, WebHome


@pytest.mark.parametrize(("language", "words"), [("en", "has a mistake"), ("es", "tiene un error")])
def test_the_first_page_says_what_is_wrong_with_the_file(home: WebHome, language: str, words: str) -> None:
    home.configure(boot_fault=lambda: "name is '<b>x</b>'; expected letters")
    page = home.browser(language=language).get("/").text
    assert words in page
    assert "name is &#39;&lt;b&gt;x&lt;/b&gt;&#39;; expected letters" in page


def test_without_a_fault_the_first_page_says_nothing_of_it(phone: Browser) -> None:
    assert 'role="alert"' not in phone.get("/").text
