"""A background thread that runs for as long as the program does."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod


class Background(ABC):
    """One thread, from `start` until `stop`. Its work is `_run`, which returns soon after `_ending` is set."""

    def __init__(self, name: str) -> None:
        """Store the arguments; `start` begins. `name` is the thread's name in logs."""
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, whether or not it was started; what it is doing at the moment is finished first."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()

    @abstractmethod
    def _run(self) -> None: ...
