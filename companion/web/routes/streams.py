"""The event streams, which send each browser what has changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

from flask import Blueprint, Response, request

from companion.adapters.news import HubClosed, RenderedPage, Stream, StreamsFull
from companion.model.table import ServiceError
from companion.web.server.broadcast import STREAM, Piece
from companion.web.server.encoding import Gzip, Plain
from companion.web.server.guard import Refused, client
from companion.web.site import COMING, language, seat_token, site
from companion.web.view_models.table import table_topics, temple_topics

blueprint = Blueprint("streams", __name__)

RETRY_AFTER = 5
BEGIN = b"retry: 1000\n\n"
RELOAD = b"event: reload\ndata: {}\n\n"
STALE = b"event: stale\ndata: {}\n\n"
"""What is stored cannot be read: the page stays as it is, and its script opens the stream again."""
CURRENT = b"event: heartbeat\ndata: {}\n\n"
"""The heartbeat: the page is current. It is an event, because scripts do not see a stream's comments."""


def stale_if_unreadable(view: Callable[..., Response]) -> Callable[..., Response]:
    """Return a view of a stream that says that the page is stale while what is stored cannot be read."""

    @wraps(view)
    def opened(*given: str, **named: str) -> Response:
        try:
            return view(*given, **named)
        except ServiceError as error:
            if error.code != "store_failing":
                raise
            return Response(BEGIN + STALE, mimetype="text/event-stream")

    return opened


@blueprint.get("/t/<table_id>/stream")
@stale_if_unreadable
def stream(table_id: str) -> Response:
    """Stream the changes of a table, for a phone or a screen."""
    here = site()
    table = here.services.tables.visit(table_id)
    asked, stand_in = request.args.get("as", ""), request.args.get("for", "")[:24]
    layout = {"screen": "screen", "sit": "sit", "drop": "sit"}.get(asked, "phone")
    audience = here.audience(table, layout, stand_in)
    token = seat_token(table_id)
    # Only the page that waits for a token: who taps a seat is on the way to the table already.
    coming = here.services.seats.pending_token(table_id, request.cookies.get(COMING, "")) if asked == "drop" else ""

    def look() -> RenderedPage | None:
        """Return the page now, or None if this phone has gained or lost a seat since the page was made."""
        if here.visible_seats(table_id, layout, token, stand_in) != audience.seats:
            return None
        if coming and here.services.seats.own(table_id, coming):
            return None
        return here.rendered(table, audience)

    return stream_of(table_topics(table_id), look)


@blueprint.get("/temples/<name>/stream")
@stale_if_unreadable
def temple_stream(name: str) -> Response:
    """Stream the changes of a temple."""
    here = site()
    temple = here.services.temples.get(name)
    spoken = language()
    return stream_of(temple_topics(name), lambda: here.rendered_temple(temple, spoken))


def stream_of(topics: Sequence[str], look: Callable[[], RenderedPage | None]) -> Response:
    """Return the stream of what changes under some topics; `look` gives the page, or none to have it loaded again.

    Raises `Refused` if too many are open.
    """
    encoding = Gzip() if request.accept_encodings["gzip"] else Plain()
    seen, mark = request.headers.get("Last-Event-ID") or request.args.get("seen", ""), request.args.get("mark", "")
    events = EventStream(topics[0], look, encoding, seen, mark)
    try:
        events.place = site().hub.open(topics, events.news, client(request.remote_addr))
    except (StreamsFull, HubClosed):
        raise Refused(503, "streams_full", RETRY_AFTER) from None
    begin = encoding.begin() + encoding.piece(BEGIN)
    encoding.sent(BEGIN)
    goes_on = STREAM in request.environ and request.method != "HEAD"
    if goes_on:
        request.environ[STREAM] = events
    else:
        events.closed()
    response = Response(iter([begin]) if goes_on else begin, mimetype="text/event-stream")
    if encoding.name:
        response.headers["Content-Encoding"] = encoding.name
    response.headers["Vary"] = "Accept-Encoding"
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response


class EventStream:
    """The stream of one browser, after its response has begun."""

    place: Stream

    def __init__(
        self,
        key: str,
        look: Callable[[], RenderedPage | None],
        encoding: Plain,
        seen: str,
        mark: str,
    ) -> None:
        self.key = key
        self.wake: Callable[[], None] = lambda: None
        self._look = look
        self._encoding = encoding
        self._seen = seen
        self._mark = mark

    def news(self) -> None:
        """Schedule the stream: something changed, or it is over."""
        self.wake()

    def closed(self) -> None:
        """Leave the hub."""
        self.place.leave()

    def next(self, fresh: bool) -> Piece:
        """Return what to send now, and whether that is the end; `fresh` says whether there is news."""
        if self.place.ended:
            return self._over(CURRENT)
        try:
            rendered = self._rendered() if fresh else None
        except ServiceError as error:
            return self._over(STALE if error.code == "store_failing" else RELOAD)
        if fresh and rendered is None:
            return self._over(RELOAD)
        data = CURRENT if rendered is None else rendered.event(self._seen) or CURRENT
        if rendered is not None:
            self._seen, self._mark = rendered.id, rendered.mark
        return self._piece(data), False

    def _rendered(self) -> RenderedPage | None:
        """Return the page now, or None if the page must load again."""
        rendered = self._look()
        return None if rendered is None or (self._mark and rendered.mark != self._mark) else rendered

    def _piece(self, data: bytes) -> bytes:
        piece = self._encoding.piece(data)
        self._encoding.sent(data)
        return piece

    def _over(self, last: bytes) -> Piece:
        self.place.leave()
        return self._piece(last) + self._encoding.end(), True
