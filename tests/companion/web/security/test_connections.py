"""Limits of one address on connections, on a request's time and on streams; pages are answered all the while."""

from __future__ import annotations

import http.client
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from companion.settings import WebSettings
from companion.web.server import connections
from companion.web.server.connections import room_for
from companion.web.server.serving import Server
from tests.companion.web.conftest import WebHome

HERE, OTHER = "127.0.0.1", "127.0.0.2"
PATIENCE_S = 60


class Wire:
    """The web face behind a real socket, and clients of any address of loopback."""

    def __init__(self, home: WebHome) -> None:
        self.home = home
        self._opened: list[socket.socket] = []
        self._ends: list[Callable[[], None]] = []

    def serve(self, streams: int = 8, connections_each: int = 64, proxy: str = "") -> Server:
        settings = WebSettings(HERE, 0, streams=streams, connections_each=connections_each, proxy=proxy)
        server = Server(self.home.app, settings)
        self.home.hub.cap = self.home.hub.cap_each = streams
        self.port = server.port
        thread = threading.Thread(target=server.serve)
        thread.start()

        def end() -> None:
            self.home.hub.close()
            server.stop()
            thread.join(PATIENCE_S)
            assert not thread.is_alive()

        self._ends.append(end)
        return server

    def connect(self, address: str = HERE, first: bytes = b"") -> socket.socket:
        connection = socket.create_connection((HERE, self.port), PATIENCE_S, (address, 0))
        self._opened.append(connection)
        connection.sendall(first)
        return connection

    def ask(self, connection: socket.socket, path: str = "/healthz", **headers: str) -> http.client.HTTPResponse:
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        connection.sendall(("\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *lines]) + "\r\n\r\n").encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer

    def status(self, address: str = HERE, path: str = "/healthz", **headers: str) -> int:
        connection = self.connect(address)
        answer = self.ask(connection, path, Connection="close", **headers)
        answer.read()
        return answer.status

    def end(self) -> None:
        for connection in self._opened:
            connection.close()
        for end in self._ends:
            end()


@pytest.fixture
def wire(home: WebHome) -> Iterator[Wire]:
    wire = Wire(home)
    yield wire
    wire.end()


def is_closed(connection: socket.socket) -> bool:
    """Wait until the server hangs up; return whether it did."""
    try:
        while connection.recv(4096):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


def await_idle(server: Server) -> None:
    """Wait until the threads of the server have put down every request: a client may have its answer before."""
    deadline = time.monotonic() + PATIENCE_S
    while sum(map(len, server.connections._idle.values())) < len(server.connections):
        assert time.monotonic() < deadline, "the server is never idle"
        time.sleep(0.01)


@pytest.mark.parametrize("head", [b"", b"GET / HTTP/1.1\r\nHost: loc"])
def test_pages_are_answered_to_everybody_while_one_address_holds_300_half_open_connections(
    wire: Wire, head: bytes
) -> None:
    wire.serve(streams=3)
    for _ in range(300):
        wire.connect(first=head)
    assert wire.status(OTHER, "/") == 200
    assert wire.status(HERE, "/") == 200  # even to a browser behind that very address
    for _ in range(50):
        wire.connect(first=head)
        assert wire.status(HERE) == 200


def test_an_address_that_opens_too_many_connections_loses_those_that_it_uses_least(wire: Wire) -> None:
    server = wire.serve(connections_each=4)
    first, second, third, fourth = (wire.connect() for _ in range(4))
    for each in (first, second, third, fourth, first):
        assert wire.ask(each).read()
        await_idle(server)
    fifth = wire.connect()
    assert wire.ask(fifth).read()
    assert is_closed(second)
    for each in (third, fourth, fifth, first):
        assert wire.ask(each).read()
    assert len(server.connections) == 4


def test_what_is_at_work_is_not_closed_and_where_all_is_the_next_is_refused(wire: Wire) -> None:
    wire.serve(streams=4, connections_each=4)
    path = f"/t/{wire.home.table().id}/stream?as=phone&seen="
    streams = [wire.ask(wire.connect(), path) for _ in range(4)]
    assert [each.status for each in streams] == [200] * 4
    assert [wire.status(HERE), wire.status(OTHER)] == [503, 200]
    for each in streams:
        assert each.readline() == b"retry: 1000\n"


def test_connections_leave_the_descriptors_that_select_can_count_to_the_broker_and_the_databases(wire: Wire) -> None:
    server = wire.serve(streams=500)
    assert server.connections.most >= 500
    path = f"/t/{wire.home.table().id}/stream?as=phone&seen="
    assert wire.ask(wire.connect(), path).status == 200
    (held,) = server.connections.open[HERE]
    assert held._transport.get_extra_info("socket").fileno() >= 1024


@pytest.mark.parametrize(
    ("hard", "connections", "expected"),
    [
        (524_288, 2_000, (2_000, 1024)),
        (4_096, 100_000, (3_072, 1024)),
        (1_024, 2_000, (768, 0)),
        (1_500, 2_000, (768, 0)),
        (1_500, 100, (100, 1024)),
    ],
)
def test_where_the_system_allows_few_descriptors_there_are_as_many_connections_as_fit(
    monkeypatch: pytest.MonkeyPatch, hard: int, connections: int, expected: tuple[int, int]
) -> None:
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limit: limits.append(limit))
    assert room_for(connections) == expected
    assert all(soft <= top == hard for soft, top in limits)


def test_a_sandbox_that_forbids_to_raise_the_limit_is_as_good_as_a_low_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(resource, "getrlimit", lambda _: (4_096, 524_288))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert room_for(100_000) == (3_072, 1024)


def test_where_all_places_are_taken_the_address_that_has_most_makes_room(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = wire.serve(connections_each=64)
    server.connections.most = 10
    phone = wire.connect(OTHER)
    assert wire.ask(phone).read()
    many = [wire.connect() for _ in range(9)]
    assert wire.status("127.0.0.3") == 200
    assert is_closed(many[0])
    assert wire.ask(phone).read()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\n",
        b"POST /join HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\ncode=",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT",
    ],
    ids=["nothing", "a head", "a body", "a second head"],
)
def test_a_request_that_takes_too_long_is_cut_off_however_slowly_it_goes_on(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.5)
    monkeypatch.setattr(connections, "BODY_S", 0.5)
    wire.serve()
    connection = wire.connect(first=sent)
    ending = threading.Event()

    def drip() -> None:
        while sent and not ending.wait(0.1):
            try:
                connection.sendall(b"x")
            except OSError:
                return

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        assert is_closed(connection)
    finally:
        ending.set()
        dripping.join()


