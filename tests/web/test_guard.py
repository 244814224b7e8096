"""Who may ask at all, on every route: hosts, origins, sizes, wrong codes, headers, and what the log may hold."""

from __future__ import annotations

import logging
import re

import pytest

from companion.web.guard import Lockout, Refused, client, host_name
from tests.web.conftest import Browser, WebHome, text_of

NO_BODY = {"HEAD", "OPTIONS"}


def routes(home: WebHome, table_id: str) -> list[tuple[str, str]]:
    values = {
        "table_id": table_id,
        "code": "ABCDEF",
        "name": "table",
        "game": "mexica",
        "filename": "table.js",
        "aid": "battle",
        "sheet": "board",
    }
    found = []
    for rule in home.app.url_map.iter_rules():
        path = re.sub(r"<(?:[^:>]+:)?([^>]+)>", lambda match: values[match[1]], rule.rule)
        found += [(method, path) for method in sorted((rule.methods or set()) - NO_BODY)]
    return found


def test_every_route_refuses_a_foreign_host(home: WebHome) -> None:
    for method, path in routes(home, home.table().id):
        answer = home.browser().client.open(
            path, method=method, headers={"Host": "evil.example", "Origin": "http://evil.example"}
        )
        assert answer.status_code == 400, (method, path)
        assert "evil.example" in text_of(answer)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8000",
        "localhost.evil.example",
        "192.168.1.8",
        "[::2]",
        "127.0.0.1.evil.example",
        "@localhost@x",
        "",
    ],
)
def test_a_host_that_is_not_this_machine_is_refused(phone: Browser, host: str) -> None:
    assert phone.get("/", Host=host).status_code == 400


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "templo.local:80", "templo.local.", "192.168.1.7:8000"]
)
def test_its_own_names_and_addresses_are_known(phone: Browser, host: str) -> None:
    assert phone.get("/", Host=host).status_code == 200


def test_an_address_is_asked_again_after_a_while(home: WebHome) -> None:
    assert home.browser().get("/", Host="192.168.1.9").status_code == 400
    home.seconds += 60
    assert home.browser().get("/", Host="192.168.1.7").status_code == 200


def test_host_names_are_read_without_their_ports() -> None:
    assert [host_name(host) for host in ("a:1", "[::1]:8000", "A.local.", "[bad", "a b\n")] == [
        "a",
        "::1",
        "a.local",
        "",
        "",
    ]


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "https://localhost", "http://localhost:81"])
def test_every_write_needs_an_origin_of_its_own_page(home: WebHome, origin: str | None) -> None:
    table = home.table()
    before = home.house.table(table.id).version
    headers = {"Origin": origin} if origin else {}
    for method, path in routes(home, table.id):
        if method == "POST":
            answer = home.browser().client.post(path, headers=headers, data={"code": table.code})
            assert answer.status_code == 403, path
            assert not answer.headers.get("Set-Cookie")
    assert home.house.table(table.id).version == before
    assert len(home.house.tables()) == 1


def test_no_get_changes_anything(home: WebHome, phone: Browser) -> None:
    table = home.table(temple="table")
    phone.sit(table, "east")
    before = (home.house.tables(), home.house.temples())
    for method, path in routes(home, table.id):
        if method == "GET" and not path.endswith("/stream"):
            phone.get(path.replace("ABCDEF", table.code) + "?seat=east&move=%5B%22end_turn%22%5D&version=9&request=a")
    assert (home.house.tables(), home.house.temples()) == before


def test_every_page_is_sealed(home: WebHome, phone: Browser) -> None:
    table = home.table()
    phone.sit(table, "east")
    for method, path in routes(home, table.id):
        if method == "GET" and not path.endswith("/stream"):
            headers = phone.get(path.replace("ABCDEF", table.code)).headers
            assert headers["Content-Security-Policy"].startswith("default-src 'self'; "), path
            assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
            assert "unsafe" not in headers["Content-Security-Policy"]
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "same-origin"
            assert "Server" not in headers


def test_no_page_holds_inline_script_or_style(home: WebHome, phone: Browser) -> None:
    table = home.table(temple="table")
    phone.sit(table, "east")
    lobby = home.lobby()
    for path in ("/", "/tables", "/tables/new", "/join", f"/j/{lobby.code}", "/temples", "/temples/table", "/nowhere",
                 f"/t/{table.id}", f"/t/{table.id}/screen", f"/t/{lobby.id}", f"/t/{lobby.id}/screen"):  # fmt: skip
        html = phone.get(path).get_data(as_text=True)
        assert not re.search(r"<script(?![^>]*\ssrc=)", html), path
        assert not re.search(r"\sstyle=", html), path
        assert "<style" not in html, path
        assert not re.search(r"\son[a-z]+=", html), path


def test_a_body_over_sixteen_kilobytes_is_refused(home: WebHome, phone: Browser) -> None:
    answer = phone.post("/join", {"code": "x" * 16_400})
    assert answer.status_code == 413
    assert "16,384" in text_of(answer)


