"""`templo-mayor prepare-image`: removes from this card what copies of it must not share.

That is what proves who a temple is and what was played with it. Every copy makes its own at its first start, as after
an installation; settings stay.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from companion.adapters.network import network_manager
from companion.adapters.network.network_manager import NetworkError

_SECRETS = ("*.env", ".*.new", "controller-password", "*.before-boot", "*.before-pairing", "boot-applied")
_FOLDERS = ("pairing", "tls")
_KEPT = "club.env"
"""What the owner wrote for several companions of one club; no copy makes it."""

UNITS = (
    *("templo-mayor-backup.timer", "templo-hotspot.timer", "templo-tls-renew.timer", "templo-network.socket"),
    *("templo-mayor-backup", "templo-hotspot", "templo-tls", "templo-controller", "templo-companion"),
    *("templo-companion@*", "mosquitto"),
)
"""What would use or make again what is removed; the broker writes its messages to the disk when it ends."""


class ImageError(Exception):
    """What keeps this card from being copied; the message says what and why, and whether anything was removed."""


class Card(Struct, frozen=True):
    """Where everything is that copies of this card must not share.

    `systemd` runs systemctl with words; `nmcli` does that with NetworkManager's command.
    """

    settings: Path
    broker: Path
    messages: Path
    """What the broker keeps for its clients: one file, beside those of other programs."""
    states: tuple[Path, ...]
    backups: Path
    connections: Path
    systemd: Callable[..., str]
    nmcli: Callable[..., str] = network_manager.nmcli

    @property
    def played(self) -> list[Path]:
        """Where tokens, tables and backups are."""
        return [path for path in (*self.states, self.backups) if path.is_dir() and any(path.iterdir())]


def installed(systemd: Callable[..., str]) -> Card:
    """Return the card of this machine."""
    return Card(
        Path("/etc/templo-mayor"),
        Path("/etc/mosquitto/templo"),
        Path("/var/lib/mosquitto/mosquitto.db"),
        (Path("/var/lib/templo-controller"), Path("/var/lib/templo-companion")),
        Path("/var/backups/templo-mayor"),
        Path("/etc/NetworkManager/system-connections"),
        systemd,
    )


def question(card: Card) -> str:
    """Return what to ask before tokens, tables and backups are removed; nothing if there are none."""
    if not card.played:
        return ""
    folders = ", ".join(map(str, card.played))
    return f"This removes every token, table and backup of this card for good ({folders}). Go on? [y/N] "


def prepare(card: Card) -> list[str]:
    """Remove what copies must not share, and return what to print; raises `ImageError`.

    The programs stay stopped until the next start, so that nothing is made again before the card is copied.
    """
    _check_broker(card)
    if clubs := sorted(path.parent.name for path in (card.settings / "clubs").glob("*/companion.env")):
        raise ImageError(
            f"this machine hosts {', '.join(clubs)}: remove each with 'templo-mayor club-site remove NAME'. Nothing "
            "was removed."
        )
    card.systemd("stop", *UNITS)
    try:
        for path in _to_remove(card):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise ImageError(f"not everything is removed: {error}. Mend that, and type the command again.") from error
    with suppress(NetworkError):  # its file is removed all the same
        card.nmcli("connection", "delete", network_manager.HOTSPOT)
    try:
        (card.connections / f"{network_manager.HOTSPOT}.nmconnection").unlink(missing_ok=True)
    except OSError as error:
        raise ImageError(f"the hotspot is not removed: {error}. Mend that, and type the command again.") from error
    return [
        "Removed: passwords, codes, keys and certificates, tokens, tables, backups and the machine's own Wi-Fi.",
        f"Kept: the settings in {card.settings}, a Wi-Fi that was joined, and what belongs to the system.",
        "Switch the machine off (sudo poweroff) and copy its card: each copy makes its own when it first starts.",
        "If you start this card before you copy it, type the command again.",
    ]


def _to_remove(card: Card) -> Iterator[Path]:
    """Yield files and folders, the passwords first."""
    yield card.broker / "passwords"
    yield card.broker / "acl"
    for pattern in _SECRETS:
        yield from (path for path in sorted(card.settings.glob(pattern)) if path.name != _KEPT)
    yield from (path for name in _FOLDERS if (path := card.settings / name).exists())
    for folder in card.played:
        yield from sorted(folder.iterdir())
    yield card.messages


def _check_broker(card: Card) -> None:
    """Raise `ImageError` if a program's settings hold a password of a broker, which no copy makes for itself."""
    for name in ("controller.toml", "companion.toml"):
        file = card.settings / name
        try:
            broker = tomllib.loads(file.read_text("utf-8")).get("broker")
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(broker, dict) and {"password", "password_file"} & broker.keys():
            raise ImageError(
                f"{file} has a password of a broker on another machine, where each copy needs a user of its own: "
                "remove [broker] from it, and give each copy its own by the file on its boot partition. Nothing was "
                "removed."
            )
