"""Runs in the virtual machine with Debian's own Python: the packages' controller, a broker, and who listens to it.

It imports nothing of the project: what the controller counted is read from its ledger, what it published is what the
broker passed on. `tests/kernel/temple.py` starts it, and judges the files that it leaves.
"""

from __future__ import annotations

import grp
import json
import os
import pwd
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

import paho.mqtt.client as mqtt

OUT = Path("/run/out")
STATE = Path("/var/lib/templo-controller")
USER = "templo-controller"
CONFIG = Path("/sys/kernel/config/gpio-sim/temple")
PATIENCE_S = 1200.0
"""A busy host may let this machine stand still for a long time."""


def main() -> int:
    what, *words = sys.argv[1:]
    try:
        {"tokens": tokens, "cut": cut, "troubles": troubles}[what](*words)
    except Exception:
        log = Path("/run/controller.log")
        print(log.read_text()[-3000:] if log.exists() else "", flush=True)
        raise
    return 0


def chip() -> str:
    """Return the folder of the simulated chip."""
    return (
        f"/sys/devices/platform/{(CONFIG / 'dev_name').read_text().strip()}/"
        + (CONFIG / "bank0/chip_name").read_text().strip()
    )


class Listener:
    """What listens to the temple, and acknowledges each token in its place."""

    def __init__(self, on_acknowledged: Callable[[dict[str, object]], None] = lambda token: None) -> None:
        self.tokens: list[dict[str, object]] = []
        self.statuses: list[dict[str, object]] = []
        self._on_acknowledged = on_acknowledged
        self._client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "listener")
        self._client.on_message = self._take
        self._client.on_connect = lambda client, *_: client.subscribe([("templo/+/token", 1), ("templo/+/status", 1)])
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._client.connect("127.0.0.1")
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
        self._client.loop_start()

    def _take(self, client: mqtt.Client, _: object, message: mqtt.MQTTMessage) -> None:
        said = json.loads(message.payload)
        if message.topic.endswith("/status"):
            self.statuses.append(said)
            return
        self.tokens.append(said)
        ack = {"v": 1, "source": said["source"], "seq": said["seq"], "token": said["token"]}
        client.publish(message.topic.replace("/token", "/ack"), json.dumps(ack), 1)
        self._on_acknowledged(said)

    def ready(self) -> bool:
        """Return whether the temple says that it counts."""
        return bool(self.statuses) and self.statuses[-1]["state"] == "ready"

    def states(self, **wanted: object) -> bool:
        """Return whether the temple's last status has these values."""
        return bool(self.statuses) and wanted.items() <= self.statuses[-1].items()


def until(what: str, true: Callable[[], object]) -> float:
    """Wait until a condition holds; returns the seconds it took."""
    begun = time.monotonic()
    while not true():
        if time.monotonic() - begun > PATIENCE_S:
            raise TimeoutError(f"{what}: not within {PATIENCE_S:.0f} s")
        time.sleep(0.02)
    return time.monotonic() - begun


def broker() -> None:
    """Start mosquitto for this machine alone, in the background."""
    config = Path("/run/mosquitto.conf")
    config.write_text("listener 1883 127.0.0.1\nallow_anonymous true\n")
    subprocess.Popen(["mosquitto", "-c", str(config)], stderr=subprocess.DEVNULL)


def controller(backend: str, supervised: str = "") -> subprocess.Popen[bytes]:
    """Start the packages' controller as its unit does: its user, groups, folders, mask and settings."""
    Path("/etc/templo-mayor").mkdir(exist_ok=True)
    Path("/etc/templo-mayor/controller.toml").write_text(f'[beams]\nsource = "{backend}"\n')
    user = pwd.getpwnam(USER)
    STATE.mkdir(mode=0o700, exist_ok=True)
    os.chown(STATE, user.pw_uid, user.pw_gid)
    environment = {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "STATE_DIRECTORY": str(STATE),
        "LG_WD": str(STATE / "lgpio"),
        "PYTHONUNBUFFERED": "1",
    }
    if supervised:
        environment["NOTIFY_SOCKET"] = supervised
    return subprocess.Popen(
        ["/usr/bin/templo-controller", "run"],
        cwd=STATE,
        env=environment,
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=[grp.getgrnam("gpio").gr_gid],
        umask=0o077,
        stdin=subprocess.DEVNULL,
        stderr=Path("/run/controller.log").open("ab"),
    )


@contextmanager
def counting(backend: str, listener: Listener) -> Iterator[subprocess.Popen[bytes]]:
    """Run the controller until the block ends, from when it says that it counts."""
    process = controller(backend)
    try:
        until("the temple counts", lambda: listener.ready() or process.poll() is not None)
        if process.poll() is not None:
            raise ChildProcessError(Path("/run/controller.log").read_text())
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
        listener.statuses.clear()


