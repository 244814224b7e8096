"""A temple as the packages install it, on the kernel's simulated lines: counted tokens, power cuts, troubles.

A Debian 13 is made with the controller's package, mosquitto, libgpiod from Debian, and gpiozero over lgpio, which
Debian does not have, from PyPI. It is a disk's image, made once for each build of the package.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests import fresh
from tests.kernel import machine, oracle
from tests.kernel.machine import APT
from tests.kernel.parts import Found
from tools import packages

LINES = {"huitzilopochtli": 17, "tlaloc": 27}
BACKENDS = ("gpiod", "gpio")
NEEDED = {"mmdebstrap": "mmdebstrap", "mke2fs": "e2fsprogs", "gcc": "gcc", "cp": "coreutils"}
BASE = ("ca-certificates", "mosquitto", "python3", "python3-libgpiod")
STATE_MIB = 64
WITHIN_S = 60.0
"""How long a machine may have a processor from the power on until it counts; the time on a busy host says nothing."""

LGPIO = ("gcc", "libc6-dev", "python3-dev", "python3-pip", "python3-setuptools", "python3-wheel", "swig")
"""What builds lgpio for Debian 13's Python; with `PYPI` set it takes the sources that it brings."""


def image(*, built: bool = False) -> Path:
    """Return the disk's image, made where there is none of this build of the package; raises `FreshError`.

    With `built`, the package that is in `build/packages` is taken, and the last commit's otherwise.
    """
    files = sorted(packages.BUILT.glob("*.deb")) if built else packages.build()
    package = next((file for file in files if file.name.startswith("templo-mayor-controller_")), None)
    if package is None:
        raise fresh.FreshError(f"{packages.BUILT} holds no templo-mayor-controller; run 'make packages' first.")
    disk = machine.BUILD / f"{package.stem}.img"
    if not disk.exists():
        for older in machine.BUILD.glob("templo-mayor-controller_*.img"):
            older.unlink()
        with fresh.Root.made(packages.SUITE, purpose="kernel", packages=BASE) as root:
            shutil.copy(package, root.folder / "srv")
            install = f"apt-get --quiet update; {APT} install ./{package.name}; {APT} install {' '.join(LGPIO)}"
            pip = "pip install --quiet --no-build-isolation --break-system-packages --root-user-action=ignore"
            lgpio = f"PYPI=1 {pip} gpiozero lgpio"
            unneeded = f"{APT} purge --auto-remove {' '.join(LGPIO)}; apt-get clean"
            script = f"{install}; {lgpio}; {unneeded}; rm -rf /root/.cache"
            fresh.run(*root.inside(["sh", "-euc", script], "/srv"), environment=root.environment)
            machine.make_disk(root.folder, disk)
    return disk


class Temple:
    """A machine with the image's copy as its disk, and a folder that it shares with the guest's program."""

    def __init__(self, made: Path, disk: Path, folder: Path) -> None:
        self.out = folder / "out"
        self.out.mkdir()
        self._made = made
        self._initrd = machine.pack(made, machine.HERE / "temple_init", (*machine.SIMULATED_LINES, "null_blk"))
        self._disk = folder / "disk.img"
        fresh.run("cp", "--sparse=always", "--reflink=auto", disk, self._disk)
        shutil.copy(machine.HERE / "temple_guest.py", self.out)
        oracle_c = machine.HERE / "oracle.c"
        fresh.run("gcc", "-static", "-O2", "-Wall", "-Wextra", "-Werror", "-o", self.out / "oracle", oracle_c)

    def plan(self, name: str, tokens: int, seed: int, gap_ms: float = 120, bounces: int = 3) -> None:
        """Write a plan of so many tokens in each slot."""
        waits = oracle.plan(tokens, tuple(LINES.values()), seed, gap_ms, bounces)
        (self.out / f"{name}.plan").write_text("".join(f"{wait_us} {line} {dark}\n" for wait_us, line, dark in waits))

    def command(self, *words: str, steady: bool = False) -> list[str]:
        """Return the command line that starts the machine with the guest's program.

        A steady machine has its ledger on a disk in its own memory, each of whose requests takes 2 ms.
        """
        if steady:
            fresh.run("mke2fs", "-q", "-t", "ext4", "-F", self.out / "state.img", f"{STATE_MIB}M")
        guest = f'guest="{" ".join(words)}"'
        return machine.command(self._made, self._initrd, guest, writable=self.out, disk=self._disk, steady=steady)


