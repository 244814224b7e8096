"""Pages below a path, behind a proxy that serves other things at the same host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from companion.adapters.database.sql_store import SqlStore
from companion.adapters.news import Hub
from companion.games import registry
from companion.service.services import Services
from companion.service.workspace import Workspace
from companion.settings import WebSettings
from companion.web import create_app
from companion.web.config import WebConfig
from companion.web.server.guard import Lockout
from companion.web.trouble import Repair, create_trouble_app
from tests.companion.conftest import Clock, Entropy
from tests.companion.web.conftest import ORIGIN, OWNER
from tests.companion.web.test_trouble_page import DAMAGED, restored

PATH = "/club-a"
ADDRESS = re.compile(r'(?:href|src|action|data-[a-z-]*url)="(/[^"]*)"')


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[FlaskClient]:
    store = SqlStore(f"sqlite:///{tmp_path / 'store.sqlite'}")
    hub = Hub()
    games = registry.with_tools(registry.load(()))
    services = Services.over(Workspace(store, games, Clock(), Entropy(), hub.publish))
    settings = WebSettings(allowed_hosts=("localhost",), address=f"http://localhost{PATH}")
    config = WebConfig(settings, lambda viewer: settings.address, "an-instance")
    yield create_app(services, hub, config).test_client()
    store.close()


def text(browser: FlaskClient, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, path
    return answer.get_data(as_text=True)


@pytest.mark.parametrize("prefix", [PATH, ""], ids=["left in the request", "removed by the proxy"])
def test_every_address_on_a_page_is_below_the_path_and_answers(browser: FlaskClient, prefix: str) -> None:
    pages = [text(browser, prefix + path) for path in ("/", "/tables", "/games")]
    found = {address for page in pages for address in ADDRESS.findall(page)}
    assert found
    for address in found:
        assert address.startswith(f"{PATH}/"), address
        with browser.get(prefix + address.removeprefix(PATH)) as answer:
            assert answer.status_code in (200, 303, 405), address
            assert answer.status_code != 303 or answer.location.startswith(f"{PATH}/"), address


def test_a_table_is_opened_and_its_cookies_are_for_the_path_alone(browser: FlaskClient) -> None:
    form = {"game": "mexica", "preset": "temple_only", "players": "2", "title": "Friday", "request": "1" * 16}
    opened = browser.post(f"{PATH}/tables", data=form, headers=ORIGIN)
    assert opened.status_code == 303
    assert opened.location.startswith(f"{PATH}/j/")
    assert "Friday" in text(browser, opened.location)
    chosen = browser.post(f"{PATH}/language", data={"language": "es"}, headers=ORIGIN)
    assert f"Path={PATH}/" in chosen.headers["Set-Cookie"]
    assert '<html lang="es"' in text(browser, f"{PATH}/")


def test_the_path_without_its_last_slash_leads_to_the_first_page_with_the_query(browser: FlaskClient) -> None:
    answer = browser.get(f"{PATH}?code=ABC234")
    assert (answer.status_code, answer.location) == (308, f"{PATH}/?code=ABC234")


def test_a_path_that_only_begins_alike_is_no_part_of_it(browser: FlaskClient) -> None:
    assert browser.get(f"{PATH}b/").status_code == 404


def test_the_page_of_a_companion_that_cannot_start_posts_below_the_path() -> None:
    repair = Repair(restored, lambda: OWNER, Path("/there/owner-code"), Path("/there"), Lockout(lambda: 0.0))
    app = create_trouble_app(lambda: DAMAGED, repair, (), lambda: ["localhost"], lambda: 0.0, PATH)
    browser = app.test_client()
    assert f'action="{PATH}/setup/restore"' in browser.get(f"{PATH}/").get_data(as_text=True)
    done = browser.post(f"{PATH}/setup/restore", data={"code": OWNER.code}, headers=ORIGIN)
    assert done.status_code == 200
    assert f"Path={PATH}/setup" in done.headers["Set-Cookie"]
