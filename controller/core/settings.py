"""The controller's settings as values, read and checked. It reads nothing itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from controller.core.counting import Limits
from templo.contract import God


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """Which beams are watched, and how.

    `broken` is the level of a broken beam, ``"low"`` or ``"high"``; `pull` is ``"up"``, ``"down"`` or ``"none"``.
    """

    source: str
    """The backend's name, such as ``"gpio"``; its address may follow: ``"serial:/dev/ttyACM0"``."""
    factory: str
    chip: str | None
    pins: Mapping[God, int]
    emitters: int | None
    broken: str
    pull: str

    @property
    def backend(self) -> str:
        """The name of the backend."""
        return self.source.partition(":")[0]

    @property
    def address(self) -> str:
        """What follows the backend's name, or nothing."""
        return self.source.partition(":")[2]


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """Where the broker is and how to connect to it. The password never shows in a `repr`."""

    host: str
    port: int
    user: str | None
    password: str | None = field(repr=False)
    protocol: str
    keepalive: int


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of the daemon and its commands, checked."""

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
        """Whether the beams are simulated, so that a drop is no test."""
        return self.beams.backend == "simulated"
