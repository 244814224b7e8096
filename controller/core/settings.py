"""The controller's settings: what may be set, what each value must be, and its default. It reads nothing itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from controller.core.counting import MS, Limits
from templo.broker import BrokerSettings
from templo.contract import God
from templo.setting_types import LogLevel, PathText, TempleName, matching, number, text, whole

SERIAL = "serial:"
"""Before the port of a board that counts by itself."""

Pin: TypeAlias = Annotated[int, whole(0, 27, "a BCM pin number")]
Source: TypeAlias = Annotated[
    str,
    matching(f"gpio|simulated|{SERIAL}/.*", "gpio, simulated, or serial: and a port, such as serial:/dev/ttyACM0"),
]
Milliseconds: TypeAlias = Annotated[float, number(0.1, 1000, "milliseconds")]
LongMilliseconds: TypeAlias = Annotated[float, number(0.1, 60_000, "milliseconds")]
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """Which beams are watched, and how. Pins and polarity have their defaults in ``pins.toml``."""

    huitzilopochtli: Pin
    tlaloc: Pin
    broken: Literal["low", "high"]
    pull: Literal["up", "down", "none"]
    source: Source = "gpio"
    factory: Literal["lgpio", "rpigpio", "mock"] = "lgpio"
    chip: Annotated[str, text(64, "the label of a GPIO chip, such as pinctrl-rp1")] | None = None
    emitters: Pin | None = None

    @property
    def pins(self) -> Mapping[God, int]:
        """The pin of each slot's receiver."""
        return {God.HUITZILOPOCHTLI: self.huitzilopochtli, God.TLALOC: self.tlaloc}


@dataclass(frozen=True, slots=True)
class CountingSettings:
    """What counts as a token, in milliseconds; see `Limits`."""

    min_break_ms: Milliseconds = _LIMITS.min_break / MS
    min_clear_ms: Milliseconds = _LIMITS.min_clear / MS
    max_break_ms: Annotated[float, number(1, 60_000, "milliseconds")] = _LIMITS.max_break / MS
    band_ms: LongMilliseconds | None = None
    narrow_ms: LongMilliseconds | None = None
    flicker_per_s: Annotated[int, whole(2, 10_000)] = _LIMITS.flicker

    def limits(self) -> Limits:
        """Return them in whole nanoseconds."""
        return Limits(
            min_break=round(self.min_break_ms * MS),
            min_clear=round(self.min_clear_ms * MS),
            max_break=round(self.max_break_ms * MS),
            flicker=self.flicker_per_s,
            band=None if self.band_ms is None else round(self.band_ms * MS),
            narrow=None if self.narrow_ms is None else round(self.narrow_ms * MS),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSettings:
    """Every setting of the controller, as a settings file has them."""

    temple: TempleName = "templo"
    state: PathText | None = None
    """The directory of the ledger; without one systemd's, or the user's own."""
    log: LogLevel = "info"
    beams: BeamSettings
    counting: CountingSettings = field(default_factory=CountingSettings)
    broker: BrokerSettings = field(default_factory=BrokerSettings)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that the daemon and its commands need, checked."""

    temple: str
    state: Path
    log: str
    beams: BeamSettings
    counting: Limits
    broker: BrokerSettings
    chosen: frozenset[str] = frozenset()
    """The keys that somebody set; all others have their defaults."""
    deprecated: tuple[str, ...] = ()
    """What to log about old names that were used."""

    @property
    def simulated(self) -> bool:
        """Whether the beams are a script's."""
        return self.beams.source == "simulated"

    @property
    def board(self) -> str | None:
        """The port of the board that counts, where one does."""
        return self.beams.source.removeprefix(SERIAL) if self.beams.source.startswith(SERIAL) else None