def settled(listener: Listener) -> None:
    """Wait until all that was recorded has been published, and for ten seconds nothing more has been recorded."""
    begun = quiet_since = time.monotonic()
    before = -1
    while time.monotonic() - begun < PATIENCE_S and time.monotonic() - quiet_since < 10:
        recorded, published = len(rows()), len({token["seq"] for token in listener.tokens})
        if recorded != before or recorded != published:
            quiet_since, before = time.monotonic(), recorded
        time.sleep(0.5)


def rows() -> list[tuple[object, ...]]:
    """Return every row of the ledger."""
    with closing(sqlite3.connect(STATE / "ledger.sqlite3")) as ledger:
        return ledger.execute("SELECT seq, token, god, at_ms, width_ns, flags, delivered FROM token").fetchall()


def keep(name: str, listener: Listener) -> None:
    """Leave for the host what was written, counted, published and logged."""
    shutil.copy("/run/log", OUT / f"{name}.log")
    shutil.copy("/run/controller.log", OUT / f"{name}.controller")
    (OUT / f"{name}.json").write_text(json.dumps({"rows": rows(), "published": listener.tokens}))
    shutil.rmtree(STATE)
    Path("/run/controller.log").unlink()
    listener.tokens.clear()


def play(name: str) -> subprocess.Popen[bytes]:
    """Let a plan fall."""
    for file in ("oracle", f"{name}.plan"):
        shutil.copy(OUT / file, "/run")
    return subprocess.Popen(["/run/oracle", chip(), f"/run/{name}.plan", "/run/log"])


def played(name: str) -> None:
    """Let a plan fall to its end."""
    if code := play(name).wait():
        raise ChildProcessError(f"the oracle ended with exit code {code}")


def read_ahead() -> None:
    """Have every program and library in memory, as after a first start: reading the disk takes no certain time."""
    for folders in ("lib/python3*", "local/lib", "share/templo-mayor", "lib/x86_64-linux-gnu"):
        for file in (file for folder in Path("/usr").glob(folders) for file in folder.rglob("*")):
            if file.is_file():
                file.read_bytes()


def tokens(*names: str) -> None:
    """Let a plan fall through each backend; a name is `BACKEND`, `BACKEND-starved`, `-behind` or `-late`."""
    read_ahead()
    broker()
    listener = Listener()
    for name in names:
        backend, _, how = name.partition("-")
        with counting(backend, listener) as process:
            if how == "behind":
                favoured(process)
            with hogs(HOGS[how]) if how else nullcontext():
                played(name)
            settled(listener)
        keep(name, listener)


STARVED = (
    "import os, random, sys, time\n"
    "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))\n"
    "random.seed(1)\n"
    "while True:\n"
    "    time.sleep(random.uniform(0.05, 0.8))\n"
    "    until = time.monotonic() + random.uniform(0.05, 0.7)\n"
    "    while time.monotonic() < until: pass\n"
)
LATE = (
    "import os, random, sys, time\n"
    "random.seed(2)\n"
    "while True:\n"
    "    time.sleep(random.uniform(0.1, 2.0))\n"
    "    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(random.choice([10, 30])))\n"
    "    held = random.uniform(1, 4) if random.random() < 0.2 else random.uniform(0.01, 0.5)\n"
    "    until = time.monotonic() + held\n"
    "    while time.monotonic() < until: pass\n"
)
HOGS = {"starved": STARVED, "behind": STARVED, "late": LATE}
"""What takes the processor again and again: for up to 0.7 s, from everything but the oracle, and in `behind` but the
oracle and the pipeline; or for up to 4 s, each second time from the oracle as well, as on a machine that stands
still."""


def favoured(process: subprocess.Popen[bytes]) -> None:
    """Let the pipeline have the processor while the threads that bring its edges wait for it.

    The pipeline waits at a futex, as Python's queues do; who reads a line or the network waits at a file.
    """
    found = 0
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        if "futex" in (task / "wchan").read_text():
            os.sched_setscheduler(int(task.name), os.SCHED_FIFO, os.sched_param(15))
            found += 1
    if not found:
        raise LookupError("no thread of the controller waits at a futex: the pipeline cannot be favoured")


