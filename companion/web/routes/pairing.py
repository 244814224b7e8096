"""Where a new temple uses its code: `templo-controller pair` posts it, and is given what it needs to count."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, request

from companion.model.table import ServiceError
from companion.web.server.guard import host_name
from companion.web.site import site

blueprint = Blueprint("pairing", __name__)


@blueprint.post("/pair")
def pair() -> Response:
    """Give a temple its name, its user at the broker and the brokers' addresses, for a code of the organiser.

    A wrong code is counted with those of tables. One that was used or has expired is not: nobody guesses it.
    """
    here = site()
    here.lockout.check(request.remote_addr)
    typed = request.form.get("code", "")
    try:
        code = here.services.pairing.find(typed)
    except ServiceError as error:
        if error.code == "wrong_pairing_code":
            here.lockout.wrong(request.remote_addr)
        raise
    credentials = here.config.offered.of(code.temple)
    if credentials is None:
        raise ServiceError("not_offered", temple=code.temple)
    table = here.services.pairing.use(typed)
    return jsonify(
        temple=code.temple,
        brokers=here.config.brokers(host_name(request.host)),
        user=credentials.user,
        password=credentials.password,
        table=table.title if table else "",
    )
