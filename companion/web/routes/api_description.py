"""Describes the HTTP interface as an OpenAPI 3.1 document, generated from the routes.

Parameters and responses are declared in `api_description.toml`; a route that is missing there gets only what all
routes share.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from flask import Blueprint, Flask, Response, current_app, jsonify, request
from werkzeug.routing import Rule

from companion.web.routes.uploads import MAX_UPLOAD
from companion.web.server.guard import MAX_BODY, WRITES

blueprint = Blueprint("interface", __name__)

VERSION = 1
"""Of the interface: it is raised where a route or a field goes or means something else, not where one comes."""

ALWAYS = (400,)
WRITING = (403, 413, 429)
OF_A_PLACE = (404,)
AT_A_TABLE = (404, 409, 429)

_CONVERTED = re.compile(r"<(?:[^:>]+:)?([^>]+)>")


@blueprint.get("/openapi.json")
def interface() -> Response:
    """Return the description of this interface."""
    app = current_app
    if "interface" not in app.extensions:
        app.extensions["interface"] = description(app)
    return jsonify(at(app.extensions["interface"], f"{request.scheme}://{request.host}", request.script_root))


@cache
def facts() -> Mapping[str, Any]:
    """Return what `api_description.toml` declares."""
    return tomllib.loads(Path(__file__).with_name("api_description.toml").read_text(encoding="utf-8"))


def known(endpoint: str) -> Mapping[str, Any] | None:
    """Return what is written down about an endpoint, or nothing if it is missing."""
    part, _, name = endpoint.rpartition(".")
    found: Mapping[str, Any] | None = facts().get(part or name, {}).get(name)
    return found


def path_of(rule: Rule) -> str:
    """Return a route's path as OpenAPI writes it."""
    return _CONVERTED.sub(r"{\1}", rule.rule)


def methods_of(rule: Rule) -> list[str]:
    """Return what may be asked of a route, without what every route answers by itself."""
    return sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})


def at(described: Mapping[str, Any], origin: str, prefix: str = "") -> dict[str, Any]:
    """Return a description as it stands at an address, such as ``http://templo.local``: a post comes from there."""
    about = {"about": "The origin of this companion's own pages.", "schema": {"type": "string", "const": origin}}
    components = {**described["components"], "parameters": {"Origin": _parameter("header", "Origin", about)}}
    return {**described, "servers": [{"url": f"{origin}{prefix}"}], "components": components}


def description(app: Flask) -> dict[str, Any]:
    """Return the OpenAPI description of every route of the app, wherever it runs; `at` completes it."""
    paths: dict[str, dict[str, Any]] = {}
    for rule in sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule):
        for method in methods_of(rule):
            paths.setdefault(path_of(rule), {})[method.lower()] = _operation(app, rule, method)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Templo Mayor", "version": str(VERSION), "description": facts()["about"]},
        "paths": paths,
        "components": {"schemas": {name: dict(schema) for name, schema in facts()["object"].items()}},
    }


def _operation(app: Flask, rule: Rule, method: str) -> dict[str, Any]:
    declared = known(rule.endpoint) or {}
    view = inspect.getdoc(app.view_functions[rule.endpoint]) or ""
    summary, _, more = view.partition("\n")
    operation: dict[str, Any] = {
        "operationId": rule.endpoint,
        "summary": summary.rstrip(".") if rule.endpoint != "static" else "Return a file that the pages use",
        "parameters": [
            *(_parameter("path", name, facts()["path"].get(name, {})) for name in _CONVERTED.findall(rule.rule)),
            *(_field("query", name) for name in declared.get("query", ())),
        ],
        "responses": _answers(rule, method, declared),
    }
    if more.strip() and rule.endpoint != "static":
        operation["description"] = more.strip()
    if method in WRITES:
        operation["parameters"].append({"$ref": "#/components/parameters/Origin"})
    if declared.get("form"):
        operation["requestBody"] = _body(declared)
    return operation


