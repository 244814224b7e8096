"""The server under any WSGI application: what reaches it, what is sent, and what half-open connections cost."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest

from companion.settings import WebSettings
from companion.web.server import broadcast, serving
from companion.web.server.broadcast import Piece
from companion.web.server.serving import Server
from templo.liveness import Beat, no_heartbeat
from tests.waiting import eventually

HERE = "127.0.0.1"
PATIENCE_S = 60
STARTED = [("Content-Type", "text/plain")]


def show(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
    """Answer with what arrived of a request."""
    start("200 OK", [("Content-Type", "application/json")])
    shown = {key: value for key, value in environ.items() if isinstance(value, str)}
    return [json.dumps({**shown, "body": environ["wsgi.input"].read().decode("latin-1")}).encode()]


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    ends: list[Callable[[], None]] = []

    def started(app: Any, pages_beat: Beat = no_heartbeat, **more: Any) -> Server:
        server = Server(app, WebSettings(HERE, 0, **more), pages_beat=pages_beat)
        thread = threading.Thread(target=server.serve)
        thread.start()
        ends.extend((thread.join, server.stop))
        return server

    yield started
    while ends:
        ends.pop()()


def sent(server: Server, data: bytes, address: str = HERE) -> bytes:
    """Send some bytes, and return all that is answered."""
    with socket.create_connection((HERE, server.port), PATIENCE_S, (address, 0)) as connection:
        connection.sendall(data)
        answered = b""
        while more := connection.recv(65_536):
            answered += more
    return answered


def shown(server: Server, data: bytes) -> dict[str, str]:
    """Return what arrived of a request."""
    head, _, body = sent(server, data).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    found: dict[str, str] = json.loads(body)
    return found


def is_cut_off(connection: socket.socket, data: bytes) -> bool:
    """Send something again and again; return whether that is ended before it is a megabyte."""
    try:
        for _ in range(1_000_000 // len(data)):
            connection.sendall(data)
            time.sleep(0.001)
    except ConnectionError:
        return True
    return False


def head(line: str, *headers: str) -> bytes:
    return "\r\n".join((f"{line} HTTP/1.1", "Host: here", "Connection: close", *headers, "", "")).encode()


def test_an_application_is_given_the_request_as_it_came(serve: Callable[..., Server]) -> None:
    found = shown(serve(show), head("POST /a%20b/%C3%A9?c=%20d", "Content-Type: x/y", "Content-Length: 3") + b"abc")
    assert found["PATH_INFO"] == "/a b/\u00c3\u00a9"
    assert found["QUERY_STRING"] == "c=%20d"
    assert (found["REQUEST_METHOD"], found["CONTENT_TYPE"], found["CONTENT_LENGTH"]) == ("POST", "x/y", "3")
    assert (found["HTTP_HOST"], found["REMOTE_ADDR"], found["body"]) == ("here", HERE, "abc")


def test_a_body_in_chunks_arrives_whole_and_a_compressed_one_as_it_was_sent(serve: Callable[..., Server]) -> None:
    chunked = head("POST /", "Transfer-Encoding: chunked", "Content-Encoding: gzip")
    assert shown(serve(show), chunked + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")["body"] == "abcde"


def test_a_body_in_chunks_that_never_ends_is_refused(serve: Callable[..., Server]) -> None:
    chunk = b"10000\r\n" + bytes(0x10000) + b"\r\n"
    server = serve(show)
    with socket.create_connection((HERE, server.port), PATIENCE_S) as connection:
        connection.sendall(head("POST /", "Transfer-Encoding: chunked"))
        try:
            for _ in range(serving.LARGEST // 0x10000 + 2):
                connection.sendall(chunk)
            assert connection.recv(4096).startswith(b"HTTP/1.1 413")
        except ConnectionError:
            pass
    assert shown(server, head("GET /"))["PATH_INFO"] == "/"


def test_a_header_with_an_underscore_passes_for_no_other(serve: Callable[..., Server]) -> None:
    found = shown(serve(show), head("GET /", "X_Forwarded-For: 1.2.3.4", "X-Twice: a", "X-Twice: b"))
    assert "HTTP_X_FORWARDED_FOR" not in found
    assert found["HTTP_X_TWICE"] == "a,b"


@pytest.mark.parametrize("line", ["GET http://elsewhere/page?a=b", "GET /page?a=b"])
def test_a_request_may_name_the_whole_address(serve: Callable[..., Server], line: str) -> None:
    found = shown(serve(show), head(line))
    assert (found["PATH_INFO"], found["QUERY_STRING"]) == ("/page", "a=b")


def test_an_old_client_is_answered_without_chunks_and_cut_off_after_it(serve: Callable[..., Server]) -> None:
    answer = sent(serve(show), b"GET / HTTP/1.0\r\nHost: here\r\n\r\n")
    assert b"Transfer-Encoding" not in answer
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["SERVER_PROTOCOL"] == "HTTP/1.0"


def test_requests_that_were_sent_ahead_are_answered_one_after_another(serve: Callable[..., Server]) -> None:
    ahead = b"GET /1 HTTP/1.1\r\nHost: here\r\n\r\n\r\nPOST /2 HTTP/1.1\r\nHost: here\r\nContent-Length: 1\r\n\r\nx"
    answer = sent(serve(show), ahead + head("GET /3")).decode()
    assert [answer.count(f'"PATH_INFO": "/{n}"') for n in (1, 2, 3)] == [1, 1, 1]


@pytest.mark.parametrize("before", [b"", b"\r\n\r\n", b"GET /1 HTTP/1.1\r\nHost: here\r\n\r\n"])
def test_a_head_without_end_is_cut_off(serve: Callable[..., Server], before: bytes) -> None:
    server = serve(show)
    with socket.create_connection((HERE, server.port), PATIENCE_S) as connection:
        connection.sendall(before + b"GET / HTTP/1.1\r\n")
        assert is_cut_off(connection, b"X-Some: " + b"x" * 1000 + b"\r\n")


def test_what_is_sent_during_an_answer_has_a_limit(serve: Callable[..., Server]) -> None:
    going = threading.Event()

    def slow(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        going.wait(PATIENCE_S)
        return show(environ, start)

    server = serve(slow)
    with socket.create_connection((HERE, server.port), PATIENCE_S) as connection:
        connection.sendall(head("GET /"))
        assert is_cut_off(connection, b"x" * 1000)
    going.set()


def test_an_answer_says_no_version_of_the_server(serve: Callable[..., Server]) -> None:
    answer = sent(serve(show), head("GET /")).partition(b"\r\n\r\n")[0]
    assert b"Server: templo-mayor" in answer
    assert b"ython" not in answer


def test_an_application_that_fails_is_an_error_in_the_log_and_shows_nothing(
    serve: Callable[..., Server], caplog: pytest.LogCaptureFixture
) -> None:
    def failing(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        raise RuntimeError("secret of the inside")

    server = serve(failing)
    with caplog.at_level(logging.ERROR):
        answer = sent(server, head("GET /"))
    assert answer.startswith(b"HTTP/1.1 500")
    assert b"secret" not in answer
    assert "a request was not answered" in caplog.text


class Counting:
    """A stream of large pieces, which counts them."""

    key = "large"

    def __init__(self) -> None:
        self.wake: Callable[[], None] = lambda: None
        self.made = 0
        self.is_closed = threading.Event()

    def next(self, fresh: bool) -> Piece:
        self.made += 1
        return b"%07d\n" % self.made * 20_000, False

    def closed(self) -> None:
        self.is_closed.set()

    def answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        start("200 OK", STARTED)
        environ[broadcast.STREAM] = self
        return [b"begun\n"]


def test_a_stream_whose_reader_does_not_read_makes_nothing_more_until_it_does(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broadcast, "HEARTBEAT", 0.005)
    monkeypatch.setattr(broadcast, "PACE", 0.0)
    stream = Counting()
    server = serve(stream.answer)
    with socket.create_connection((HERE, server.port), PATIENCE_S) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\nHost: here\r\n\r\n")
        made = -1
        while made != stream.made:
            made = stream.made
            time.sleep(0.5)
        got = b""
        while b"%07d\n" % (made + 1) not in got:
            got = got[-8:] + connection.recv(1 << 22)
    assert stream.is_closed.wait(PATIENCE_S)


def test_what_was_to_go_on_is_closed_where_its_reader_is_gone_before(serve: Callable[..., Server]) -> None:
    stream = Counting()
    going = threading.Event()

    def slow(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        going.wait(PATIENCE_S)
        return stream.answer(environ, start)

    server = serve(slow)
    with socket.create_connection((HERE, server.port), PATIENCE_S) as connection:
        connection.sendall(head("GET /"))
        time.sleep(0.1)
    deadline = time.monotonic() + PATIENCE_S
    while len(server.connections):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    going.set()
    assert stream.is_closed.wait(PATIENCE_S)


def test_1200_connections_that_drip_from_20_addresses_make_no_page_dear(serve: Callable[..., Server]) -> None:
    server = serve(show, streams=256)

    def page_cpu() -> float:
        before = time.process_time()
        for _ in range(60):
            connection = http.client.HTTPConnection(HERE, server.port, PATIENCE_S, ("127.0.0.9", 0))
            connection.request("GET", "/", headers={"Connection": "close"})
            assert connection.getresponse().read()
            connection.close()
        return time.process_time() - before

    page_cpu()
    alone = page_cpu()
    held = []
    try:
        for n in range(1200):
            connection = socket.create_connection((HERE, server.port), PATIENCE_S, (f"127.0.1.{1 + n % 20}", 0))
            connection.sendall(b"GET / HTTP/1.1\r\nX: ")
            held.append(connection)
        assert page_cpu() < 4 * alone
    finally:
        for connection in held:
            connection.close()


def test_at_the_end_what_is_being_answered_is_answered(serve: Callable[..., Server]) -> None:
    begun, going = threading.Event(), threading.Event()

    def slow(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        begun.set()
        going.wait(PATIENCE_S)
        return show(environ, start)

    server = serve(slow)
    with socket.create_connection((HERE, server.port), PATIENCE_S) as connection:
        connection.sendall(head("GET /"))
        assert begun.wait(PATIENCE_S)
        server.stop()
        time.sleep(0.1)
        going.set()
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")


def test_connections_that_rest_are_closed_at_the_end_and_hold_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser opens some before it needs them, and would send its next request into one that nobody reads."""
    monkeypatch.setattr(serving, "FINISH_S", 10 * PATIENCE_S)
    server = Server(show, WebSettings(HERE, 0))
    thread = threading.Thread(target=server.serve)
    thread.start()
    with ExitStack() as stack:
        silent, begun, answered = (
            stack.enter_context(socket.create_connection((HERE, server.port), PATIENCE_S)) for _ in range(3)
        )
        begun.sendall(b"GET / HTTP/1.1\r\n")
        answered.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert answered.recv(4096)
        eventually(lambda: len(server.connections) == 3)
        server.stop()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
        for connection in (silent, begun, answered):
            with suppress(ConnectionResetError):
                assert connection.recv(4096) == b""


