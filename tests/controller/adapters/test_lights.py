"""The lamps before the shrines' doors and the piezo: how they are driven, and that none changes a count."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path

import pytest

from controller.adapters.control_socket import send_request
from controller.adapters.leds import Leds
from controller.adapters.light_thread import Buzzer, Lamps, LightThread
from controller.adapters.piezo import OCTAVES, Piezo
from controller.adapters.ws2812 import HERTZ, RESET, LampsError, Ws2812
from controller.core.counting import MS, SECOND
from controller.core.lights import AT_FIRST, CHIRPS, DARK, GLOW_NS, NOTE_NS, SIGNALS, Frame, Scene, Shrine, colour
from controller.core.messages import EdgeSeen
from controller.core.settings import BeamSettings, LightSettings
from templo.contract import Beam, Finding, God, Light, LightEffect, Mood, SetLight, Trouble
from tests.brokers import mosquitto
from tests.controller.program import Companion, Temple
from tests.controller.rig import NOON, Rig, close_all
from tests.waiting import eventually

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
    """Lamps whose first frame does not end until a test releases it."""

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


def test_an_open_hotspot_lets_the_shrines_shine_by_turns() -> None:
    scene = Scene(("hotspot",))
    shown = [tuple(max(colour(god, Shrine(), scene, ms * MS)) for god in God) for ms in (0, 999, 1000, 1999, 2000)]
    assert shown == [(0.4, 0), (0.4, 0), (0, 0.4), (0, 0.4), (0.4, 0)]


@pytest.mark.parametrize("god", God)
def test_a_heap_to_be_levelled_lets_its_own_shrine_shine_slowly(god: God) -> None:
    scene = Scene((f"level_{god}",))
    assert picture(Shrine(), 6000, scene, god) == ("+" * 30 + " " * 30) * 2
    other = next(each for each in God if each is not god)
    assert picture(Shrine(), 6000, scene, other) == " " * 120


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
    rig.jam()
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
        result = send_request(temple.state, {"do": "drop", "god": "tlaloc", "count": 20}, 120)
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


@pytest.mark.usefixtures("expects_warnings")
def test_every_change_of_lamps_that_failed_is_answered_with_why_they_stay_off() -> None:
    published: list[Light] = []
    lights = LightThread(Broken(), time.monotonic_ns, lambda light: not published.append(light))
    lights.start()
    lights.connected()
    eventually(lambda: len(published) == 1)
    lights.received(SetLight(True, brightness=9))
    eventually(lambda: len(published) == 2)
    lights.close()
    assert [(light.on, light.fault) for light in published] == [(False, "GPIO busy")] * 2


# -- at a real broker --


def test_a_temple_whose_ws2812_have_no_device_refuses_each_change_in_words(tmp_path: Path) -> None:
    missing = ("--set", "lights.lamps=ws2812", "--set", "lights.spi=/dev/spidev987.0")
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = Temple(tmp_path / "temple", broker.port, *missing).start()
        try:
            companion.until(lambda: any(isinstance(each, Light) for each in companion.received))
            companion.received.clear()
            companion.say(SetLight(True))
            (light,) = companion.until(lambda: [each for each in companion.received if isinstance(each, Light)])
            assert not light.on
            assert light.fault.startswith("lights.")
        finally:
            temple.stop()


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


def test_a_flood_of_changes_of_the_lamps_changes_no_count(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = Temple(
            tmp_path / "temple", broker.port, "--set", "lights.lamps=leds", "--set", "beams.factory=mock"
        ).start()
        try:
            companion.until(lambda: AT_FIRST in companion.received)
            for n in range(2000):
                companion.say(SetLight(n % 2 == 0, brightness=1 + n % 255))
                companion.say(Mood(None, ("flood",) if n % 2 else (), n))
            result = send_request(temple.state, {"do": "drop", "god": "tlaloc", "count": 100}, 300)
            assert result is not None
            assert result["recorded"] == 100
            companion.until(lambda: len({token.seq for token in companion.tokens()}) == 100)
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


# -- WS2812 --


class Bus:
    """An SPI device that remembers what was sent."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.closed = False

    def writebytes2(self, values: Sequence[int]) -> None:
        self.sent.append(bytes(values))

    def close(self) -> None:
        self.closed = True


def pulses(sent: bytes) -> list[tuple[int, int]]:
    """Return each pulse on the data line: how long it is high, and then low until the next, in nanoseconds."""
    line = "".join(f"{byte:08b}" for byte in sent).strip("0")
    runs = [len(list(run)) * 1_000_000_000 // HERTZ for _, run in groupby(line)]
    return list(zip(runs[::2], [*runs[1::2], 0], strict=True))


def leds_of(sent: bytes) -> list[tuple[int, int, int]]:
    """Read what the LEDs read, by their data sheet: a bit is 1 where its pulse lasts longer than 550 ns."""
    bits = "".join(str(int(high > 550)) for high, _ in pulses(sent))
    greens_reds_blues = [int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)]
    return [
        (red, green, blue)
        for green, red, blue in zip(*(greens_reds_blues[first::3] for first in range(3)), strict=True)
    ]


def ws2812(bus: Bus, *, each: int = 1, brightness: int = 100) -> Ws2812:
    lamps = Ws2812(LightSettings(23, 18, "ws2812", brightness, each=each), lambda _: bus)
    lamps.open()
    return lamps


