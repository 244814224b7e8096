"""The description of the HTTP interface: whole, well-formed, and true of what the real application answers.

schemathesis reads the description and makes up requests; each answer is held against what the description says of it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import openapi
from schemathesis.checks import CHECKS, CheckFunction, load_all_checks
from schemathesis.generation import GenerationMode
from schemathesis.generation.case import Case
from werkzeug.routing import Rule

from companion.model.table import Table
from companion.web.routes import api_description
from companion.web.server.guard import WRITES
from templo import contract
from tests.cases import every_case
from tests.companion.web.conftest import ORIGIN, WebHome

EXAMPLES, PLAIN = int(os.environ.get("TEMPLO_EXAMPLES", "10")), 4
"""Made-up requests for each route and method with fields or a name in its path, and for every other route."""

load_all_checks()
CHECKED: list[CheckFunction] = [
    CHECKS.get_one(name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "allow_header_conformance",
    )
]


@dataclass
class Place:
    """A companion that holds every kind of thing to request, and a phone that holds every seat of a table."""

    home: WebHome
    table: Table
    lobby: Table
    token: str = ""

    def seated(self) -> dict[str, str]:
        """Return the phone's cookie, whatever the last request has made of the seats."""
        services, table = self.home.services, self.table
        for seat in set(table.charter.seats) - set(services.seats.held(table.id, self.token)):
            if services.tables.get(table.id).chair(seat).taken:
                services.seats.free(table.id, table.code, seat)
            self.token = services.seats.sit(table.id, table.code, seat, "Ana", self.token)
        return {f"seat-{table.id}": self.token}

    def plausible(self, name: str) -> list[str]:
        """Return what a browser would send in a field."""
        now = self.home.services.tables.get(self.table.id)
        seat = now.on_turn or "east"
        moves = now.game.rules.moves(now.state, seat)
        likely = {
            "code": [self.table.code],
            "game": [*self.home.services.tables.games, "nothing"],
            "seat": [seat, seat, seat, "west", "chance"],
            "version": [str(now.version), str(now.version), "0"],
            "move": [json.dumps(move.to_json()) for move in moves[:6]],
            "picked": [json.dumps([move.name]) for move in moves[:6]],
            "temple": ["templo", ""],
            "mode": ["anyone", "", "nothing"],
            "players": ["2", "4", f"002{'0' * 5000}"],
            "preset": ["temple_only", "classic"],
            "title": ["Sunday"],
            "name": ["Ana"],
            "token": [f"{2:032x}"],
            "one": [f"{2:032x} east"],
            "to": ["east", "none"],
            "what": ["identify", "selftest", "drop", "calibrate", "keep"],
            "god": ["tlaloc"],
            "count": ["7", "0"],
        }
        return likely.get(name, [])

    def paths(self) -> dict[str, list[str]]:
        """Return what there is, by the names that paths have for it."""
        return {
            "step": ["name", "network", "beams", "table"],
            "table_id": [self.table.id, self.table.id, self.table.id, self.lobby.id],
            "code": [self.table.code],
            "game": ["mexica", "market"],
            "aid": [*self.home.services.tables.games["market"].tools, "nothing"],
            "sheet": [*self.home.services.tables.games["mexica"].printer.sheets[:2], "nothing"],
            "name": ["templo"],
            "filename": ["table.js", "lake.css", "icon.svg", "../__init__.py", "print//leaf.css"],
            "page": ["temple", "nothing"],
            "seat": ["east", "nobody"],
            "playtest": [*[each.id for each in self.home.playtests.every()][:1], "nothing"],
        }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    home = WebHome(f"sqlite:///{tmp_path_factory.mktemp('interface') / 'companion.sqlite'}")
    home.beams("templo", contract.Beam.CLEAR, contract.Beam.CLEAR)
    home.services.temples.requests.connect(lambda temple, command: None)
    table = home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1)), ("templo", home.token(2, "tlaloc", "jam"))])
    home.playtests.start("mexica", "classic", 4, {}, {})
    yield Place(home, table, home.lobby())
    home.playtests.close()
    home.hub.close()
    home.store.close()


def blank_app() -> Any:
    """Return the application with nothing behind it that routes depend on."""
    home = WebHome("sqlite://")
    home.store.close()
    return home.app


