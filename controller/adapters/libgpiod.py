"""The backend `gpiod`: the two beams on a Raspberry Pi's header, through libgpiod 2.

The only importer of gpiod, and only when beams are opened. The kernel numbers the edges of each line, so a gap in the
numbers is exactly how many were lost. A thread of its own reads the kernel's buffer and only enqueues.
"""

from __future__ import annotations

import errno
import os
import select
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from controller.adapters import header, pulse
from controller.core.diagnosis import Answer
from controller.core.messages import BelowSeen, EdgeSeen, EdgesLost
from controller.core.ports import (
    BackendContext,
    BeamsBusyError,
    BeamsError,
    BeamSource,
    Capabilities,
    Level,
    Put,
    answered,
)
from controller.core.proof import Pulse
from templo.contract import Emitters, God, Kind, Timing
from templo.liveness import IDLE_S, REST_S

BUFFER = 1024
"""Edges that the kernel holds for all lines until they are read; its own default is 16 a line."""

CONSUMER = "templo-controller"
SETTLE_S = 0.05
_BATCH = 256
_SEQUENCE = 2**32
"""The kernel's numbers begin again at 0 after this many edges of a line."""


class LineBeams(BeamSource):
    """The beams on the lines that the settings name."""

    def __init__(
        self,
        context: BackendContext,
        import_gpiod: Callable[[], Any] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Store the arguments; `import_gpiod` returns another module in the place of gpiod."""
        self._settings = settings = context.settings
        self._now = context.monotonic_ns
        self._beat = context.beat
        self._import_gpiod = import_gpiod or _import_gpiod
        self._sleep = sleep
        self._gods = {line: god for god, line in settings.pins.items()}
        self._below = {line: god for god, line in settings.below.items()}
        self._gpiod: Any = None
        self._chip: Any = None
        self._receivers: Any = None
        self._emitters: Any = None
        self._lock = threading.Lock()
        """libgpiod's requests may be used by one thread at a time."""
        self._waiting = select.poll()
        """Whether the kernel holds edges."""
        self._put: Put = lambda message: None
        self._numbers = dict.fromkeys(God, 0)
        """Of each line's last edge."""
        self._proving = False
        self._wake = (-1, -1)
        self._thread = threading.Thread(target=self._run, name="beams", daemon=True)
        self.capabilities = Capabilities(
            Kind.PI,
            Timing.KERNEL,
            Emitters.FIXED if settings.emitters is None else Emitters.SWITCHED,
            lost_edges_known=True,
        )

    def open(self, put: Put) -> Mapping[God, Level]:
        """Claim the lines and begin to put edges."""
        self._gpiod = self._import_gpiod()
        self._put = put
        try:
            number = header.find_chip(self._settings.chip, self._label_of)
            self._chip = self._gpiod.Chip(f"/dev/gpiochip{number}")
            self._claim()
            self._wake = os.pipe()
            self._thread.start()
            answers = None if self._emitters is None else self._blink()
            return {god: answered(self.dark(god), self._now(), answers, god) for god in God}
        except BaseException:
            self.close()
            raise

    def dark(self, god: God) -> bool:
        """Read a beam's level now, after every edge that led to it was put: the thread may be late with them."""
        return self._active(self._settings.pins[god])

    def below(self, god: God) -> bool | None:
        """Read a second beam's level now; None if there is none."""
        line = self._settings.below.get(god)
        return None if line is None else self._active(line)

    def _active(self, line: int) -> bool:
        with self._lock:
            value = self._receivers.get_value(line)
            while self._waiting.poll(0):
                self._put_edges()
                value = self._receivers.get_value(line)
        return bool(value is self._gpiod.line.Value.ACTIVE)

    def prove(self) -> Pulse | None:
        """Switch the emitters off and on, and return how each receiver answered; None without switched emitters."""
        if self._emitters is None:
            return None
        value = self._gpiod.line.Value
        return pulse.send(
            lambda lit: self._emitters.set_value(self._settings.emitters, value.ACTIVE if lit else value.INACTIVE),
            self.dark,
            self._numbers.__getitem__,
            self._now,
            self._sleep,
        )

    def _blink(self) -> dict[God, Answer]:
        """Switch the emitters off and on at the start, and return how each receiver answered; no edge is put."""
        value = self._gpiod.line.Value
        self._proving = True
        try:
            self._sleep(SETTLE_S)
            before = dict(self._numbers)
            self._emitters.set_value(self._settings.emitters, value.INACTIVE)
            self._sleep(SETTLE_S)
            unlit = {god: self.dark(god) for god in God}
            self._emitters.set_value(self._settings.emitters, value.ACTIVE)
            self._sleep(SETTLE_S)
            return {god: Answer(self.dark(god), unlit[god], self._numbers[god] != before[god]) for god in God}
        finally:
            self._emitters.set_value(self._settings.emitters, value.ACTIVE)
            self._proving = False

    def alive(self) -> bool:
        """Return whether the thread still reads edges."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop the thread and release the lines."""
        if self._thread.is_alive():
            os.write(self._wake[1], b"\0")
            self._thread.join()
        for end in self._wake:
            if end >= 0:
                os.close(end)
        self._wake = (-1, -1)
        for request in (self._receivers, self._emitters):
            if request is not None:
                request.release()
        if self._chip is not None:
            self._chip.close()
        self._receivers = self._emitters = self._chip = None

    def _label_of(self, number: int) -> str:
        with self._gpiod.Chip(f"/dev/gpiochip{number}") as chip:
            label: str = chip.get_info().label
            return label

    def _claim(self) -> None:
        line = self._gpiod.line
        pull = {"up": line.Bias.PULL_UP, "down": line.Bias.PULL_DOWN, "none": line.Bias.DISABLED}
        receiver = self._gpiod.LineSettings(
            direction=line.Direction.INPUT,
            edge_detection=line.Edge.BOTH,
            bias=pull[self._settings.pull],
            active_low=self._settings.broken == "low",  # active is dark
            event_clock=line.Clock.MONOTONIC,
        )
        if (emitters := self._settings.emitters) is not None:
            lit = self._gpiod.LineSettings(direction=line.Direction.OUTPUT, output_value=line.Value.ACTIVE)
            self._emitters = self._request({emitters: lit})
        self._receivers = self._request({(*self._gods, *self._below): receiver}, event_buffer_size=BUFFER)
        self._waiting = select.poll()  # gpiod's own wait is a `select`, which fails from descriptor 1,024 on
        self._waiting.register(self._receivers.fd, select.POLLIN)

    def _request(self, config: dict[Any, Any], **options: int) -> Any:
        try:
            return self._chip.request_lines(config, consumer=CONSUMER, **options)
        except OSError as error:
            (lines,) = config
            lines = lines if isinstance(lines, tuple) else (lines,)
            raise (BeamsBusyError if error.errno == errno.EBUSY else BeamsError)(
                f"the pins {', '.join(map(str, lines))} cannot be claimed: {self._holders(lines) or error.strerror}"
            ) from error

    def _holders(self, lines: tuple[int, ...]) -> str:
        """Return which of the lines other programs use, and what to do."""
        with suppress(OSError):
            infos = [self._chip.get_line_info(line) for line in lines]
            held = [f"pin {info.offset} is used by {info.consumer or 'the kernel'!r}" for info in infos if info.used]
            if held:
                return f"{' and '.join(held)}; stop that program, or choose other pins in the settings"
        return ""

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._receivers.fd, select.POLLIN)
        poll.register(self._wake[0], select.POLLIN)
        while True:
            self._beat(REST_S)
            ready = {descriptor for descriptor, _ in poll.poll(IDLE_S * 1000)}
            if self._wake[0] in ready:
                return
            if ready:
                with self._lock:
                    if self._waiting.poll(0):  # `dark` may have queued them
                        self._put_edges()

    def _put_edges(self) -> None:
        """Put what the kernel holds, in its order; the caller has the lock."""
        for event in self._receivers.read_edge_events(_BATCH):
            self._take(event)

    def _take(self, event: Any) -> None:
        dark = event.event_type is event.Type.RISING_EDGE
        if (below := self._below.get(event.line_offset)) is not None:
            self._put(BelowSeen(below, event.timestamp_ns, dark))
            return
        god = self._gods[event.line_offset]
        lost = (event.line_seqno - self._numbers[god] - 1) % _SEQUENCE
        self._numbers[god] = event.line_seqno
        if self._proving:
            return
        if lost:
            self._put(EdgesLost(god, event.timestamp_ns, lost))
        self._put(EdgeSeen(god, event.timestamp_ns, dark))


def _import_gpiod() -> Any:
    try:
        import gpiod
        import gpiod.line
    except ImportError as error:
        raise BeamsError(
            f"gpiod is not installed here ({error}): the extra 'gpiod' of this program brings it, or "
            "'sudo apt install python3-libgpiod' where it is version 2 (from Debian 13 on)"
        ) from error
    if not hasattr(gpiod, "LineSettings"):
        raise BeamsError(f"gpiod here is version {gpiod.__version__}; expected 2 or later, such as Debian 13 has")
    return gpiod