def _parameter(place: str, name: str, about: Mapping[str, Any], required: bool = True) -> dict[str, Any]:
    return {
        "in": place,
        "name": name,
        "required": required,
        "description": about.get("about", ""),
        "schema": about.get("schema", {"type": "string"}),
    }


def _field(place: str, name: str) -> dict[str, Any]:
    plain = name.removesuffix("?")
    about = facts()["field"][plain]
    if not plain.endswith("*"):
        return _parameter(place, plain, about, required=plain == name)
    # OpenAPI can describe a group of parameters only as an object that is spread out.
    names = {"pattern": _beginning(plain)}
    group = {"type": "object", "propertyNames": names, "additionalProperties": about["schema"]}
    spread = _parameter(place, plain.removesuffix(".*"), {**about, "schema": group}, required=False)
    return {**spread, "style": "form", "explode": True}


def _beginning(name: str) -> str:
    """Return the pattern of every field that a name ending in ``*`` stands for."""
    return f"^{re.escape(name.removesuffix('*'))}"


def _described(about: Mapping[str, Any]) -> dict[str, Any]:
    return {**about["schema"], "description": about["about"]}


def _body(declared: Mapping[str, Any]) -> dict[str, Any]:
    fields = declared["form"]
    named = [name.removesuffix("?") for name in fields if not name.endswith("*")]
    schema: dict[str, Any] = {
        "type": "object",
        "required": [name for name in fields if not name.endswith(("?", "*"))],
        "properties": {name: _described(facts()["field"][name]) for name in named},
    }
    if grouped := [name for name in fields if name.endswith("*")]:
        schema["patternProperties"] = {_beginning(name): _described(facts()["field"][name]) for name in grouped}
    content = {"application/x-www-form-urlencoded": {"schema": schema}}
    most = MAX_BODY
    if declared.get("files"):
        most = MAX_UPLOAD
        file = {"type": "string", "description": "A file of the table's own for that house rule."}
        with_files = {**schema, "patternProperties": {**schema["patternProperties"], _beginning("file.*"): file}}
        content["multipart/form-data"] = {"schema": with_files}
    return {"required": True, "description": f"At most {most} bytes.", "content": content}


def _answers(rule: Rule, method: str, declared: Mapping[str, Any]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for given in declared.get("gives", ()):
        if given == "moved":
            location = {"Location": {"required": True, "schema": {"type": "string", "pattern": "^/"}}}
            answers["303"] = {**_answer(303, ("text/html",)), "headers": location}
        elif given in facts()["media"]:
            answers.setdefault("200", _answer(200, ()))["content"] |= {each: {} for each in facts()["media"][given]}
        else:
            schema = {"schema": {"$ref": f"#/components/schemas/{given}"}}
            answers.setdefault("200", _answer(200, ()))["content"]["application/json"] = schema
        if given == "file":
            answers |= {
                "206": _answer(206, facts()["media"]["file"]),
                "304": {"description": facts()["status"]["304"]},
            }
            answers["416"] = _bad(416)
    answers |= {str(status): _bad(status) for status in _failures(rule, method, declared)}
    return dict(sorted(answers.items()))


def _failures(rule: Rule, method: str, declared: Mapping[str, Any]) -> Iterable[int]:
    found = {*ALWAYS, *declared.get("may", ())}
    if method in WRITES:
        found |= {*WRITING}
    if "<" in rule.rule:
        found |= {*OF_A_PLACE}
    if "<table_id>" in rule.rule:
        found |= {*AT_A_TABLE} | ({503} if method in WRITES else set())
    return found


def _answer(status: int, media: Iterable[str]) -> dict[str, Any]:
    return {"description": facts()["status"][str(status)], "content": {each: {} for each in media}}


def _bad(status: int) -> dict[str, Any]:
    bad = _answer(status, ("text/html",))
    bad["content"]["application/json"] = {"schema": {"$ref": "#/components/schemas/Told"}}
    if status == 429:
        bad["headers"] = {"Retry-After": {"required": True, "schema": {"type": "string", "pattern": "^[0-9]+$"}}}
    return bad
