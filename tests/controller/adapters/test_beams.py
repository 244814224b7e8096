"""The beams through gpiozero: on its mock pins, and through lgpio's own thread, fed by its own pipe."""

from __future__ import annotations

import importlib.util
import os
import struct
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from controller.adapters import gpio as beams_module
from controller.adapters import header
from controller.adapters.gpio import HeaderBeams
from controller.core.counting import MS, SECOND, Counter, Detection, Edge, Limits
from controller.core.diagnosis import Answer
from controller.core.messages import EdgeSeen, PipelineMessage
from controller.core.ports import BackendContext, BeamsBusyError, BeamsError
from controller.core.settings import BeamSettings
from controller.core.slots import Slots
from templo.contract import God, Timing
from tests.waiting import eventually

MOCK = BeamSettings(
    source="gpio",
    factory="mock",
    chip=None,
    huitzilopochtli=17,
    tlaloc=27,
    emitters=None,
    broken="low",
    pull="up",
)
LGPIO = replace(MOCK, factory="lgpio")


class Listener:
    """A queue that remembers the edges that were put."""

    def __init__(self) -> None:
        self.received: list[EdgeSeen] = []

    def __call__(self, message: PipelineMessage) -> None:
        assert isinstance(message, EdgeSeen)
        self.received.append(message)


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., HeaderBeams]]:
    """Open beams that are closed with the test, while what it patched still stands."""
    made: list[HeaderBeams] = []

    def make(
        settings: BeamSettings,
        sleep: Callable[[float], None] = lambda _: None,
        reserved: frozenset[int] = frozenset(),
    ) -> HeaderBeams:
        context = BackendContext(settings, Limits(), tmp_path, time.monotonic_ns, str, reserved=reserved)
        made.append(HeaderBeams(context, sleep))
        return made[-1]

    yield make
    for beams in made:
        beams.close()


def mock_pin(beams: HeaderBeams, number: int) -> Any:
    return beams._factory.pin(f"GPIO{number}")


# -- mock pins --


def test_each_edge_is_read_with_its_slot_its_level_and_a_monotonic_stamp(
    opened: Callable[..., HeaderBeams],
) -> None:
    beams, listener = opened(MOCK), Listener()
    levels = beams.open(listener)
    assert not any(level.dark or level.proved for level in levels.values())
    before = time.monotonic_ns()
    mock_pin(beams, 27).drive_low()
    mock_pin(beams, 17).drive_low()
    mock_pin(beams, 27).drive_high()
    assert [(god, dark) for god, _, dark in listener.received] == [
        (God.TLALOC, True),
        (God.HUITZILOPOCHTLI, True),
        (God.TLALOC, False),
    ]
    assert all(before - MS <= at_ns <= time.monotonic_ns() + MS for _, at_ns, _ in listener.received)
    assert beams.dark(God.HUITZILOPOCHTLI)
    assert not beams.dark(God.TLALOC)
    assert beams.capabilities.timing is Timing.CALLBACK
    assert beams.alive()


@pytest.mark.parametrize("broken", ["low", "high"])
@pytest.mark.parametrize("pull", ["up", "down", "none"])
def test_every_polarity_reads_broken_as_dark(opened: Callable[..., HeaderBeams], broken: str, pull: str) -> None:
    beams, listener = opened(replace(MOCK, broken=broken, pull=pull)), Listener()
    beams.open(listener)
    pin = mock_pin(beams, 17)
    (pin.drive_low if broken == "high" else pin.drive_high)()
    listener.received.clear()
    (pin.drive_low if broken == "low" else pin.drive_high)()
    assert [(god, dark) for god, _, dark in listener.received] == [(God.HUITZILOPOCHTLI, True)]
    assert beams.dark(God.HUITZILOPOCHTLI)


