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
from werkzeug.http import parse_cookie

from companion.adapters.database.schema import METADATA
from companion.web.routes import api_description
from companion.web.server.tenants import prefix_of
from templo import contract
from tests.hosted.conftest import (
    KINDS,
    OWN,
    TEMPLE,
    TENANTS,
    A,
    B,
    Companion,
    Populated,
    empty_url,
    eventually,
    hosting,
    populate,
    token,
)

PAIRS = list(itertools.permutations(TENANTS, 2))


@pytest.fixture(scope="module", params=KINDS)
def companion(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion with two tenants, for all tests of this file: none of them changes what another compares."""
    folder = tmp_path_factory.mktemp("hosted")
    with hosting(empty_url(request, folder), folder) as made:
        yield made


@pytest.fixture(scope="module")
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
    """`there` owns what is asked for below `here`, and the cookies.

    The answer is that to a stranger without a cookie, for ids and codes that nobody has.
    """
    other, prefix = everybody[there], prefix_of(here) if here else ""
    before = {tenant: rows(companion, tenant) for tenant in TENANTS}
    asked = 0
    for target in (other.table, other.over, everybody[here].table):
        is_own = target is everybody[here].table  # then their cookies and codes are tried on it
        nobody = (target.id, target.code) if is_own else (secrets.token_hex(16), "ZZZZZZ")
        code = other.table.code if is_own else target.code
        for (method, path, endpoint), (_, unknown, _) in zip(
            routes(companion, {"table_id": target.id, "code": target.code}),
            routes(companion, {"table_id": nobody[0], "code": nobody[1]}),
            strict=True,
        ):
            if target is not other.table and target.id not in path and target.code not in path:
                continue  # it names no table, and was asked before
            found = companion.ask(method, prefix + path, other.cookies, form_of(other, code, target.id))
            form = form_of(other, "ZZZZZZ", nobody[0])
            nothing = companion.ask(method, prefix + unknown, "", form)
            assert found.status_code == nothing.status_code, (method, path, endpoint)
            assert body(found, target.id, target.code, code) == body(nothing, *nobody, "ZZZZZZ"), (method, path)
            shown = found.get_data(as_text=True) + str(found.headers)
            hidden = [mark for mark in other.marks if mark not in (target.id, code)]
            assert not [mark for mark in hidden if mark in shown], (method, path, endpoint)
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


def test_every_cookie_of_a_tenant_is_its_own_by_path_and_name(
    companion: Companion, everybody: dict[str, Populated]
) -> None:
    """What belongs to a table or proves the organiser is distinguished by its path, the others by their names."""
    own = everybody[A]
    first, table, organiser = (f"{prefix_of(A)}{path}" for path in ("/", f"/t/{own.table.id}", "/organiser"))
    seat = {f"seat-{own.table.id}": table, "club-a.seated": first, "club-a.name": first}
    code, screen = companion.tenants.get(A).code, f"screen-{own.table.id}"
    for path, form, wanted in (
        (f"/t/{own.table.id}/sit", {"code": own.table.code, "seat": "north", "name": "Itzel"}, seat),
        (f"/t/{own.table.id}/screen", {"code": own.table.code}, {screen: table}),
        ("/language", {"language": "es"}, {"club-a.language": first}),
        ("/organiser/code", {"code": code}, {"organiser": organiser}),
    ):
        answer = companion.ask("POST", prefix_of(A) + path, "", form)
        assert answer.status_code == 303, path
        cookies = map(parse_cookie, answer.headers.getlist("Set-Cookie"))
        assert {next(iter(each)): each["Path"] for each in cookies} == wanted, path


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
    assert companion.ask("GET", "/h/club-a?all=1&x=%20a").headers["Location"] == "/h/club-a/?all=1&x=%20a"
    assert companion.ask("GET", "/h/club-a/").status_code == 200
    assert companion.ask("GET", "/h/club-a/h/club-b/").status_code == 404
    assert companion.ask("GET", "/v/0/h/club-a/tables").status_code == 404


@pytest.mark.parametrize("sent", [{"Host": "elsewhere.example"}, {"Origin": "http://elsewhere.example"}, {}])
def test_that_address_is_guarded_as_every_page_is(companion: Companion, sent: dict[str, str]) -> None:
    method = "POST" if "Origin" in sent else "GET"
    bare, page = (companion.ask(method, path, **sent) for path in ("/h/club-a", "/h/club-a/"))
    if sent:
        assert bare.status_code == page.status_code
        assert bare.status_code in (400, 405)
    differs = {"Location", "Content-Length", "ETag", "Vary", "Date", "Set-Cookie"}
    assert {k: v for k, v in bare.headers if k not in differs} == {k: v for k, v in page.headers if k not in differs}
    assert bare.headers["Cache-Control"] == "no-store"


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


SHARED = {"files", "style", "page_styles", "game_styles", "games", "folders", "broadcast", "_map", "_routes"}
"""What the pages of all tenants share: what is the same for everybody, and the threads that send it."""


def test_the_pages_of_two_tenants_share_nothing_that_one_of_them_changes(companion: Companion) -> None:
    """Most of it would show by chance alone: a page that is cached under the name that two temples have."""
    sites = [companion.site(tenant) for tenant in TENANTS]
    for one, other in itertools.combinations(sites, 2):
        values = {name: value for name, value in vars(one).items() if not isinstance(value, str | bool)}
        assert {name for name, value in values.items() if vars(other).get(name) is value} == SHARED
        held = {name for name, value in vars(one.renderer).items() if isinstance(value, dict) and name != "_games"}
        assert held == {"_log_entries", "_shared"}
        assert not [name for name in held if vars(one.renderer)[name] is vars(other.renderer)[name]]
        for name in ("store", "tables", "temples", "on_change", "readers", "written"):
            spaces = [each.services.setup._workspace for each in (one, other)]
            assert getattr(spaces[0], name) is not getattr(spaces[1], name), name