def description(app: Any) -> dict[str, Any]:
    return api_description.at(api_description.description(app), ORIGIN["Origin"])


APP = blank_app()
SCHEMA = openapi.from_dict(description(APP))
RULES = sorted(APP.url_map.iter_rules(), key=lambda rule: (rule.rule, rule.endpoint))
OPERATIONS = [
    pytest.param(api_description.path_of(rule), method, id=f"{method} {rule.rule}")
    for rule in RULES
    for method in api_description.methods_of(rule)
    if not rule.rule.endswith("/stream")
]


def whole(app: Any) -> Any:
    """Return the application with every answer read to its end, so that a file that it sends is closed."""

    def answer(environ: Any, start_response: Any) -> list[bytes]:
        chunks = app(environ, start_response)
        try:
            return [b"".join(chunks)]
        finally:
            chunks.close()

    return answer


# -- the description is whole --


@every_case("rule", RULES, ids=lambda rule: rule.endpoint)
def test_every_route_says_what_it_takes_and_gives(rule: Rule) -> None:
    described = api_description.known(rule.endpoint)
    assert described, (
        f"companion/web/routes/api_description.toml lacks {rule.endpoint}: say there what {rule.rule} takes and gives"
    )
    assert set(described) <= {"query", "form", "gives", "may", "files"}
    assert described["gives"]
    assert ("form" in described) == bool(WRITES & (rule.methods or set())), f"{rule.endpoint}: a post has a form"
    for name in api_description._CONVERTED.findall(rule.rule):
        assert name in api_description.facts()["path"], (
            f"companion/web/routes/api_description.toml lacks [path.{name}]"
        )


def test_nothing_is_described_that_is_not_there() -> None:
    endpoints = {rule.endpoint for rule in RULES}
    for part, routes in api_description.facts().items():
        if part not in ("about", "status", "media", "path", "field", "object"):
            for name in routes:
                assert {name, f"{part}.{name}"} & endpoints, f"api_description.toml describes {part}.{name}"
    said = json.dumps(description(APP))
    for name in api_description.facts()["object"]:
        assert f"#/components/schemas/{name}" in said, f"nothing gives a {name}"


def test_the_description_is_well_formed_openapi() -> None:
    SCHEMA.validate()
    assert SCHEMA.raw_schema["openapi"].startswith("3.1.")


def test_it_is_served_to_whoever_asks(place: Place) -> None:
    answer = place.home.browser().get("/openapi.json")
    assert answer.content_type == "application/json"
    assert answer.get_json() == description(place.home.app)


def test_a_route_is_described_in_the_words_of_its_own_code() -> None:
    paths = SCHEMA.raw_schema["paths"]
    assert paths["/t/{table_id}/undo"]["post"]["summary"] == "Undo a seat's last move"
    assert {each["operationId"] for path in paths.values() for each in path.values()} == {
        rule.endpoint for rule in RULES
    }


def test_a_published_operation_keeps_its_name() -> None:
    operation = SCHEMA.raw_schema["paths"]["/games/{game}/aids/{aid}"]["post"]
    assert operation["operationId"] == "games.open_aid"


# -- the description is true --


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_a_made_up_request_is_answered_as_described(place: Place, path: str, method: str) -> None:
    schema = openapi.from_dict(description(place.home.app))
    schema.app = whole(place.home.app)
    operation = schema[path][method]
    broken = [GenerationMode.NEGATIVE] if operation.body else []

    varied = operation.body or operation.query or operation.path_parameters

    @settings(max_examples=EXAMPLES if varied else PLAIN, suppress_health_check=list(HealthCheck), database=None)
    @given(st.data())
    def ask(data: st.DataObject) -> None:
        mode = data.draw(st.sampled_from([GenerationMode.POSITIVE] * 3 + broken))
        case = data.draw(operation.as_strategy(mode))
        place.home.seconds += 10  # so that nobody is too fast for long
        accepted = data.draw(st.sampled_from(["application/json", "text/html"]))
        headers = {"Accept": accepted, "Accept-Encoding": "identity"}  # what asks here does not unpack
        cookies = {}
        if data.draw(st.sampled_from(["a guest", "a guest", "a guest", "a stranger"])) == "a guest":
            as_a_browser_would(data, place, case)
            cookies = place.seated()
            headers |= ORIGIN if method in WRITES else {}
        answer = case.call(headers=headers, cookies=cookies)
        case.validate_response(answer, checks=CHECKED)

    ask()


