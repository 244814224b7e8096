"""Runs in the virtual machine under systemd: an evening that begins in 1970, and whose clock is set in the middle.

It imports nothing of the project. The phone that opens the table is this program: its own clock is not the machine's,
so that its cookies do not end.
"""

from __future__ import annotations

import http.client
import re
import shlex
import sqlite3
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode, urlsplit

PATIENCE_S = 900.0
"""An emulator on a busy host may stand still for a long time."""

WATCHDOG_S = 60
PROGRAMS = ("templo-companion", "templo-controller")
UNITS = ("mosquitto", *PROGRAMS)
STATE = Path("/var/lib/templo-controller")
STORE = Path("/var/lib/templo-companion/companion.sqlite")
AUTHORITY = Path("/etc/templo-mayor/tls/authority.pem")
GODS = ("huitzilopochtli", "tlaloc")
NOW = datetime(2027, 2, 3, 19, 30, tzinfo=UTC)
BEFORE, MEANWHILE, AFTER = 10, 60, 10
"""Tokens of each god: dropped before the clock is set, while it is set, and afterwards."""


def main() -> int:
    print(f"  booted with its clock at 1970, systemd sets it to {datetime.now(UTC):%Y-%m-%d}", flush=True)
    run("systemctl", "stop", *PROGRAMS)
    run("systemctl", "unmask", *UNITS)
    for folder in (STATE, STORE.parent):
        for file in folder.glob("*") if folder.exists() else ():
            run("rm", "-r", str(file))
    set_clock(datetime(1970, 1, 1, 1, 0, tzinfo=UTC))
    for unit in PROGRAMS:
        drop_in = Path(f"/run/systemd/system/{unit}.service.d/patience.conf")
        drop_in.parent.mkdir(parents=True, exist_ok=True)
        # `templo-mayor tls` waits 60 s for a unit, and Type=notify until it is ready: too long in an emulator.
        drop_in.write_text(f"[Service]\nType=exec\nWatchdogSec={WATCHDOG_S}\nTimeoutStartSec=900\n")
    Path("/etc/templo-mayor/controller.toml").write_text('[beams]\nsource = "simulated"\n')
    Path("/etc/haproxy/haproxy.cfg").unlink()  # its unit is masked
    run("systemctl", "daemon-reload")
    run("systemctl", "start", *UNITS)
    phone = Phone()
    until("the page answers", lambda: answers(phone))
    report("the page answers")
    run("templo-mayor", "tls")
    until("the temple counts", lambda: counts(phone))
    report("the temple counts")
    until("the pages over TLS", over_tls)
    must("in 1970 the pages are served over TLS, and a client of 1970 trusts them", over_tls())
    first = AUTHORITY.read_text()

    chairs = phone.ask("/tables", game="mexica", title="1970", players="2", preset="temple_only", temple="templo")
    found = re.search(r'action="/t/(\w{32})/', chairs)
    assert found, chairs[-2000:]
    table = f"/t/{found[1]}"
    phone.ask(f"{table}/share", code=phone.path.rpartition("/")[2])
    phone.ask(f"{table}/begin", begin="now")
    must("a game begins in 1970", phone.path == table and phone.status == 200)
    processes = {unit: show(unit, "MainPID") for unit in UNITS}
    for god in GODS:
        drop(god, BEFORE).wait()
    until("the tokens of 1970 arrive", lambda: received(phone) == len(GODS) * BEFORE)

    falling = [drop(god, MEANWHILE) for god in GODS]
    until("some have fallen", lambda: received(phone) >= len(GODS) * (BEFORE + 5))
    set_clock(NOW)
    begun = time.monotonic()
    assert received(phone) < len(GODS) * (BEFORE + MEANWHILE), "all fell before the clock was set"
    until("the pages over TLS are trusted", over_tls)
    print(f"  the clock set to {NOW:%Y-%m-%d}: TLS is trusted {time.monotonic() - begun:.0f} s later", flush=True)
    must("by an authority that was made again", AUTHORITY.read_text() != first)
    for falls in falling:
        falls.wait()
    for god in GODS:
        drop(god, AFTER).wait()
    total = len(GODS) * (BEFORE + MEANWHILE + AFTER)
    # mosquitto 2.0 counts every second from 1970 before it serves anybody again (its issues 2682 and 3238).
    until("every token arrives", lambda: received(phone) >= total)
    until("every token is acknowledged", acknowledged)
    print(f"  every token is acknowledged {time.monotonic() - begun:.0f} s after the clock was set", flush=True)
    time.sleep(max(5.0, 1.5 * WATCHDOG_S - (time.monotonic() - begun)))
    judge(total, found[1])

    phone.ask(f"{table}/pace", pace="at_once")
    must("the seat that was taken in 1970 may still act", phone.status == 200)
    page = phone.ask("/temples/templo")
    must("the temple's page says that it counts, and nothing to do", counts(phone) and 'role="alert"' not in page)
    phone.ask(f"{table}/temple/ask", what="selftest", request="0123456789abcdef")
    must("a request of the page is taken", phone.status == 200)
    time.sleep(20)  # longer than the page waits for an answer
    stages = re.findall(r'data-stage="(\w+)"', phone.ask("/temples/templo"))
    must(f"and {' '.join(stages)}", stages == ["answered"])
    for path in ("/", "/evenings", f"{table}/story", table):
        phone.ask(path)
        must(f"the page {path.replace(found[1], '...')} is there", phone.status == 200)
    for unit in UNITS:
        must(f"{unit} was not restarted", (show(unit, "NRestarts"), show(unit, "MainPID")) == ("0", processes[unit]))
    print(run("templo-mayor", "status", "--no-secrets", check=False), flush=True)
    logged = run("journalctl", "--no-pager", "--output=cat", *(f"--unit={unit}" for unit in PROGRAMS))
    complaints = [line for line in logged.splitlines() if re.match(r"\S+: (WARNING|ERROR|CRITICAL)", line)]
    print(*(f"  logged: {line}" for line in complaints), sep="\n", flush=True)
    must("nothing was refused as too old or of the future", not re.search(r"expired|refuse|future", logged))
    return 0


