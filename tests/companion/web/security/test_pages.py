"""What the companion sends: security headers, no inline script or style, names and logs as plain text."""

from __future__ import annotations

import logging
import re

import pytest

from tests.companion.web.conftest import Browser, WebHome, text_of
from tests.companion.web.security.routes import Routes, asked, seated

# -- `default-src 'self'`, no inline script, no style attribute --


def test_every_answer_is_sealed(home: WebHome, phone: Browser, rooms: list[str]) -> None:
    seated(home, phone, rooms[0])
    for method, path, _ in [
        *Routes(home, rooms[0], home.services.tables.get(rooms[0]).code)(),
        ("GET", "/nowhere", ""),
    ]:
        headers = asked(phone, path).headers if method == "GET" else phone.post(path).headers
        assert headers["Content-Security-Policy"].startswith("default-src 'self'; "), path
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert "Server" not in headers


def test_no_page_holds_inline_script_or_style(home: WebHome, phone: Browser, rooms: list[str]) -> None:
    seen = 0
    for room in rooms:
        seated(home, phone, room)
        here = Routes(home, room, home.services.tables.get(room).code)
        others = [] if room != rooms[0] else [phone.get("/nowhere"), phone.post("/tables", {"game": "mexica"})]
        pages = [asked(phone, path) for _, path, _ in here("GET") if room == rooms[0] or path.startswith("/t/")]
        for answer in [*pages, *others]:
            if answer.mimetype == "text/html":
                seen += 1
                html = answer.get_data(as_text=True)
                assert not re.search(r"<script(?![^>]*\ssrc=)", html), answer.request.path
                assert not re.search(r"\sstyle=", html), answer.request.path
                assert "<style" not in html, answer.request.path
                assert not re.search(r"\son[a-z]+=", html), answer.request.path
                assert "javascript:" not in html, answer.request.path
                assert not re.search(r"(?:src|href|action)=.?(?:https?:)?//", html), answer.request.path
    assert seen > 30


# -- names with markup, right-to-left marks, NULs and emoji come out as text --


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("<b>Ana</b>", "&lt;b&gt;Ana&lt;/b&gt;"),
        ('"><script>alert(1)', "&#34;&gt;&lt;script&gt;alert(1)"),
        ("\u202eanA\u202c", "anA"),
        ("A\x00n\x1aa\x07", "Ana"),
        ("\u05d3\u05d5\u05d3", "\u05d3\u05d5\u05d3"),
        ("Ana \U0001f40d", "Ana \U0001f40d"),
    ],
)
def test_a_name_comes_out_as_text(home: WebHome, phone: Browser, typed: str, shown: str) -> None:
    table = home.table()
    assert phone.sit(table, "east", typed).status_code == 303
    html = phone.get(f"/t/{table.id}").get_data(as_text=True)
    assert f"<bdi>{shown}</bdi>" in re.sub(r"</?span[^>]*>", "", html)  # a long name is fitted in one
    assert "<b>Ana" not in html
    assert "<script>alert" not in html
    assert "\u202e" not in html
    assert "\x1a" not in html


@pytest.mark.parametrize("typed", ["x" * 25, "\u200b\u202e", "\u200d", "\u3164 \u2800"])
def test_a_name_that_cannot_be_shown_is_refused_with_the_reason(home: WebHome, phone: Browser, typed: str) -> None:
    answer = phone.sit(home.lobby(), "east", typed)
    assert answer.status_code == 422
    assert "1 to 24 visible characters" in text_of(answer)


# -- logs hold no token, code or cookie --


def test_the_log_holds_no_token_no_code_and_no_cookie(
    home: WebHome, phone: Browser, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = home.lobby()
    with caplog.at_level(logging.DEBUG):
        token = phone.sit(table, "east").headers["Set-Cookie"].split("=")[1].split(";")[0]
        phone.post(f"/t/{table.id}/begin")
        phone.get(f"/j/{table.code}")
        monkeypatch.setattr(home.services.tables, "by_code", lambda code: 1 / 0)
        assert phone.get(f"/j/{table.code}").status_code == 500
        monkeypatch.setattr(home.services.seats, "held", lambda table_id, token: 1 / 0)
        assert phone.get(f"/t/{table.id}").status_code == 500
    logged = "\n".join(caplog.handler.format(record) for record in caplog.records)
    assert "invited failed" in logged
    assert "ZeroDivisionError" in logged
    for secret in (token, table.code, "Cookie"):
        assert secret not in logged


def test_a_failure_inside_shows_nothing_of_the_inside(
    home: WebHome, phone: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home.services.tables, "all", lambda: 1 / 0)
    answer = phone.get("/tables")
    assert answer.status_code == 500
    assert "ZeroDivision" not in answer.get_data(as_text=True)
    assert "nothing that was counted is lost" in text_of(answer)


def test_a_link_that_leads_elsewhere_is_not_followed_after_a_language_was_chosen(phone: Browser) -> None:
    for path in ("//evil.example", "/\\evil.example", "http://evil.example", "javascript:x"):
        assert phone.post("/language", {"language": "es", "next": path}).headers["Location"] == "/"