@contextmanager
def hogs(code: str) -> Iterator[None]:
    """Run what takes the processor until the block ends."""
    # By default the kernel leaves others 5 % of each second.
    Path("/proc/sys/kernel/sched_rt_runtime_us").write_text("-1")
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(20))  # the oracle inherits it
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        yield
    finally:
        process.kill()
        process.wait()
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def cut(backend: str, name: str) -> None:
    """Count until the power is cut; each acknowledged token is printed, after the ledger as the disk holds it."""
    for file in STATE.glob("ledger.sqlite3*") if STATE.exists() else ():
        if not file.name.endswith("-shm"):
            shutil.copy(file, OUT / file.name)
    print("copied", flush=True)
    broker()

    def acknowledged(token: dict[str, object]) -> None:
        os.write(1, f"acknowledged {token['source']} {token['seq']} {token['token']}\n".encode())

    listener = Listener(acknowledged)
    with counting(backend, listener):
        print(f"counting {Path('/proc/uptime').read_text().split()[0]}", flush=True)
        played(name)
        settled(listener)


class Supervised:
    """The controller with a supervisor, as systemd is one: it is started again a second after it ended."""

    def __init__(self, backend: str) -> None:
        self.codes: list[int] = []
        """Of each process that ended by itself."""
        self._backend = backend
        self._ends = False
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        Path("/run/notify").unlink(missing_ok=True)
        self._socket.bind("/run/notify")
        Path("/run/notify").chmod(0o777)
        threading.Thread(target=self._drain, daemon=True).start()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        while self._socket.recv(4096):
            pass

    def _run(self) -> None:
        while not self._ends:
            self._process = controller(self._backend, "/run/notify")
            self.codes.append(self._process.wait())
            time.sleep(1)

    def close(self) -> None:
        """End it for good."""
        self._ends = True
        self._process.send_signal(signal.SIGTERM)
        self._thread.join(PATIENCE_S)


def troubles(starts: str, *backends: str) -> None:
    """Start again and again; start on a line that another program has; take the chip away and give it back."""
    read_ahead()
    broker()
    listener = Listener()
    for backend in backends:
        started(backend, int(starts), listener)
        busy(backend, listener)
        gone(backend, listener)


def falls(listener: Listener, number: int = 2) -> None:
    """Let the plan `one` fall, a token in each slot, and wait until it has arrived."""
    before = len(listener.tokens)
    played("one")
    until("the tokens arrive", lambda: len(listener.tokens) >= before + number)


def started(backend: str, starts: int, listener: Listener) -> None:
    """Start often; a token in each slot right after a start must be counted, or the start was deaf."""
    took = []
    for _ in range(starts):
        begun = time.monotonic()
        with counting(backend, listener):
            took.append(time.monotonic() - begun)
            falls(listener)
    print(f"{backend}: {starts} starts, none of them deaf; counting after {max(took):.1f} s at most", flush=True)


def busy(backend: str, listener: Listener) -> None:
    """Start while another program has a line: the status says so; once it is free, tokens are counted."""
    code = (
        "import gpiod, sys\n"
        "with gpiod.request_lines(sys.argv[1], consumer='another', config={27: gpiod.LineSettings()}):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    device = f"/dev/{(CONFIG / 'bank0/chip_name').read_text().strip()}"
    other = subprocess.Popen(
        [sys.executable, "-c", code, device], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    other.stdout.readline()
    temple = Supervised(backend)
    try:
        told = until("the status says that a line is busy", lambda: listener.states(trouble="beams_busy"))
        other.communicate("")
        healed = until("the temple counts", listener.ready)
        falls(listener)
        print(
            f"{backend}: a busy line is reported {told:.1f} s after the start; counting {healed:.1f} s after it was "
            f"free; {len(temple.codes)} restarts",
            flush=True,
        )
    finally:
        other.kill()
        temple.close()
        listener.statuses.clear()


def gone(backend: str, listener: Listener) -> None:
    """Take the chip away while the temple counts; the status says so; once it is back, tokens are counted."""
    temple = Supervised(backend)
    try:
        until("the temple counts", listener.ready)
        falls(listener)
        before = Path("/run/controller.log").stat().st_size
        (CONFIG / "live").write_text("0")
        lost = until("the status is not ready", lambda: not listener.ready())
        missing = lost + until("the status says what is missing", lambda: listener.states(trouble="beams_missing"))
        (CONFIG / "live").write_text("1")
        subprocess.run("chgrp gpio /dev/gpiochip* && chmod 660 /dev/gpiochip*", shell=True, check=True)
        healed = until("the temple counts", listener.ready)
        falls(listener)
        logged = Path("/run/controller.log").stat().st_size - before
        print(
            f"{backend}: a chip that goes away is noticed after {lost:.1f} s and reported after {missing:.1f} s; "
            f"counting {healed:.1f} s after it came back; exit codes {temple.codes}; {logged} bytes logged",
            flush=True,
        )
    finally:
        temple.close()
        listener.statuses.clear()


if __name__ == "__main__":
    sys.exit(main())