def report(what: str) -> None:
    print(f"  {what}, {time.monotonic():.0f} s after the start", flush=True)


def judge(total: int, table: str) -> None:
    """Compare the ledger with the store and the table's log."""
    rows = ledger()
    with closing(sqlite3.connect(STORE)) as store:
        stored = store.execute("SELECT seq, token, god, table_id FROM token ORDER BY seq").fetchall()
        held = store.execute("SELECT count(*) FROM quarantine").fetchone()[0]
        moves = store.execute("SELECT move FROM entry WHERE table_id = ? ORDER BY n", [table]).fetchall()
    must("every token is in the ledger once, in order", [row[0] for row in rows] == [*range(1, total + 1)])
    must("and as often as it fell", all(sum(row[2] == god for row in rows) == total // len(GODS) for god in GODS))
    must("stored as they are in the ledger", [row[:3] for row in stored] == [row[:3] for row in rows])
    print(f"  stored for {[row[3] for row in stored].count(table)} of {len(stored)} at the table", flush=True)
    must("for the table that the temple serves", {row[3] for row in stored} == {table})
    ids = [found for (move,) in moves for found in re.findall(r"[0-9a-f]{32}", move)]
    scored = [each for each in ids if each in {row[1] for row in rows}]
    must("scored once, in order", scored == [row[1] for row in rows])
    must("and none held apart", held == 0)
    years = [datetime.fromtimestamp(row[3] / 1000, UTC).year for row in rows]
    must("a token has the time of its clock: 1970 before it was set, then now", years == sorted(years))
    must("no other", set(years) == {1970, NOW.year})
    print(
        f"  {years.count(1970)} tokens of 1970, {years.count(NOW.year)} of {NOW.year}: each once, in order",
        flush=True,
    )


def acknowledged() -> bool:
    """Return whether the temple knows that all it recorded has been stored."""
    return ", 0 not yet delivered" in run("templo-controller", "status", "--state", str(STATE))


def ledger() -> list[tuple[int, str, str, int]]:
    """Return every row of the ledger."""
    with closing(sqlite3.connect(STATE / "ledger.sqlite3")) as opened:
        return opened.execute("SELECT seq, token, god, at_ms FROM token ORDER BY seq").fetchall()


class Phone:
    """A browser: it keeps the cookies that it is given, and follows redirections."""

    def __init__(self) -> None:
        self._cookies: dict[str, str] = {}
        self.status, self.path = 0, ""
        """Of the last page."""

    def ask(self, path: str, **form: str) -> str:
        """Fetch a page, or send a form; returns the last page."""
        body = urlencode(form) if form else None
        while True:
            headers = {"Origin": "http://127.0.0.1", "Accept-Language": "en"}
            if body is not None:
                headers["Content-Type"] = "application/x-www-form-urlencoded"
            if self._cookies:
                headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
            with closing(http.client.HTTPConnection("127.0.0.1", 80, timeout=120)) as connection:
                connection.request("GET" if body is None else "POST", path, body, headers)
                answer = connection.getresponse()
                page, self.status, self.path = answer.read().decode(), answer.status, path
            for name, value in answer.headers.items():
                if name.lower() == "set-cookie":
                    key, _, rest = value.partition("=")
                    self._cookies[key] = rest.partition(";")[0]
            if answer.status not in (302, 303):
                return page
            to = urlsplit(answer.headers["Location"])
            path, body = to.path + (f"?{to.query}" if to.query else ""), None


def over_tls() -> bool:
    """Return whether a client that trusts the authority gets a page over TLS, by the machine's clock."""
    client = ssl.create_default_context(cafile=str(AUTHORITY))
    with suppress(OSError), closing(http.client.HTTPSConnection("localhost", 443, context=client, timeout=60)) as to:
        to.request("GET", "/")
        return to.getresponse().status < 400
    return False


def answers(phone: Phone) -> bool:
    with suppress(OSError, http.client.HTTPException):
        return bool(phone.ask("/metrics"))
    return False


def counts(phone: Phone) -> bool:
    return answers(phone) and 'templo_temple_up{temple="templo"} 1' in phone.ask("/metrics")


def received(phone: Phone) -> int:
    """Return how many tokens the companion has stored."""
    found = re.findall(r"^templo_tokens_received_total\{\S+\} (\d+)", phone.ask("/metrics"), re.MULTILINE)
    return sum(map(int, found))


def drop(god: str, count: int) -> subprocess.Popen[bytes]:
    """Begin to drop tokens."""
    return subprocess.Popen(
        ["templo-controller", "drop", god, "--count", str(count), "--state", str(STATE)], stdout=subprocess.DEVNULL
    )


def set_clock(at: datetime) -> None:
    run("date", f"--set=@{at.timestamp():.0f}")


def show(unit: str, what: str) -> str:
    return run("systemctl", "show", "--value", f"--property={what}", unit).strip()


def must(what: str, true: bool) -> None:
    """Print what was found; raises where it is not so."""
    if not true:
        print(run("journalctl", "--no-pager", "--lines=60", check=False), flush=True)
        raise AssertionError(f"{what}: it is not so")
    print(f"  {what}", flush=True)


def run(*command: str, check: bool = True) -> str:
    """Return what a program prints; raises where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    if check and done.returncode:
        raise ChildProcessError(f"{shlex.join(command)} ended with {done.returncode}: {done.stdout} {done.stderr}")
    return done.stdout


def until(what: str, true: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    begun = time.monotonic()
    while not true():
        if time.monotonic() - begun > PATIENCE_S:
            print(run("journalctl", "--no-pager", "--lines=60", check=False), flush=True)
            raise TimeoutError(f"{what}: not within {PATIENCE_S:.0f} s")
        time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
