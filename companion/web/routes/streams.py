"""The event streams: what changed, sent to each browser as it happens. It waits and never polls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from flask import Blueprint, Response, request

from companion.adapters.news import HubClosed, Picture, Stream, StreamsFull
from companion.model.table import ServiceError
from companion.web.server.guard import Refused, client
from companion.web.site import language, seat_token, site
from companion.web.view_models.table import table_topic, temple_topics

blueprint = Blueprint("streams", __name__)

HEARTBEAT = 8.0
"""Seconds. It keeps the way open and finds out who has hung up; `live.js` waits 20 s for one."""

PACE = 0.04
"""Seconds at least between two pictures of one stream: a burst is a few pictures, a single token is at once."""

RETRY_AFTER = 5
RELOAD = b"event: reload\ndata: {}\n\n"
CURRENT = b"event: heartbeat\ndata: {}\n\n"
"""The page shows what is. An event, because a browser hands no comment of a stream to its script."""


@blueprint.get("/t/<table_id>/stream")
def stream(table_id: str) -> Response:
    """Send what changes at a table, for a phone or a screen."""
    here = site()
    table = here.services.tables.get(table_id)
    layout, stand_in = "screen" if request.args.get("as") == "screen" else "phone", request.args.get("for", "")[:24]
    audience = here.audience(table, layout, stand_in)
    token = seat_token(table_id)

    def look() -> Picture | None:
        """Return the picture now, or none when this phone has gained or lost a seat since the page was made."""
        if here.seats_shown(table_id, layout, token, stand_in) != audience.seats:
            return None
        return here.picture(table, audience)

    return _stream([table_topic(table_id)], look)


@blueprint.get("/temples/<name>/stream")
def temple_stream(name: str) -> Response:
    """Send what changes about a temple."""
    here = site()
    temple = here.services.temples.get(name)
    spoken = language()
    return _stream(temple_topics(name), lambda: here.temple_picture(temple, spoken))


def _stream(topics: Sequence[str], look: Callable[[], Picture | None]) -> Response:
    gone: Callable[[], bool] = request.environ.get("waitress.client_disconnected", lambda: False)
    try:
        stream = site().hub.open(topics, gone, client(request.remote_addr))
    except (StreamsFull, HubClosed):
        raise Refused(503, "streams_full", RETRY_AFTER) from None
    seen = request.headers.get("Last-Event-ID") or request.args.get("seen", "")
    mark = request.args.get("mark", "")
    response = Response(_events(stream, look, seen, mark), mimetype="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    response.call_on_close(stream.leave)
    return response


def _events(stream: Stream, look: Callable[[], Picture | None], seen: str, mark: str) -> Iterator[bytes]:
    yield b"retry: 1000\n\n"
    while not stream.ended:
        try:
            picture = look()
        except ServiceError:
            picture = None
        if picture is None or (mark and picture.mark != mark):
            yield RELOAD
            return
        yield picture.event(seen) or CURRENT
        seen, mark = picture.id, picture.mark
        looked = time.monotonic()
        while not stream.wait(HEARTBEAT) and not stream.ended:
            yield CURRENT
        pause = looked + PACE - time.monotonic()
        if pause > 0 and not stream.ended:
            time.sleep(pause)
