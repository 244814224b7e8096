"""A result that is passed on from a phone: as a text, and as a picture that messengers show."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from companion.games.kit import Move
from tests.browser.conftest import Companion, Device


@pytest.fixture
def ended(companion: Companion, device: Callable[..., Device]) -> Page:
    """Return a phone's page at the end of a game, with what can be shared opened."""
    services = companion.home.services
    table = services.tables.open("mexica", "Sunday", 2, "temple_only", {})
    first = table.charter.seats[0]
    key = services.seats.sit(table.id, table.code, first, "Ana")
    version = services.seats.begin(table.id, key).version
    assert services.play.move(table.id, key, first, Move("settle", (first,)), version, "end").accepted
    phone = device()
    phone.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
    phone.watch(companion, table)
    phone.page.get_by_text("Share the result").click()
    return phone.page


def test_a_picture_of_the_result_comes_down_as_a_png(ended: Page) -> None:
    with ended.expect_download() as coming:
        ended.get_by_role("link", name="Picture").click()
    assert coming.value.suggested_filename == "Sunday.png"
    picture = coming.value.path().read_bytes()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", picture[16:24]) == (1200, 630)
    assert len(picture) > 10_000, "a picture of one colour is smaller"


def test_a_phone_that_shares_files_is_given_the_picture(ended: Page) -> None:
    ended.evaluate("""() => {
      navigator.canShare = ({ files }) => files.length === 1;
      navigator.share = async ({ files }) => { document.title = `${files[0].name} ${files[0].type}`; };
    }""")
    ended.get_by_role("link", name="Picture").click()
    expect(ended).to_have_title("Sunday.png image/png")
