"""The lamps behind the shrines' doors: their frames, LEDs on mock pins, and that no lamp changes a count."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from controller.adapters.control_socket import ask
from controller.adapters.leds import Leds
from controller.adapters.light_thread import Lamps, LightThread
from controller.core.counting import MS, SECOND
from controller.core.lights import GLOW_NS, Shrine, brightness
from controller.core.messages import EdgeSeen
from controller.core.settings import BeamSettings, LightSettings
from templo.contract import Beam, God
from tests.controller.program import Temple
from tests.controller.rig import Rig, close_all

BEAMS = BeamSettings(17, 27, "low", "up", "gpio", "mock")
SHADES = " .:-=+*#%@"


@pytest.fixture(autouse=True)
def _ledgers() -> Iterator[None]:
    yield
    close_all()


def picture(shrine: Shrine, until_ms: int) -> str:
    """Draw a lamp from left to right, one character for 50 ms, darker the brighter it is."""
    return "".join(SHADES[round(brightness(shrine, ms * MS) * 9)] for ms in range(0, until_ms, 50))


def eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.01)


class Recorder(Lamps):
    """Lamps that remember their frames."""

    def __init__(self) -> None:
        self.frames: list[Mapping[God, float]] = []
        self.closed = False

    def open(self) -> None:
        pass

    def show(self, frame: Mapping[God, float]) -> None:
        self.frames.append(frame)

    def close(self) -> None:
        self.closed = True


class Stuck(Recorder):
    """Lamps whose first frame never ends, until somebody lets go."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.released = threading.Event()

    def show(self, frame: Mapping[God, float]) -> None:
        self.entered.set()
        self.released.wait(120)


class Broken(Recorder):
    """Lamps that cannot be opened, nor closed."""

    def open(self) -> None:
        raise OSError("GPIO busy")

    def close(self) -> None:
        self.closed = True
        raise OSError("never opened")


# -- frames --


def test_a_token_glows_at_once_and_fades_within_a_second() -> None:
    assert picture(Shrine(token_ns=0), 1200) == "@%#*++=--::...".ljust(24)
    assert picture(Shrine(), 1200) == " " * 24


def test_a_stopped_slot_blinks_twice_in_two_seconds() -> None:
    once = "===   ===".ljust(40)
    assert picture(Shrine(stopped=True), 4000) == once + once


def test_a_token_outshines_the_blinks_and_leaves_them_when_it_has_faded() -> None:
    both = Shrine(token_ns=0, stopped=True)
    assert brightness(both, 0) == 1
    assert brightness(both, GLOW_NS) == 0
    assert brightness(both, 2 * SECOND) == 0.5


def test_a_clock_that_stands_before_the_token_shows_nothing() -> None:
    assert brightness(Shrine(token_ns=5 * SECOND), 0) == 0


def test_every_frame_is_between_dark_and_full() -> None:
    for ms in range(0, 4000, 7):
        for token_ns in (None, 0, 300 * MS, 3000 * MS):
            assert 0 <= brightness(Shrine(token_ns, stopped=ms % 2 == 0), ms * MS) <= 1


# -- from the pipeline to the lamps --


def test_only_the_shrine_of_a_recorded_token_glows(tmp_path: Path) -> None:
    rig: Rig
    lights = LightThread(Recorder(), lambda: rig.now_ns)
    rig = Rig(tmp_path, lights=lights)
    rig.token(God.TLALOC)
    assert lights.frame(rig.now_ns) == {God.HUITZILOPOCHTLI: 0, God.TLALOC: 1}
    assert lights.frame(rig.now_ns + SECOND) == {God.HUITZILOPOCHTLI: 0, God.TLALOC: 0}


@pytest.mark.usefixtures("expects_warnings")
def test_a_jammed_slot_blinks_until_its_beam_is_clear(tmp_path: Path) -> None:
    rig: Rig
    lights = LightThread(Recorder(), lambda: rig.now_ns)
    rig = Rig(tmp_path, lights=lights)
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, True))
    rig.jam()
    assert lights.frame(10 * SECOND) == {God.HUITZILOPOCHTLI: 0, God.TLALOC: 0.5}
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, False))
    rig.take(after_ns=SECOND)
    assert lights.frame(10 * SECOND) == {God.HUITZILOPOCHTLI: 0, God.TLALOC: 0}


