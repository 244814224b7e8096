"""A background thread that runs for as long as the program does."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

OnFailure: TypeAlias = Callable[[Exception], None]
"""Takes the exception that ended a thread, in that thread."""


def reporting(run: Callable[[], None], on_failure: OnFailure | None) -> Callable[[], None]:
    """Return the work of a thread; an exception that ends it goes to `on_failure`, or to `threading.excepthook`."""
    if on_failure is None:
        return run

    def run_and_report() -> None:
        try:
            run()
        except Exception as error:
            on_failure(error)

    return run_and_report


class Background(ABC):
    """One thread, from `start` until `stop`. Its work is `_run`, which returns soon after `_ending` is set."""

    def __init__(self, name: str, on_failure: OnFailure | None = None) -> None:
        """Store the arguments; `start` begins. `name` is the thread's name in logs."""
        self._ending = threading.Event()
        self._thread = threading.Thread(target=reporting(self._run, on_failure), name=name, daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the thread was started and has not ended."""
        return self._thread.is_alive()

    def stop(self, within_s: float | None = None) -> None:
        """End the thread, whether or not it was started; what it is doing at the moment is finished first.

        If that takes longer than `within_s` seconds, the thread ends later, or never if it is stuck.
        """
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(within_s)

    @abstractmethod
    def _run(self) -> None: ...
