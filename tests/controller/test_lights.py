"""The lamps behind the shrines' doors: their frames, LEDs on mock pins, and that no lamp changes a count."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from controller.adapters.control_socket import ask
from controller.adapters.leds import Leds
from controller.adapters.light_thread import Lamps, LightThread
from controller.core.counting import MS, SECOND
from controller.core.lights import AT_FIRST, DARK, GLOW_NS, SIGNALS, Frame, Scene, Shrine, colour
from controller.core.messages import EdgeSeen
from controller.core.settings import BeamSettings, LightSettings
from templo.contract import Beam, Finding, God, Light, LightEffect, Mood, SetLight, Trouble
from tests.brokers import mosquitto
from tests.controller.program import Companion, Temple
from tests.controller.rig import NOON, Rig, close_all

BEAMS = BeamSettings(17, 27, "low", "up", "gpio", "mock")
SHADES = " .:-=+*#%@"


@pytest.fixture(autouse=True)
def _ledgers() -> Iterator[None]:
    yield
    close_all()


def brightness(shrine: Shrine, now_ns: int, scene: Scene = Scene(), god: God = God.TLALOC) -> float:  # noqa: B008
    """Return how bright a lamp of one colour is."""
    return max(colour(god, shrine, scene, now_ns))


def picture(shrine: Shrine, until_ms: int, scene: Scene = Scene(), god: God = God.TLALOC) -> str:  # noqa: B008
    """Draw a lamp from left to right, one character for 50 ms, darker the brighter it is."""
    return "".join(SHADES[round(brightness(shrine, ms * MS, scene, god) * 9)] for ms in range(0, until_ms, 50))


def levels(frame: Frame) -> Mapping[God, float]:
    """Return how bright lamps of one colour are."""
    return {god: max(colour) for god, colour in frame.items()}


def eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.01)


class Recorder(Lamps):
    """Lamps that remember their frames."""

    def __init__(self) -> None:
        self.coloured = False
        self.frames: list[Mapping[God, float]] = []
        self.closed = False

    def open(self) -> None:
        pass

    def show(self, frame: Frame) -> None:
        self.frames.append(levels(frame))

    def close(self) -> None:
        self.closed = True


class Stuck(Recorder):
    """Lamps whose first frame never ends, until somebody lets go."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.released = threading.Event()

    def show(self, frame: Frame) -> None:
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
    for effect in LightEffect:
        scene = Scene(tuple(SIGNALS), 13, light=Light(True, 255, (255, 255, 255), effect))
        for ms in range(0, 8000, 7):
            for token_ns in (None, 0, 300 * MS, 3000 * MS):
                shown = colour(God.TLALOC, Shrine(token_ns, stopped=ms % 2 == 0, finding=True), scene, ms * MS)
                assert all(0 <= each <= 1 for each in shown)


def test_a_flood_swells_in_one_shrine_as_it_falls_in_the_other() -> None:
    scene = Scene(("flood",))
    assert picture(Shrine(), 4000, scene, God.HUITZILOPOCHTLI)[::8] == "..:-===-:."
    assert picture(Shrine(), 4000, scene, God.TLALOC)[::8] == "==-:...:-="
    red, _, blue = colour(God.TLALOC, Shrine(), scene, 0)
    assert blue > red


def test_a_war_beats_twice_as_a_drum() -> None:
    scene = Scene(("war",))
    assert picture(Shrine(), 2400, scene) == ("===...===" + "." * 15) * 2
    red, green, blue = colour(God.TLALOC, Shrine(), scene, 0)
    assert red > green
    assert red > blue


@pytest.mark.parametrize("left", [1, 3, 13])
def test_a_countdown_blinks_once_for_each_turn_that_is_left(left: int) -> None:
    lit = [brightness(Shrine(), ms * MS, Scene(("countdown",), left)) > 0 for ms in range(0, 8000, 50)]
    assert sum(now and not before for before, now in zip([False, *lit], lit, strict=False)) == left


def test_a_calm_game_and_a_signal_of_a_later_release_show_nothing() -> None:
    assert picture(Shrine(), 8000) == " " * 160
    assert picture(Shrine(), 8000, Scene(("eclipse",))) == " " * 160


def test_what_is_wrong_hides_the_signals_of_a_game() -> None:
    scene = Scene(("flood", "countdown"), 5)
    assert picture(Shrine(stopped=True), 4000, scene) == picture(Shrine(stopped=True), 4000)
    trouble = Scene(("flood",), trouble=True)
    assert picture(Shrine(), 2000, trouble) == "===   ===   ===".ljust(40)


def test_a_finding_blinks_once_in_four_seconds() -> None:
    assert picture(Shrine(finding=True), 8000) == "===".ljust(80) * 2


def test_lamps_that_are_off_show_nothing_and_dimmed_ones_less() -> None:
    off = Scene(("war",), trouble=True, light=Light(False, 255, (255, 0, 0), LightEffect.STEADY))
    assert colour(God.TLALOC, Shrine(token_ns=0, stopped=True), off, 0) == DARK
    half = Scene(light=Light(True, 51, (255, 0, 0), LightEffect.SIGNALS))
    assert brightness(Shrine(token_ns=0), 0, half) == pytest.approx(0.2)


def test_steady_lamps_shine_at_rest_in_their_colour_below_a_token() -> None:
    scene = Scene(light=Light(True, 255, (255, 0, 51), LightEffect.STEADY))
    assert colour(God.TLALOC, Shrine(), scene, 0) == pytest.approx((0.4, 0, 0.08))
    assert brightness(Shrine(token_ns=0), 0, scene) == 1


