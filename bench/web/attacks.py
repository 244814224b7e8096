"""One hostile client on the loopback: a separate program, so that it slows down only the others.

It is meant for the bench's own companion and broker. ``python -m bench.web.attacks KIND --web PORT --broker PORT``.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import resource
import secrets
import selectors
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from urllib.parse import urlencode

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from bench.tools.programs import HOST
from templo import contract

CONNECTIONS = 300
CROWD = 1200
CROWD_FROM = tuple(f"127.0.1.{n}" for n in range(1, 21))
"""How many connections a crowd holds, and from which addresses."""

UPLOADERS = 4
READERS = 60
PER_SECOND = 1000
DEEP = "\n".join(f"{'.'.join(['a'] * 490)}.k{n} = 1" for n in range(190))
"""189 kB of keys 490 deep."""


def half_open(
    web: int, seconds: float, drip: bool = False, count: int = CONNECTIONS, addresses: Sequence[str] = (HOST,)
) -> int:
    """Hold connections with half a head open, each opened again once it is closed; return how many were opened.

    With `drip` each sends a byte of its head every second. They come from several addresses in turn.
    """
    selector = selectors.DefaultSelector()
    opened = 0
    ends = time.monotonic() + seconds
    next_drip = time.monotonic() + 1
    while time.monotonic() < ends:
        for _ in range(min(20, count - len(selector.get_map()))):
            try:
                connection = socket.create_connection((HOST, web), 5, (addresses[opened % len(addresses)], 0))
                connection.sendall(b"GET / HTTP/1.1\r\nX: ")
            except OSError:
                continue
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_READ)
            opened += 1
        for key, _ in selector.select(0.02):
            _dropped(selector, key.fileobj)
        if drip and time.monotonic() >= next_drip:
            next_drip += 1
            for key in list(selector.get_map().values()):
                try:
                    key.fileobj.send(b"x")  # type: ignore[union-attr]  # they are sockets
                except OSError:
                    _dropped(selector, key.fileobj)
    for key in list(selector.get_map().values()):
        _dropped(selector, key.fileobj)
    return opened


def _dropped(selector: selectors.BaseSelector, connection: object) -> None:
    assert isinstance(connection, socket.socket)
    selector.unregister(connection)
    connection.close()


def uploads(web: int, seconds: float) -> int:
    """Bring decks of deep keys from several threads, one after another; return how many were sent."""
    form = {"game": "mexica", "title": "Deep", "players": "4", "preset": "classic", "option.deck": "@text"}
    body = urlencode({**form, "text.deck": DEEP})
    headers = {"Origin": f"http://{HOST}:{web}", "Content-Type": "application/x-www-form-urlencoded"}
    return _requested(web, seconds, UPLOADERS, "POST", "/tables", body, headers)


def stories(web: int, seconds: float, table: str) -> int:
    """Ask for a table's story on many connections, again and again; return how many answers came."""
    return _requested(web, seconds, READERS, "GET", f"{table}/story", None, {"Connection": "close"})


def _requested(
    web: int,
    seconds: float,
    threads: int,
    method: str,
    path: str,
    body: str | None,
    headers: Mapping[str, str],
) -> int:
    """Make one request after the other from each of several threads; return how many were answered."""
    ends = time.monotonic() + seconds

    def repeat(_: int) -> int:
        answered = 0
        while time.monotonic() < ends:
            connection = http.client.HTTPConnection(HOST, web, timeout=30)
            try:
                connection.request(method, path, body, headers)
                connection.getresponse().read()
                answered += 1
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)
            finally:
                connection.close()
        return answered

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(repeat, range(threads)))


def flood(broker: int, seconds: float, temple: str) -> int:
    """Publish well-made tokens of a ledger that there is not under a temple's name; return how many were sent."""
    client = paho.Client(CallbackAPIVersion.VERSION2)
    client.connect(HOST, broker)
    client.loop_start()
    source = secrets.token_hex(16)
    began = time.monotonic()
    sent = 0
    for seq in itertools.count(1):
        due = began + seq / PER_SECOND
        if (left := due - time.monotonic()) > 0:
            time.sleep(left)
        if due - began > seconds:
            break
        token = contract.Token(source, seq, secrets.token_hex(16), contract.God.TLALOC, datetime.now(UTC), 14.0)
        client.publish(contract.topic(temple, contract.Token.leaf), contract.encode(token))
        sent += 1
    client.disconnect()
    client.loop_stop()
    return sent


def main(argv: Sequence[str] | None = None) -> int:
    """Attack, and print how often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("half-open", "slow-heads", "crowd", "uploads", "stories", "flood"))
    parser.add_argument("--web", type=int, required=True)
    parser.add_argument("--broker", type=int, default=0)
    parser.add_argument("--temple", default="")
    parser.add_argument("--table", default="", help="the path of a table's page")
    parser.add_argument("--seconds", type=float, default=15)
    given = parser.parse_args(argv)
    kinds: dict[str, Callable[[], int]] = {
        "half-open": lambda: half_open(given.web, given.seconds),
        "slow-heads": lambda: half_open(given.web, given.seconds, drip=True),
        "crowd": lambda: half_open(given.web, given.seconds, True, CROWD, CROWD_FROM),
        "uploads": lambda: uploads(given.web, given.seconds),
        "stories": lambda: stories(given.web, given.seconds, given.table),
        "flood": lambda: flood(given.broker, given.seconds, given.temple),
    }
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2 * CROWD)), hard))
    print("attacking now", flush=True)
    print(f"times {kinds[given.kind]()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