def test_a_page_that_is_not_read_is_cut_off(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READ_S", 0.5)
    wire.home.app.add_url_rule("/large", view_func=lambda: "x" * 30_000_000)
    server = wire.serve()
    connection = wire.connect(first=b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
    deadline = time.monotonic() + PATIENCE_S
    while not len(server.connections):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    while len(server.connections):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert is_closed(connection)


def test_a_browser_s_connection_may_rest_between_two_requests(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.2)
    server = wire.serve()
    resting = wire.connect()
    assert wire.ask(resting).read()
    slow = wire.connect(first=b"GET")
    assert is_closed(slow)  # so a look at what is overdue has passed
    assert wire.ask(resting).read()
    assert len(server.connections) == 1


def test_streams_are_counted_for_each_address(wire: Wire) -> None:
    wire.serve(streams=8)
    wire.home.hub.cap_each = 2
    path = f"/t/{wire.home.table().id}/stream?as=phone&seen="
    for address in (HERE, OTHER):
        kept = [wire.ask(wire.connect(address), path) for _ in range(2)]
        refused = wire.ask(wire.connect(address), path)
        assert [each.status for each in kept] == [200, 200]
        assert (refused.status, refused.getheader("Retry-After")) == (503, "5")
        assert refused.read()


def test_a_reverse_proxy_has_any_number_of_connections_and_its_word_for_its_clients(wire: Wire) -> None:
    server = wire.serve(connections_each=2, proxy=HERE)
    resting = [wire.connect() for _ in range(6)]
    for each in resting:
        assert wire.ask(each).read()
    assert len(server.connections) == 6
    table = wire.home.lobby()
    for _ in range(10):
        assert wire.status(HERE, "/j/WRONG2", X_Forwarded_For="192.168.1.30") == 403
    assert wire.status(HERE, f"/j/{table.code}", X_Forwarded_For="192.168.1.30") == 429
    assert wire.status(HERE, f"/j/{table.code}", X_Forwarded_For="192.168.1.31") == 200
    assert wire.status(OTHER, f"/j/{table.code}", X_Forwarded_For="192.168.1.30") == 200  # no proxy of ours
    deadline = time.monotonic() + PATIENCE_S
    while len(server.connections) > 6:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_two_host_headers_are_refused(wire: Wire) -> None:
    wire.serve()
    assert wire.status(host="localhost") == 400
