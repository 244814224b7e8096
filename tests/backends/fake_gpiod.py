"""libgpiod's Python module over a kernel of our own: levels are set by a test, and the edge buffer can overflow."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections import deque
from enum import Enum, auto
from types import SimpleNamespace, TracebackType
from typing import Any


class _Words(Enum):
    INPUT = auto()
    OUTPUT = auto()
    BOTH = auto()
    PULL_UP = auto()
    PULL_DOWN = auto()
    DISABLED = auto()
    MONOTONIC = auto()


class Value(Enum):
    INACTIVE = 0
    ACTIVE = 1


class Type(Enum):
    RISING_EDGE = auto()
    FALLING_EDGE = auto()


class Kernel:
    """One chip: physical levels, the requests of its lines, and what each event buffer holds."""

    def __init__(self, label: str = "pinctrl-rp1") -> None:
        self.label = label
        self.levels = dict.fromkeys(range(28), 1)
        self.consumers: dict[int, str] = {}
        self.requests: list[Request] = []
        self.wired: dict[int, tuple[int, ...]] = {}
        """An emitter's line, and the receivers that read low while it is dark."""
        self.refuses = False
        self.busy = threading.Lock()
        """While it is held nobody can read edges, as on an overloaded machine."""
        gpiod = SimpleNamespace(
            Chip=lambda path: Chip(self, path),
            LineSettings=lambda **words: SimpleNamespace(**words),
            line=SimpleNamespace(Direction=_Words, Edge=_Words, Bias=_Words, Clock=_Words, Value=Value),
            __version__="2.9",
        )
        self.gpiod: Any = gpiod

    def set(self, line: int, level: int) -> None:
        """Set a physical level; an edge comes of it where it is a change and the line is watched."""
        if self.levels[line] == level:
            return
        self.levels[line] = level
        for request in self.requests:
            request.changed(line, level)


class Chip:
    def __init__(self, kernel: Kernel, path: str) -> None:
        if kernel.refuses:
            raise PermissionError(errno.EACCES, "Permission denied")
        self._kernel = kernel

    def __enter__(self) -> Chip:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def close(self) -> None:
        pass

    def get_info(self) -> Any:
        return SimpleNamespace(label=self._kernel.label)

    def get_line_info(self, line: int) -> Any:
        consumer = self._kernel.consumers.get(line, "")
        return SimpleNamespace(offset=line, used=line in self._kernel.consumers, consumer=consumer)

    def request_lines(self, config: dict[Any, Any], consumer: str, event_buffer_size: int = 32) -> Request:
        ((lines, settings),) = config.items()
        lines = lines if isinstance(lines, tuple) else (lines,)
        if any(line in self._kernel.consumers for line in lines):
            raise OSError(errno.EBUSY, "Device or resource busy")
        self._kernel.consumers |= dict.fromkeys(lines, consumer)
        request = Request(self._kernel, lines, settings, event_buffer_size)
        self._kernel.requests.append(request)
        return request


class Request:
    def __init__(self, kernel: Kernel, lines: tuple[int, ...], settings: Any, size: int) -> None:
        self.lines, self.settings, self.size = lines, settings, size
        self._kernel = kernel
        self._lock = threading.Lock()
        self._events: deque[Any] = deque()
        self._numbers = dict.fromkeys(lines, 0)
        self.fd, self._writes = os.pipe()

    def changed(self, line: int, level: int) -> None:
        if line not in self.lines or not hasattr(self.settings, "edge_detection"):
            return
        with self._lock:
            self._numbers[line] += 1
            active = bool(level) != self.settings.active_low
            self._events.append(
                SimpleNamespace(
                    Type=Type,
                    event_type=Type.RISING_EDGE if active else Type.FALLING_EDGE,
                    timestamp_ns=time.monotonic_ns(),
                    line_offset=line,
                    line_seqno=self._numbers[line],
                )
            )
            if len(self._events) > self.size:
                self._events.popleft()  # the kernel drops the oldest
            elif len(self._events) == 1:
                os.write(self._writes, b"\0")

    def read_edge_events(self, most: int) -> list[Any]:
        with self._kernel.busy, self._lock:
            os.read(self.fd, 1)
            events = [self._events.popleft() for _ in range(min(most, len(self._events)))]
            if self._events:
                os.write(self._writes, b"\0")
            return events

    def get_value(self, line: int) -> Value:
        return Value(int(bool(self._kernel.levels[line]) != self.settings.active_low))

    def set_value(self, line: int, value: Value) -> None:
        self._kernel.levels[line] = value.value
        for receiver in self._kernel.wired.get(line, ()):
            self._kernel.set(receiver, value.value)

    def release(self) -> None:
        os.close(self.fd)
        os.close(self._writes)
        self._kernel.requests.remove(self)
        for line in self.lines:
            del self._kernel.consumers[line]
