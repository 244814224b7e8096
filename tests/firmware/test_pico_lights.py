"""The lamps and the piezo on a Pico: they show what those of a Raspberry Pi show, and none changes a count."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters import home_assistant, ws2812
from controller.core import lights as core
from controller.core.counting import MS
from controller.core.publisher import Identity
from templo import contract
from templo.contract import God, Light, LightEffect
from tests.firmware.test_pico import module, payload, vectors
from tests.firmware.test_pico_restored import Beam, new_id

GODS = tuple(God)
LIGHT = (True, 255, (255, 150, 60), "signals")


class Lamps:
    """Two lamps whose latest colours are kept; broken ones raise."""

    def __init__(self, broken: bool = False) -> None:
        self.colours: list[tuple[float, float, float]] = []
        self.times = 0
        self.broken = broken

    @property
    def levels(self) -> list[float]:
        return [max(colour) for colour in self.colours]

    def show(self, colours: list[tuple[float, float, float]]) -> None:
        if self.broken:
            raise OSError("no such pin")
        self.colours = colours
        self.times += 1


class Piezo:
    """A piezo that writes down what it plays; a broken one raises."""

    def __init__(self, broken: bool = False) -> None:
        self.played: list[int | None] = []
        self.broken = broken

    def play(self, hertz: int | None) -> None:
        if self.broken:
            raise ValueError("freq out of range")
        self.played.append(hertz)


class Link:
    """A connection that is up from the first turn; what arrives is put into `inbox`."""

    def __init__(self) -> None:
        self.up = False
        self.inbox: list[Any] = []
        self.published: list[tuple[str, bytes, bool]] = []

    def turn(self, now_ms: int, will: bytes) -> list[Any]:
        if not self.up:
            self.up = True
            return ["up"]
        found, self.inbox = self.inbox, []
        return found

    def publish(self, topic: str, data: bytes, retain: bool = False) -> bool:
        self.published.append((topic, bytes(data), retain))
        return True

    def room(self) -> bool:
        return True

    def of(self, leaf: str) -> list[Any]:
        return [contract.decode(leaf, data) for topic, data, _ in self.published if topic == f"templo/templo/{leaf}"]


boards: list[Board] = []


@pytest.fixture(autouse=True)
def _ledgers() -> Iterator[None]:
    yield
    while boards:
        boards.pop().temple.ledger.close()


class Board:
    """A temple with lights, on a clock that the test moves."""

    def __init__(self, flash: Path, lamps: Lamps | None, piezo: Piezo | None) -> None:
        boards.append(self)
        self.link, self.now_ms = Link(), 10_000
        self.beams = [Beam(lambda: self.now_ms * 1000) for _ in range(2)]
        self.temple = module("temple").Temple(
            {"temple": "templo"}, module("calibration").Calibration(module("slots").Limits()), self.beams,
            lambda: module("ledger").Ledger(str(flash), new_id), self.link, "c" * 32, lambda: 1795286527123,
            self.now_ms, lights=module("lights").Lights(lamps, piezo),
        )  # fmt: skip
        self.turn()

    def turn(self, seconds: float = 0.05) -> None:
        for _ in range(round(seconds * 20)):
            self.now_ms += 50
            self.temple.turn(self.now_ms)

    def receive(self, leaf: str, data: bytes, retained: bool = False) -> None:
        self.link.inbox.append((f"templo/templo/{leaf}", data, retained))
        self.turn()


# -- the same rules --

codes = st.sampled_from([*core.SIGNALS, "something_new"])


@given(
    god=st.sampled_from(GODS),
    now_ms=st.integers(0, 10**8),
    ago_ms=st.none() | st.integers(0, 2000),
    stopped=st.booleans(),
    finding=st.booleans(),
    trouble=st.booleans(),
    signals=st.lists(codes, max_size=3, unique=True),
    left=st.none() | st.integers(0, 30),
    on=st.booleans(),
    brightness=st.integers(1, 255),
    colour=st.tuples(*[st.integers(0, 255)] * 3),
    effect=st.sampled_from(LightEffect),
)
def test_a_lamp_of_a_pico_has_the_colour_of_one_of_a_raspberry_pi(
    god: God, now_ms: int, ago_ms: int | None, stopped: bool, finding: bool, trouble: bool, signals: list[str],
    left: int | None, on: bool, brightness: int, colour: tuple[int, int, int], effect: LightEffect,
) -> None:  # fmt: skip
    token_ms = None if ago_ms is None else now_ms - ago_ms
    shrine = core.Shrine(None if token_ms is None else token_ms * MS, stopped, finding)
    scene = core.Scene(tuple(signals), left, trouble, Light(on, brightness, colour, effect))
    expected = core.colour(god, shrine, scene, now_ms * MS)
    shown = module("lights").colour(
        GODS.index(god), now_ms, token_ms, stopped, finding, trouble, signals, left,
        (on, brightness, colour, str(effect)),
    )  # fmt: skip
    assert shown == pytest.approx(expected, abs=1e-6)


def test_a_piezo_of_a_pico_plays_the_same_tunes() -> None:
    lights = module("lights")
    assert {code: signal.tune for code, signal in core.SIGNALS.items()} == lights.TUNES
    assert [core.CHIRPS[god] for god in GODS] == list(lights.CHIRPS)
    assert core.NOTE_NS == lights.NOTE_MS * MS


@pytest.mark.parametrize("coloured", [False, True])
@pytest.mark.parametrize("temple", ["templo", "up-stairs-2"])
def test_a_pico_with_lamps_announces_them_byte_for_byte_as_the_controller_does(temple: str, coloured: bool) -> None:
    own = module("temple")
    identity = Identity(temple, "c" * 32, contract.Kind.PICO, own.SOFTWARE, contract.Timing.CALLBACK)
    topic, announced = module("discovery").announcement(temple, own.KIND, own.SOFTWARE, coloured)
    assert (topic, bytes(announced)) == home_assistant.announcement(identity, coloured)


@pytest.mark.parametrize(("leaf", "vector"), vectors("mood", "good") + vectors("set_light", "good"))
def test_what_lamps_are_to_show_is_read(leaf: str, vector: dict[str, Any]) -> None:
    lights = module("lights").Lights(Lamps(), None)
    lights.take(leaf, payload(vector), 0)
    said = json.loads(lights.message())
    wanted = vector["message"] if leaf == "set_light" else {}
    assert said == {"v": 1, "on": True, "brightness": 255, "colour": [255, 150, 60], "effect": "signals"} | wanted


@pytest.mark.parametrize(("leaf", "vector"), vectors("mood", "bad") + vectors("set_light", "bad"))
def test_what_breaks_the_contract_changes_no_lamp(leaf: str, vector: dict[str, Any]) -> None:
    lights, wire = module("lights").Lights(Lamps(), None), module("wire")
    before = lights.message()
    with pytest.raises(wire.WireError):
        lights.take(leaf, payload(vector), 0)
    assert lights.message() == before


def test_how_the_lamps_are_set_is_written_as_the_contract_has_it() -> None:
    assert module("lights").Lights(Lamps(), None).message() == contract.encode(core.AT_FIRST)


# -- in a temple --


def test_a_token_lets_its_shrine_glow_and_sound_once_it_is_recorded(tmp_path: Path) -> None:
    lamps, piezo = Lamps(), Piezo()
    board = Board(tmp_path / "ledger", lamps, piezo)
    board.turn(1)
    board.beams[1].fallen += 1
    board.turn(0.1)
    assert lamps.levels[0] == 0
    assert lamps.levels[1] > 0.5
    assert piezo.played[-1] == 1175
    board.turn(2)
    assert lamps.levels == [0, 0]
    assert piezo.played[-1] is None


def test_a_mood_that_was_retained_is_shown_and_a_light_that_is_off_shows_nothing(tmp_path: Path) -> None:
    lamps = Lamps()
    board = Board(tmp_path / "ledger", lamps, None)
    board.receive("mood", b'{"v":1,"table":null,"signals":["war"]}', retained=True)
    shown = []
    for _ in range(40):
        board.turn()
        shown.append(lamps.levels[0])
    assert min(shown) == pytest.approx(0.08)
    assert max(shown) == pytest.approx(0.5)
    board.receive("set_light", b'{"v":1,"on":false}')
    board.beams[0].fallen += 1
    board.turn(0.2)
    assert lamps.levels == [0, 0]
    assert [light.on for light in board.link.of("light")] == [True, False]
    assert all(retain for topic, _, retain in board.link.published if topic.endswith("/light"))


def test_lamps_are_set_again_every_second_in_case_their_line_was_disturbed(tmp_path: Path) -> None:
    lamps = Lamps()
    board = Board(tmp_path / "ledger", lamps, None)
    before = lamps.times
    board.turn(5)
    assert lamps.times - before == 5


def test_a_change_that_a_broker_retained_is_not_taken(tmp_path: Path) -> None:
    board = Board(tmp_path / "ledger", Lamps(), None)
    board.receive("set_light", b'{"v":1,"on":false}', retained=True)
    board.turn(1)
    assert [light.on for light in board.link.of("light")] == [True]


def test_lamps_and_a_piezo_that_fail_cost_no_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board = Board(tmp_path / "ledger", Lamps(broken=True), Piezo(broken=True))
    for _ in range(10):
        board.beams[0].fallen += 1
        board.turn(0.5)
    assert board.temple.ledger.totals == [10, 0]
    assert len(board.link.of("token")) >= 10
    said = capsys.readouterr().out
    assert said.count("no such pin") == said.count("freq out of range") == 1


def test_each_change_of_lamps_that_failed_is_answered_with_why_they_stay_off(tmp_path: Path) -> None:
    board = Board(tmp_path / "ledger", Lamps(broken=True), None)
    board.turn(1)
    board.receive("set_light", b'{"v":1,"on":true}')
    *_, failed, answered = board.link.of("light")
    assert failed == answered == replace(core.AT_FIRST, on=False, fault="no such pin")


def test_a_temple_without_lights_neither_loads_them_nor_publishes_a_light() -> None:
    settings, main = module("settings"), module("main")
    chosen = settings.checked({"ssid": "a", "wifi_password": "", "broker": "b"})
    assert main.lights(chosen) is None
    assert not settings.has_lights(chosen)
    assert not {"lights", "lamps", "pixels"} & set(sys.modules)
    assert settings.coloured(chosen) is None


# -- on the pins --


def test_leds_are_dimmed_within_their_limit_and_a_piezo_is_silent_between_notes() -> None:
    world, machine = module("world"), module("lamps")
    leds, piezo = machine.Leds((18, 19), 50), machine.Piezo(20)
    leds.show([(1.0, 0.3, 0.05), (0.0, 0.25, 0.1)])
    assert [world.pulses[pin] for pin in (18, 19)] == [[1000, 32767], [1000, 8191]]
    piezo.play(784)
    assert world.pulses[20] == [784, 32767]
    piezo.play(None)
    assert world.pulses[20][1] == 0


GREEN, RED, BLUE = 24, 16, 8


def test_pixels_before_each_door_get_its_colour_as_those_of_a_raspberry_pi_do() -> None:
    world, pixels = module("world"), module("pixels").Ws2812(18, 2, 50)
    assert world.sent[18] == [0, 0, 0, 0]
    colours = [(1.0, 0.3, 0.05), (0.1, 0.5, 1.0)]
    pixels.show(colours)
    first, second = [
        [round(255 * level**2.2 * 0.5) for level in (green, red, blue)] for red, green, blue in colours
    ]  # fmt: skip
    assert [[word >> shift & 255 for shift in (GREEN, RED, BLUE)] for word in world.sent[18]] == [
        first, first, second, second,
    ]  # fmt: skip
    on_the_spi = ws2812.encoded(colours, 2, 50)[len(ws2812.RESET) : -len(ws2812.RESET)]
    bits = "".join("1" if byte == ws2812.ONE else "0" for byte in on_the_spi)
    assert [int(bits[place : place + 24], 2) << 8 for place in range(0, len(bits), 24)] == world.sent[18]


def test_pixels_are_sent_by_a_machine_that_neither_the_beams_nor_the_wi_fi_use() -> None:
    pixels, rp2 = module("pixels"), module("rp2")
    assert pixels.MACHINE == 7
    with pytest.raises(ValueError, match="claimed"):
        rp2.StateMachine(rp2.CLAIMED, pixels.bits, freq=pixels.HERTZ)


def test_a_state_machine_that_another_claims_leaves_the_pixels_out_with_the_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings, main, pixels, rp2 = module("settings"), module("main"), module("pixels"), module("rp2")
    pixels.MACHINE = rp2.CLAIMED
    chosen = settings.checked({"ssid": "a", "wifi_password": "", "broker": "b", "lamps": "ws2812"})
    lights = main.lights(chosen)
    lights.turn(0, [False, False], None)
    assert lights.unpublished
    light = contract.decode("light", lights.message())
    assert isinstance(light, Light)
    assert not light.on
    assert "claimed" in str(light.fault)
    assert "claimed" in capsys.readouterr().out


def test_pixels_glow_in_the_gods_own_colours(tmp_path: Path) -> None:
    lamps = Lamps()
    board = Board(tmp_path / "ledger", lamps, None)
    board.beams[0].fallen += 1
    board.beams[1].fallen += 1
    board.turn(0.1)
    (red, _, no_blue), (no_red, _, blue) = lamps.colours
    assert red > 0.5 > no_blue
    assert blue > 0.5 > no_red


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lamps": ["ws2812"]}, "lamps is .* expected off, leds or ws2812"),
        ({"lamps": "bulbs"}, "lamps is 'bulbs'; expected off, leds or ws2812"),
        ({"lamps": "ws2812", "lamp_data": 16}, "lamp_data is 16; expected another pin than huitzilopochtli's"),
        ({"lamps": "ws2812", "piezo": 18}, "piezo is 18; expected another pin than lamp_data's"),
        ({"lamps": "ws2812", "lamp_each": 9}, "lamp_each is 9; expected a number from 1 to 8"),
        ({"lamps": "ws2812", "lamp_each": 1.5}, "lamp_each is 1.5; expected a whole number"),
        ({"lamps": "leds", "lamp_tlaloc": 17}, "lamp_tlaloc is 17; expected another pin than tlaloc's"),
        ({"piezo": 16}, "piezo is 16; expected another pin than huitzilopochtli's"),
        ({"emitters": 16}, "emitters is 16; expected another pin than huitzilopochtli's"),
        ({"emitters": 22, "piezo": 22}, "piezo is 22; expected another pin than emitters's"),
        ({"lamps": "leds", "piezo": 18}, "piezo is 18; expected another pin than lamp_huitzilopochtli's"),
        ({"lamps": "leds", "piezo": 2}, "piezo is 2, which has the PWM of lamp_huitzilopochtli"),
        ({"piezo": True}, "piezo is True; expected a number"),
        ({"lamp_percent": 101}, "lamp_percent is 101; expected a number from 1 to 100"),
    ],
)
def test_pins_that_lights_cannot_have_are_refused(change: dict[str, object], words: str) -> None:
    settings = module("settings")
    known = {"ssid": "a", "wifi_password": "", "broker": "b"}
    assert settings.checked(known | {"lamps": "leds", "piezo": 20})["piezo"] == 20
    assert repr(settings.checked(known | {"lamps": "ws2812", "lamp_each": 2.0})["lamp_each"]) == "2"
    assert settings.checked(known | {"lamps": "ws2812", "lamp_tlaloc": 18, "piezo": 19})["piezo"] == 19
    with pytest.raises(settings.SettingsError, match=words):
        settings.checked(known | change)
