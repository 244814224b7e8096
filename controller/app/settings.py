"""Loads the controller's settings, and checks those that depend on each other."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from controller.app import backends
from controller.core.settings import DeclaredSettings, Settings
from templo import settings as reader
from templo.broker import BrokerSettings
from templo.settings import Flags, Loaded, SettingsError

PROGRAM = "controller"
_PINS = (
    "beams.huitzilopochtli",
    "beams.tlaloc",
    "beams.emitters",
    "beams.huitzilopochtli_below",
    "beams.tlaloc_below",
)
_LIGHT_PINS = {
    "none": ("lights.piezo",),
    "leds": ("lights.piezo", "lights.huitzilopochtli", "lights.tlaloc"),
    "ws2812": ("lights.piezo",),
}
_SPI_PINS = {7: "chip select 1", 8: "chip select 0", 9: "input", 10: "output", 11: "clock"}
"""The pins of the header's first SPI; the kernel claims all of them."""


def default_pins() -> Mapping[str, object]:
    """Return the pins and the polarity that ship with the program, by their settings' keys."""
    tables = tomllib.loads(files("controller.app").joinpath("pins.toml").read_text("utf-8"))
    groups = {"receivers": "beams", "polarity": "beams", "lights": "lights"}
    return {f"{group}.{key}": value for table, group in groups.items() for key, value in tables[table].items()}


def load(*, file: Path | None, environ: Mapping[str, str], flags: Flags, home: Path) -> Settings:
    """Read and check every setting; raises `SettingsError`.

    `file` is a settings file that must be there; `flags` maps a key to the text that was given and the flag that gave
    it.
    """
    loaded = _loaded(file, environ, flags, home)
    if wrong := _wrong_together(loaded):
        raise wrong
    given = loaded.values
    return Settings(
        temple=given.temple,
        state=Path(given.state or reader.default_state(environ, home)).expanduser().absolute(),
        log=given.log,
        beams=given.beams,
        lights=given.lights,
        counting=given.counting.limits(),
        broker=given.broker,
        web=given.web,
        chosen=loaded.chosen,
    )


def named_file(environ: Mapping[str, str]) -> Path | None:
    """Return the settings file that the environment names."""
    return reader.named_file(PROGRAM, environ)


def broker_in_spite_of(
    *, file: Path | None, environ: Mapping[str, str], flags: Flags, home: Path
) -> tuple[str, BrokerSettings] | None:
    """Return the temple's name and its broker even if `load` refuses other settings; None if these are wrong."""
    loaded = _loaded(file, environ, flags, home, lenient=True)
    if any(key == "temple" or key.startswith("broker.") for key in loaded.wrong):
        return None
    return loaded.values.temple, loaded.values.broker


def _loaded(
    file: Path | None, environ: Mapping[str, str], flags: Flags, home: Path, *, lenient: bool = False
) -> Loaded[DeclaredSettings]:
    return reader.load(
        DeclaredSettings,
        PROGRAM,
        file=file,
        environ=environ,
        flags=flags,
        home=home,
        defaults={**default_pins(), "beams.source": backends.usual()},
        lenient=lenient,
    )


def _wrong_together(loaded: Loaded[DeclaredSettings]) -> SettingsError | None:
    counting, beams, lights = loaded.values.counting, loaded.values.beams, loaded.values.lights
    for key, value, above, least in (
        ("max_break_ms", counting.max_break_ms, "min_break_ms", counting.min_break_ms),
        ("band_ms", counting.band_ms, "min_break_ms", counting.min_break_ms),
        ("band_ms", counting.band_ms, "narrow_ms", counting.narrow_ms),
    ):
        if value is not None and least is not None and value <= least:
            return loaded.refusal(f"counting.{key}", value, f"more than counting.{above}, {least:g}")
    pins: dict[int, str] = {}
    spi = lights.lamps == "ws2812" and lights.spi.startswith("/dev/spidev0.")
    for key in (*_PINS, *_LIGHT_PINS[lights.lamps]):
        group, _, name = key.partition(".")
        pin = getattr(lights if group == "lights" else beams, name)
        if pin is not None and (other := pins.setdefault(pin, key)) != key:
            return loaded.refusal(key, pin, f"another pin than that of {other}")
        if spi and pin in _SPI_PINS:
            return loaded.refusal(key, pin, f"another pin than the {_SPI_PINS[pin]} of {lights.spi}")
    try:
        backends.find(beams)
    except ValueError as error:
        return loaded.refusal("beams.source", beams.source, str(error))
    return None