@every_case(
    ("path", "field"), [("/language", "language"), ("/t/{table_id}/play", "move"), ("/t/{table_id}/picks", "picked")]
)
@every_case(
    "value", [None, "", "[]", '[""]', "[[]]", "{}", "null", "[1]", "xx", "EN", "\N{LATIN SMALL LETTER E WITH ACUTE}"]
)
@every_case("more", [{}, {"text": ""}, {"text": "pass"}])
def test_what_the_description_forbids_is_refused_as_unreadable(
    place: Place, path: str, field: str, value: str | None, more: dict[str, str]
) -> None:
    """`[]` with a text beside it was taken for a move of that name, and any language for one that changes nothing."""
    asks = "get" if path.endswith("picks") else "post"
    operation = description(place.home.app)["paths"][path][asks]
    assert value is None or not _allows(_schema_of(operation, field), value)
    phone = place.home.browser()
    seat = place.home.services.tables.get(place.table.id).on_turn or "east"
    for name, cookie in place.seated().items():
        phone.client.set_cookie(name, cookie, path=f"/t/{place.table.id}")
    fields = {"seat": seat, "version": place.plausible("version")[0], "request": "r1", **more}
    fields |= {} if value is None else {field: value}
    where = path.format(table_id=place.table.id)
    answer = phone.get(f"{where}?{urlencode(fields)}") if asks == "get" else phone.post(where, fields)
    assert answer.status_code == 400


def test_what_the_description_allows_is_no_unreadable_move_and_no_unknown_language(place: Place) -> None:
    paths = description(place.home.app)["paths"]
    phone = place.home.browser()
    for language in ("en", "es"):
        assert _allows(_schema_of(paths["/language"]["post"], "language"), language)
        assert phone.post("/language", {"language": language}).status_code == 303
    for move in place.plausible("move"):
        assert _allows(_schema_of(paths["/t/{table_id}/play"]["post"], "move"), move)


def _schema_of(operation: dict[str, Any], field: str) -> dict[str, Any]:
    for parameter in operation["parameters"]:
        if parameter.get("name") == field:
            return dict(parameter["schema"])
    body = operation["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]
    assert field in body["required"]
    return dict(body["properties"][field])


def _allows(schema: dict[str, Any], value: str) -> bool:
    return value in schema["enum"] if "enum" in schema else bool(re.search(schema["pattern"], value))


def as_a_browser_would(data: st.DataObject, place: Place, case: Case) -> None:
    """Let a made-up request name things that are there, so that it comes further than the door."""
    for name, there in place.paths().items():
        if name in (case.path_parameters or {}):
            case.path_parameters[name] = data.draw(st.sampled_from(there))
    for fields in (case.body, case.query):
        if isinstance(fields, dict):
            for name in fields:
                if values := place.plausible(name):
                    fields[name] = data.draw(st.sampled_from(values))


@every_case("path", sorted({api_description.path_of(rule) for rule in RULES}))
def test_what_a_route_cannot_be_asked_is_refused_with_what_it_can(place: Place, path: str) -> None:
    known = {
        method
        for rule in RULES
        if api_description.path_of(rule) == path
        for method in api_description.methods_of(rule)
    }
    values = {name: there[0] for name, there in place.paths().items()}
    place.home.seconds += 60  # no request of another test counts against the allowance
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - known:
        for headers in (ORIGIN, {}):
            answer = place.home.browser().client.open(path.format(**values), method=method, headers=headers)
            assert (answer.status_code, set(answer.allow) - {"HEAD", "OPTIONS"}) == (405, known), method


def test_a_stream_is_answered_as_described(place: Place) -> None:
    for path in ("/t/{table_id}/stream", "/temples/{name}/stream"):
        described = SCHEMA.raw_schema["paths"][path]["get"]["responses"]
        values = {name: there[0] for name, there in place.paths().items()}
        with place.home.browser().client.get(path.format(**values)) as answer:
            assert list(described["200"]["content"]) == [answer.mimetype]
            assert next(answer.iter_encoded()) == b"retry: 1000\n\n"
        gone = place.home.browser().get(path.format(**dict.fromkeys(values, "0" * 32)))
        assert str(gone.status_code) in described
        assert gone.status_code == 404
