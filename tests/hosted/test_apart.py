"""Nothing of one tenant is read or changed below the address of another: every route, by permutation of the tenants.

The tenants have temples, seats, games and sets of rules of equal names. What is asked for is another tenant's, with
all of its cookies and codes; it must be answered as what nobody has ever had.
"""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from companion.adapters.database.schema import METADATA
from companion.web.routes import api_description
from companion.web.server.tenants import prefix_of
from templo import contract
from tests.hosted.conftest import OWN, TEMPLE, TENANTS, A, B, Companion, Populated, eventually, populate, token

PAIRS = list(itertools.permutations(TENANTS, 2))


@pytest.fixture
def everybody(companion: Companion) -> dict[str, Populated]:
    return {tenant: populate(companion, tenant, number) for number, tenant in enumerate(TENANTS)}


def routes(companion: Companion, of: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield method, path and endpoint of every route of the application, with these values in its path."""
    values = {
        "name": TEMPLE,
        "game": "market",
        "filename": "table.js",
        "aid": "bag",
        "sheet": "start",
        "page": "temple",
        "seat": "east",
        "playtest": "0" * 12,
        "step": "name",
        **of,
    }
    for rule in companion.app.url_map.iter_rules():
        assert not rule.arguments - values.keys(), f"{rule.rule}: say what a test may put there"
        for method in api_description.methods_of(rule):
            yield method, api_description.path_of(rule).format(**values), rule.endpoint


def form_of(whose: Populated, code: str, table: str) -> dict[str, str]:
    """Return a form with what a tenant's own people would send, for any of the routes that take one."""
    return {
        "code": code,
        "temple_code": code,
        "table": table,
        "seat": "east",
        "name": "Nobody",
        "request": "r1",
        "version": str(whose.table.version),
        "move": '["pass"]',
        "title": "Elsewhere",
        "text": "Hello",
        "minutes": "10",
        "temple": TEMPLE,
        "god": "tlaloc",
        "mode": "app",
        "as": "phone",
    }


def body(answer: Any, *asked: str) -> str:
    """Return an answer without what differs between any two: new ids, versions of events, and what was asked."""
    text = answer.get_data(as_text=True)
    for each in sorted(filter(None, asked), key=len, reverse=True):
        text = text.replace(each, "<asked>")
    text = re.sub(r"process_cpu_seconds_total [\d.]+", "", text)
    return re.sub(r"\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b|[0-9a-f]{8}\.\d+\.[\w-]*", "<new>", text)


@pytest.mark.parametrize(("here", "there"), PAIRS)
def test_what_is_another_tenant_s_is_answered_as_what_nobody_has(
    companion: Companion, everybody: dict[str, Populated], here: str, there: str
) -> None:
    """`there` owns what is asked for; it is asked below `here`, and compared with ids and codes that nobody has."""
    other, prefix = everybody[there], prefix_of(here) if here else ""
    before = {tenant: rows(companion, tenant) for tenant in TENANTS}
    asked = 0
    for theirs in (other.table, other.over):
        nobody = secrets.token_hex(16), "ZZZZZZ"
        theirs_too = routes(companion, {"table_id": theirs.id, "code": theirs.code})
        for (method, path, endpoint), (_, unknown, _) in zip(
            theirs_too, routes(companion, {"table_id": nobody[0], "code": nobody[1]}), strict=True
        ):
            if theirs is other.over and path == unknown:
                continue  # it names no table, and was asked before
            found = companion.ask(method, prefix + path, other.cookies, form_of(other, theirs.code, theirs.id))
            strange = other.cookies.replace(theirs.id, nobody[0]).replace(theirs.code, nobody[1])
            nothing = companion.ask(method, prefix + unknown, strange, form_of(other, *reversed(nobody)))
            assert found.status_code == nothing.status_code, (method, path, endpoint)
            assert body(found, theirs.id, theirs.code) == body(nothing, *nobody), (method, path, endpoint)
            sent = {theirs.id, theirs.code}
            shown = found.get_data(as_text=True) + str(found.headers)
            assert not [mark for mark in other.marks if mark not in sent and mark in shown], (method, path, endpoint)
            asked += 1
    assert asked > 100, "that is all routes, and those of a table again for one that is over"
    after = {tenant: rows(companion, tenant) for tenant in TENANTS}
    assert after[there] == before[there], "nothing of theirs has changed"


@pytest.mark.parametrize("tenant", TENANTS)
def test_the_same_is_found_by_its_own_people(
    companion: Companion, everybody: dict[str, Populated], tenant: str
) -> None:
    """Without this, the comparison above would hold for pages that never show anything."""
    own, prefix = everybody[tenant], prefix_of(tenant) if tenant else ""
    pages = {
        "/": own.table.title,
        "/tables": own.over.title,
        f"/t/{own.table.id}": own.table.code,
        f"/j/{own.table.code}": own.table.title,
        f"/t/{own.table.id}/screen": own.table.title,
        "/organiser": own.table.title,
        "/organiser/rounds": own.marks[0],
        f"/temples/{TEMPLE}": own.table.title,
    }
    for path, mark in pages.items():
        answer = companion.ask("GET", prefix + path, own.cookies)
        assert answer.status_code == 200, path
        text = answer.get_data(as_text=True).replace("</span><span>", "")
        assert mark in text or mark[:3] in text, path
        others = [mark for each in everybody.values() if each is not own for mark in each.marks]
        assert not [mark for mark in others if mark in text], path


def test_every_path_and_cookie_of_a_tenant_s_page_stays_below_its_address(
    companion: Companion, everybody: dict[str, Populated]
) -> None:
    own = everybody[A]
    for _, path, _ in routes(companion, {"table_id": own.table.id, "code": own.table.code}):
        answer = companion.ask("GET", prefix_of(A) + path, own.cookies)
        if answer.mimetype in ("text/html", "application/manifest+json"):
            text = answer.get_data(as_text=True)
            named = re.findall(r'(?:href|src|action|data-\w+)="(/[^"]*)"', text)
            named += re.findall(r'"(?:src|start_url|scope)":\s*"(/[^"]*)"', text)
            assert not [each for each in named if not each.startswith(f"{prefix_of(A)}/")], path
        if location := answer.headers.get("Location"):
            assert location.startswith(f"{prefix_of(A)}/"), path
    form = {"code": own.table.code, "seat": "north", "name": "Itzel", "language": "es"}
    for path in (f"/t/{own.table.id}/sit", "/language", "/organiser/code"):
        answer = companion.ask("POST", prefix_of(A) + path, "", form | {"code": own.table.code})
        for cookie in answer.headers.getlist("Set-Cookie"):
            assert f"Path={prefix_of(A)}/" in cookie, cookie


@pytest.mark.parametrize("name", ["club-c", "", "..", "CLUB-A", "club-a.x", "%2e%2e", "club-a%00"])
def test_a_name_that_no_tenant_has_is_a_page_that_nobody_has(
    companion: Companion, everybody: dict[str, Populated], name: str
) -> None:
    for path in ("/", "/tables", "/organiser", f"/t/{everybody[A].table.id}"):
        answer = companion.ask("GET", f"/h/{name}{path}", everybody[A].cookies)
        assert answer.status_code in (308, 404)
        text = answer.get_data(as_text=True).replace(path, "")
        assert not [mark for mark in everybody[A].marks if mark in text]


def test_an_address_of_a_tenant_is_led_to_its_first_page(companion: Companion) -> None:
    answer = companion.ask("GET", "/h/club-a")
    assert (answer.status_code, answer.headers["Location"]) == (308, "/h/club-a/")
    assert companion.ask("GET", "/h/club-a/").status_code == 200
    assert companion.ask("GET", "/h/club-a/h/club-b/").status_code == 404
    assert companion.ask("GET", "/v/0/h/club-a/tables").status_code == 404


@pytest.mark.parametrize(("here", "there"), PAIRS)
def test_a_token_reaches_the_store_of_its_own_tenant_alone(
    companion: Companion, everybody: dict[str, Populated], here: str, there: str
) -> None:
    """Its source, number and id are those of the other's next token, and its temple has the same name."""
    before = tokens(companion, there)
    source = f"{TENANTS.index(there):x}" * 32
    published = token(2, source, companion.clock.now)
    if here:
        companion.publish(here, published)
        eventually(lambda: (2, source) in tokens(companion, here))
        assert companion.link.under(here, "ack")
    else:
        companion.services.temples.intake.receive([(TEMPLE, published)])
    assert tokens(companion, there) == before
    if there:
        acks = companion.link.under(there, "ack")
        assert not [
            each for each in acks if isinstance(each, contract.Ack) and (each.source, each.seq) == (source, 2)
        ]


def rows(companion: Companion, tenant: str) -> dict[str, list[Any]]:
    """Return every row of a tenant as the database has it, read past all of our own code."""
    registry = companion.tenants
    url = registry.url(registry.get(tenant)) if tenant else registry._url
    engine = sa.create_engine(url)
    try:
        with engine.connect() as connection:
            return {
                table.name: sorted(map(str, connection.exec_driver_sql(f"SELECT * FROM {table.name}").all()))
                for table in METADATA.sorted_tables
            }
    finally:
        engine.dispose()


def tokens(companion: Companion, tenant: str) -> list[tuple[int, str]]:
    found = companion.of(tenant).temples.get(TEMPLE)
    return [(kept.token.seq, kept.token.source) for kept in found.recent]


def test_the_place_of_one_names_no_row_of_another(
    companion: Companion, everybody: dict[str, Populated], tmp_path: Path
) -> None:
    for here, there in PAIRS:
        found = str(rows(companion, here))
        assert everybody[here].marks[0] in found
        assert not [mark for mark in everybody[there].marks if mark in found], (here, there)


__all__ = ["OWN", "B"]
