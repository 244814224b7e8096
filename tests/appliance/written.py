"""The commands that `docs/` gives to somebody with an installed temple, to be run on one as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.docs.pages import ROOT, code

LAST = "backup.md"
"""The page with the restore."""

REPORTS = ("measured.md",)
"""Pages that say what was done, not what to do."""

PAGES = (
    *sorted({page.name for page in (ROOT / "docs").glob("*.md")} - {LAST, *REPORTS}),
    LAST,
)

BUILDING = "where the package is built, which is another machine"
CHECKOUT = "for a checkout or an installation without the package"
CLUB = "needs PostgreSQL and a broker for several companions"
BOARD = "needs a board at a USB port"
MIRROR = "needs Debian's archive, which a container without a network does not reach"
PERSON = "asks a person"
ELSEWHERE = "tried on its own below"
OF_ITS_OWN = "needs a file, a table or a token that the reader has"
TUTORIAL = "a test takes every step of the tutorial"
PIECE = "the beginning of a command"
MINUTES = "takes minutes; the tests play every scenario"
COMPANION = "runuser -u templo-companion -- templo-companion"
NOT_RUN = {
    "apt install git make mmdebstrap": BUILDING,
    "apt install git make python3-venv python3-lgpio": CHECKOUT,
    "apt install gcc-avr avr-libc avrdude make": BUILDING,
    "apt install pipx": BUILDING,
    "apt install avrdude": BUILDING,
    "apt install ./packages/templo-mayor_*.deb": "tried from another folder",
    "templo-companion backup all.sqlite": CHECKOUT,
    "templo-companion restore --store 'postgresql+psycopg://templo:<password>@db.local/templo' all.sqlite": CHECKOUT,
    "templo-controller scenario controller/simulation/scenarios/blocked.toml": CHECKOUT,
    "templo-controller run --simulate controller/simulation/scenarios/evening.toml": CHECKOUT,
    "mosquitto_sub -h 127.0.0.1 -p PORT -u USER -P PASSWORD -t 'templo/#' -v": CHECKOUT,
    "templo-controller run --beams serial:/dev/ttyACM0": BOARD,
    "templo-controller calibrate tlaloc": PERSON,
    "templo-controller scenario --all --table": MINUTES,
    "templo-controller scenario --all --table --below apart": MINUTES,
    "apt install --no-install-recommends": PIECE,
    "apt upgrade": MIRROR,
    "apt install python3-spidev": MIRROR,
    "apt install python3-matplotlib python3-scipy": MIRROR,
    "apt install postgresql haproxy": CLUB,
    "systemctl disable --now templo-companion": CLUB,
    "systemctl enable --now templo-companion@1 templo-companion@2": CLUB,
    "systemctl restart templo-companion@2": CLUB,
    "templo-companion run --port 8001 --state /var/lib/templo/1 --set shared=on": CLUB,
    "templo-controller pair club.lan ABCD-EFGH-JKLM": CLUB,
    "templo-controller pair https://example.org/club-b CODE": CLUB,
    "nmtui": PERSON,
    "systemctl edit templo-companion": PERSON,
    "systemctl edit templo-controller": PERSON,
    "systemctl edit templo-club@.service": PERSON,
    "apt install --allow-downgrades ./templo-mayor_<its version>_all.deb": ELSEWHERE,
    "apt remove": ELSEWHERE,
    "apt purge": ELSEWHERE,
    "apt remove templo-mayor": ELSEWHERE,
    "apt purge templo-mayor": ELSEWHERE,
    "templo-mayor prepare-image": ELSEWHERE,
    "templo-companion forget person": PIECE,
    "templo-companion replay FILE": OF_ITS_OWN,
    "templo-companion deck check mine.toml": OF_ITS_OWN,
    "templo-companion map check mine.toml": OF_ITS_OWN,
    "templo-companion map walls mine.toml": OF_ITS_OWN,
    "templo-companion game check milpa": TUTORIAL,
    "templo-companion new-game NAME --dice --cards --temple": TUTORIAL,
    "templo-companion new-game NAME --cards": TUTORIAL,
    f"{COMPANION} held count --for Ana --all": OF_ITS_OWN,
    f"{COMPANION} held dismiss 0f8e7d6c 77ab": OF_ITS_OWN,
    f"{COMPANION} forget table 4f1c09b2": OF_ITS_OWN,
    f"{COMPANION} forget table 4f1c09b2 --yes": OF_ITS_OWN,
    f"{COMPANION} forget person Ana --yes": OF_ITS_OWN,
}
"""Commands that are not run, each with the reason."""

ENDED_BY_TIME = 124
"""The exit code of a command that was ended because it would go on for ever."""

_GIVEN = {
    "FILE": "/media/usb/templo.tar.gz",
    "'<its password>'": "$(sed -n 's/^TEMPLO_BROKER_PASSWORD=//p' /etc/templo-mayor/watcher.env)",
}
"""Placeholders for the reader's own values."""

_RUN = re.compile(
    r"(?:\$ )?(?:sudo (?:-u (?P<user>\S+) )?)?"
    r"(?P<command>(?:(?:templo-\S+|systemctl|journalctl|apt|rm|mosquitto_sub|systemd-analyze) \S.*)|nmtui)"
)
_SWITCHED = ("systemctl stop ", "systemctl start ")


def commands(page: str) -> Iterator[str]:
    """Yield each command of a page once, in its order, for root: `sudo -u` becomes Debian's own `runuser`.

    A unit is stopped and started each time that it stands there.
    """
    seen = set()
    for piece in code(ROOT / "docs" / page):
        if found := _RUN.fullmatch(piece.strip().partition("  #")[0].strip()):
            command, user = found["command"].strip(), found["user"]
            command = f"runuser -u {user} -- {command}" if user else command
            if command not in seen or command.startswith(_SWITCHED):
                seen.add(command)
                yield command


def filled(command: str) -> str:
    """Return a command with its placeholders filled in."""
    for word, value in _GIVEN.items():
        command = command.replace(word, value)
    return command
