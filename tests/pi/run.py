"""Starts the image of a card in an emulated Raspberry Pi, and tries what an owner meets: `make pi`.

First the board itself (``raspi3b``), twice from one card, then with the memory of a Zero 2 W. Then the same image
where edges and a network reach it (``virt``): a settings file, the owner's first steps and a token over HTTP, a login
with a key, tokens through both beams beside an oracle in the machine's own time, and power cuts among them. Copies
that started for the first time share no secret. The figures are an emulator's.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from types import MappingProxyType

from tests import fresh
from tests.appliance.machine import must, say
from tests.kernel import oracle
from tests.pi.machine import CARD_MIB, INSIDE, NS, RUN, Card, Lines, Machine, PiError, Pull, started
from tests.visitor import Visitor
from tools import packages
from tools.image import __main__ as builder

UNITS = ("mosquitto", "templo-controller", "templo-companion", "NetworkManager", "avahi-daemon")
LINES = {"huitzilopochtli": 1, "tlaloc": 2}
SETTINGS = """name = "attic"

[beams]
chip = "9030000.pl061"
huitzilopochtli = 1
tlaloc = 2
"""
PAGE = """python3 -c "
import time, urllib.request
begun = time.monotonic()
body = urllib.request.urlopen('http://127.0.0.1/', timeout=300).read()
print(len(body), round(time.monotonic() - begun, 2))
" """
MIB = 1 << 20
AT_ONCE, JAMS = 0.1, 0.02
"""Which share of all tokens falls through both slots at the same moment, and which stays in its beam."""

SHARED = ("keys of ssh", "the hotspot's password")
"""What a card makes only where it has an owner's key, or Wi-Fi."""


@dataclass
class Trial:
    """A card's image, what was asked for, and the secrets of every copy that started for the first time."""

    card: Card
    tokens: int
    cuts: int
    seed: int
    secrets: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def copied(self, name: str, files: Mapping[str, str] = MappingProxyType({})) -> Card:
        """Return a copy of the card with our program and files on its boot partition."""
        copy = self.card.copied(name)
        for each, text in {INSIDE.name: INSIDE.read_text(), **files}.items():
            copy.put(each, text)
        return copy

    def note_secrets(self, name: str, pi: Machine) -> None:
        """Read what a card made for itself, and compare it with what the others made; raises `FreshError`."""
        self.secrets[name] = own = json.loads(pi.run(f"{RUN} secrets"))
        must("it made each secret", [what for what in own if not own[what] and what not in SHARED], [])
        for (one, of_one), (other, of_other) in combinations(self.secrets.items(), 2):
            both = {what for what, values in of_one.items() if set(values) & set(of_other[what])}
            compared = sum(bool(values and of_other[what]) for what, values in of_one.items())
            must(f"{one} and {other} share none of {compared} kinds of secrets", both, set())