def test_every_pulse_is_as_long_as_the_data_sheet_of_the_leds_asks_for() -> None:
    bus = Bus()
    ws2812(bus, each=8).show({God.HUITZILOPOCHTLI: (1.0, 0.5, 0.0), God.TLALOC: (0.1, 0.9, 1.0)})
    sent = pulses(bus.sent[-1])
    assert len(sent) == 24 * 16
    for high, low in sent[:-1]:
        assert 200 <= high <= 500 or 550 < high <= 1000
        assert 300 <= low <= 1000
    assert bus.sent[-1].startswith(RESET)
    assert bus.sent[-1].endswith(RESET)
    assert len(RESET) * 8 / HERTZ >= 280e-6
    assert len(bus.sent[-1]) <= 4096  # the kernel's buffer for one transfer


def test_each_shrine_s_leds_show_its_colour_and_go_off_at_the_end() -> None:
    bus = Bus()
    lamps = ws2812(bus, each=2)
    assert leds_of(bus.sent[-1]) == [(0, 0, 0)] * 4
    lamps.show({God.TLALOC: (0.0, 0.0, 1.0), God.HUITZILOPOCHTLI: (1.0, 0.0, 0.0)})
    assert leds_of(bus.sent[-1]) == [(255, 0, 0), (255, 0, 0), (0, 0, 255), (0, 0, 255)]
    lamps.close()
    lamps.close()
    assert leds_of(bus.sent[-1]) == [(0, 0, 0)] * 4
    assert bus.closed


def test_the_brightness_that_the_settings_allow_bounds_the_current() -> None:
    bus = Bus()
    ws2812(bus, brightness=20).show(dict.fromkeys(God, (1.0, 1.0, 1.0)))
    assert leds_of(bus.sent[-1]) == [(51, 51, 51)] * 2


@pytest.mark.parametrize("path", ["/dev/spi0", "/dev/spidev0.0/../null"])
def test_an_spi_device_is_named_as_the_kernel_names_it(path: str) -> None:
    with pytest.raises(LampsError, match=r"expected an SPI device such as /dev/spidev0\.0"):
        Ws2812(LightSettings(23, 18, "ws2812", spi=path)).open()


def test_leds_without_the_library_or_the_device_say_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spidev", None)
    with pytest.raises(LampsError, match="sudo apt install python3-spidev"):
        Ws2812(LightSettings(23, 18, "ws2812")).open()

    def missing(path: str) -> Bus:
        raise FileNotFoundError(2, "No such file or directory")

    with pytest.raises(LampsError, match=r"lights\.spi is /dev/spidev0\.0, .*dtparam=spi=on"):
        Ws2812(LightSettings(23, 18, "ws2812"), missing).open()


# -- the piezo --


class Sounds(Buzzer):
    """A buzzer that remembers its notes, and may fail at the first."""

    def __init__(self, fails: bool = False) -> None:
        self.notes: list[float | None] = []
        self.fails = fails
        self.closed = False

    def open(self) -> None:
        pass

    def play(self, hertz: float | None) -> None:
        self.notes.append(hertz)
        if self.fails and hertz is not None:
            raise OSError("GPIO gone")

    def close(self) -> None:
        self.closed = True


def test_a_token_sounds_as_its_god_and_a_threat_by_its_tune_once() -> None:
    now_ns = [0]
    lights = LightThread(None, lambda: now_ns[0], buzzer=Sounds())
    lights.token_recorded(God.TLALOC)
    assert lights.tone(0) == CHIRPS[God.TLALOC][0]
    assert lights.tone(NOTE_NS) is None
    now_ns[0] = SECOND
    lights.received(Mood(None, ("countdown", "flood"), 13))
    assert tuple(lights.tone(SECOND + n * NOTE_NS) for n in range(4)) == (*SIGNALS["flood"].tune, None)
    now_ns[0] = 9 * SECOND
    lights.received(Mood(None, ("countdown", "flood"), 12))
    assert lights.tone(9 * SECOND) is None
    lights.token_recorded(God.TLALOC)
    lights.received(SetLight(False))
    assert lights.tone(9 * SECOND) is None


@pytest.mark.usefixtures("expects_warnings")
def test_a_buzzer_that_fails_leaves_the_lamps_on(caplog: pytest.LogCaptureFixture) -> None:
    lamps, sounds = Recorder(), Sounds(fails=True)
    lights = LightThread(lamps, time.monotonic_ns, buzzer=sounds)
    lights.start()
    lights.token_recorded(God.TLALOC)
    eventually(lambda: sounds.closed)
    before = len(lamps.frames)
    lights.token_recorded(God.TLALOC)
    eventually(lambda: len(lamps.frames) > before)
    lights.close()
    assert lamps.closed
    assert [each.getMessage() for each in caplog.records] == ["the sounds stay off until the next start: GPIO gone"]


def test_the_piezo_sounds_on_its_pin_and_is_released_at_the_end(tmp_path: Path) -> None:
    piezo = Piezo(24, BEAMS, tmp_path)
    piezo.open()
    pin = piezo._factory.pin("GPIO24")
    assert pin.frequency is None
    piezo.play(523.0)
    assert (round(pin.frequency), pin.state) == (523, 0.5)
    piezo.play(None)
    assert pin.state == 0
    piezo.close()
    piezo.close()
    assert pin.function == "input"


def test_every_note_is_within_the_piezo_s_octaves() -> None:
    for hertz in chain(*CHIRPS.values(), *(each.tune for each in SIGNALS.values())):
        assert 880 / 2**OCTAVES <= hertz <= 880 * 2**OCTAVES
