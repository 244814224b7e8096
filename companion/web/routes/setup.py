"""The first start: name, network, beams and first table, step by step; later the settings of the place."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, abort, request

from companion.model.network import NetworkRefused
from companion.model.table import ServiceError
from companion.web.rendering.qr import qr_drawing
from companion.web.site import BAD_FORM, FORBIDDEN, OWNER, language, prove, redirect_to, site

blueprint = Blueprint("setup", __name__)

STEPS = ("name", "network", "beams", "table")


@blueprint.get("/setup")
def setup() -> Response:
    """Redirect to the first step."""
    return redirect_to(site().url("setup_step", step=STEPS[0]))


@blueprint.get("/setup/step/<step>")
def setup_step(step: str) -> Response:
    """Show one step; it changes nothing."""
    if step not in STEPS:
        abort(404)
    return _step(step)


@blueprint.post("/setup/name")
def setup_name() -> Response:
    """Give the place its name, or none."""
    if not site().may_set_up():
        return _step("name", FORBIDDEN, site().words()("refusal.owner_only"))
    try:
        site().services.setup.rename(request.form.get("name", ""))
    except ServiceError as error:
        return _step("name", BAD_FORM, site().refusal(error))
    return redirect_to(site().url("setup_step", step="network"))


@blueprint.post("/setup/network")
def setup_network() -> Response:
    """Join a Wi-Fi. The response is a page, the last one for a phone on the hotspot before that is closed."""
    here, form = site(), request.form
    if not here.may_set_up():
        return _step("network", FORBIDDEN, here.words()("refusal.owner_only"))
    try:
        here.config.network.join(form.get("other", "").strip() or form.get("wifi", ""), form.get("password", ""))
    except NetworkRefused as error:
        return _step("network", BAD_FORM, here.words()("setup.not_joined", why=str(error)[:200]))
    return _step("network")


@blueprint.get("/setup/hotspot.svg")
def hotspot() -> Response:
    """Return the QR code by which a phone joins this machine's own Wi-Fi."""
    found = site().config.network.look().hotspot if site().may_set_up() else None
    if found is None:
        abort(404)
    return Response(qr_drawing(found.as_qr()), mimetype="image/svg+xml")


@blueprint.post("/setup/finish")
def setup_finish() -> Response:
    """Finish the setup, and redirect to a new table or to the first page."""
    if not site().may_set_up():
        return _step("table", FORBIDDEN, site().words()("refusal.owner_only"))
    site().services.setup.finish()
    return redirect_to(site().url("new_table" if request.form.get("then") == "table" else "first"))


@blueprint.post("/setup/code")
def setup_code() -> Response:
    """Check the owner's code, and let the browser remember it."""
    step = request.form.get("step", "")
    step = step if step in STEPS else STEPS[0]
    try:
        proof = site().owner_proof(request.form.get("code", ""))
    except ServiceError as error:
        return _step(step, FORBIDDEN, site().refusal(error))
    response = redirect_to(site().url("setup_step", step=step))
    path = site().url("setup")
    prove(response, OWNER, proof, path)
    return response


def _step(step: str, status: int = 200, problem: str = "") -> Response:
    here = site()
    place = STEPS.index(step)
    context: dict[str, Any] = {
        "step": step,
        "steps": STEPS,
        "before": STEPS[place - 1] if place else "",
        "after": STEPS[place + 1] if place + 1 < len(STEPS) else "",
        "setup": here.services.setup,
        "allowed": here.may_set_up(),
        "problem": problem,
        "boot_fault": here.config.boot_fault(),
        "known_update": here.config.known_update(),
        "owner_file": here.config.owner_file,
    }
    if step == "network":
        context |= {
            "network": here.config.network.look(),
            "address": here.address,
            "name_address": here.config.name_address(),
        }
    elif step == "beams":
        context |= _beams()
    return here.page("setup.html", status, **context)


def _beams() -> dict[str, Any]:
    """Return what shows a temple's beams as they are: the one that was asked for, or the first that is at work."""
    here = site()
    temples = sorted(here.services.temples.all(), key=lambda temple: not temple.alive)
    chosen = next((each for each in temples if each.name == request.args.get("temple")), next(iter(temples), None))
    if chosen is None:
        return {"temples": (), "temple": None}
    rendered = here.rendered_temple(chosen, language())
    return {
        "temples": temples,
        "temple": chosen,
        "rendered": rendered,
        "stream_url": here.url("temple_stream", name=chosen.name),
        "region": here.temple_region(rendered),
    }
