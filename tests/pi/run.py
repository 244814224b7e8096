"""Starts the image of a card in an emulated Raspberry Pi, and tries what an owner meets: `make pi`.

First the board itself (``raspi3b``), twice from one card, then with the memory of a Zero 2 W; then the same image
where a network reaches it (``virt``): a settings file, and the owner's first steps over HTTP. The figures are an
emulator's, and no token falls.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

from tests import fresh
from tests.appliance.machine import must, say
from tests.pi.machine import CARD_MIB, NS, Card, Machine, PiError, started
from tools import packages
from tools.image import __main__ as builder

STAGES = ("board", "steps")
UNITS = ("mosquitto", "templo-controller", "templo-companion", "NetworkManager", "avahi-daemon")
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


def main(argv: Sequence[str]) -> int:
    """Go through the stages; returns 0 where everything was as it must be."""
    parser = argparse.ArgumentParser(prog="make pi ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=STAGES, action="append", help="one stage alone")
    given = parser.parse_args(argv)
    try:
        builder.check_machine()
        with unpacked() as card:
            for stage in given.only or STAGES:
                print(f"{stage}:", flush=True)
                STAGE[stage](card)
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


def boot(machine: Machine) -> None:
    """See that everything is up, and print what it took."""
    must("systemd is running", machine.run("systemctl is-system-running --wait", fails=True), "running")
    must("no unit has failed", machine.run("systemctl --failed --no-legend --plain"), "")
    must(
        "our units are active", machine.run(f"systemctl is-active {' '.join(UNITS)}").split(), ["active"] * len(UNITS)
    )
    for unit in ("templo-controller", "templo-companion"):
        at = machine.run(f"systemctl show {unit} --value --property=ActiveEnterTimestampMonotonic")
        used = machine.run(f"systemctl show {unit} --value --property=CPUUsageNSec")
        say(f"{unit}: active after, of a processor", f"{int(at) / 1e6:.1f} s, {int(used) / NS:.1f} s")
        must(f"{unit} was not restarted", machine.run(f"systemctl show {unit} --value --property=NRestarts"), "0")
    size, seconds = machine.run(PAGE).split()
    say("the first page, from inside", f"{size} bytes in {seconds} s")
    memory = machine.run("free -m").splitlines()[1].split()
    say("memory used, of", f"{memory[2]} MiB, {memory[1]} MiB")
    say("the emulator's seconds of a processor so far", f"{machine.used_s():.0f} s")


def board(card: Card) -> None:
    """Start the board twice from one card, then with half the memory."""
    own = card.copied("board")
    for what, ssh in {"first start": "inactive", "second start": "active"}.items():
        print(f"  {what}", flush=True)
        with started(own, "raspi3b", FOLDER / "board") as pi:
            boot(pi)
            label = "gpiod.Chip('/dev/gpiochip0').get_info().label"
            must("the header's chip", pi.run(f'python3 -c "import gpiod; print({label})"'), "pinctrl-bcm2835")
            filesystem = pi.run("df --output=size --block-size=1M /").split()[1]
            must(
                f"ssh is {ssh}, as there is {'no' if ssh == 'inactive' else 'a'} key",
                pi.run("systemctl is-active ssh", fails=True),
                ssh,
            )
            pi.run("touch /boot/firmware/authorized_keys")
            must("the system's partition took the whole card", int(filesystem) > CARD_MIB * 0.85)
            pi.switch_off()
    print("  512 MiB", flush=True)
    with started(card.copied("board"), "raspi3b", FOLDER / "board", 512) as pi:
        boot(pi)


def steps(card: Card) -> None:
    """Apply a settings file, and take the owner's first steps from outside."""
    own = card.copied("steps")
    own.put("templo-mayor.toml", SETTINGS)
    with started(own, "virt", FOLDER / "steps") as pi:
        boot(pi)
        names = pi.run("ls /boot/firmware").split()
        must("the settings file was applied", "templo-mayor.applied.toml" in names)
        visitor = Visitor(pi)
        must("the page from outside", "Templo Mayor" in visitor.get("/"))
        visitor.post("/setup/name", name="The Attic")
        visitor.post("/setup/finish", then="table")
        must("the owner's first steps lead to a new table", "/tables/new" in visitor.address)


class Visitor:
    """A phone that reaches the machine from outside."""

    def __init__(self, machine: Machine) -> None:
        self._origin = f"http://127.0.0.1:{machine.port}"
        self._opener: OpenerDirector = build_opener(HTTPCookieProcessor(CookieJar()))
        self.address = ""

    def get(self, path: str) -> str:
        """Return a page."""
        return self._open(Request(self._at(path)))

    def post(self, path: str, **form: str) -> str:
        """Send a form; returns the page that it leads to."""
        return self._open(Request(self._at(path), urlencode(form).encode(), {"Origin": self._origin}))

    def _at(self, path: str) -> str:
        return path if path.startswith("http") else self._origin + path

    def _open(self, request: Request) -> str:
        with self._opener.open(request, timeout=300) as answer:
            self.address = answer.url
            return str(answer.read().decode())


STAGE = {"board": board, "steps": steps}
FOLDER: Path = fresh.BUILD / "pi"

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
