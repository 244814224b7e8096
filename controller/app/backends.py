"""The backends for the beams, by name. A new one is a module with a `Source`, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from controller.core.ports import BackendContext, Source
from controller.core.settings import BeamSettings

BACKENDS = {
    "gpio": "controller.adapters.gpio:HeaderBeams",
    "gpiod": "controller.adapters.libgpiod:LineBeams",
    "serial": "controller.adapters.serial_board:SerialBoard",
    "simulated": "controller.simulation.beams:SimulatedBeams",
}
"""The class of each backend; its module is imported only when it is chosen."""


def usual(installed: Callable[[str], bool] = lambda module: find_spec(module) is not None) -> str:
    """Return the backend for beams on a header if no setting names one.

    It is `gpio`, or `gpiod` where libgpiod is installed and lgpio is not, as on plain Debian.

    >>> usual({"gpiod"}.__contains__), usual({"gpiod", "lgpio"}.__contains__), usual(set().__contains__)
    ('gpiod', 'gpio', 'gpio')
    """
    return "gpiod" if installed("gpiod") and not installed("lgpio") else "gpio"


def find(settings: BeamSettings) -> Callable[[BackendContext], Source]:
    """Return the class of the backend that the settings name.

    Raises `ValueError`, saying what was expected, for a name that is not known and for settings that it cannot use.
    """
    if (place := BACKENDS.get(settings.backend)) is None:
        raise ValueError(f"one of {', '.join(BACKENDS)}")
    module, name = place.split(":")
    backend = getattr(import_module(module), name)
    backend.check(settings)
    return cast("Callable[[BackendContext], Source]", backend)
