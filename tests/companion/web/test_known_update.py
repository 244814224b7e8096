"""A newer release that the machine's apt knows stands on the settings of the place, for whoever looks after it."""

from __future__ import annotations

import pytest

from companion.web.routes.setup import STEPS
from tests.companion.web.conftest import WebHome


@pytest.mark.parametrize(("language", "words"), [("en", "Release 1.0.1 is there"), ("es", "la versión 1.0.1")])
def test_every_page_of_the_settings_names_it_with_what_installs_it(home: WebHome, language: str, words: str) -> None:
    home.configure(known_update=lambda: "1.0.1")
    for step in STEPS:
        page = home.browser(language=language).get(f"/setup/step/{step}").text
        assert words in page, step
        assert "sudo apt upgrade" in page, step


def test_without_one_nothing_is_said(home: WebHome) -> None:
    assert "apt upgrade" not in home.browser().get("/setup/step/name").text
