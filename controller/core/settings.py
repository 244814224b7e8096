"""The controller's settings: the type and default of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from controller.core.counting import MS, Limits
from templo.broker import BrokerSettings
from templo.contract import God
from templo.setting_types import LogLevel, PathText, TempleName, WebAddress, matching, number, text, whole

Pin: TypeAlias = Annotated[int, whole(0, 27, "a BCM pin number")]
Milliseconds: TypeAlias = Annotated[float, number(0.1, 1000, "milliseconds")]
LongMilliseconds: TypeAlias = Annotated[float, number(0.1, 60_000, "milliseconds")]
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """Which beams are watched, and how. Pins and polarity have their defaults in ``pins.toml``.

    `broken` is the level of a broken beam, `pull` the resistor of its pin.
    """

    huitzilopochtli: Pin
    tlaloc: Pin
    broken: Literal["low", "high"]
    pull: Literal["up", "down", "none"]
    source: Annotated[str, text(4096, "the name of a backend")] = "gpio"
    """The backend's name, such as ``"gpio"``; its address may follow: ``"serial:/dev/ttyACM0"``."""
    factory: Literal["lgpio", "rpigpio", "mock"] = "lgpio"
    chip: Annotated[str, text(64, "the label of a GPIO chip, such as pinctrl-rp1")] | None = None
    emitters: Pin | None = None
    huitzilopochtli_below: Pin | None = None
    """The receiver of an optional second beam below the first."""
    tlaloc_below: Pin | None = None

    @property
    def backend(self) -> str:
        """The name of the backend."""
        return self.source.partition(":")[0]

    @property
    def address(self) -> str:
        """The part after the backend's name, or an empty string."""
        return self.source.partition(":")[2]

    @property
    def pins(self) -> Mapping[God, int]:
        """The pin of each slot's receiver."""
        return {God.HUITZILOPOCHTLI: self.huitzilopochtli, God.TLALOC: self.tlaloc}

    @property
    def below(self) -> Mapping[God, int]:
        """The pin of the second beam's receiver, for each slot that has one."""
        pins = {God.HUITZILOPOCHTLI: self.huitzilopochtli_below, God.TLALOC: self.tlaloc_below}
        return {god: pin for god, pin in pins.items() if pin is not None}


@dataclass(frozen=True, slots=True)
class LightSettings:
    """The lamps before the shrines' doors and the buzzer, if any. Pins default to those of ``pins.toml``."""

    huitzilopochtli: Pin
    tlaloc: Pin
    lamps: Literal["none", "leds", "ws2812"] = "none"
    brightness: Annotated[int, whole(1, 100, "a percentage")] = 100
    spi: Annotated[str, matching(r"/dev/spidev\d+\.\d+", "an SPI device, such as /dev/spidev0.0")] = "/dev/spidev0.0"
    """The SPI device that drives the WS2812's data line."""
    each: Annotated[int, whole(1, 8)] = 1
    """The number of WS2812 before each door."""
    piezo: Pin | None = None

    @property
    def pins(self) -> Mapping[God, int]:
        """The pin of each shrine's LED."""
        return {God.HUITZILOPOCHTLI: self.huitzilopochtli, God.TLALOC: self.tlaloc}

    @property
    def claimed(self) -> frozenset[int]:
        """The pins that the chosen lamps and the buzzer use."""
        leds = self.pins.values() if self.lamps == "leds" else ()
        return frozenset((*leds, *(() if self.piezo is None else (self.piezo,))))


@dataclass(frozen=True, slots=True)
class CountingSettings:
    """What counts as a token, in milliseconds; see `Limits`."""

    min_break_ms: Milliseconds = _LIMITS.min_break / MS
    min_clear_ms: Milliseconds = _LIMITS.min_clear / MS
    max_break_ms: Annotated[float, number(1, 60_000, "milliseconds")] = _LIMITS.max_break / MS
    band_ms: LongMilliseconds | None = None
    narrow_ms: LongMilliseconds | None = None
    flicker_per_s: Annotated[int, whole(2, 10_000)] = _LIMITS.flicker
    fastest_per_s: Annotated[int, whole(1, 10_000)] = _LIMITS.fastest
    transit_ms: Milliseconds = _LIMITS.transit / MS
    """How long after the first beam is clear a token may break the second one."""

    def limits(self) -> Limits:
        """Return the limits in whole nanoseconds."""
        return Limits(
            min_break=round(self.min_break_ms * MS),
            min_clear=round(self.min_clear_ms * MS),
            max_break=round(self.max_break_ms * MS),
            flicker=self.flicker_per_s,
            fastest=self.fastest_per_s,
            band=None if self.band_ms is None else round(self.band_ms * MS),
            narrow=None if self.narrow_ms is None else round(self.narrow_ms * MS),
            transit=round(self.transit_ms * MS),
        )


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Where the companion's pages are, for links to the temple's."""

    address: WebAddress = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSettings:
    """Every setting of the controller, as in a settings file."""

    temple: TempleName = "templo"
    state: PathText | None = None
    """The directory of the ledger; without one systemd's, or the user's own."""
    log: LogLevel = "info"
    beams: BeamSettings
    lights: LightSettings
    counting: CountingSettings = field(default_factory=CountingSettings)
    broker: BrokerSettings = field(default_factory=BrokerSettings)
    web: WebSettings = field(default_factory=WebSettings)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of the daemon and its commands, checked."""

    temple: str
    state: Path
    log: str
    beams: BeamSettings
    lights: LightSettings
    counting: Limits
    broker: BrokerSettings
    web: WebSettings = WebSettings()
    chosen: frozenset[str] = frozenset()
    """The keys that somebody set; all others have their defaults."""

    @property
    def simulated(self) -> bool:
        """Whether the beams are simulated, so that a drop is no test."""
        return self.beams.backend == "simulated"

    def page(self, host_name: str) -> str | None:
        """Return the address of the temple's page; None where it is unknown.

        `host_name` is this machine's: where the broker is on it, so is the companion.
        """
        address = self.web.address.rstrip("/")
        if not address and self.broker.addresses[0].is_here:
            address = f"http://{host_name.partition('.')[0]}.local"
        return f"{address}/temples/{self.temple}" if address else None