def test_what_is_stuck_keeps_nobody_from_ending(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "FINISH_S", 0.1)
    begun, going = threading.Event(), threading.Event()

    def stuck(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        begun.set()
        going.wait(PATIENCE_S)
        return show(environ, start)

    server = Server(stuck, WebSettings(HERE, 0))
    thread = threading.Thread(target=server.serve)
    thread.start()
    with socket.create_connection((HERE, server.port), PATIENCE_S) as connection:
        connection.sendall(head("GET /"))
        assert begun.wait(PATIENCE_S)
        server.stop()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    going.set()


def test_threads_that_are_all_busy_prove_nothing(
    monkeypatch: pytest.MonkeyPatch, serve: Callable[..., Server]
) -> None:
    monkeypatch.setattr(serving, "LOOK_S", 0.01)
    going = threading.Event()
    beats: list[float] = []

    def stuck(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        going.wait(PATIENCE_S)
        return show(environ, start)

    server = serve(stuck, pages_beat=beats.append)
    waiting = []
    for _ in range(serving.PAGES):
        waiting.append(socket.create_connection((HERE, server.port), PATIENCE_S))
        waiting[-1].sendall(head("GET /"))
    while True:
        before = len(beats)
        time.sleep(0.3)
        if len(beats) == before:
            break
    going.set()
    for connection in waiting:
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        connection.close()
    deadline = time.monotonic() + PATIENCE_S
    while len(beats) == before:
        assert time.monotonic() < deadline
        time.sleep(0.01)