def test_a_listener_that_fails_is_noticed_and_the_pins_go_on(opened: Callable[..., HeaderBeams]) -> None:
    beams = opened(MOCK)
    received = []

    def listener(message: PipelineMessage) -> None:
        assert isinstance(message, EdgeSeen)
        received.append(message.dark)
        raise RuntimeError("no room")

    beams.open(listener)
    mock_pin(beams, 17).drive_low()
    mock_pin(beams, 17).drive_high()
    assert received == [True, False]
    assert not beams.alive()


def test_a_switched_emitter_proves_each_beam_that_answers_it(opened: Callable[..., HeaderBeams]) -> None:
    """The receiver of Tlaloc sees its emitter; the other is unplugged."""
    beams, listener = opened(replace(MOCK, emitters=22), lambda _: follow()), Listener()

    def follow() -> None:
        if beams._emitters is not None:
            receiver = mock_pin(beams, 27)
            (receiver.drive_high if beams._emitters.value else receiver.drive_low)()

    levels = beams.open(listener)
    assert levels[God.TLALOC].proved
    assert not levels[God.HUITZILOPOCHTLI].proved
    assert not any(level.dark for level in levels.values())
    assert all(at_ns < levels[god].at_ns for god, at_ns, _ in listener.received)


def test_a_selftest_switches_the_emitter_on_a_running_temple_and_no_listener_is_called(
    opened: Callable[..., HeaderBeams],
) -> None:
    """Tlaloc's receiver answers; the other is wired the wrong way round."""
    beams, listener = opened(replace(MOCK, emitters=22), lambda _: follow()), Listener()

    def follow() -> None:
        if beams._emitters is not None and len(beams._devices) == 2:
            lit = bool(beams._emitters.value)
            for number, clear in ((27, lit), (17, not lit)):
                (mock_pin(beams, number).drive_high if clear else mock_pin(beams, number).drive_low)()

    beams.open(listener)
    listener.received.clear()
    pulse = beams.prove()
    assert pulse is not None
    assert pulse.answers == {
        God.TLALOC: Answer(lit_dark=False, unlit_dark=True, edge_seen=True),
        God.HUITZILOPOCHTLI: Answer(lit_dark=True, unlit_dark=False, edge_seen=True),
    }
    assert listener.received == []
    assert beams._emitters.value == 1
    mock_pin(beams, 27).drive_low()
    assert [(god, dark) for god, _, dark in listener.received] == [(God.TLALOC, True)]


def test_a_temple_without_a_switched_emitter_proves_nothing(opened: Callable[..., HeaderBeams]) -> None:
    beams = opened(MOCK)
    beams.open(Listener())
    assert beams.prove() is None
    beams.heal()


