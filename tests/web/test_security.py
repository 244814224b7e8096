"""The list of what a thing on the home network must keep to, line by line, each with its test.

Every test that walks the routes takes them from the application itself, so that a new route is held to the same.
Four lines are proved where their parts are, and `SECURITY.md` names those tests: the broker's users and topics, bytes
of any kind on the wire, the streams' places, and the units' exposure.
"""

from __future__ import annotations

import hmac
import io
import logging
import math
import re
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from companion.lobby import CODE_LENGTH, CODE_LETTERS
from companion.table import HouseError
from companion.web import FILES, OPENINGS, interface, rates
from companion.web.guard import MAX_BODY, Lockout, Refused, client, host_name
from companion.web.rates import Meter, Pace
from companion.web.uploads import MAX_UPLOAD
from controller import wire
from tests.brokers import free_port
from tests.web.conftest import ORIGIN, Browser, WebHome, text_of

ROOT = Path(__file__).parents[2]
SCRIPT = {"Accept": "application/json"}


class Routes:
    """Every route of an application, with something that is there in its path."""

    def __init__(self, home: WebHome, table_id: str = "", code: str = "ABCDEF") -> None:
        self.home = home
        self._values = {
            "table_id": table_id or "0" * 32,
            "code": code,
            "name": "table",
            "game": "mexica",
            "filename": "table.js",
            "aid": "battle",
            "sheet": "board",
        }

    def __call__(self, *methods: str) -> Iterator[tuple[str, str, str]]:
        """Yield method, path and endpoint of every route that can be asked one of these methods."""
        for rule in self.home.app.url_map.iter_rules():
            unknown = rule.arguments - self._values.keys()
            assert not unknown, f"{rule.rule}: say in Routes what a test may put for {unknown}"
            for method in interface.methods_of(rule):
                if method in methods or not methods:
                    yield method, interface.path_of(rule).format(**self._values), rule.endpoint


def kept(home: WebHome) -> list[str]:
    """Return all that the store holds, line by line."""
    with closing(sqlite3.connect(home.url.removeprefix("sqlite:///"))) as store:
        return list(store.iterdump())


def everything(home: WebHome) -> Any:
    """Return all that the house is and keeps."""
    return kept(home), home.house.tables(), home.house.temples()


def asked(phone: Browser, path: str) -> TestResponse:
    """Open a page, or the beginning of a stream."""
    if not path.partition("?")[0].endswith("/stream"):
        return phone.get(path)
    with phone.client.get(path, headers=ORIGIN) as answer:
        next(answer.iter_encoded(), b"")
        return answer


@pytest.fixture
def rooms(home: WebHome) -> list[str]:
    """Tables of every kind: a lobby, and each game under way, the temple's own with tokens that wait for a word."""
    home.beams("table", wire.Beam.CLEAR, wire.Beam.CLEAR)
    table = home.table(temple="table")
    home.house.receive([("table", home.token(1)), ("table", home.token(2, "tlaloc", "jam"))])
    rooms = [table.id, home.lobby().id]
    for name, game in home.house.games.items():
        if name in home.app.extensions["site"].games:
            opened = home.house.open_table(name, "Sunday", max(game.seatings), next(iter(game.presets)))
            rooms.append(home.house.begin(opened.id, opened.code).id)
    return rooms


def seated(home: WebHome, phone: Browser, table_id: str) -> None:
    """Take every chair with this phone, so that its pages show all that a player can see."""
    table = home.house.table(table_id)
    phone.post(f"/t/{table_id}/share", {"code": table.code})


# -- allowed hosts only, on every route --


def test_every_route_refuses_a_foreign_host(home: WebHome) -> None:
    for method, path, _ in Routes(home, home.table().id)():
        headers = {"Host": "evil.example", "Origin": "http://evil.example"}
        answer = home.browser().client.open(path, method=method, headers=headers)
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


