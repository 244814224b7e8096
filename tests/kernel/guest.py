"""Runs in the virtual machine: counts what falls through beams on the kernel's GPIO simulator, with each backend."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from controller.app import backends
from controller.core.counting import MS, Detection, Limits
from controller.core.messages import EdgeSeen, EdgesLost, LevelRead, PipelineMessage
from controller.core.ports import BackendContext, BeamsError, Level
from controller.core.settings import BeamSettings
from controller.core.slots import Slots
from templo.contract import God
from tests.controller.rig import StillBeams

PINS = {God.HUITZILOPOCHTLI: 17, God.TLALOC: 27}
CONFIG = Path("/sys/kernel/config/gpio-sim/temple")
TOKENS = 50
"""In each slot. A gap of 120 ms keeps a host that stands still for a moment from merging two of them."""

BURST = 3000
"""Edges written while nobody reads: more than any buffer holds."""


def main() -> int:
    (CONFIG / "bank0").mkdir(parents=True)
    (CONFIG / "bank0/num_lines").write_text("28")
    (CONFIG / "bank0/label").write_text("pinctrl-bcm2711")
    (CONFIG / "live").write_text("1")
    faults = [fault for name in ("gpio", "gpiod") for fault in (*tokens(name), *start(name), *burst(name))]
    faults += taken()
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


class Opened:
    """A backend on the simulator's lines, with what it has put so far."""

    def __init__(self, name: str, pull: str = "up") -> None:
        settings = BeamSettings(*PINS.values(), "low", pull, name)
        context = BackendContext(settings, Limits(), Path("/run/state"), time.monotonic_ns, lambda: "d" * 32)
        self.source = backends.find(settings)(context)
        self.messages: list[PipelineMessage] = []
        self.came: list[int] = []
        self.levels = self.source.open(self._put)

    def _put(self, message: PipelineMessage) -> None:
        self.came.append(time.monotonic_ns())
        self.messages.append(message)

    def edges(self) -> list[EdgeSeen]:
        return [each for each in self.messages if isinstance(each, EdgeSeen)]

    def lost(self) -> int:
        return sum(each.number for each in self.messages if isinstance(each, EdgesLost))


@contextmanager
def opened(name: str, pull: str = "up") -> Iterator[Opened]:
    one = Opened(name, pull)
    try:
        yield one
    finally:
        one.source.close()


def wire(god: God) -> Callable[[bool], None]:
    """Return what breaks a beam and restores it."""
    device, chip = (CONFIG / "dev_name").read_text().strip(), (CONFIG / "bank0/chip_name").read_text().strip()
    pull = Path(f"/sys/devices/platform/{device}/{chip}/sim_gpio{PINS[god]}/pull").open("w", buffering=1)  # noqa: SIM115

    def set_dark(dark: bool) -> None:
        pull.write("pull-down\n" if dark else "pull-up\n")

    return set_dark


def settled(one: Opened) -> None:
    """Wait until no more messages come."""
    before = -1
    while before != len(one.messages):
        before = len(one.messages)
        time.sleep(0.5)


def tokens(name: str) -> Iterator[str]:
    """Let tokens fall through both slots, and count them."""
    wrote: list[int] = []
    with opened(name) as one:
        beams = {god: wire(god) for god in God}
        for _ in range(TOKENS):
            for dark in (True, False):
                for god in God:
                    wrote.append(time.monotonic_ns())
                    beams[god](dark)
                time.sleep(0.012 if dark else 0.12)
        settled(one)
    waits = sorted((came - at) / MS for came, at in zip(one.came, wrote, strict=False))
    counted = count(one.levels, one.messages)
    print(
        f"{name}: {TOKENS} tokens in each slot, counted {counted[God.HUITZILOPOCHTLI]} and {counted[God.TLALOC]}; "
        f"{len(one.edges())} of {len(wrote)} edges; from write to queue {statistics.median(waits):.1f} ms, "
        f"at most {waits[-1]:.1f} ms"
    )
    if set(counted.values()) != {TOKENS}:
        yield f"{name} counted {counted}; expected {TOKENS} in each slot"
    if any(edge.at_ns > came for edge, came in zip(one.edges(), one.came, strict=False)):
        yield f"{name} stamped an edge after it came"


def count(levels: Mapping[God, Level], messages: list[PipelineMessage]) -> dict[God, int]:
    """Return how many tokens the program's own counters make of messages."""
    slots = Slots(StillBeams(lambda: None, time.monotonic_ns), levels, Limits())
    counted = dict.fromkeys(God, 0)
    found = [slots.take(each) for each in messages if isinstance(each, EdgeSeen | EdgesLost | LevelRead)]
    found.append(slots.advance(time.monotonic_ns() + 10**10))
    for each in found:
        for god, events in each:
            counted[god] += sum(isinstance(event, Detection) for event in events)
    return counted


def start(name: str) -> Iterator[str]:
    """Open while one beam is dark: a receiver without a pull keeps the level that its line has."""
    beams = {god: wire(god) for god in God}
    beams[God.HUITZILOPOCHTLI](False)
    beams[God.TLALOC](True)
    with opened(name, "none") as one:
        dark = {god: level.dark for god, level in one.levels.items()}
    beams[God.TLALOC](False)
    if dark != {God.HUITZILOPOCHTLI: False, God.TLALOC: True}:
        yield f"{name} read {dark} at the start; expected Tlaloc's beam dark"


def burst(name: str) -> Iterator[str]:
    """Write edges faster than any program reads; where losses are known, not one may be missing in the sum."""
    with opened(name) as one:
        beam = wire(God.TLALOC)
        for number in range(BURST):
            beam(number % 2 == 0)
        settled(one)
        known = one.source.capabilities.lost_edges_known
        seen, lost = len(one.edges()), one.lost()
        words = f"{lost} known lost" if known else "how many were lost is not known"
        print(f"{name}: a burst of {BURST} edges, {seen} came, {words}")
        if known and seen + lost != BURST:
            yield f"{name}: {seen} edges came and {lost} are known lost; expected {BURST} together"
    if not known:
        return
    with opened(name) as one:
        with one.source._lock:  # type: ignore[attr-defined] # nobody reads, as on a machine that has no time
            for number in range(BURST):
                beam(number % 2 == 0)
        settled(one)
        seen, lost = len(one.edges()), one.lost()
        print(f"{name}: a burst of {BURST} edges while nobody reads, {seen} came, {lost} known lost")
        if not lost or seen + lost != BURST:
            yield f"{name}: {seen} edges came and {lost} are known lost; expected {BURST} together, some of them lost"


def taken() -> Iterator[str]:
    """Open while another program has the lines."""
    first = Opened("gpiod")
    try:
        Opened("gpiod")
        yield "gpiod opened lines that were taken"
    except BeamsError as error:
        print(f"gpiod: {error}")
        if "pin 17 is used by 'templo-controller'" not in str(error):
            yield f"gpiod's message does not name the other program: {error}"
    finally:
        first.source.close()


if __name__ == "__main__":
    sys.exit(main())