def test_lamps_are_set_when_a_frame_differs_and_closed_at_the_end() -> None:
    lamps = Recorder()
    lights = LightThread(lamps, time.monotonic_ns)
    lights.start()
    eventually(lambda: lamps.frames == [dict.fromkeys(God, 0.0)])
    lights.token_recorded(God.TLALOC)
    eventually(lambda: any(frame[God.TLALOC] > 0 for frame in lamps.frames))
    eventually(lambda: lamps.frames[-1][God.TLALOC] == 0)
    assert all(frame[God.HUITZILOPOCHTLI] == 0 for frame in lamps.frames)
    lights.close()
    assert lamps.closed


# -- never in the way of counting --


@pytest.mark.usefixtures("expects_warnings")
@pytest.mark.parametrize("kind", [Recorder, Stuck, Broken])
def test_lamps_that_are_stuck_or_fail_change_no_count(tmp_path: Path, kind: type[Recorder]) -> None:
    rig: Rig
    lamps = kind()
    lights = LightThread(lamps, lambda: rig.now_ns)
    rig = Rig(tmp_path, lights=lights)
    lights.start()
    if isinstance(lamps, Stuck):
        assert lamps.entered.wait(60)
    for number in range(300):
        rig.token(God.TLALOC if number % 3 else God.HUITZILOPOCHTLI)
    fallen = [token.god for token in rig.ledger()]
    assert (fallen.count(God.TLALOC), fallen.count(God.HUITZILOPOCHTLI)) == (200, 100)
    if isinstance(lamps, Stuck):
        assert not lamps.frames
        lamps.released.set()
    lights.close()
    eventually(lambda: lamps.closed)


def test_a_program_whose_leds_cannot_be_driven_counts_all_the_same(tmp_path: Path) -> None:
    missing = "beams.chip=no-such-chip"  # so that the LEDs fail on a Raspberry Pi, too
    temple = Temple(tmp_path / "temple", 9, "--set", "lights.lamps=leds", "--set", missing).start()
    try:
        result = ask(temple.state, {"do": "drop", "god": "tlaloc", "count": 20}, 120)
        assert result is not None
        assert result["recorded"] == 20
        eventually(lambda: "the lights stay off until the next start" in temple.log())
    finally:
        temple.stop()


@pytest.mark.usefixtures("expects_warnings")
def test_lamps_that_fail_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    lamps = Broken()
    lights = LightThread(lamps, time.monotonic_ns)
    lights.start()
    eventually(lambda: lamps.closed)
    lights.close()
    assert [each.getMessage() for each in caplog.records] == ["the lights stay off until the next start: GPIO busy"]


# -- LEDs --


def test_leds_are_dimmed_on_their_pins_within_the_brightness_and_go_off_at_the_end(tmp_path: Path) -> None:
    leds = Leds(LightSettings(23, 18, "leds", 50), BEAMS, tmp_path)
    leds.open()
    factory = leds._factory
    pins = {god: factory.pin(f"GPIO{number}") for god, number in ((God.HUITZILOPOCHTLI, 23), (God.TLALOC, 18))}
    assert {god: pin.state for god, pin in pins.items()} == dict.fromkeys(God, 0)
    leds.show({God.HUITZILOPOCHTLI: 1.0, God.TLALOC: 0.5})
    assert {god: pin.state for god, pin in pins.items()} == {God.HUITZILOPOCHTLI: 0.5, God.TLALOC: 0.25}
    leds.close()
    leds.close()
    assert all(pin.function == "input" for pin in pins.values())  # released: nothing drives the LED


def test_an_alarm_is_what_the_status_calls_one() -> None:
    lights = LightThread(Recorder(), lambda: 0)
    for beam in Beam:
        lights.beam_changed(God.TLALOC, beam)
        assert (lights.frame(0)[God.TLALOC] > 0) == (beam in {Beam.JAMMED, Beam.DARK, Beam.FLICKER})
