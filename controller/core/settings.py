"""The controller's settings as values, read and checked. It reads nothing itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from controller.core.counting import Limits
from templo.contract import God
from templo.setting_types import SERIAL


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """Which beams are watched, and how. `broken` and `pull` are levels: ``"low"`` or ``"high"``, ``"up"`` ..."""

    source: str
    factory: str
    chip: str | None
    pins: Mapping[God, int]
    emitters: int | None
    broken: str
    pull: str


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """Where the broker is and how it is spoken to. The password never shows in a `repr`."""

    host: str
    port: int
    user: str | None
    password: str | None = field(repr=False)
    protocol: str
    keepalive: int


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that the daemon and its commands are told, checked."""

    temple: str
    state: Path
    log: str
    beams: BeamSettings
    counting: Limits
    broker: BrokerSettings
    chosen: frozenset[str] = frozenset()
    """The keys that somebody set; all others have their defaults."""

    @property
    def simulated(self) -> bool:
        """Whether the beams are a script's."""
        return self.beams.source == "simulated"

    @property
    def board(self) -> str | None:
        """The port of the board that counts, where one does."""
        return self.beams.source.removeprefix(SERIAL) if self.beams.source.startswith(SERIAL) else None