# -- every write needs an origin of our own pages, and a seat's token --


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "https://localhost", "http://localhost:81"])
def test_every_write_needs_an_origin_of_its_own_page(home: WebHome, origin: str | None) -> None:
    table = home.table()
    before = everything(home)
    for method, path, _ in Routes(home, table.id, table.code)("POST", "PUT", "PATCH", "DELETE"):
        headers = {"Origin": origin} if origin else {}
        answer = home.browser().client.open(path, method=method, headers=headers, data={"code": table.code})
        assert answer.status_code == 403, path
        assert not answer.headers.get("Set-Cookie")
    assert everything(home) == before


def test_nothing_is_written_at_a_table_without_a_seat_s_token_or_the_table_s_code(
    home: WebHome, rooms: list[str]
) -> None:
    strangers = {"": home.browser(), "0" * 32: home.browser(), "x": home.browser()}
    before = everything(home)
    for room in rooms:
        table = home.house.table(room)
        seat = table.on_turn or table.charter.seats[0]
        form = {"seat": seat, "version": str(table.version), "request": "r", "code": "WRONG2", "name": "Eve"}
        form |= {"move": '["end_turn"]', "temple": "table", "mode": "pass", "by": "app"}
        form |= {"token": f"{2:032x}", "to": seat, "picked": '["end_turn"]'}
        for token, stranger in strangers.items():
            stranger.client.set_cookie(f"seat-{room}", token, path=f"/t/{room}")
            for method, path, _ in Routes(home, room)("POST", "PUT", "PATCH", "DELETE"):
                if path.startswith("/t/"):
                    home.seconds += 400  # wrong codes are another test's
                    answer = stranger.client.open(path, method=method, data=form, headers={**ORIGIN, **SCRIPT})
                    assert answer.status_code >= 400, path
    assert everything(home) == before


def test_a_seat_s_token_moves_no_other_seat_and_no_other_table(home: WebHome, phone: Browser) -> None:
    table, other = home.table(), home.table()
    token = phone.sit(table, "west").headers["Set-Cookie"].split("=")[1].split(";")[0]
    phone.client.set_cookie(f"seat-{other.id}", token, path=f"/t/{other.id}")
    before = everything(home)
    for where, seat in ((table, "east"), (other, "east"), (other, "west")):
        version = home.house.table(where.id).version
        assert phone.move(where, seat, "end_turn", version=version).status_code == 403
        undo = {"seat": seat, "version": str(version), "request": "u"}
        assert phone.post(f"/t/{where.id}/undo", undo).status_code == 403
    assert everything(home) == before


# -- no state change on GET --


def test_no_get_changes_anything(home: WebHome, phone: Browser, rooms: list[str]) -> None:
    for room in rooms:
        seated(home, phone, room)
    before = everything(home)
    for room in rooms:
        table = home.house.table(room)
        fields = {"seat": table.on_turn or "east", "version": str(table.version), "request": "a", "code": table.code}
        fields |= {"move": '["end_turn"]', "picked": '["end_turn"]', "step": "2", "players": "2", "temple": "table"}
        for _, path, _ in Routes(home, room, table.code)("GET"):
            with_fields = "&".join(f"{name}={value}" for name, value in fields.items()).replace('"', "%22")
            for each in (path, f"{path}?{with_fields}"):
                assert asked(phone, each).status_code < 500, each
    assert everything(home) == before


# -- `default-src 'self'`, no inline script, no style attribute --


def test_every_answer_is_sealed(home: WebHome, phone: Browser, rooms: list[str]) -> None:
    seated(home, phone, rooms[0])
    for method, path, _ in [*Routes(home, rooms[0], home.house.table(rooms[0]).code)(), ("GET", "/nowhere", "")]:
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
        here = Routes(home, room, home.house.table(room).code)
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


# -- no debug mode, no default key: keys are made at first start, mode 0600 --


def test_nothing_is_debugged_and_nothing_is_signed_with_a_key_that_others_know(home: WebHome) -> None:
    assert not home.app.debug
    assert not home.app.testing
    assert home.app.secret_key is None
    assert not home.app.config["PROPAGATE_EXCEPTIONS"]
    sources = [path.read_text("utf-8") for path in (ROOT / "companion").rglob("*.py")]
    for word in ("debug=True", "SECRET_KEY", "secret_key", "app.run(", "use_debugger"):
        assert not any(word in source for source in sources), word


