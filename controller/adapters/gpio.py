"""The backend `gpio`: the two beams on a Raspberry Pi's header, through gpiozero over lgpio.

The only importer of lgpio, and only when beams or LEDs are opened. It never counts, waits or logs inside a
callback: one exception there kills lgpio's thread, and with it every sensor, and nothing is logged.
"""

from __future__ import annotations

import os
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from controller.adapters import header, pulse
from controller.core.diagnosis import DEAF, Answer, proof
from controller.core.messages import BelowSeen, EdgeSeen
from controller.core.ports import BackendContext, BeamsBusyError, BeamsError, BeamSource, Capabilities, Level, Put
from controller.core.proof import Pulse
from controller.core.settings import BeamSettings
from templo.contract import Emitters, God, Kind, Timing
from templo.liveness import SOON_S

SETTLE_S = 0.05
_HEALINGS = 3
_SPARE_LINES = (26, 16, 6, 5, 12, 13, 24, 25)
_PACKAGE = "sudo apt install python3-lgpio"


class HeaderBeams(BeamSource):
    """The beams on the pins that the settings name."""

    def __init__(self, context: BackendContext, sleep: Callable[[float], None] = time.sleep) -> None:
        """Store the arguments."""
        self._settings = settings = context.settings
        self._folder = (context.folder / "lgpio").absolute()
        self._beat = context.beat
        self._sleep = sleep
        self._devices: dict[God, Any] = {}
        self._below: dict[God, Any] = {}
        self._emitters: Any = None
        self._factory: Any = None
        self._lgpio: Any = None
        self._failures = 0
        self._proving = False
        own = {*settings.pins.values(), *settings.below.values(), settings.emitters}
        self._spares = [line for line in _SPARE_LINES if line not in own | context.reserved]
        self.capabilities = Capabilities(
            Kind.PI,
            Timing.KERNEL if settings.factory == "lgpio" else Timing.CALLBACK,
            Emitters.FIXED if settings.emitters is None else Emitters.SWITCHED,
        )

    def open(self, put: Put) -> Mapping[God, Level]:
        """Claim the pins and begin to put edges.

        lgpio can start deaf when lines are claimed too soon after the chip was opened; a claim of one more line
        heals it. So: open, wait, claim the beams, claim one line that nobody uses.
        """
        self._factory = self._open_factory()
        self._sleep(SETTLE_S)
        try:
            return self._claim(put)
        except Exception as error:
            with suppress(Exception):  # a half claimed device may fail to close; the claim's own error is reported
                self.close()
            # gpiozero reserves a pin for as long as its half made device exists, and this traceback holds that.
            traceback.clear_frames(error.__traceback__)
            busy = "busy" in _message(error).lower()  # lgpio's own words for a line that is used: 'GPIO busy'
            raise (BeamsBusyError if busy else BeamsError)(
                f"the pins {self._pin_names()} cannot be claimed: {_message(error)}"
            ) from error

    def dark(self, god: God) -> bool:
        """Read a beam's level now."""
        return bool(self._devices[god].is_active)

    def below(self, god: God) -> bool | None:
        """Read a second beam's level now; None if there is none."""
        return bool(self._below[god].is_active) if god in self._below else None

    def prove(self) -> Pulse | None:
        """Switch the emitters off and on, and return how each receiver answered; None without switched emitters."""
        if self._emitters is None:
            return None
        self._proving = self.capabilities.timing is Timing.CALLBACK  # such stamps cannot say what the pulse caused
        try:
            return pulse.send(
                lambda lit: self._emitters.on() if lit else self._emitters.off(),
                self.dark,
                lambda god: int(self._devices[god].edges),
                time.monotonic_ns,
                self._sleep,
            )
        finally:
            self._proving = False

    def heal(self) -> None:
        """Claim one more line that nobody uses, which wakes a chip that started deaf."""
        if self._lgpio is not None:
            self._claim_spare()

    def alive(self) -> bool:
        """Return whether lgpio's thread lives and every edge was put."""
        self._beat(SOON_S)  # lgpio's thread cannot
        if self._failures:
            return False
        return self._lgpio is None or bool(self._lgpio._notify_thread.is_alive())

    def close(self) -> None:
        """Release the pins.

        gpiozero leaves lgpio's callback behind when a device closes: its next edge would kill lgpio's thread.
        """
        for devices in (self._devices, self._below):
            for device in devices.values():
                device.pin.when_changed = None
                device.close()
            devices.clear()
        if self._emitters is not None:
            self._emitters.close()
        if self._factory is not None:
            self._factory.close()
        self._emitters = self._factory = None

    def _open_factory(self) -> Any:
        factory, self._lgpio = open_factory(self._settings, self._folder)
        return factory

    def _claim(self, put: Put) -> Mapping[God, Level]:
        from gpiozero import DigitalInputDevice, OutputDevice

        beams = self

        class BreakBeam(DigitalInputDevice):  # type: ignore[misc] # gpiozero has no types
            """One receiver, active while its beam is broken."""

            def __init__(self, god: God, pin: int, seen: type[EdgeSeen | BelowSeen]) -> None:
                self.god, self.seen = god, seen
                self.edges = 0
                settings = beams._settings
                pull_up = {"up": True, "down": False, "none": None}[settings.pull]
                # gpiozero ties the active level to the pull; a receiver whose polarity differs is read inverted.
                self.inverted = pull_up is not None and pull_up != (settings.broken == "low")
                super().__init__(
                    pin,
                    pull_up=pull_up,
                    active_state=settings.broken == "high" if pull_up is None else None,
                    pin_factory=beams._factory,
                )

            def _pin_changed(self, ticks: float, state: float) -> None:
                try:
                    self.edges += 1
                    dark = bool(self._state_to_value(state)) != self.inverted
                    if not beams._proving:
                        put(self.seen(self.god, round(ticks * 1e9), dark))
                except Exception:  # the thread must live: `alive` reports the failure
                    beams._failures += 1

            @property
            def is_active(self) -> bool:
                return bool(self.value) != self.inverted

        if self._settings.emitters is not None:
            self._emitters = OutputDevice(self._settings.emitters, initial_value=True, pin_factory=self._factory)
        for god, pin in self._settings.pins.items():
            self._devices[god] = BreakBeam(god, pin, EdgeSeen)
        for god, pin in self._settings.below.items():
            self._below[god] = BreakBeam(god, pin, BelowSeen)
        if self._lgpio is not None:
            self._claim_spare()
        answers: Mapping[God, Answer] = {}
        if self._emitters is not None:
            answers = self._blink()
            for _ in range(_HEALINGS):
                if not any(proof(answer) == DEAF for answer in answers.values()):
                    break
                self.heal()
                answers = self._blink()
        levels = {}
        for god, device in self._devices.items():
            at_ns = time.monotonic_ns()
            proved = self._emitters is not None and device.edges > 0
            levels[god] = Level(device.is_active, at_ns, proved, answers.get(god))
        return levels

    def _claim_spare(self) -> None:
        while self._spares:
            try:
                self._lgpio.gpio_claim_input(self._factory._handle, self._spares.pop(0))
            except self._lgpio.error:
                continue  # somebody else's line: another one will do
            return

    def _blink(self) -> dict[God, Answer]:
        """Switch the emitters off and on: each receiver whose edges come is proved."""
        self._proving = True
        try:
            self._sleep(SETTLE_S)
            for device in self._devices.values():
                device.edges = 0
            self._emitters.off()
            self._sleep(SETTLE_S)
            unlit = {god: device.is_active for god, device in self._devices.items()}
            self._emitters.on()
            self._sleep(SETTLE_S)
            return {
                god: Answer(device.is_active, unlit[god], device.edges > 0) for god, device in self._devices.items()
            }
        finally:
            self._emitters.on()
            self._proving = False

    def _pin_names(self) -> str:
        pins = (*self._settings.pins.items(), *self._settings.below.items())
        return ", ".join(f"{pin} ({god})" for god, pin in pins)


