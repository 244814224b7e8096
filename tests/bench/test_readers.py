"""The streams that the benchmarks read: one that breaks is counted, and one that cannot be opened is an error."""

from __future__ import annotations

import socket
import struct

import pytest

from bench.tools.programs import HOST, BenchError
from bench.tools.readers import Readers
from tests.brokers import free_port


def test_a_stream_that_is_reset_is_a_closed_one() -> None:
    with socket.create_server((HOST, 0)) as server, Readers([(server.getsockname()[1], "/t/1")], 1) as readers:
        connection, _ = server.accept()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        with pytest.raises(BenchError, match="1 of 1 streams were closed"):
            readers.wait_for_first()


def test_a_stream_that_cannot_be_opened_is_an_error_with_its_reason() -> None:
    with (
        pytest.raises(BenchError, match=r"stream 1 of 2 cannot be opened: .*refused"),
        Readers([(free_port(), "/t/1")], 2),
    ):
        pass