def test_what_the_companion_keeps_is_its_owner_s_alone_from_the_first_start(tmp_path: Path) -> None:
    state = tmp_path / "state"
    words = ["--host", "127.0.0.1", "--port", str(free_port()), "--state", str(state), "--broker", "127.0.0.1:1"]
    command = [sys.executable, "-m", "companion", "run", *words]
    with subprocess.Popen(command, cwd=ROOT, umask=0o022, stdout=subprocess.PIPE) as program:
        assert program.stdout
        assert program.stdout.readline().startswith(b"ready")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [state, *state.iterdir()]}
        program.terminate()
    assert modes.pop("state") == 0o700
    assert "companion.sqlite" in modes
    assert set(modes.values()) == {0o600}


# -- join codes: 40 bits, or shorter with a lock-out; compared in constant time --


def test_a_join_code_is_of_thirty_bits_and_guessing_it_takes_longer_than_anybody_plays(home: WebHome) -> None:
    assert len(home.lobby().code) == CODE_LENGTH
    assert set(home.lobby().code) <= set(CODE_LETTERS)
    codes = len(CODE_LETTERS) ** CODE_LENGTH
    assert math.log2(codes) >= 30
    guesses_a_day = 10 * 24 * 3600 / 300  # the tests below: ten in five minutes
    assert codes / guesses_a_day > 365 * 1000


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


def test_codes_and_tokens_are_compared_in_constant_time(home: WebHome, monkeypatch: pytest.MonkeyPatch) -> None:
    table = home.table()
    token = home.seated(table)
    compared: list[bytes] = []
    real = hmac.compare_digest

    def compare(one: Any, other: Any) -> bool:
        compared.extend((one, other))
        return real(one, other)

    monkeypatch.setattr("hmac.compare_digest", compare)
    with pytest.raises(HouseError):
        home.house.sit(table.id, "WRONG2", "west", "Ana")
    assert table.code.encode() in compared
    compared.clear()
    assert home.house.seats_held(table.id, token) == ("east",)
    assert home.house.table(table.id).keys["east"].encode() in compared


# -- seat tokens of 128 bits, stored hashed --


def test_a_seat_s_token_is_of_128_bits_and_is_nowhere_on_the_disk(home: WebHome, tmp_path: Path) -> None:
    table = home.table()
    token = home.seated(table)
    assert len(bytes.fromhex(token)) == 16
    assert any(home.house.table(table.id).keys.values())
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("companion.sqlite*"))
    assert home.house.table(table.id).keys["east"].encode() in kept
    assert token.encode() not in kept
    assert bytes.fromhex(token) not in kept


def test_a_seat_token_is_a_cookie_of_its_table_that_no_script_reads(home: WebHome, phone: Browser) -> None:
    table = home.lobby()
    cookie = phone.sit(table, "east").headers["Set-Cookie"]
    assert cookie.startswith(f"seat-{table.id}=")
    assert f"Path=/t/{table.id}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


# -- bodies over 16 kB refused --


def test_every_route_refuses_a_body_that_is_larger_than_it_takes(home: WebHome, phone: Browser) -> None:
    table = home.table()
    before = everything(home)
    routes = list(Routes(home, table.id)("POST", "PUT", "PATCH", "DELETE"))
    for method, path, endpoint in [*routes, ("POST", "/nowhere", "")]:
        most = MAX_UPLOAD if endpoint in FILES else MAX_BODY
        answer = phone.client.open(path, method=method, data={"name": "x" * most}, headers=ORIGIN)
        assert (answer.status_code, f"{most:,} bytes" in text_of(answer)) == (413, True), path
    assert everything(home) == before
    assert (MAX_BODY, MAX_UPLOAD, len(FILES)) == (16_384, 524_288, 2)


