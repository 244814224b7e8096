"""Users of the broker that may be given to new temples: files that whoever runs the broker put there for that."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from templo.broker import Address
from templo.contract import TEMPLE_NAME

log = logging.getLogger(__name__)

_TEMPLE = re.compile(TEMPLE_NAME)
_LINE = re.compile(r"^TEMPLO_BROKER_(USER|PASSWORD)=([!-~]{1,255})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user of the broker."""

    user: str
    password: str = field(repr=False)


@dataclass(slots=True)
class Offered:
    """The temples that may be paired: for each a file `<temple>.env` as `templo-broker-access --pair` writes it.

    Nothing is made or changed here: the companion gives away what it was given, and cannot make a user of the broker.
    """

    folder: Path | None = None
    _reported: set[Path] = field(default_factory=set, init=False, repr=False, compare=False)

    def temples(self) -> list[str]:
        """Return the names of the temples, none where the folder cannot be read."""
        try:
            names = [path.stem for path in self.folder.iterdir() if path.suffix == ".env"] if self.folder else []
        except FileNotFoundError:
            return []
        except OSError as error:
            self._report(error)
            return []
        return sorted(name for name in names if _TEMPLE.fullmatch(name))

    def of(self, temple: str) -> Credentials | None:
        """Return the user of a temple, or none where its file is not there, or holds none."""
        if self.folder is None or not _TEMPLE.fullmatch(temple):
            return None
        try:
            found = dict(_LINE.findall((self.folder / f"{temple}.env").read_text("ascii")))
        except (FileNotFoundError, ValueError):
            return None
        except OSError as error:
            self._report(error)
            return None
        return Credentials(found["USER"], found["PASSWORD"]) if len(found) == len(("USER", "PASSWORD")) else None

    def _report(self, error: OSError) -> None:
        """Log what cannot be read, once: pages look here at every view."""
        path = Path(error.filename)
        if path not in self._reported:
            self._reported.add(path)
            log.warning(
                "%s cannot be read (%s), so that no temple of it can be paired; "
                "expected it to be readable by this program's group, as templo-broker-access --pair leaves it",
                path, error.strerror,
            )  # fmt: skip


def brokers_for(host: str, listed: Iterable[Address]) -> str:
    """Return brokers as a temple elsewhere reaches them: one on this machine by the name that the temple uses for it.

    >>> brokers_for("temple.local", [Address("127.0.0.1", 1883), Address("broker.lan", 1884)])
    'temple.local:1883,broker.lan:1884'
    """
    return ",".join(_written(host if each.is_here else each.host, each.port) for each in listed)


def _written(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
