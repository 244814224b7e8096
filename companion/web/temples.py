"""The temples' pages: how each is, in plain words, what it counted, and which table it serves."""

from __future__ import annotations

from flask import Blueprint, Response

from companion.web.site import language, site

blueprint = Blueprint("temples", __name__)


@blueprint.get("/temples")
def temples() -> Response:
    """Show every temple that was ever heard of."""
    here = site()
    return here.page(
        "temples.html",
        temples=here.house.temples(),
        titles={table.id: table.title for table in here.house.tables()},
    )


@blueprint.get("/temples/<name>")
def temple(name: str) -> Response:
    """Show one temple."""
    here = site()
    picture = here.temple_picture(here.house.temple(name), language())
    return here.page(
        "temple.html",
        name=name,
        picture=picture,
        notice="",
        stream_url=here.url("temple_stream", name=name),
        region=here.temple_region(picture),
    )