def test_a_body_that_does_not_say_how_large_it_is_is_read_no_further_than_that(phone: Browser) -> None:
    body = b"code=" + b"x" * MAX_BODY
    form = {"content_type": "application/x-www-form-urlencoded", "headers": ORIGIN}
    environ = {"wsgi.input_terminated": True}
    answer = phone.client.post("/join", input_stream=io.BytesIO(body), environ_overrides=environ, **form)
    assert answer.status_code == 413


# -- rate limits; the streams' limit is in test_streams.py --


def test_a_table_of_phones_behind_one_access_point_is_never_too_fast(home: WebHome) -> None:
    phones = [home.browser("192.168.1.1") for _ in range(8)]
    for _ in range(120):  # each taps twice a second, for a minute
        home.seconds += 0.5
        assert {phone.post("/language", {"language": "es"}).status_code for phone in phones} == {303}


def test_who_posts_faster_than_people_can_is_told_when_to_go_on(home: WebHome) -> None:
    machine, phone = home.browser("192.168.1.20"), home.browser("192.168.1.21")
    answers = [machine.post("/language").status_code for _ in range(rates.POSTS.burst)]
    assert set(answers) == {303}
    refused = machine.post("/language")
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "1"
    assert "Too many taps from here at once, so that one was not heard. Wait 1 second" in text_of(refused)
    assert machine.get("/").status_code == 200
    assert phone.post("/language").status_code == 303
    home.seconds += 1
    assert machine.post("/language").status_code == 303


def test_a_phone_that_is_too_fast_is_told_so_in_its_language_and_nothing_is_done(home: WebHome) -> None:
    table = home.table()
    phone = home.browser(language="es")
    phone.sit(table, "east")
    for _ in range(rates.POSTS.burst):
        phone.post("/language")
    version = home.house.table(table.id).version
    answer = phone.move(table, "east", "end_turn", version=version, **SCRIPT)
    told = answer.get_json()
    assert (answer.status_code, told["ok"], told["kind"]) == (429, False, "refused")
    assert told["words"].startswith("Demasiados toques a la vez desde aquí")
    assert home.house.table(table.id).version == version


def test_a_page_of_another_site_cannot_use_up_what_a_phone_may_post(home: WebHome, phone: Browser) -> None:
    for _ in range(rates.POSTS.burst + 1):
        assert phone.post("/language", Origin="http://evil.example").status_code == 403
    assert phone.post("/language").status_code == 303


def test_tables_are_opened_more_slowly_than_moves_are_made(home: WebHome, phone: Browser) -> None:
    table = home.table()
    opening = [path for _, path, endpoint in Routes(home, table.id)("POST") if endpoint in OPENINGS]
    assert len(opening) == len(OPENINGS)
    for _ in range(rates.OPENINGS.burst):
        assert phone.post("/tables", {"game": "mexica"}).status_code == 422
    for path in opening:
        assert phone.post(path, {"game": "mexica"}).status_code == 429
    assert phone.post("/language").status_code == 303
    home.seconds += 5
    assert phone.post("/tables", {"game": "mexica"}).status_code == 422


def test_a_meter_remembers_no_more_addresses_than_it_may() -> None:
    meter = Meter(lambda: 0.0, Pace(burst=1, per_second=0.1), addresses=2)
    for address in ("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.1"):
        meter.count(address)
    with pytest.raises(Refused, match="429") as caught:
        meter.count("10.0.0.3")
    assert caught.value.retry_after == 10


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
    assert f"<bdi>{shown}</bdi>" in html
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


# -- `SECURITY.md` says how to report, and where each promise is tested --


def test_every_promise_of_security_md_names_tests_that_there_are() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    assert "## Reporting" in text
    promises = [line for line in text.splitlines() if line.startswith("| ") and "| `tests/" in line]
    assert len(promises) > 12
    for promise in promises:
        for file, names in re.findall(r"`(tests/[^:`]+)`: ((?:`\w+`(?:, )?)+)", promise):
            source = (ROOT / file).read_text("utf-8")
            for test in re.findall(r"`(\w+)`", names):
                assert re.search(rf"^def test_{test}\(", source, re.MULTILINE), f"{file} has no test_{test}"
        assert re.search(r"`tests/[^:`]+`: `\w+`", promise), promise