def main(argv: Sequence[str]) -> int:
    """Go through the stages; returns 0 where everything was as it must be."""
    parser = argparse.ArgumentParser(prog="make pi ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=STAGES, action="append", help="one stage alone")
    parser.add_argument("--tokens", type=int, default=200, help="through both beams (default: %(default)s)")
    parser.add_argument("--cuts", type=int, default=2, help="how often the power is cut (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of what falls (default: %(default)s)")
    parser.add_argument("--where-allowed", action="store_true", help="pass where this machine may not do that")
    given = parser.parse_args(argv)
    try:
        builder.check_machine()
    except fresh.FreshError as error:
        print(error, file=sys.stderr)
        return 0 if given.where_allowed else 1
    try:
        with unpacked() as card:
            trial = Trial(card, given.tokens, given.cuts, given.seed)
            for stage in given.only or STAGES:
                print(f"{stage}:", flush=True)
                STAGES[stage](trial)
    except (fresh.FreshError, PiError) as error:
        print(f"make pi: {error}", file=sys.stderr)
        return 1
    return 0


@contextmanager
def unpacked() -> Iterator[Card]:
    """Yield the image of the last commit as a card, in a root of tools; it is built where it is not there."""
    packed = builder.IMAGES / builder.NEWEST
    if not packed.exists():
        builder.build()
    with fresh.Root.made(packages.SUITE, purpose="image", packages=builder.TOOLS) as tools:
        shutil.copy(packed, tools.folder / "srv/card.xz")
        fresh.run(*tools.inside(["sh", "-euc", "xz --decompress --stdout card.xz >card; rm card.xz"], "/srv"))
        card = Card(tools, "card")
        with card.file.open("r+b") as file:
            file.truncate(CARD_MIB * MIB)
        yield card


def boot(machine: Machine) -> float:
    """See that everything is up, and print what it took; returns the machine's seconds until the later program."""
    must("systemd is running", machine.run("systemctl is-system-running --wait", fails=True), "running")
    must("no unit has failed", machine.run("systemctl --failed --no-legend --plain"), "")
    must(
        "our units are active", machine.run(f"systemctl is-active {' '.join(UNITS)}").split(), ["active"] * len(UNITS)
    )
    active_s = []
    for unit in ("templo-controller", "templo-companion"):
        at = machine.run(f"systemctl show {unit} --value --property=ActiveEnterTimestampMonotonic")
        used = machine.run(f"systemctl show {unit} --value --property=CPUUsageNSec")
        active_s.append(int(at) / 1e6)
        say(f"{unit}: active after, of a processor", f"{active_s[-1]:.1f} s, {int(used) / NS:.1f} s")
        must(f"{unit} was not restarted", machine.run(f"systemctl show {unit} --value --property=NRestarts"), "0")
    asked = "systemctl show --value --property="
    started = int(machine.run(f"{asked}ExecMainStartTimestampMonotonic templo-controller"))
    network = int(machine.run(f"{asked}ActiveEnterTimestampMonotonic network.target"))
    must("the controller waited for no network", started < network)
    size, seconds = machine.run(PAGE).split()
    say("the first page, from inside", f"{size} bytes in {seconds} s")
    memory = machine.run("free -m").splitlines()[1].split()
    say("memory used, of", f"{memory[2]} MiB, {memory[1]} MiB")
    say("the emulator's seconds of a processor so far", f"{machine.used_s():.0f} s")
    return max(active_s)


def board(trial: Trial) -> None:
    """Start the board twice from one card, then another with half the memory and an owner's key."""
    own = trial.copied("board")
    took_s = []
    for what in ("first start", "second start"):
        print(f"  {what}", flush=True)
        with started(own, "raspi3b", FOLDER / "board") as pi:
            took_s.append(boot(pi))
            if what == "first start":
                trial.note_secrets("the board", pi)
            label = "gpiod.Chip('/dev/gpiochip0').get_info().label"
            must("the header's chip", pi.run(f'python3 -c "import gpiod; print({label})"'), "pinctrl-bcm2835")
            filesystem = pi.run("df --output=size --block-size=1M /").split()[1]
            must("ssh is inactive, as there is no key", pi.run("systemctl is-active ssh", fails=True), "inactive")
            must("the system's partition took the whole card", int(filesystem) > CARD_MIB * 0.85)
            pi.switch_off()
    must(f"{took_s[1]:.1f} s of the second start are less than {took_s[0]:.1f} s", took_s[1] < took_s[0])
    print("  512 MiB", flush=True)
    with started(trial.copied("board", {"authorized_keys": ""}), "raspi3b", FOLDER / "board", 512) as pi:
        boot(pi)
        must("ssh is active, as there is a key", pi.run("systemctl is-active ssh"), "active")
        trial.note_secrets("the board with 512 MiB", pi)


def temple(trial: Trial) -> None:
    """Take one card through an owner's first evening: settings, login, a table, tokens, and power cuts."""
    folder = FOLDER / "temple"
    folder.mkdir(parents=True, exist_ok=True)
    key = folder / "key"
    key.unlink(missing_ok=True)
    fresh.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
    files = {"templo-mayor.toml": SETTINGS, "authorized_keys": key.with_suffix(".pub").read_text()}
    own = trial.copied("temple", files)
    with started(own, "virt", folder) as pi:
        boot(pi)
        trial.note_secrets("the temple", pi)
        names = pi.run("ls /boot/firmware").split()
        must("the settings file was applied", "templo-mayor.applied.toml" in names)
        must("the owner logs in with a key, from outside", logged_in(pi, key, "sudo id --user --name"), "root")
        table = first_steps(Visitor(pi.origin))
        lines = Lines(pi, LINES.values())
        for god, line in LINES.items():
            lines.play([(NS // 1000, line, 1), (30_000, line, 0)])
            until(
                f"a token of {god} is on the table's page",
                lambda god=god: shown(Visitor(pi.origin).get(table), god) == 1,
            )
        counted(pi, lines, trial)
        lines.close()
    chance = random.Random(trial.seed)
    for number in range(trial.cuts):
        with started(own, "virt", folder) as pi:
            boot(pi)
            whole(pi)
            stored = cut(pi, chance.randint(60, 240), trial.seed + number)
        with started(own, "virt", folder) as pi:
            boot(pi)
            there = whole(pi)
            say("stored when the power was cut, and now", f"{len(stored)}, {len(there)}")
            must("each is there once", stored <= there)


def first_steps(visitor: Visitor) -> str:
    """Take the owner's first steps and begin a table from outside; returns the path of its page."""
    must("the page from outside", "Templo Mayor" in visitor.get("/"))
    visitor.post("/setup/name", name="The Attic")
    visitor.post("/setup/finish", then="table")
    must("the owner's first steps lead to a new table", "/tables/new" in visitor.address)
    chairs = visitor.post("/tables", game="mexica", title="Attic", players="2", preset="temple_only", temple="attic")
    found = re.search(r'action="(/t/\w{32})/', chairs)
    must("a table is set for the temple", bool(found))
    assert found
    visitor.post(f"{found[1]}/share", code=visitor.address.rpartition("/")[2])
    visitor.post(f"{found[1]}/begin")
    must("the game begins", visitor.address.endswith(found[1]))
    return found[1]


def logged_in(pi: Machine, key: Path, command: str) -> str:
    """Return what a command printed in a login from outside."""
    options = {"BatchMode": "yes", "StrictHostKeyChecking": "no", "UserKnownHostsFile": "/dev/null"}
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    done = subprocess.run(
        ["ssh", "-q", "-i", key, "-p", str(pi.ssh_port), *words, "temple@127.0.0.1", command],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return done.stdout.strip() or done.stderr.strip()


def counted(pi: Machine, lines: Lines, trial: Trial) -> None:
    """Let tokens with bounces fall through both beams, and compare what was counted with what the oracle saw."""
    before = len(tokens_of(pi)["rows"])
    begun = time.monotonic()
    epoch_ns, pulls = lines.play(planned(trial.tokens, trial.seed))
    say(
        "pulls, in the machine's time, in this machine's", f"{len(pulls)}, {(pulls[-1][1] - pulls[0][0]) / NS:.0f} s,"
    )
    say("", f"{time.monotonic() - begun:.0f} s")
    whole(pi)
    judge(tokens_of(pi)["rows"][before:], epoch_ns, pulls)
    say("memory used", pi.run("free -m").splitlines()[1].split()[2] + " MiB")


def planned(tokens: int, seed: int) -> list[tuple[int, int, int]]:
    """Return a plan of tokens through both beams with bounces and jams, of which some fall at once."""
    both = round(tokens * AT_ONCE / len(LINES))
    apart = -(-(tokens - both * len(LINES)) // len(LINES))
    plan = oracle.plan(apart, tuple(LINES.values()), seed, jams=JAMS)
    plan.append((NS // 1000, plan[-1][1], 0))
    first, *others = LINES.values()
    for wait_us, _, dark in oracle.plan(both, (first,), seed + 1):
        plan += [(wait_us, first, dark), *((0, line, dark) for line in others)]
    return plan


def judge(rows: Sequence[Sequence[object]], epoch_ns: int, pulls: Sequence[Pull]) -> None:
    """Compare the ledger's rows with the oracle; raises `FreshError` if a token is lost or invented."""
    for god, line in LINES.items():
        fell = oracle.spells((before, after, dark) for before, after, of, dark in pulls if of == line)
        found = [
            oracle.Counted(int(str(at_ms)) * oracle.MS - epoch_ns, int(str(width_ns)), "jam" in str(flags))
            for _, _, of, at_ms, width_ns, flags in rows
            if of == god
        ]
        verdict = oracle.compare(fell, found)
        say(f"{god}: fell, counted, either way", f"{verdict.fell}, {len(found)}, {verdict.uncertain}")
        must(f"{god}: none lost, none invented", (verdict.lost, verdict.invented), ((), ()))
        fewest, most = (sum(width >= oracle.MAX_BREAK for width in widths) for widths in _widths(fell))
        jams = sum(each.jam for each in found)
        must(f"{god}: {jams} jams, each flagged", fewest <= jams <= most and not verdict.false_jams)


def _widths(fell: Sequence[oracle.Spell]) -> tuple[list[int], list[int]]:
    return [spell.narrowest for spell in fell], [spell.widest for spell in fell]


def cut(pi: Machine, after: int, seed: int) -> set[tuple[int, str]]:
    """Cut the power after so many pulls; returns the numbers and ids of the tokens that had been stored by then."""
    lines = Lines(pi, LINES.values())
    pi.run(f"{RUN} watch >/dev/{pi.console} 2>&1 &")
    lines.play(planned(after, seed), ends=lambda pulls: pulls >= after)
    pi.cut()
    lines.close()
    return {(int(seq), token) for seq, token in re.findall(r"^stored (\d+) (\w{32})$", pi.said, re.MULTILINE)}


def whole(pi: Machine) -> set[tuple[int, str]]:
    """Wait until all that was counted is stored; returns it, raises `FreshError` where ledger and store differ."""
    until_s = time.monotonic() + 900
    before = ""
    while (now := pi.run(f"{RUN} waiting")) != before or now.split()[1] != "0":
        if time.monotonic() > until_s:
            break
        before = now
        pi.run("sleep 3")
    found = tokens_of(pi)
    must("the ledger is whole", found["whole"], "ok")
    numbers = list(range(1, len(found["rows"]) + 1))
    must("its numbers have no gap", [row[0] for row in found["rows"]], numbers)
    must("each token was delivered once", found["stored"], [row[:2] for row in found["rows"]])
    return {(seq, token) for seq, token in found["stored"]}


def tokens_of(pi: Machine) -> dict[str, list[list[object]]]:
    """Return what the controller recorded and what the companion stored."""
    return dict(json.loads(pi.run(f"{RUN} tokens")))


def until(what: str, true: Callable[[], object], seconds: float = 600) -> None:
    """Wait until something is so; raises `FreshError` if it takes too long."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise fresh.FreshError(f"{what}: not within {seconds:.0f} s")
        time.sleep(1)
    say(what)


def shown(page: str, god: str) -> int:
    """Return the count of a slot on a table's page, -1 where there is none.

    >>> shown('<data value="3" data-piece="count-tlaloc">', "tlaloc")
    3
    """
    found = re.search(rf'value="(\d+)" data-piece="count-{god}"', page)
    return int(found[1]) if found else -1


STAGES: dict[str, Callable[[Trial], None]] = {"board": board, "temple": temple}
FOLDER: Path = fresh.BUILD / "pi"

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
