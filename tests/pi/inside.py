"""What runs inside of an emulated machine, with the image's own Python alone: `inside.py WHAT`.

``pulls`` says when a line is to be pulled outside of the machine, and notes the machine's time: the time before it
asked and after it was answered holds the edge, by the clock with which the kernel stamps edges.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

PORT = "/dev/virtio-ports/lines"
PRIORITY = 20
"""Above all that the machine runs, so that a pull is asked for in time."""

LEDGER = Path("/var/lib/templo-controller/ledger.sqlite3")
STORE = Path("/var/lib/templo-companion/companion.sqlite")
Row = tuple[object, ...]


def pulls() -> None:
    """Play one plan: a wait in us, a line and a level (1 is dark) in each row, then an empty row."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    port = os.open(PORT, os.O_RDWR)
    said = b""
    while not said.endswith(b"\n\n"):
        said += os.read(port, 65536)
    noted = []
    at = time.monotonic_ns()
    for wait_us, line, dark in (map(int, row.split()) for row in said.splitlines() if row):
        at += wait_us * 1000
        if (left := at - time.monotonic_ns()) > 0:
            time.sleep(left / 1e9)
        before = time.monotonic_ns()
        os.write(port, b"%d %d\n" % (line, dark))
        os.read(port, 1)
        noted.append(b"%d %d %d %d" % (before, time.monotonic_ns(), line, dark))
        at = max(at, before)
    rest = b"\n".join([b"%d" % (time.time_ns() - time.monotonic_ns()), *noted, b"", b""])
    while rest:
        rest = rest[os.write(port, rest) :]


def waiting() -> None:
    """Print how many tokens the controller recorded, and how many of them the companion has not stored."""
    ledger, store = _rows()
    print(len(ledger), len(ledger) - len(store))


def tokens() -> None:
    """Print what the controller recorded and what the companion stored, as JSON."""
    with closing(_opened(LEDGER)) as ledger:
        whole = ledger.execute("PRAGMA integrity_check").fetchone()[0]
    rows, stored = _rows()
    print(json.dumps({"whole": whole, "rows": rows, "stored": stored}))


def _rows() -> tuple[list[Row], list[Row]]:
    """Return the rows of the ledger, and of the store what came from it."""
    with closing(_opened(LEDGER)) as ledger:
        source = ledger.execute("SELECT source FROM meta").fetchone()[0]
        rows = ledger.execute("SELECT seq, token, god, at_ms, width_ns, flags FROM token ORDER BY seq").fetchall()
    with closing(_opened(STORE)) as store:
        stored = store.execute("SELECT seq, token FROM token WHERE source = ? ORDER BY seq", [source]).fetchall()
    return rows, stored


def watch() -> None:
    """Print each token that the companion stores, once it is durable, for ever."""
    last = 0
    with closing(_opened(STORE)) as store:
        while True:
            for rowid, token in store.execute("SELECT seq, token FROM token WHERE seq > ? ORDER BY seq", [last]):
                print(f"stored {rowid} {token}", flush=True)
                last = rowid
            time.sleep(0.2)


def secrets() -> None:
    """Print what no two cards may share, as JSON: lists by what they are."""
    settings = Path("/etc/templo-mayor")
    logins = "".join(path.read_text() for path in settings.rglob("*.env"))
    wifi = "".join(path.read_text() for path in Path("/etc/NetworkManager/system-connections").glob("*"))
    with closing(_opened(STORE)) as store:
        signing = [str(row[0]) for row in store.execute("SELECT value FROM about WHERE key LIKE '%key%'")]
    with closing(_opened(LEDGER)) as ledger:
        source = [str(row[0]) for row in ledger.execute("SELECT source FROM meta")]
    keys = [path.read_text().split()[1] for path in Path("/etc/ssh").glob("ssh_host_*.pub")]
    hashes = re.findall(r":(\$\S+)$", Path("/etc/mosquitto/templo/passwords").read_text(), re.MULTILINE)
    codes = [(STORE.parent / f"{who}-code").read_text() for who in ("owner", "organiser")]
    found = {
        "the machine's id": [Path("/etc/machine-id").read_text().strip()],
        "keys of ssh": keys,
        "passwords at the broker": re.findall(r"^TEMPLO_BROKER_PASSWORD=(\S+)$", logins, re.MULTILINE),
        "their hashes": hashes,
        "codes of owner and organiser": codes,
        "the key that signs": signing,
        "the ledger's id": source,
        "the hotspot's password": re.findall(r"^psk=(.+)$", wifi, re.MULTILINE),
        "the seed of randomness": [Path("/var/lib/systemd/random-seed").read_bytes().hex()],
    }
    print(json.dumps(found))


def _opened(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{file}?mode=ro", uri=True)


if __name__ == "__main__":
    {each.__name__: each for each in (pulls, waiting, tokens, watch, secrets)}[sys.argv[1]]()