# -- from the pipeline to the lamps --


def test_only_the_shrine_of_a_recorded_token_glows(tmp_path: Path) -> None:
    rig: Rig
    lights = LightThread(Recorder(), lambda: rig.now_ns)
    rig = Rig(tmp_path, lights=lights)
    rig.token(God.TLALOC)
    assert levels(lights.frame(rig.now_ns)) == {God.HUITZILOPOCHTLI: 0, God.TLALOC: 1}
    assert levels(lights.frame(rig.now_ns + SECOND)) == {God.HUITZILOPOCHTLI: 0, God.TLALOC: 0}


@pytest.mark.usefixtures("expects_warnings")
def test_a_jammed_slot_blinks_until_its_beam_is_clear(tmp_path: Path) -> None:
    rig: Rig
    lights = LightThread(Recorder(), lambda: rig.now_ns)
    rig = Rig(tmp_path, lights=lights)
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, True))
    rig.take(after_ns=SECOND)
    assert levels(lights.frame(10 * SECOND)) == {God.HUITZILOPOCHTLI: 0, God.TLALOC: 0.5}
    rig.take(EdgeSeen(God.TLALOC, rig.now_ns, False))
    rig.take(after_ns=SECOND)
    assert levels(lights.frame(10 * SECOND)) == {God.HUITZILOPOCHTLI: 0, God.TLALOC: 0}


@pytest.mark.usefixtures("expects_warnings")
def test_a_full_disk_blinks_on_both_lamps_until_it_is_mended(tmp_path: Path) -> None:
    lights = LightThread(Recorder(), lambda: 0)
    rig = Rig(tmp_path, lights=lights)
    rig.disk.trouble = Trouble.LEDGER_FULL
    rig.token(God.TLALOC)
    assert set(levels(lights.frame(20 * SECOND)).values()) == {0.5}
    rig.disk.trouble = None
    rig.take(after_ns=10 * SECOND)
    assert set(levels(lights.frame(20 * SECOND)).values()) == {0}


def test_a_finding_blinks_on_its_shrine_and_a_beam_that_is_only_unproved_does_not(tmp_path: Path) -> None:
    lights = LightThread(Recorder(), lambda: 0)
    rig = Rig(tmp_path, lights=lights)
    found = rig.pipeline.reporter.findings(rig.now_ns, NOON)
    unproved = {god: (Finding("unproved"),) for god in God}
    lights.found(replace(found, beams=unproved))
    assert set(levels(lights.frame(0)).values()) == {0}
    lights.found(replace(found, beams=unproved | {God.TLALOC: (Finding("hop", {"glitches": 30}),)}))
    assert levels(lights.frame(0)) == {God.HUITZILOPOCHTLI: 0, God.TLALOC: 0.5}


def test_a_change_of_the_lamps_keeps_what_it_leaves_out() -> None:
    published: list[Light] = []
    lights = LightThread(Recorder(), time.monotonic_ns, lambda light: bool(published.append(light)))
    lights.received(SetLight(True, brightness=77, effect=LightEffect.STEADY))
    lights.received(SetLight(False))
    lights.start()
    eventually(lambda: bool(published))
    lights.close()
    assert published[-1] == replace(AT_FIRST, on=False, brightness=77, effect=LightEffect.STEADY)


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


# -- at a real broker --


def test_a_temple_shows_the_game_s_mood_and_takes_a_home_s_changes_of_its_lamps(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = Temple(
            tmp_path / "temple", broker.port, "--set", "lights.lamps=leds", "--set", "beams.factory=mock"
        ).start()
        try:
            companion.until(lambda: AT_FIRST in companion.received)
            companion.say(Mood(None, ("countdown", "flood"), 5), retain=True)
            companion.say(SetLight(False, brightness=9))
            companion.until(lambda: replace(AT_FIRST, on=False, brightness=9) in companion.received)
            assert "ignored a message" not in temple.log()
            assert "the lights stay off" not in temple.log()
        finally:
            temple.stop()


# -- LEDs --


def test_leds_are_dimmed_on_their_pins_within_the_brightness_and_go_off_at_the_end(tmp_path: Path) -> None:
    leds = Leds(LightSettings(23, 18, "leds", 50), BEAMS, tmp_path)
    leds.open()
    factory = leds._factory
    pins = {god: factory.pin(f"GPIO{number}") for god, number in ((God.HUITZILOPOCHTLI, 23), (God.TLALOC, 18))}
    assert {god: pin.state for god, pin in pins.items()} == dict.fromkeys(God, 0)
    leds.show({God.HUITZILOPOCHTLI: (1.0, 0.2, 0.0), God.TLALOC: (0.0, 0.1, 0.5)})
    assert {god: pin.state for god, pin in pins.items()} == {God.HUITZILOPOCHTLI: 0.5, God.TLALOC: 0.25}
    leds.close()
    leds.close()
    assert all(pin.function == "input" for pin in pins.values())  # released: nothing drives the LED


def test_an_alarm_is_what_the_status_calls_one() -> None:
    lights = LightThread(Recorder(), lambda: 0)
    for beam in Beam:
        lights.beam_changed(God.TLALOC, beam)
        assert (max(lights.frame(0)[God.TLALOC]) > 0) == (beam in {Beam.JAMMED, Beam.DARK, Beam.FLICKER})
