"""How much and how often: bodies and posts. The streams' places are in `tests/companion/web/test_streams.py`."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from companion.model.history import ReplayStep
from companion.model.table import Table
from companion.web import FILES, OPENINGS, SLOW
from companion.web.routes.uploads import MAX_UPLOAD
from companion.web.server import rates
from companion.web.server.guard import MAX_BODY, Refused
from companion.web.server.rates import WAITING, Meter, Pace
from tests.companion.web.conftest import ORIGIN, Browser, WebHome, text_of
from tests.companion.web.security.routes import SCRIPT, Routes, everything

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
    assert (MAX_BODY, MAX_UPLOAD, len(FILES)) == (16_384, 524_288, 4)


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


def test_posts_faster_than_people_make_are_refused_with_the_time_to_wait(home: WebHome) -> None:
    machine, phone = home.browser("192.168.1.20"), home.browser("192.168.1.21")
    answers = [machine.post("/language", {"language": "en"}).status_code for _ in range(rates.POSTS.burst)]
    assert set(answers) == {303}
    refused = machine.post("/language", {"language": "en"})
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "1"
    assert "Too many taps from here at once, so that one was ignored. Wait 1 second" in text_of(refused)
    assert machine.get("/").status_code == 200
    assert phone.post("/language", {"language": "en"}).status_code == 303
    home.seconds += 1
    assert machine.post("/language", {"language": "en"}).status_code == 303


def test_a_phone_that_is_too_fast_reads_so_in_its_language_and_nothing_is_done(home: WebHome) -> None:
    table = home.table()
    phone = home.browser(language="es")
    phone.sit(table, "east")
    for _ in range(rates.POSTS.burst):
        phone.post("/language", {"language": "es"})
    version = home.services.tables.get(table.id).version
    answer = phone.move(table, "east", "end_turn", version=version, **SCRIPT)
    refusal = answer.get_json()
    assert (answer.status_code, refusal["ok"], refusal["kind"]) == (429, False, "refused")
    assert refusal["words"].startswith("Demasiados toques a la vez desde aquí")
    assert home.services.tables.get(table.id).version == version


def test_a_page_of_another_site_cannot_use_up_what_a_phone_may_post(home: WebHome, phone: Browser) -> None:
    for _ in range(rates.POSTS.burst + 1):
        assert phone.post("/language", {"language": "en"}, Origin="http://evil.example").status_code == 403
    assert phone.post("/language", {"language": "en"}).status_code == 303


def test_tables_are_opened_more_slowly_than_moves_are_made(home: WebHome, phone: Browser) -> None:
    table = home.table()
    opening = [path for _, path, endpoint in Routes(home, table.id)("POST") if endpoint in OPENINGS]
    assert len(opening) == len(OPENINGS)
    for _ in range(rates.OPENINGS.burst):
        assert phone.post("/tables", {"game": "mexica"}).status_code == 422
    for path in opening:
        assert phone.post(path, {"game": "mexica"}).status_code == 429
    assert phone.post("/language", {"language": "en"}).status_code == 303
    home.seconds += 5
    assert phone.post("/tables", {"game": "mexica"}).status_code == 422


def test_a_meter_remembers_no_more_addresses_than_it_may() -> None:
    meter = Meter(lambda: 0.0, Pace(burst=1, per_second=0.1), addresses=2)
    for address in ("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.1"):
        meter.count(address)
    with pytest.raises(Refused, match="429") as caught:
        meter.count("10.0.0.3")
    assert caught.value.retry_after == 10


def test_one_address_has_one_story_made_at_a_time_and_others_are_served_meanwhile(
    home: WebHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = home.table()
    begun, go_on = threading.Event(), threading.Event()
    replay = home.services.tables.replay

    def slow(of: Table) -> Iterator[ReplayStep]:
        begun.set()
        assert go_on.wait(60)
        return replay(of)

    assert set(SLOW) <= {rule.endpoint for rule in home.app.url_map.iter_rules()}
    monkeypatch.setattr(home.services.tables, "replay", slow)
    path = f"/t/{table.id}/story"
    with ThreadPoolExecutor(WAITING + 1) as phones:
        first = phones.submit(home.browser("10.0.0.5").get, path)
        assert begun.wait(60)
        waiting = [phones.submit(home.browser("10.0.0.5").get, path) for _ in range(WAITING)]
        time.sleep(0.5)  # until they wait
        refused = home.browser("10.0.0.5").get(path)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
        assert "still being made" in text_of(refused)
        assert home.browser("10.0.0.5").get(f"/t/{table.id}").status_code == 200
        go_on.set()
        assert [each.result(60).status_code for each in (first, *waiting)] == [200] * (WAITING + 1)
    assert home.browser("10.0.0.5").get(path).status_code == 200