def test_a_missing_lgpio_is_one_sentence_that_names_the_package(
    opened: Callable[..., HeaderBeams], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LG_WD", "put back with the test")
    monkeypatch.setitem(sys.modules, "lgpio", None)
    with pytest.raises(BeamsError, match="sudo apt install python3-lgpio"):
        opened(LGPIO).open(Listener())


def test_a_factory_that_cannot_start_is_an_error_and_no_other_takes_its_place(
    opened: Callable[..., HeaderBeams], monkeypatch: pytest.MonkeyPatch, chips: Chips
) -> None:
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
    monkeypatch.setitem(sys.modules, "RPi", None)
    with pytest.raises(BeamsError, match="rpigpio"):
        opened(replace(MOCK, factory="rpigpio")).open(Listener())


# -- lgpio's own thread --


class Chips:
    """The calls of lgpio's C library that need a chip, as a Pi 5 answers them; its thread and its pipe are real."""

    labels = {0: "raspberrypi-exp-gpio", 4: "pinctrl-rp1", 10: "brcmvirt-gpio"}  # noqa: RUF012

    def __init__(self, monkeypatch: pytest.MonkeyPatch, lgpio: Any) -> None:
        self.lgpio = lgpio
        self.calls: list[tuple[str, int]] = []
        self.open_chips: list[int] = []
        self.busy: set[int] = set()
        """Lines that another program has."""
        answers: dict[str, Callable[..., Any]] = {
            "_gpiochip_open": self._open,
            "_gpiochip_close": lambda handle: 0,
            "_gpio_get_chip_info": lambda handle: [0, 54, "gpiochip", self.labels[handle]],
            "_gpio_get_mode": lambda handle, gpio: 0,
            "_gpio_free": lambda handle, gpio: 0,
            "_gpio_read": lambda handle, gpio: 1,
            "_gpio_set_debounce_micros": lambda handle, gpio, micros: 0,
            "_gpio_claim_input": lambda handle, flags, gpio: self._claim("input", gpio),
            "_gpio_claim_alert": lambda handle, flags, edges, gpio, notify: self._claim("alert", gpio),
        }
        for name, answer in answers.items():
            monkeypatch.setattr(lgpio._lgpio, name, answer)
        monkeypatch.setattr(header, "chip_numbers", lambda: list(self.labels))
        monkeypatch.setattr("gpiozero.pins.local.get_pi_revision", lambda: 0xC04170)

    def _open(self, number: int) -> int:
        self.open_chips.append(number)
        return number

    def _claim(self, how: str, gpio: int) -> int:
        self.calls.append((how, gpio))
        return int(self.lgpio.GPIO_BUSY) if gpio in self.busy else 0

    def report(self, edges: list[tuple[int, int, int]], chip: int = 4) -> None:
        """Write reports as the C library does, each edge a stamp, a line and a level."""
        pipe = Path(self.lgpio._notify_thread._file.name)
        folder = Path(os.environ["LG_WD"])
        with (folder / pipe).open("wb") as file:
            for at_ns, line, level in edges:
                file.write(struct.pack("QBBBBI", at_ns, chip, line, level, 0, 0))


@pytest.fixture(scope="session")
def lgpio(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Import lgpio as the beams do; once, because its thread and its pipe are the process's own.

    From Python 3.13 on it has no wheel, and a test environment never looks through to the system's packages.
    """
    if importlib.util.find_spec("lgpio") is None:
        pytest.skip("lgpio has no wheel for this Python")
    here = Path.cwd()
    module = beams_module._import_lgpio(tmp_path_factory.mktemp("lgpio"))
    assert Path.cwd() == here
    return module


@pytest.fixture
def chips(monkeypatch: pytest.MonkeyPatch, lgpio: Any) -> Chips:
    folder = os.environ["LG_WD"]
    monkeypatch.setattr(beams_module, "_import_lgpio", lambda _: lgpio)
    monkeypatch.setenv("LG_WD", folder)
    return Chips(monkeypatch, lgpio)


def test_the_header_of_a_pi_5_is_found_by_its_label(opened: Callable[..., HeaderBeams], chips: Chips) -> None:
    beams = opened(LGPIO)
    beams.open(Listener())
    assert chips.open_chips == [0, 4, 10, 4]
    assert beams.capabilities.timing is Timing.KERNEL
    assert beams.alive()


def test_a_machine_without_a_header_is_named_with_what_it_has(
    opened: Callable[..., HeaderBeams], chips: Chips, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chips, "labels", {0: "INT34C6:00"})
    monkeypatch.setattr(header, "chip_numbers", lambda: [0])
    with pytest.raises(BeamsError, match="INT34C6:00; expected a chip labelled pinctrl-rp1"):
        opened(LGPIO).open(Listener())


@pytest.mark.parametrize("line", [22, 27])
def test_lines_that_another_program_gave_back_are_claimed_while_the_error_is_still_remembered(
    opened: Callable[..., HeaderBeams], chips: Chips, monkeypatch: pytest.MonkeyPatch, line: int
) -> None:
    """Whoever waits for the beams remembers the last error, and with it all that its traceback holds."""
    monkeypatch.setattr(chips.lgpio._lgpio, "_gpio_get_mode", lambda _, line: 2 if line == 22 else 0)
    monkeypatch.setattr(chips.lgpio._lgpio, "_gpio_claim_output", lambda *_: 0)
    monkeypatch.setattr(chips.lgpio._lgpio, "_gpio_write", lambda *_: 0)
    chips.busy.add(line)
    errors = []
    for _ in range(2):
        with pytest.raises(BeamsBusyError, match="busy") as caught:
            opened(replace(LGPIO, emitters=22)).open(Listener())
        errors.append(caught.value)
    chips.busy.clear()
    monkeypatch.setattr(HeaderBeams, "_blink", lambda _: dict.fromkeys(God, Answer(False, True, True)))
    opened(replace(LGPIO, emitters=22)).open(Listener())
    assert len(errors) == 2


def test_the_beams_are_claimed_a_while_after_the_chip_and_one_unused_line_after_them(
    opened: Callable[..., HeaderBeams], chips: Chips
) -> None:
    waits: list[tuple[float, int]] = []
    opened(LGPIO, lambda seconds: waits.append((seconds, len(chips.calls)))).open(Listener())
    assert waits == [(0.05, 0)]
    alerts = [number for number, (how, _) in enumerate(chips.calls) if how == "alert"]
    assert [chips.calls[number][1] for number in alerts] == [17, 27]
    spare = chips.calls[-1]
    assert spare[0] == "input"
    assert spare[1] not in (17, 27)
    assert alerts[-1] < len(chips.calls) - 1


def test_each_healing_claims_another_unused_line_until_there_are_none(
    opened: Callable[..., HeaderBeams], chips: Chips
) -> None:
    beams = opened(LGPIO)
    beams.open(Listener())
    for _ in range(12):
        beams.heal()
    spares = [line for how, line in chips.calls if how == "input" and line not in (17, 27)]
    assert len(spares) == len(set(spares)) == 8


def test_no_pin_of_the_lights_is_taken_as_an_unused_line(opened: Callable[..., HeaderBeams], chips: Chips) -> None:
    beams = opened(LGPIO, reserved=frozenset({26, 5}))
    beams.open(Listener())
    for _ in range(12):
        beams.heal()
    assert not {26, 5} & {line for how, line in chips.calls if how == "input"}


def test_a_start_that_is_deaf_is_found_by_its_emitter_and_healed(
    opened: Callable[..., HeaderBeams], chips: Chips, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The level follows the emitter and no edge comes, until a second spare line is claimed."""
    beams = opened(replace(LGPIO, emitters=22))
    blinks: list[int] = []

    def blink() -> dict[God, Answer]:
        blinks.append(len([how for how, line in chips.calls if how == "input" and line not in (17, 22, 27)]))
        return dict.fromkeys(God, Answer(lit_dark=False, unlit_dark=True, edge_seen=len(blinks) == 2))

    monkeypatch.setattr(beams, "_blink", blink)
    monkeypatch.setattr(chips.lgpio._lgpio, "_gpio_get_mode", lambda _, line: 2 if line == 22 else 0)
    monkeypatch.setattr(chips.lgpio._lgpio, "_gpio_claim_output", lambda *_: 0)
    monkeypatch.setattr(chips.lgpio._lgpio, "_gpio_write", lambda *_: 0)
    beams.open(Listener())
    assert blinks == [1, 2]


def test_a_pulses_edges_come_through_lgpios_thread_with_the_kernels_stamps_and_count_nothing(
    opened: Callable[..., HeaderBeams], chips: Chips, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both receivers follow the emitters at once; a token that falls later is counted."""
    beams = opened(replace(LGPIO, emitters=22), time.sleep)
    levels = {17: 1, 27: 1, 22: 1}

    def write(handle: int, line: int, level: int) -> int:
        if level != levels[22]:
            levels.update(dict.fromkeys(levels, level))
            chips.report([(time.monotonic_ns(), receiver, level) for receiver in (17, 27)])
        return 0

    monkeypatch.setattr(chips.lgpio._lgpio, "_gpio_get_mode", lambda _, line: 2 if line == 22 else 0)
    monkeypatch.setattr(chips.lgpio._lgpio, "_gpio_claim_output", lambda *_: 0)
    monkeypatch.setattr(chips.lgpio._lgpio, "_gpio_write", write)
    monkeypatch.setattr(chips.lgpio._lgpio, "_gpio_read", lambda _, line: levels[line])
    listener = Listener()
    slots = Slots(beams, beams.open(listener), Limits())
    assert listener.received == []
    slots.prove_if_due(time.monotonic_ns() + 11 * SECOND)
    eventually(lambda: len(listener.received) == 4)
    assert [events for edge in listener.received for _, events in slots.take(edge)] == []
    now_ns = time.monotonic_ns() + MS
    found = slots.advance(now_ns + SECOND)
    for at_ns, dark in ((now_ns + SECOND, True), (now_ns + SECOND + 12 * MS, False)):
        found += slots.take(EdgeSeen(God.TLALOC, at_ns, dark))
    found += slots.advance(now_ns + 2 * SECOND)
    assert [god for god, events in found for event in events if isinstance(event, Detection)] == [God.TLALOC]
    assert [slots.unproved_since(god) for god in God] == [None, None]


def test_twelve_thousand_edges_through_lgpios_thread_are_all_counted_with_the_kernels_stamps(
    opened: Callable[..., HeaderBeams], chips: Chips
) -> None:
    """A minute of 50 tokens a second in each slot, as fast as the pipe takes it."""
    beams, listener = opened(LGPIO), Listener()
    levels = beams.open(listener)
    start = max(level.at_ns for level in levels.values()) + MS
    edges = sorted(
        (start + shift + number * 20 * MS + (12 * MS if level else 0), line, level)
        for line, shift in ((17, 0), (27, 7 * MS))
        for number in range(3000)
        for level in (0, 1)
    )
    assert len(edges) == 12_000
    chips.report(edges)
    eventually(lambda: len(listener.received) == 12_000)

    slots = {17: God.HUITZILOPOCHTLI, 27: God.TLALOC}
    stamps = [(at_ns, god, dark) for god, at_ns, dark in listener.received]
    expected = [(at_ns, slots[line], level == 0) for at_ns, line, level in edges]
    # gpiozero carries the stamp as seconds in a float: exact to well under a microsecond.
    assert [each[1:] for each in stamps] == [each[1:] for each in expected]
    assert max(abs(received[0] - driven[0]) for received, driven in zip(stamps, expected, strict=True)) < 1000

    counters = {god: Counter(Limits(), levels[god].dark, levels[god].at_ns) for god in God}
    counted = dict.fromkeys(God, 0)
    for god, at_ns, dark in listener.received:
        counted[god] += sum(isinstance(event, Detection) for event in counters[god].feed(Edge(at_ns, dark)))
    for god, counter in counters.items():
        counted[god] += sum(isinstance(event, Detection) for event in counter.advance(edges[-1][0] + 10**9))
    assert counted == dict.fromkeys(God, 3000)


def test_a_listener_that_fails_kills_neither_lgpios_thread_nor_the_other_beam(
    opened: Callable[..., HeaderBeams], chips: Chips
) -> None:
    beams = opened(LGPIO)
    received: list[God] = []

    def listener(message: PipelineMessage) -> None:
        assert isinstance(message, EdgeSeen)
        received.append(message.god)
        if message.god is God.TLALOC:
            raise ValueError("a fault of ours")

    beams.open(listener)
    now = time.monotonic_ns()
    chips.report([(now, 27, 0), (now + MS, 17, 0), (now + 2 * MS, 27, 1), (now + 3 * MS, 17, 1)])
    eventually(lambda: len(received) == 4)
    assert chips.lgpio._notify_thread.is_alive()
    assert not beams.alive()
