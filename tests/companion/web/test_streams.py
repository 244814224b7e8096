"""The event streams over real sockets: what changed leaves at once, places are counted, and the end is prompt."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

import pytest

from companion.model.table import ServiceError, Table
from companion.settings import WebSettings
from companion.web.routes.uploads import MAX_UPLOAD
from companion.web.server import broadcast
from companion.web.server.serving import ServeError, Server
from templo import contract
from tests.companion.web.conftest import ORGANISER, WebHome
from tests.waiting import eventually


@dataclass
class Served:
    """The web face behind a real socket."""

    home: WebHome
    server: Server
    thread: threading.Thread
    connections: list[http.client.HTTPConnection] = field(default_factory=list)

    @property
    def port(self) -> int:
        return self.server.port

    def stop(self) -> None:
        self.home.hub.close()
        self.server.stop()
        self.thread.join(60)
        assert not self.thread.is_alive()

    def hang_up(self) -> None:
        for connection in self.connections:
            connection.close()

    def get(self, path: str, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path, headers={"Host": f"localhost:{self.port}", **headers})
        self.connections.append(connection)
        return connection.getresponse()

    def post(self, path: str, form: Mapping[str, str]) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        host = f"localhost:{self.port}"
        headers = {"Host": host, "Origin": f"http://{host}", "Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", path, urlencode(form), headers)
        self.connections.append(connection)
        return connection.getresponse()

    def stream(self, path: str, **headers: str) -> Reader:
        answer = self.get(path, **headers)
        return Reader(answer, self.connections[-1])


class Reader:
    """Reads one event stream as a browser does."""

    def __init__(self, answer: http.client.HTTPResponse, connection: http.client.HTTPConnection) -> None:
        self.answer = answer
        self.connection = connection

    def event(self) -> dict[str, str]:
        """Return the fields of the next event; comments and heartbeats are left out, an end is empty."""
        fields: dict[str, str] = {}
        while line := self.answer.readline().decode():
            name, _, value = line.rstrip("\n").partition(": ")
            if not name and fields:
                if fields.keys() != {"retry"} and fields.get("event") != "heartbeat":
                    return fields
                fields = {}
            elif name and not line.startswith(":"):
                fields[name] = value
        return {}

    def close(self) -> None:
        self.answer.close()
        self.connection.close()


@pytest.fixture
def served(home: WebHome) -> Iterator[Served]:
    server = Server(home.app, WebSettings("127.0.0.1", 0, streams=3))
    thread = threading.Thread(target=server.serve)
    thread.start()
    served = Served(home, server, thread)
    yield served
    served.hang_up()
    if thread.is_alive():
        served.stop()


def path(table: Table, seen: str = "") -> str:
    return f"/t/{table.id}/stream?as=phone&seen={seen}"


def test_a_token_is_sent_as_the_regions_that_it_changed(served: Served) -> None:
    home = served.home
    home.beams("table", contract.Beam.CLEAR, contract.Beam.CLEAR)
    table = home.table(temple="table")
    reader = served.stream(path(table))
    first = reader.event()
    assert first["event"] == "regions"
    home.services.temples.intake.receive([("table", home.token(1))])
    event = reader.event()
    news = json.loads(event["data"])
    assert news["id"] == event["id"]
    assert news["version"] == home.services.tables.get(table.id).version
    assert {"tally", "lake"} <= news["regions"].keys()
    assert "health" not in news["regions"]
    reader.close()


def test_a_browser_that_comes_back_is_sent_what_it_missed(served: Served) -> None:
    home = served.home
    table = home.table()
    token = home.seated(table)
    reader = served.stream(path(table))
    seen = reader.event()["id"]
    reader.close()
    home.play(table, token, "east", "end_turn")
    for again in (served.stream(path(table), **{"Last-Event-ID": seen}), served.stream(path(table, seen))):
        assert "turn" in json.loads(again.event()["data"])["regions"]
        again.close()


def test_a_page_of_another_stage_has_to_load_again(served: Served) -> None:
    home = served.home
    table = home.lobby()
    reader = served.stream(f"{path(table)}&mark=lobby:phone::public")
    assert reader.event()["event"] == "regions"
    home.services.seats.begin(table.id, home.seated(table))
    while (event := reader.event())["event"] == "regions":
        assert "lobby" in json.loads(event["data"])["mark"]
    assert event["event"] == "reload"
    assert reader.event() == {}


def test_a_phone_that_lost_its_seat_has_to_load_again(served: Served) -> None:
    home = served.home
    table = home.table()
    token = home.seated(table)
    reader = served.stream(path(table), Cookie=f"seat-{table.id}={token}")
    assert reader.event()["event"] == "regions"
    home.services.seats.free(table.id, table.code, "east")
    assert reader.event()["event"] == "reload"


def test_a_stream_that_cannot_read_the_store_ends_and_leaves_its_page_as_it_is(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = served.home
    table = home.table()
    token = home.seated(table)
    reader = served.stream(path(table))
    seen = reader.event()["id"]

    def failing(*_: object) -> None:
        raise ServiceError("store_failing", reason="disk I/O error")

    with monkeypatch.context() as broken:
        broken.setattr(home.app.extensions["site"], "rendered", failing)
        home.play(table, token, "east", "end_turn")
        assert reader.event()["event"] == "stale"
        assert reader.event() == {}
        broken.setattr(home.services.tables, "get", failing)
        opened = served.stream(path(table, seen))
        assert opened.event()["event"] == "stale"
        assert opened.event() == {}
    assert "turn" in json.loads(served.stream(path(table, seen)).event()["data"])["regions"]


def test_one_stream_too_many_is_refused_with_when_to_come_back_and_pages_still_load(served: Served) -> None:
    table = served.home.table()
    readers = [served.stream(path(table)) for _ in range(3)]
    for reader in readers:
        reader.event()
    answer = served.get(path(table))
    assert answer.status == 503
    assert answer.getheader("Retry-After") == "5"
    answer.read()
    page = served.get("/")
    assert page.status == 200
    assert b"Sunday" in page.read()
    readers[0].close()
    eventually(lambda: served.get("/healthz").status == 200)
    again = served.stream(path(table))
    assert again.event()["event"] == "regions"
    for reader in (*readers, again):
        reader.close()


def test_a_quiet_stream_is_kept_alive(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast, "HEARTBEAT", 0.05)
    reader = served.stream(path(served.home.table()))
    reader.event()
    assert reader.answer.readline() == b"event: heartbeat\n"
    reader.close()
    eventually(lambda: served.home.hub.streams == 0)


def test_a_page_that_missed_nothing_learns_at_once_that_it_is_current(served: Served) -> None:
    table = served.home.table()
    first = served.stream(path(table))
    seen = first.event()["id"]
    first.close()
    again = served.stream(path(table, seen))
    assert [again.answer.readline() for _ in range(3)] == [b"retry: 1000\n", b"\n", b"event: heartbeat\n"]


def test_a_hundred_streams_hold_none_of_the_threads_that_answer(home: WebHome) -> None:
    home.hub.cap = home.hub.cap_each = 100
    server = Server(home.app, WebSettings("127.0.0.1", 0, streams=100, connections_each=200))
    thread = threading.Thread(target=server.serve)
    thread.start()
    served = Served(home, server, thread)
    try:
        table = home.table()
        assert served.get("/healthz").status == 200
        before = threading.active_count()
        readers = [served.stream(path(table)) for _ in range(100)]
        for reader in readers:
            reader.event()
        assert threading.active_count() == before
        home.play(table, home.seated(table), "east", "end_turn")
        for reader in readers:
            assert "turn" in json.loads(reader.event()["data"])["regions"]
        assert served.get("/healthz").status == 200
        for reader in readers:
            reader.close()
        eventually(lambda: home.hub.streams == 0)
    finally:
        served.hang_up()
        served.stop()


def test_a_second_request_on_a_stream_s_connection_waits_and_its_end_is_noticed(served: Served) -> None:
    page = path(served.home.table())
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        head = f"HTTP/1.1\r\nHost: localhost:{served.port}\r\n\r\n"
        connection.sendall(f"GET {page} {head}".encode())
        answer = connection.makefile("rb")
        eventually(lambda: b"event: regions" in answer.readline())
        connection.sendall(f"GET /healthz {head}".encode() * 3)
        assert served.get("/healthz").status == 200
        assert served.home.hub.streams == 1
        served.home.hub.close()
        assert b"200 OK" not in answer.read()
    eventually(lambda: served.home.hub.streams == 0)


def test_a_browser_that_can_is_sent_events_compressed_and_the_whole_is_one_file_of_gzip(served: Served) -> None:
    home = served.home
    table = home.table()
    token = home.seated(table)
    answer = served.get(path(table), **{"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    unpack = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    text, packed = b"", 0

    def read_until(words: bytes) -> None:
        nonlocal text, packed
        while words not in text:
            piece = answer.read1()
            assert piece, text
            packed += len(piece)
            text += unpack.decompress(piece)

    read_until(b"event: regions")
    home.play(table, token, "east", "end_turn")
    version = home.services.tables.get(table.id).version
    read_until(b'"version":%d' % version)
    home.hub.close()
    while piece := answer.read1():
        packed += len(piece)
        text += unpack.decompress(piece)
    assert unpack.eof, "the check at the end is missing or wrong"
    assert packed < len(text) / 2.5


def test_a_burst_is_a_few_events_and_ends_with_the_last_state(served: Served) -> None:
    home = served.home
    home.services.temples.expect("table")
    table = home.table(temple="table")
    reader = served.stream(path(table))
    reader.event()
    for seq in range(1, 101):
        home.services.temples.intake.receive([("table", home.token(seq))])
    last = home.services.tables.get(table.id).version
    events = 1
    while json.loads(reader.event()["data"])["version"] < last:
        events += 1
    assert events < 100
    reader.close()


def test_who_asks_for_the_head_of_a_stream_gets_that_alone(served: Served) -> None:
    host = f"localhost:{served.port}"
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        request = f"HEAD {path(served.home.table())} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        connection.sendall(request.encode())
        received = b""
        while data := connection.recv(4096):
            received += data
    head, _, rest = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Content-Type: text/event-stream" in head
    assert rest == b""
    assert served.home.hub.streams == 0


def test_two_tables_do_not_notify_each_other(served: Served) -> None:
    home = served.home
    one, other = home.table(), home.table()
    token = home.seated(one)
    readers = {table.id: served.stream(path(table)) for table in (one, other)}
    for reader in readers.values():
        reader.event()
    home.play(one, token, "east", "end_turn")
    assert "turn" in json.loads(readers[one.id].event()["data"])["regions"]
    home.play(other, home.seated(other, "west", "Walt"), "west", "end_turn")
    event = json.loads(readers[other.id].event()["data"])
    assert "Ana" not in json.dumps(event)
    for reader in readers.values():
        reader.close()


def test_a_temples_page_has_a_stream_too(served: Served) -> None:
    home = served.home
    home.services.temples.expect("table")
    reader = served.stream("/temples/table/stream")
    reader.event()
    home.services.temples.intake.receive([("table", home.token(1))])
    assert "recent" in json.loads(reader.event()["data"])["regions"]
    reader.close()


def test_the_server_stops_although_streams_are_open(served: Served) -> None:
    table = served.home.table()
    readers = [served.stream(path(table)) for _ in range(3)]
    for reader in readers:
        reader.event()
    served.stop()
    assert all(reader.event() == {} for reader in readers)


@pytest.mark.parametrize(("size", "status"), [(200_000, 422), (MAX_UPLOAD, 413)])
def test_a_file_as_large_as_a_page_takes_reaches_it_and_a_larger_one_is_refused_in_its_words(
    served: Served, size: int, status: int
) -> None:
    form = {"game": "mexica", "preset": "classic", "option.deck": "@text", "text.deck": "x" * size}
    answer = served.post("/tables", form)
    said = answer.read().decode()
    assert (answer.status, answer.headers["Content-Security-Policy"][:18]) == (status, "default-src 'self'")
    assert ("characters; expected 1,000 at most" if status == 422 else f"{MAX_UPLOAD:,} bytes") in said


def test_a_body_that_claims_to_be_huge_is_refused_unread(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as peer:
        host = f"localhost:{served.port}"
        head = f"POST /join HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 99999999999\r\n\r\n"
        peer.sendall(head.encode())
        assert peer.recv(4096).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize(
    "junk", [b"\x00\xff\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET /%ff%00 HTTP/1.1\r\nHost: localhost\r\n\r\n"]
)
def test_junk_on_the_socket_disturbs_nobody(served: Served, junk: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as peer:
        peer.sendall(junk)
        assert peer.recv(4096).startswith((b"HTTP/1.0 4", b"HTTP/1.1 4"))
    assert served.get("/healthz").status == 200


def test_a_port_in_use_is_reported_with_its_number(served: Served) -> None:
    with pytest.raises(ServeError, match=str(served.port)):
        Server(served.home.app, WebSettings("127.0.0.1", served.port))


ORGANISER_COOKIE = {"Cookie": f"organiser={ORGANISER.proof}"}


def test_the_organiser_s_page_follows_who_sits_down_and_how_temples_are(served: Served) -> None:
    home = served.home
    table = home.lobby()
    reader = served.stream("/organiser/stream", **ORGANISER_COOKIE)
    assert json.loads(reader.event()["data"])["regions"].keys() == {"all_tables", "all_temples"}
    home.seated(table, "east")
    assert json.loads(reader.event()["data"])["regions"].keys() == {"all_tables"}
    home.beams("attic", contract.Beam.CLEAR, contract.Beam.JAMMED, contract.State.ALERT)
    regions = json.loads(reader.event()["data"])["regions"]
    assert regions.keys() == {"all_temples"}
    assert "attic" in regions["all_temples"]
    reader.close()


def test_the_page_of_an_event_shows_a_table_that_ends_and_the_next_round_as_another_page(served: Served) -> None:
    home = served.home
    rounds = home.services.rounds

    def title(number: int, table: int) -> str:
        return f"Round {number} table {table}"

    rounds.start("mexica", "temple_only", 2, "swiss", "Ana\nBen", title)
    (table,) = home.services.tables.all()
    reader = served.stream(f"/organiser/rounds/stream?mark={table.id}%20round%201", **ORGANISER_COOKIE)
    assert "1 table still plays" in json.loads(reader.event()["data"])["regions"]["next_round"]
    home.services.tables.close_for_players(table.id)
    changed = json.loads(reader.event()["data"])["regions"]
    assert "<textarea" in changed["next_round"]
    rounds.next_round(2, "Ana\nBen", title)
    assert reader.event()["event"] == "reload"
    reader.close()


def test_the_page_of_an_event_follows_which_temple_serves_a_table(served: Served) -> None:
    home = served.home
    home.services.temples.expect("attic")
    home.services.rounds.start("mexica", "temple_only", 2, "swiss", "Ana\nBen", lambda *_: "First table")
    (table,) = home.services.tables.all()
    reader = served.stream("/organiser/rounds/stream", **ORGANISER_COOKIE)
    assert "attic" not in json.loads(reader.event()["data"])["regions"]["round"]
    home.services.temples.serving.serve(table.id, "attic")
    assert "attic" in json.loads(reader.event()["data"])["regions"]["round"]
    reader.close()


def test_the_page_of_an_event_that_was_ended_has_to_load_again(served: Served) -> None:
    rounds = served.home.services.rounds
    rounds.start("mexica", "temple_only", 2, "swiss", "Ana\nBen", lambda *_: "First table")
    reader = served.stream("/organiser/rounds/stream", **ORGANISER_COOKIE)
    assert reader.event()["event"] == "regions"
    rounds.end()
    assert reader.event()["event"] == "reload"
    reader.close()


@pytest.mark.parametrize("name", ["organiser", "event"])
def test_a_temple_of_any_name_shows_strangers_its_own_page_and_no_code_of_a_table(served: Served, name: str) -> None:
    home = served.home
    home.services.rounds.start("mexica", "temple_only", 2, "swiss", "Ana\nBen", lambda *_: "First table")
    (table,) = home.services.tables.all()
    home.services.temples.expect(name)
    for page in ("/organiser", "/organiser/rounds"):
        assert f"{table.code[:3]}-{table.code[3:]}" in served.get(page, **ORGANISER_COOKIE).read().decode()
    reader = served.stream(f"/temples/{name}/stream")
    event = reader.event()["data"]
    assert f"{table.code[:3]}-{table.code[3:]}" not in event
    assert "recent" in json.loads(event)["regions"]
    reader.close()


@pytest.mark.parametrize("path", ["/organiser/stream", "/organiser/rounds/stream"])
def test_the_organiser_s_streams_are_closed_to_all_others(served: Served, path: str) -> None:
    assert served.get(path).status == 403
