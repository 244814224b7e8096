"""Text is compressed for a browser that takes it, and is the same text."""

from __future__ import annotations

import gzip
import re

import pytest

from companion.web.server import compression
from tests.companion.web.conftest import Browser, WebHome


@pytest.fixture
def below(home: WebHome) -> str:
    return f"/v/{home.app.extensions['site'].files.version}"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The level of everything that is compressed."""
    levels: list[int] = []
    compress = gzip.compress

    def noted(data: bytes, level: int, *, mtime: float) -> bytes:
        levels.append(level)
        return compress(data, level, mtime=mtime)

    monkeypatch.setattr(compression.gzip, "compress", noted)
    return levels


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/no-such-page", "text/html"),
        ("/openapi.json", "application/json"),
        ("/styles.css", "text/css"),
        ("/static/table.js", "text/javascript"),
        ("/static/bark-day.svg", "image/svg+xml"),
        ("/v/{version}/styles.css", "text/css"),
        ("/v/{version}/static/table.js", "text/javascript"),
    ],
)
def test_text_is_compressed_for_who_takes_it_and_says_the_same(home: WebHome, path: str, kind: str) -> None:
    phone, path = home.browser(), path.replace("{version}", home.app.extensions["site"].files.version)
    whole, packed = phone.get(path), phone.get(path, Accept_Encoding="br;q=1.0, gzip;q=0.8")
    assert whole.mimetype == packed.mimetype == kind
    assert whole.status_code == packed.status_code
    assert "Content-Encoding" not in whole.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    for answer in (whole, packed):
        assert "Accept-Encoding" in answer.headers["Vary"]
        assert int(answer.headers["Content-Length"]) == len(answer.data)
    assert without_ids(gzip.decompress(packed.data)) == without_ids(whole.data)
    assert len(packed.data) < len(whole.data) / 1.5


def without_ids(data: bytes) -> bytes:
    """Leave out what is another at each request."""
    return re.sub(rb"[0-9a-f]{16,}", b"", data)


def test_what_stays_as_it_is_is_compressed_once_and_as_well_as_can_be(
    phone: Browser, below: str, made: list[int]
) -> None:
    first, second = (phone.get(f"{below}/static/table.js", Accept_Encoding="gzip") for _ in range(2))
    assert first.data == second.data
    assert made == [compression.BEST]


def test_a_page_is_compressed_quickly(phone: Browser, made: list[int]) -> None:
    phone.get("/", Accept_Encoding="gzip")
    assert made == [compression.QUICK]


def test_a_browser_that_has_a_file_is_sent_none(phone: Browser) -> None:
    first = phone.get("/static/table.js", Accept_Encoding="gzip")
    again = phone.get("/static/table.js", Accept_Encoding="gzip", If_None_Match=first.headers["ETag"])
    assert again.status_code == 304
    assert not again.data


def test_a_part_of_a_file_a_font_and_a_few_words_are_sent_as_they_are(phone: Browser, below: str) -> None:
    part = phone.get("/static/table.js", Accept_Encoding="gzip", Range="bytes=0-9")
    assert (part.status_code, len(part.data)) == (206, 10)
    few = phone.get("/healthz", Accept_Encoding="gzip")
    assert len(few.data) < compression.SMALLEST
    for answer in (part, few):
        assert "Content-Encoding" not in answer.headers


def test_the_head_of_a_compressed_answer_is_that_of_the_answer(phone: Browser, below: str) -> None:
    path = f"{below}/static/table.js"
    whole = phone.get(path, Accept_Encoding="gzip")
    head = phone.client.head(path, headers={"Accept-Encoding": "gzip"}, buffered=True)
    assert head.headers["Content-Length"] == str(len(whole.data))
    assert head.data == b""
