"""Checks whether a request is allowed at all: host, origin, headers, size, and too many wrong codes before."""

from __future__ import annotations

import ipaddress
import math
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlsplit

from flask import Flask, Response, request
from werkzeug.exceptions import MethodNotAllowed

MAX_BODY = 16_384
"""Bytes. A longer body is refused with 413, but at the few endpoints that take files."""

MOST_FIELDS = 200
"""Fields of a form; more are refused with 413."""

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})

CONTENT_POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"


class Refused(Exception):
    """A request that is turned away at the door: its status and the key of its words."""

    def __init__(self, status: int, code: str, retry_after: int = 0, **facts: str | int) -> None:
        super().__init__(f"{status} {code}")
        self.status = status
        self.code = code
        self.facts = facts
        self.retry_after = retry_after


def host_name(host: str) -> str:
    """Return the name in a Host header without its port: ``"[::1]:8000"`` is ``"::1"``; empty if it is none.

    Two headers arrive as one with a comma, and are none: a proxy may have looked at the other one.

    >>> host_name("Templo.local:80"), host_name("templo.local:80, evil.example:80"), host_name("evil@templo.local")
    ('templo.local', '', '')
    """
    try:
        read = urlsplit(f"//{host}")
        whole = read.netloc == host and read.username is None and host.isprintable() and "," not in host
        return (read.hostname or "").rstrip(".") if whole and read.port != 0 else ""
    except ValueError:
        return ""


class Hosts:
    """The names and addresses that this companion answers to: a name that leads here from elsewhere is none.

    A machine's own names and addresses change while it runs, so they are asked again, at most every few seconds.
    """

    def __init__(self, names: Iterable[str], own: Callable[[], Iterable[str]], clock: Callable[[], float]) -> None:
        self._names = frozenset(name.lower().strip("[]").rstrip(".") for name in names)
        self._find_own = own
        self._clock = clock
        self._found: tuple[float, frozenset[str]] | None = None

    def known(self, host: str) -> bool:
        """Return whether a Host header names this companion."""
        name = host_name(host)
        return bool(name) and (name in self._names or name in self._own())

    def _own(self) -> frozenset[str]:
        if self._found is None or self._clock() - self._found[0] > 5:
            self._found = (self._clock(), frozenset(self._find_own()))
        return self._found[1]


def install(
    app: Flask,
    names: Iterable[str],
    own: Callable[[], Iterable[str]],
    clock: Callable[[], float],
    larger: Mapping[str, int],
) -> None:
    """Guard every route of the app: known hosts, writes of its own pages only, headers on every answer.

    `names` are allowed beside this machine's own names and addresses, which `own` returns. `larger` gives the bytes
    that a body may have at the endpoints that take files; everywhere else it is `MAX_BODY`.
    """
    hosts = Hosts(names, own, clock)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY
    app.config["MAX_FORM_MEMORY_SIZE"] = MAX_BODY
    app.config["MAX_FORM_PARTS"] = MOST_FIELDS

    @app.before_request
    def check() -> None:
        host = request.environ.get("HTTP_HOST", "")
        if not hosts.known(host):
            raise Refused(400, "foreign_host", host=host[:80] or "-")
        if request.method in WRITES:
            undeclared = isinstance(request.routing_exception, MethodNotAllowed)  # and so writes nothing
            if not undeclared and request.headers.get("Origin", "") != f"{request.scheme}://{host}":
                raise Refused(403, "foreign_origin")
            most = larger.get(request.endpoint or "", MAX_BODY)
            request.max_content_length = request.max_form_memory_size = most
            if (request.content_length or 0) > most:
                raise Refused(413, "too_large", most=most)
            # werkzeug counts the fields of a form with files alone, and splitting half a megabyte of "&" is costly.
            if request.mimetype == "application/x-www-form-urlencoded":
                data = request.get_data(cache=True, parse_form_data=False)
                if data.count(b"&") >= MOST_FIELDS:
                    raise Refused(413, "many_fields", most=MOST_FIELDS)

    @app.after_request
    def add_security_headers(response: Response) -> Response:
        headers = response.headers
        headers.setdefault("Content-Security-Policy", CONTENT_POLICY)
        headers["X-Content-Type-Options"] = "nosniff"
        # Not "no-referrer": with it a browser sends "Origin: null" from our own forms.
        headers["Referrer-Policy"] = "same-origin"
        headers["X-Frame-Options"] = "DENY"
        headers["Cross-Origin-Opener-Policy"] = "same-origin"
        headers["Cross-Origin-Resource-Policy"] = "same-origin"
        headers.setdefault("Cache-Control", "no-store")
        return response


def client(address: str | None) -> str:
    """Return the client that is counted for an address: itself, or for IPv6 its network, which is one household."""
    try:
        ip = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return address or ""
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped:
            return str(ip.ipv4_mapped)
        return str(ipaddress.ip_network((ip, 64), strict=False)) if not ip.is_link_local else str(ip)
    return str(ip)


WITHIN_S = 300.0
"""How long a wrong code counts."""

MOST_IN_ALL = 600
"""The most wrong codes of everybody, within that time."""


class Lockout:
    """Counts wrong codes, for each address and in all; after too many within a time, no code is checked.

    In all there may be sixty times as many as for one address: a guesser of many addresses needs decades too, and
    locks out whoever wants to join by a code meanwhile, but nobody who holds a seat or a screen.
    `clock` gives seconds that never run backwards.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        most: int = 10,
        addresses: int = 4096,
        announce: Callable[[str], None] = lambda who: None,
    ) -> None:
        """`announce` is given who typed each wrong code, for other companions of one installation to `count`."""
        self._announce = announce
        self._clock = clock
        self._most = most
        self._addresses = addresses
        self._lock = threading.Lock()
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()
        self._in_all: deque[float] = deque(maxlen=MOST_IN_ALL)

    def check(self, address: str | None) -> None:
        """Raise `Refused` 429 while the address, or everybody, is locked out."""
        who = client(address)
        with self._lock:
            for times in (self._recent(self._wrong.get(who, deque(maxlen=self._most))), self._recent(self._in_all)):
                if len(times) == times.maxlen:
                    wait = math.ceil(times[0] + WITHIN_S - self._clock())
                    raise Refused(429, "locked_out", retry_after=wait, n=-(-wait // 60))

    def wrong(self, address: str | None) -> None:
        """Count one wrong code, here and at every companion of the installation."""
        self.count(client(address))
        self._announce(client(address))

    def count(self, who: str) -> None:
        """Count one wrong code of a client."""
        with self._lock:
            times = self._wrong.setdefault(who, deque(maxlen=self._most))
            times.append(self._clock())
            self._in_all.append(self._clock())
            self._wrong.move_to_end(who)
            while len(self._wrong) > self._addresses:
                self._wrong.popitem(last=False)

    def _recent(self, times: deque[float]) -> deque[float]:
        while times and times[0] <= self._clock() - WITHIN_S:
            times.popleft()
        return times
