"""The commands that `docs/` gives to somebody with an installed temple, to be run on one as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.docs.pages import ROOT, code

PAGES = ("appliance.md", "services.md", "image.md", "backup.md")
"""The pages of an installed temple, that with the restore last."""

BUILDING = "where the package is built, which is another machine"
PERSON = "asks a person"
ELSEWHERE = "tried on its own below"
NOT_RUN = {
    "apt install git make mmdebstrap": BUILDING,
    "templo-companion backup FILE": "for an installation without the package",
    "apt upgrade": "needs Debian's archive, which a container without a network does not reach",
    "nmtui": PERSON,
    "systemctl edit templo-companion": PERSON,
    "apt remove": ELSEWHERE,
    "apt purge": ELSEWHERE,
    "apt remove templo-mayor": ELSEWHERE,
    "apt purge templo-mayor": ELSEWHERE,
    "rm /etc/templo-mayor/*.env /etc/mosquitto/templo/passwords": ELSEWHERE,
    "systemd-analyze security --offline=true": "the beginning of a command",
}
"""Commands that are not run, each with the reason."""

ENDED_BY_TIME = 124
"""The exit code of a command that was ended because it would go on for ever."""

_GIVEN = {
    "FILE": "/media/usb/templo.tar.gz",
    "'<its password>'": "$(sed -n 's/^TEMPLO_BROKER_PASSWORD=//p' /etc/templo-mayor/watcher.env)",
}
"""What stands for something of the reader's own."""

_RUN = re.compile(
    r"(?:sudo )?((?:(?:templo-\S+|systemctl|journalctl|apt|rm|mosquitto_sub|systemd-analyze) \S.*)|nmtui)"
)


def commands(page: str) -> Iterator[str]:
    """Yield each command of a page once, in its order and without `sudo`."""
    seen = set()
    for piece in code(ROOT / "docs" / page):
        found = _RUN.fullmatch(piece.removeprefix("$ ").partition("  #")[0].strip())
        if found and found[1] not in seen:
            seen.add(found[1])
            yield found[1]


def filled(command: str) -> str:
    """Return a command with what a reader puts in for what stands there."""
    for word, value in _GIVEN.items():
        command = command.replace(word, value)
    return command
