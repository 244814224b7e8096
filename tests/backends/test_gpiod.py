"""The backend on libgpiod: what it asks of the kernel, and what it says when the kernel refuses."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from controller.adapters import header
from controller.adapters.libgpiod import LineBeams
from controller.core.counting import SECOND, Counter, Detection, Edge, Limits, MissedEdge
from controller.core.messages import EdgeSeen, EdgesLost, StatusRequest
from controller.core.ports import BackendContext, BeamsError
from controller.core.settings import BeamSettings
from controller.core.slots import Slots
from templo.contract import Flag, God, Trouble
from tests.backends.fake_gpiod import Kernel
from tests.backends.harness import PINS, Queue
from tests.controller.rig import NOON, Rig, close_all
from tests.waiting import eventually

SETTINGS = BeamSettings(PINS[God.HUITZILOPOCHTLI], PINS[God.TLALOC], "low", "up", "gpiod")


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    monkeypatch.setattr(header, "chip_numbers", lambda: [4])
    return Kernel()


@pytest.fixture
def opened(kernel: Kernel, tmp_path: Path) -> Iterator[Callable[..., LineBeams]]:
    made: list[LineBeams] = []

    def make(queue: Queue, settings: BeamSettings = SETTINGS) -> LineBeams:
        context = BackendContext(settings, Limits(), tmp_path, time.monotonic_ns, str)
        made.append(LineBeams(context, lambda: kernel.gpiod, lambda seconds: None))
        made[-1].open(queue.put)
        return made[-1]

    yield make
    for beams in made:
        beams.close()


@pytest.mark.parametrize("broken", ["low", "high"])
@pytest.mark.parametrize(("pull", "bias"), [("up", "PULL_UP"), ("down", "PULL_DOWN"), ("none", "DISABLED")])
def test_every_polarity_reads_broken_as_dark_and_the_kernel_pulls_as_the_settings_say(
    kernel: Kernel, opened: Callable[..., LineBeams], broken: str, pull: str, bias: str
) -> None:
    queue, level = Queue(), int(broken == "high")
    kernel.levels |= dict.fromkeys(PINS.values(), 1 - level)
    beams = opened(queue, replace(SETTINGS, broken=broken, pull=pull))
    (request,) = kernel.requests
    assert (request.settings.bias.name, request.settings.event_clock.name) == (bias, "MONOTONIC")
    assert request.settings.edge_detection.name == "BOTH"
    assert request.size == 1024
    assert not beams.dark(God.TLALOC)
    kernel.set(27, level)
    eventually(lambda: len(queue.messages) == 1)
    assert (queue.messages[0].god, queue.messages[0].dark) == (God.TLALOC, True)  # type: ignore[union-attr]
    assert beams.dark(God.TLALOC)


def test_a_level_is_read_after_the_edges_that_led_to_it_were_put_though_the_thread_is_late(
    kernel: Kernel, opened: Callable[..., LineBeams]
) -> None:
    kernel.levels |= dict.fromkeys(PINS.values(), 1)
    queue = Queue()
    beams = opened(queue)
    beams._lock.acquire()  # as a thread that gets no time
    kernel.set(27, 0)
    kernel.set(27, 1)
    kernel.set(27, 0)
    time.sleep(0.1)
    assert queue.messages == []
    beams._lock.release()
    assert beams.dark(God.TLALOC)
    assert [(message.god, message.dark) for message in queue.messages] == [  # type: ignore[union-attr]
        (God.TLALOC, True),
        (God.TLALOC, False),
        (God.TLALOC, True),
    ]


def test_a_line_that_another_program_uses_is_named_with_that_program_and_nothing_stays_claimed(
    kernel: Kernel, opened: Callable[..., LineBeams]
) -> None:
    kernel.consumers[27] = "lg"
    with pytest.raises(BeamsError, match="pin 27 is used by 'lg'; stop that program, or choose other pins") as caught:
        opened(Queue(), replace(SETTINGS, emitters=22))
    assert caught.value.trouble is Trouble.BEAMS_BUSY
    assert kernel.consumers == {27: "lg"}


def test_a_machine_without_a_header_is_named_with_what_it_has(
    kernel: Kernel, opened: Callable[..., LineBeams]
) -> None:
    kernel.label = "INT34C6:00"
    with pytest.raises(BeamsError, match="INT34C6:00; expected a chip labelled pinctrl-rp1"):
        opened(Queue())


def test_a_chip_that_may_not_be_opened_is_reported_with_the_kernels_reason(
    kernel: Kernel, opened: Callable[..., LineBeams]
) -> None:
    kernel.refuses = True
    with pytest.raises(BeamsError, match="/dev/gpiochip4: Permission denied"):
        opened(Queue())


def test_a_missing_gpiod_is_one_sentence_that_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gpiod", None)
    beams = LineBeams(BackendContext(SETTINGS, Limits(), tmp_path, time.monotonic_ns, str))
    with pytest.raises(BeamsError, match="sudo apt install python3-libgpiod"):
        beams.open(Queue().put)


def test_the_numbers_of_a_line_begin_again_after_four_billion_edges(
    kernel: Kernel, opened: Callable[..., LineBeams]
) -> None:
    queue = Queue()
    beams = opened(queue)
    beams._numbers[God.TLALOC] = 2**32 - 1
    kernel.requests[0]._numbers[27] = -1
    kernel.set(27, 0)
    eventually(lambda: queue.messages)
    assert not queue.of(EdgesLost)


def test_a_thread_that_dies_is_noticed(
    kernel: Kernel, opened: Callable[..., LineBeams], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("threading.excepthook", lambda given: None)

    def fail(most: int) -> None:
        raise OSError(19, "No such device")

    beams = opened(Queue())
    monkeypatch.setattr(kernel.requests[0], "read_edge_events", fail)
    kernel.set(27, 0)
    eventually(lambda: not beams.alive())


# -- a proof --


def test_a_token_that_falls_while_the_emitters_are_off_is_counted_once_and_nothing_is_proved_of_its_beam(
    kernel: Kernel, tmp_path: Path
) -> None:
    """The thread that reads edges runs meanwhile, as on a Pi; the token outlasts the pulse."""
    queue, pins = Queue(), tuple(PINS.values())
    kernel.wired = {22: pins}
    falls = False

    def sleep(seconds: float) -> None:
        time.sleep(seconds)
        if falls:
            kernel.wired = {22: (PINS[God.HUITZILOPOCHTLI],)}

    context = BackendContext(replace(SETTINGS, emitters=22), Limits(), tmp_path, time.monotonic_ns, str)
    beams = LineBeams(context, lambda: kernel.gpiod, sleep)
    slots = Slots(beams, beams.open(queue.put), Limits())
    read = beams.dark
    polled: list[God] = []

    def late(god: God) -> bool:
        """Read the level before the receiver has followed, once, so that the token falls into the pulse."""
        polled.append(god)
        return read(god) if len(polled) > 2 else False

    beams.dark = late  # type: ignore[method-assign]
    falls = True
    slots.prove_if_due(time.monotonic_ns() + 11 * SECOND)
    beams.dark = read  # type: ignore[method-assign]
    time.sleep(0.012)
    kernel.set(PINS[God.TLALOC], 1)
    seen = eventually(lambda: len(queue.of(EdgeSeen)) == 4 and queue.of(EdgeSeen))
    events = [event for edge in seen for _, each in slots.take(edge) for event in each]
    events += [event for _, each in slots.advance(time.monotonic_ns() + SECOND) for event in each]
    assert sum(isinstance(event, Detection) for event in events) == 1
    assert slots.unproved_since(God.TLALOC) is None
    found = slots.findings("a" * 32, NOON, 0, None).beams[God.TLALOC]
    assert not {"no_light", "unproved"} & {each.code for each in found}
    beams.close()


# -- what is counted of a loss --


def test_a_known_loss_is_counted_exactly_and_flags_the_spell_that_it_falls_in() -> None:
    counter = Counter(Limits(), dark=False, since_ns=0, proved=True)
    ms = 1_000_000
    counter.feed(Edge(100 * ms, dark=True))
    assert counter.lose(112 * ms, 4) == [MissedEdge(112 * ms, True, 4)]
    assert counter.feed(Edge(112 * ms, dark=False)) == []
    (counted,) = counter.advance(200 * ms)
    assert counted.flags == {Flag.MISSED_EDGE}  # type: ignore[union-attr]
    assert counter.missed_edges == 4


def test_a_level_that_repeats_after_a_known_loss_is_not_counted_again() -> None:
    counter = Counter(Limits(), dark=False, since_ns=0, proved=True)
    counter.feed(Edge(100, dark=True))
    counter.lose(200, 3)
    counter.feed(Edge(200, dark=True))
    assert counter.missed_edges == 3
    counter.feed(Edge(300, dark=True))
    assert counter.missed_edges == 4


def test_a_loss_before_the_start_is_not_counted() -> None:
    counter = Counter(Limits(), dark=False, since_ns=1000)
    assert counter.lose(999, 5) == []
    assert counter.missed_edges == 0


def test_a_loss_becomes_the_finding_of_missed_edges_with_the_exact_number(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rig = Rig(tmp_path)
    at_ns = rig.now_ns
    rig.take(EdgeSeen(God.TLALOC, at_ns, True), EdgesLost(God.TLALOC, at_ns + 12_000_000, 1000))
    rig.take(EdgeSeen(God.TLALOC, at_ns + 12_000_000, False), after_ns=40_000_000)
    report: list[dict[str, dict[str, int]]] = []
    rig.take(StatusRequest(report.append))  # type: ignore[arg-type]
    assert report[0]["missed_edges"]["tlaloc"] == 1000
    findings: list[dict[str, object]] = rig.selftest()["beams"]["tlaloc"]["findings"]  # type: ignore[index]
    assert {"code": "missed_edges", "missed": 1000} in findings
    assert "1000 edges of tlaloc were lost" in caplog.text
    rig.stop()
    assert [token.flags for token in rig.ledger()] == [{Flag.MISSED_EDGE}]
    close_all()