def open_factory(settings: BeamSettings, folder: Path) -> tuple[Any, Any]:
    """Return gpiozero's pin factory that the settings name, and lgpio where that is under it; raises `BeamsError`."""
    if settings.factory == "lgpio":
        lgpio = _import_lgpio(folder)
        from gpiozero.pins.lgpio import LGPIOFactory

        return LGPIOFactory(chip=header.find_chip(settings.chip, lambda number: _label_of(lgpio, number))), lgpio
    if settings.factory == "rpigpio":
        with suppress(BeamsError):  # rpi-lgpio stands on lgpio, the old RPi.GPIO does not
            _import_lgpio(folder)
        try:
            from gpiozero.pins.rpigpio import RPiGPIOFactory
        except ImportError as error:
            raise BeamsError(
                f"the pin factory rpigpio needs RPi.GPIO ({error}): 'sudo apt install python3-rpi-lgpio' brings it"
            ) from error
        try:
            return RPiGPIOFactory(), None
        except Exception as error:
            raise BeamsError(f"the pin factory rpigpio cannot start: {_message(error)}") from error
    from gpiozero.pins.mock import MockFactory, MockPWMPin

    return MockFactory(pin_class=MockPWMPin), None


def _label_of(lgpio: Any, number: int) -> str:
    try:
        handle = lgpio.gpiochip_open(number)
    except lgpio.error as error:
        raise OSError(str(error)) from error
    label: str = lgpio.gpio_get_chip_info(handle)[3]
    lgpio.gpiochip_close(handle)
    return label


def _import_lgpio(folder: Path) -> Any:
    """Import lgpio, which changes to `LG_WD` for its pipe, and come back to where the program was."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        writable = False
    if not writable:  # tokens are counted all the same, and wait in memory for a disk that takes them
        folder = Path(tempfile.mkdtemp(prefix="templo-lgpio-"))
    here = Path.cwd()
    os.environ["LG_WD"] = str(folder)
    try:
        import lgpio
    except ImportError as error:
        raise BeamsError(
            f"lgpio is not installed here ({error}): '{_PACKAGE}' brings it, "
            "and the program's environment must be one that sees the system's packages"
        ) from error
    except OSError as error:
        raise BeamsError(f"lgpio cannot make its pipe in {folder}: {error}") from error
    finally:
        os.chdir(here)
    return lgpio


def _message(error: Exception) -> str:
    return str(error) or type(error).__name__