@contextmanager
def made(disk: Path) -> Iterator[Temple]:
    """Make a temple, and remove it afterwards."""
    with tempfile.TemporaryDirectory(dir=machine.BUILD, prefix="temple-") as folder:
        yield Temple(machine.kernel(), disk, Path(folder))


def counted(disk: Path, tokens: int, starved: int, seed: int) -> dict[str, Found]:
    """Let tokens with bounces fall through each backend, and some on a starved machine; returns what each found."""
    runs = dict.fromkeys(BACKENDS, tokens)
    for how in ("starved", "behind"):
        runs |= {f"{backend}-{how}": starved for backend in BACKENDS}
    return _fallen(disk, runs, seed)


def late(disk: Path, tokens: int, seed: int) -> dict[str, Found]:
    """Let tokens with bounces fall while the machine stands still for up to 4 s; returns what that found.

    Only for libgpiod, for which the kernel holds as many edges as the controller asked for.
    """
    return _fallen(disk, {"gpiod-late": tokens}, seed)


def _fallen(disk: Path, runs: dict[str, int], seed: int) -> dict[str, Found]:
    runs = {name: number for name, number in runs.items() if number}
    with made(disk) as temple:
        for number, (name, each) in enumerate(runs.items()):
            # While nobody reads, the kernel keeps 16 events of a line for lgpio, too few for tokens that bounce.
            bounces = 0 if name.endswith(("starved", "behind")) else 3
            temple.plan(name, -(-each // len(LINES)), seed + number, bounces=bounces)
        if machine.run(temple.command("tokens", *runs, steady=True)):
            raise fresh.FreshError(f"the guest's program failed while tokens fell, with the seed {seed}")
        found = {name: judged(name, temple.out) for name in runs}
        if any(each.faults for each in found.values()):
            kept = machine.BUILD / f"faults-{seed}"
            shutil.copytree(temple.out, kept, dirs_exist_ok=True)
            print(f"logs, ledgers and plans are kept in {kept.relative_to(machine.ROOT)}", flush=True)
        return found


def troubled(disk: Path, starts: int, seed: int = 1) -> list[str]:
    """Start often, on a busy line, and lose the chip; returns the faults."""
    with made(disk) as temple:
        temple.plan("one", 1, seed, bounces=0)
        failed = machine.run(temple.command("troubles", str(starts), *BACKENDS, steady=True))
    return ["a trouble was not mastered"] if failed else []


def judged(name: str, out: Path) -> Found:
    """Compare what was counted with what the oracle logged."""
    first, *lines = ([int(word) for word in line.split()] for line in (out / f"{name}.log").read_text().splitlines())
    told = json.loads((out / f"{name}.json").read_text())
    epoch_ns = first[0] - first[1]
    found = Found({"edges": len(lines)}, {"fell for": [(lines[-1][1] - lines[0][0]) / 1e9]})
    for god, pin in LINES.items():
        spells = oracle.spells((before, after, dark) for before, after, line, dark in lines if line == pin)
        rows = [row for row in told["rows"] if row[2] == god]
        tokens = [oracle.Counted(row[3] * oracle.MS - epoch_ns, row[4], "jam" in row[5]) for row in rows]
        verdict = oracle.compare(spells, tokens)
        flagged = {
            "flagged": sum(bool(row[5]) for row in rows),
            "falsely jam": verdict.false_jams,
            "cut short": verdict.cut_short,
        }
        wrong = {"lost": verdict.lost, "invented": verdict.invented}
        figures = {"fell": verdict.fell, "counted": len(rows), "either way": verdict.uncertain}
        found.add(Found(figures | flagged | {words: len(those) for words, those in wrong.items()}))
        for words, those in wrong.items():
            if those:
                found.faults.append(f"{name}: {len(those)} tokens of {god} {words}, the first {those[0]}")
    if jams := found.figures["falsely jam"]:
        found.faults.append(f"{name}: {jams} tokens were flagged jam, though their beam was never dark for 250 ms")
    ledger = [(row[0], row[1]) for row in told["rows"]]
    published = [(token["seq"], token["token"]) for token in told["published"]]
    found.figures["published"] = len(published)
    if sorted(set(published)) != ledger:
        found.faults.append(
            f"{name}: the broker passed on {len(set(published))} tokens, the ledger has {len(ledger)}"
        )
    return found


def cut(disk: Path, cuts: int, seed: int, backend: str = "gpiod") -> dict[str, Found]:
    """Cut the power again and again while tokens fall; returns what that found, under `cuts`.

    The machine is killed, so what its kernel had not written is lost. What it had written is not, even where no sync
    had been asked for: the image's recorded writes (`make crash`) lose those, too.
    """
    random_ = random.Random(seed)
    acknowledged: dict[tuple[str, int], str] = {}
    found = Found({"cuts": cuts}, {"counting again": [], "of a processor": [], "a cut": []})
    with made(disk) as temple:
        for number in range(cuts + 1):
            name = "cut"
            temple.plan(name, 400, seed + number, gap_ms=40)
            begun = time.monotonic()
            running = machine.start(temple.command("cut", backend, name))
            try:
                counts = False
                for line in machine.lines_of(running):
                    if line.startswith("copied"):
                        found.faults += missing(acknowledged, temple.out, number)
                        if number == cuts:
                            break
                    elif again := re.match(r"counting ([\d.]+)", line):
                        found.seconds["counting again"].append(float(again[1]))
                        found.seconds["of a processor"].append(processor_s := used_s(running.pid))
                        if processor_s > WITHIN_S:
                            found.faults.append(
                                f"start {number}: it took {processor_s:.0f} s of a processor to count"
                            )
                        counts = True
                        threading.Timer(random_.uniform(0.3, 5.0), running.kill).start()
                    elif one := re.match(r"acknowledged (\w+) (\d+) (\w{32})$", line):
                        acknowledged[one[1], int(one[2])] = one[3]
                    elif "guest-exit-code" in line or "Traceback" in line:
                        found.faults.append(f"start {number}: {line.strip()}")
                if not counts and number < cuts:
                    found.faults.append(f"start {number}: it did not come to counting")
            finally:
                running.kill()
                running.wait()
            found.seconds["a cut"].append(time.monotonic() - begun)
    found.figures["acknowledged"] = len(acknowledged)
    return {"cuts": found}


def used_s(process: int) -> float:
    """Return the seconds that a process of this machine has had a processor."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def missing(acknowledged: dict[tuple[str, int], str], out: Path, number: int) -> list[str]:
    """Return what is wrong with the ledger that a disk held after a cut."""
    if not (out / "ledger.sqlite3").exists():
        return [f"cut {number}: the disk holds no ledger"] if acknowledged else []
    faults = []
    with closing(sqlite3.connect(out / "ledger.sqlite3")) as ledger:
        if (said := ledger.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
            faults.append(f"cut {number}: {said}")
        rows = dict(ledger.execute("SELECT seq, token FROM token").fetchall())
        sources = {row[0] for row in ledger.execute("SELECT source FROM meta")}
    for (source, seq), token in acknowledged.items():
        if rows.get(seq) != token or source not in sources:
            faults.append(f"cut {number}: token {seq} of {source} was acknowledged; the ledger has {rows.get(seq)}")
    if sorted(rows) != list(range(1, len(rows) + 1)):
        faults.append(f"cut {number}: the ledger's numbers have gaps")
    for file in out.glob("ledger.sqlite3*"):
        file.unlink()
    return faults
