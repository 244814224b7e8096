"""The sockets through which an emulated Pico reaches a broker on this machine."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator

import pytest

from tests.pico.wires import Wires

AGAIN, NO_WAY = -11, -113
CONNECT = bytes([0x10, 17, 0, 4]) + b"MQTT\x04\x02\x00\x0f\x00\x05pico1"


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def taken(wires: Wires, number: int) -> bytes | int:
    until = time.monotonic() + 10
    while (came := wires.take(number, 100)) == AGAIN and time.monotonic() < until:
        time.sleep(0.01)
    return came


def test_bytes_go_both_ways_and_a_connection_to_nobody_is_refused(server: socket.socket) -> None:
    wires = Wires(lambda: 0.0)
    number = wires.connect(*server.getsockname())
    theirs, _ = server.accept()
    with theirs:
        assert wires.take(number, 100) == AGAIN
        assert wires.send(number, b"hello") == 5
        assert theirs.recv(100) == b"hello"
        theirs.sendall(b"welcome")
        assert taken(wires, number) == b"welcome"
    assert taken(wires, number) == b""
    assert wires.close(number) == 0
    address = server.getsockname()
    server.close()
    assert wires.connect(*address) == NO_WAY


def test_a_connect_asks_the_broker_for_more_patience_than_a_slow_chip_would(server: socket.socket) -> None:
    wires = Wires(lambda: 0.0)
    number = wires.connect(*server.getsockname())
    theirs, _ = server.accept()
    with theirs:
        assert wires.send(number, CONNECT) == len(CONNECT)
        assert theirs.recv(100) == CONNECT.replace(b"\x00\x0f\x00\x05", b"\xff\xff\x00\x05")
        wires.send(number, b"\x30\x05" + CONNECT)
        assert theirs.recv(100) == b"\x30\x05" + CONNECT
    wires.close(number)


def test_a_cut_ends_every_connection_and_lets_none_begin(server: socket.socket) -> None:
    wires = Wires(lambda: 0.0)
    number = wires.connect(*server.getsockname())
    wires.cut = True
    wires.pull()
    assert wires.take(number, 100) == b""
    assert wires.send(number, b"x") == NO_WAY
    assert wires.connect(*server.getsockname()) == NO_WAY


def test_a_time_server_answers_once_to_each_question() -> None:
    wires = Wires(lambda: 1_795_286_527.25)
    number = wires.connect("127.0.0.1", 123)
    assert wires.take(number, 64) == AGAIN
    assert wires.send(number, b"\x1b" + bytes(47)) == 48
    answer = wires.take(number, 64)
    assert isinstance(answer, bytes)
    assert len(answer) == 48
    assert answer[0] & 7 == 4
    assert struct.unpack(">II", answer[40:]) == (1_795_286_527 + 2_208_988_800, 1 << 30)
    assert wires.take(number, 64) == AGAIN