def test_ten_wrong_codes_lock_an_address_out_for_five_minutes(home: WebHome) -> None:
    table = home.lobby()
    guesser = home.browser("192.168.1.20")
    for _ in range(10):
        assert guesser.post("/join", {"code": "WRONG2"}).status_code == 403
    answer = guesser.post("/join", {"code": table.code})
    assert answer.status_code == 429
    assert "5 minutes" in text_of(answer)
    assert int(answer.headers["Retry-After"]) == 300
    assert guesser.get(f"/j/{table.code}").status_code == 429
    assert guesser.sit(table, "east").status_code == 429
    assert home.browser("192.168.1.21").post("/join", {"code": table.code}).status_code == 303
    home.seconds += 300
    assert guesser.post("/join", {"code": table.code}).status_code == 303


def test_a_code_is_guessed_nowhere_without_being_counted(home: WebHome) -> None:
    table, other = home.lobby(), home.lobby()
    guesser = home.browser("192.168.1.20")
    guesser.client.set_cookie(f"code-{table.id}", "WRONG2", path=f"/t/{table.id}")
    for _ in range(2):
        guesser.get(f"/t/{table.id}")
        guesser.get("/j/WRONG2")
        guesser.post(f"/t/{table.id}/sit", {"code": other.code, "seat": "east", "name": "Eve"})
        guesser.post(f"/t/{table.id}/share", {"code": "WRONG2"})
        guesser.post(f"/t/{table.id}/screen", {"code": "WRONG2"})
    assert guesser.post("/join", {"code": table.code}).status_code == 429


def test_the_lockout_counts_a_household_of_ipv6_as_one() -> None:
    assert client("2001:db8::1") == client("2001:db8::ffff")
    assert client("::ffff:192.168.1.5") == "192.168.1.5"
    assert client("fe80::1%eth0") != client("fe80::2%eth0")
    assert client(None) == ""


def test_the_lockout_forgets_the_oldest_of_many_addresses() -> None:
    lockout = Lockout(lambda: 0.0, most=1, addresses=2)
    for address in ("10.0.0.1", "10.0.0.2", "10.0.0.3"):
        lockout.wrong(address)
    lockout.check("10.0.0.1")
    with pytest.raises(Refused, match="429"):
        lockout.check("10.0.0.3")


def test_a_seat_token_is_a_cookie_of_its_table_that_no_script_reads(home: WebHome, phone: Browser) -> None:
    table = home.lobby()
    cookie = phone.sit(table, "east").headers["Set-Cookie"]
    assert cookie.startswith(f"seat-{table.id}=")
    assert f"Path=/t/{table.id}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


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
    assert f"<bdi>{shown}</bdi>" in html
    assert "<b>Ana" not in html
    assert "<script>alert" not in html
    assert "\u202e" not in html
    assert "\x1a" not in html


@pytest.mark.parametrize("typed", ["x" * 25, "\u200b\u202e"])
def test_a_name_that_cannot_be_shown_is_refused_with_the_reason(home: WebHome, phone: Browser, typed: str) -> None:
    answer = phone.sit(home.lobby(), "east", typed)
    assert answer.status_code == 422
    assert "1 to 24 visible characters" in text_of(answer)


def test_the_log_holds_no_token_no_code_and_no_cookie(
    home: WebHome, phone: Browser, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = home.lobby()
    with caplog.at_level(logging.DEBUG):
        token = phone.sit(table, "east").headers["Set-Cookie"].split("=")[1].split(";")[0]
        phone.post(f"/t/{table.id}/begin")
        phone.get(f"/j/{table.code}")
        monkeypatch.setattr(home.house, "table_by_code", lambda code: 1 / 0)
        assert phone.get(f"/j/{table.code}").status_code == 500
        monkeypatch.setattr(home.house, "seats_held", lambda table_id, token: 1 / 0)
        assert phone.get(f"/t/{table.id}").status_code == 500
    logged = "\n".join(caplog.handler.format(record) for record in caplog.records)
    assert "invited failed" in logged
    assert "ZeroDivisionError" in logged
    for secret in (token, table.code, "Cookie"):
        assert secret not in logged


def test_a_failure_inside_shows_nothing_of_the_inside(
    home: WebHome, phone: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home.house, "tables", lambda: 1 / 0)
    answer = phone.get("/tables")
    assert answer.status_code == 500
    assert "ZeroDivision" not in answer.get_data(as_text=True)
    assert "nothing that was counted is lost" in text_of(answer)


def test_a_link_that_leads_elsewhere_is_not_followed_after_a_language_was_chosen(phone: Browser) -> None:
    for path in ("//evil.example", "/\\evil.example", "http://evil.example", "javascript:x"):
        assert phone.post("/language", {"language": "es", "next": path}).headers["Location"] == "/"
