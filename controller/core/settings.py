"""The controller's settings: the type and default of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from controller.core.counting import MS, Limits
from templo.broker import BrokerSettings
from templo.contract import God
from templo.setting_types import (
    LogLevel,
    StatePath,
    TempleName,
    WebAddress,
    about,
    matching,
    number,
    text,
    whole,
)

Pin: TypeAlias = Annotated[int, whole(0, 27, "a BCM pin number")]
Milliseconds: TypeAlias = Annotated[float, number(0.1, 1000, "milliseconds")]
LongMilliseconds: TypeAlias = Annotated[float, number(0.1, 60_000, "milliseconds")]
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """Which beams are watched, and how. Pins and polarity have their defaults in ``pins.toml``."""

    huitzilopochtli: Annotated[
        Pin, about("The pin of the receiver in Huitzilopochtli's slot.", "Change it if yours is wired elsewhere.")
    ]
    tlaloc: Annotated[
        Pin, about("The pin of the receiver in Tlaloc's slot.", "Change it if yours is wired elsewhere.")
    ]
    broken: Annotated[
        Literal["low", "high"],
        about("The level of a pin while its beam is broken.", "Change it if a free beam is shown as broken."),
    ]
    pull: Annotated[
        Literal["up", "down", "none"],
        about(
            "The resistor that the pin switches on: `up` for a receiver with an open collector.",
            "Set it to `none` if the sensor has a resistor of its own.",
        ),
    ]
    source: Annotated[
        str,
        text(4096, "the name of a backend"),
        about(
            "What watches the beams: `gpio`, `gpiod`, `simulated`, or a board such as `serial:/dev/ttyACM0`.",
            "Set it for a board, or for a backend of your own.",
        ),
    ] = "gpio"
    factory: Annotated[
        Literal["lgpio", "rpigpio", "mock"],
        about("The library below gpiozero.", "Set it to `rpigpio` on an old system without lgpio."),
    ] = "lgpio"
    chip: (
        Annotated[
            str,
            text(64, "the label of a GPIO chip, such as pinctrl-rp1"),
            about("The chip of the pins; without one the header's.", "Set it for pins of another chip."),
        ]
        | None
    ) = None
    emitters: (
        Annotated[
            Pin,
            about(
                "A pin that switches the emitters, so that the self-test can see a receiver that is stuck.",
                "Set it if you have wired one.",
            ),
        ]
        | None
    ) = None
    huitzilopochtli_below: (
        Annotated[Pin, about("The pin of a second beam below Huitzilopochtli's first.", "Set it if you built one.")]
        | None
    ) = None
    tlaloc_below: (
        Annotated[Pin, about("The pin of a second beam below Tlaloc's first.", "Set it if you built one.")] | None
    ) = None

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

    huitzilopochtli: Annotated[
        Pin, about("The pin of the LED before Huitzilopochtli's door.", "Change it if yours is wired elsewhere.")
    ]
    tlaloc: Annotated[
        Pin, about("The pin of the LED before Tlaloc's door.", "Change it if yours is wired elsewhere.")
    ]
    lamps: Annotated[
        Literal["none", "leds", "ws2812"], about("Which lamps shine before the doors.", "Set it if you built some.")
    ] = "none"
    brightness: Annotated[
        int, whole(1, 100, "a percentage"), about("How bright the lamps shine.", "Lower it if they dazzle.")
    ] = 100
    spi: Annotated[
        str,
        matching(r"/dev/spidev\d+\.\d+", "an SPI device, such as /dev/spidev0.0"),
        about("The SPI device that drives the WS2812's data line.", "Change it for another SPI."),
    ] = "/dev/spidev0.0"
    each: Annotated[
        int,
        whole(1, 8, "a number of WS2812"),
        about("How many WS2812 stand before each door.", "Set it to what you built in."),
    ] = 1
    piezo: (
        Annotated[Pin, about("The pin of a buzzer that sounds with each token.", "Set it if you built one in.")]
        | None
    ) = None

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

    min_break_ms: Annotated[
        Milliseconds,
        about("A shorter dark spell is a glitch, not a token.", "Raise it for glitches, lower it for thin tokens."),
    ] = _LIMITS.min_break / MS
    min_clear_ms: Annotated[
        Milliseconds,
        about(
            "A shorter light between two dark spells joins them into one token.",
            "Raise it for tokens with holes, lower it for tokens that fall close together.",
        ),
    ] = _LIMITS.min_clear / MS
    max_break_ms: Annotated[
        Annotated[float, number(1, 60_000, "milliseconds")],
        about("A longer dark spell is a jam.", "Raise it for tokens that roll slowly."),
    ] = _LIMITS.max_break / MS
    band_ms: (
        Annotated[
            LongMilliseconds,
            about(
                "A longer dark spell is marked as two tokens that may have passed as one.",
                "`calibrate` sets it for your tokens.",
            ),
        ]
        | None
    ) = None
    narrow_ms: (
        Annotated[
            LongMilliseconds,
            about(
                "A shorter dark spell is narrower than your tokens: it counts, and the diagnosis names it.",
                "`calibrate` sets it.",
            ),
        ]
        | None
    ) = None
    flicker_per_s: Annotated[
        int,
        whole(2, 10_000, "a number of dark spells a second"),
        about(
            "Beyond this rate the beam flickers and counts nothing.", "Leave it, except for a counter of your own."
        ),
    ] = _LIMITS.flicker
    fastest_per_s: Annotated[
        int,
        whole(1, 10_000, "a number of dark spells a second"),
        about(
            "Tokens that keep coming faster than this for two seconds are doubted.",
            "Raise it for a machine that drops them.",
        ),
    ] = _LIMITS.fastest
    transit_ms: Annotated[
        Milliseconds,
        about(
            "How long after the first beam is clear a token may break the second one.",
            "Change it with the distance of the two.",
        ),
    ] = _LIMITS.transit / MS

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

    temple: Annotated[
        TempleName,
        about("The temple's name at the broker.", "Change it if another temple uses the same broker."),
    ] = "templo"
    state: StatePath | None = None
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
