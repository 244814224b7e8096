"""What a file may cost: any upload is judged within 0.2 s of CPU, and an address brings one at a time."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from time import thread_time

import pytest
from werkzeug.test import TestResponse

from companion.web.routes import uploads
from companion.web.routes.uploads import MAX_UPLOAD
from companion.web.server import rates
from companion.web.server.guard import MAX_BODY, MOST_FIELDS
from tests.companion.web.conftest import ORIGIN, Browser, WebHome, text_of
from tests.companion.web.security.routes import SCRIPT, everything

BOUNDARY = "-----x"
SET = {"game": "mexica", "title": "Sunday", "players": "4", "preset": "classic", "option.deck": "@text"}
DEEP = "\n".join(f"{'.'.join(['a'] * 490)}.k{n}=1" for n in range(190))
"""189 kB: seconds of CPU for who parses it."""


def brought(phone: Browser, text: str, path: str = "/tables", **more: str) -> TestResponse:
    return phone.post(path, {**SET, "text.deck": text, **more})


def posted(phone: Browser, body: bytes, kind: str) -> TestResponse:
    return phone.client.post("/tables", data=body, content_type=kind, headers=ORIGIN)


def multipart(name: str, data: bytes, tail: bytes = b"") -> bytes:
    fields = "".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in SET.items()
    )
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="a.toml"\r\n\r\n'
    return b"".join([fields.encode(), head.encode(), data, tail or f"\r\n--{BOUNDARY}--\r\n".encode()])


FORM = "application/x-www-form-urlencoded"
PARTS = f"multipart/form-data; boundary={BOUNDARY}"
MOST = MAX_UPLOAD - 2_000

BODIES: Mapping[str, tuple[bytes, str]] = {
    "a deep deck": (multipart("file.deck", DEEP.encode()), PARTS),
    "fields": (b"game=mexica" + b"&" * MOST, FORM),
    "escapes": (b"game=mexica&text.deck=" + b"%5B" * (MOST // 3), FORM),
    "line ends": (multipart("file.deck", b"\r\n" * (MOST // 2)), PARTS),
    "nearly boundaries": (multipart("file.deck", f"\r\n--{BOUNDARY[:-1]}".encode() * (MOST // 9)), PARTS),
    "no end": (multipart("file.deck", b"\r\n--" * (MOST // 4), b"\r\n").replace(b'; filename="a.toml"', b""), PARTS),
    "a long head": (b"--" + BOUNDARY.encode() + b"\r\n" + b"a: b\r\n" * (MOST // 6), PARTS),
    "a preamble": (b"\r\n" * (MOST // 2), PARTS),
    "parts": (f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'.encode() * (MOST // 62), PARTS),
    "no text": (multipart("file.deck", b"\xff" * MOST), PARTS),
}


@pytest.mark.parametrize("kind", BODIES)
def test_any_body_that_may_hold_a_file_is_judged_within_a_fifth_of_a_second_of_cpu(
    home: WebHome, phone: Browser, kind: str
) -> None:
    phone.get("/tables/new")  # templates are compiled once, for whoever comes first
    before = everything(home)
    body, content = BODIES[kind]
    assert len(body) <= MAX_UPLOAD

    def cost() -> float:
        began = thread_time()
        assert posted(phone, body, content).status_code in (404, 413, 422)
        return thread_time() - began

    assert any(cost() < 0.2 for _ in range(3))  # a busy machine's caches are cold
    assert everything(home) == before


@pytest.mark.parametrize("path", ["/tables", "/tables/new", "/games/siege/aids/editor"])
def test_a_file_that_is_too_deep_is_refused_in_words_wherever_it_is_brought(phone: Browser, path: str) -> None:
    text = {"text.map": DEEP[:50_000], "option.map": "@text"}
    began = thread_time()
    answer = brought(phone, DEEP, path, **text)
    assert thread_time() - began < 0.4
    assert answer.status_code == (200 if path == "/tables/new" else 422)
    assert "the key has more than 8 parts" in text_of(answer)


def test_a_form_has_no_more_fields_than_a_page_could_have(phone: Browser) -> None:
    for fields in (MOST_FIELDS - 1, MOST_FIELDS):
        answer = posted(phone, b"game=mexica" + b"&a=1" * fields, FORM)
        assert answer.status_code == (422 if fields < MOST_FIELDS else 413)
    assert f"more than {MOST_FIELDS} fields" in text_of(answer)


def test_an_address_brings_one_file_at_a_time(home: WebHome, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is held while it is read; whoever sends a second is asked to wait, and others are not."""
    reading, go_on = threading.Event(), threading.Event()
    real = uploads.read_text

    def held(data: bytes) -> object:
        reading.set()
        assert go_on.wait(60)
        return real(data)

    monkeypatch.setattr(uploads, "read_text", held)
    same, other = (home.browser(address) for address in ("192.168.1.20", "192.168.1.21"))
    large = "#\n" * MAX_BODY
    first: list[TestResponse] = []
    thread = threading.Thread(target=lambda: first.append(brought(home.browser("192.168.1.20"), large)))
    thread.start()
    assert reading.wait(60)
    refused = same.post("/tables", {**SET, "text.deck": large})
    monkeypatch.setattr(uploads, "read_text", real)
    small, elsewhere = brought(same, "#\n"), brought(other, large)
    go_on.set()
    thread.join(60)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    assert "Another file from here is still being read" in text_of(refused)
    assert [each.status_code for each in (small, elsewhere, *first)] == [303, 422, 422]
    assert brought(same, large).status_code == 422


def test_one_upload_after_another_is_slowed_down(home: WebHome, phone: Browser) -> None:
    large = "#\n" * MAX_BODY
    answers = [brought(phone, large, "/tables/new").status_code for _ in range(rates.UPLOADS.burst + 1)]
    assert answers == [200] * rates.UPLOADS.burst + [429]
    assert brought(phone, "#\n", "/tables/new", **SCRIPT).status_code == 200
    home.seconds += 2
    assert brought(phone, large, "/tables/new").status_code == 200
