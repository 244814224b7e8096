"""What a test cost in processor time, as `--slowest` counts it."""

from __future__ import annotations

import os
import threading

from tests.slowest import processor_seconds


def test_a_figure_never_falls_while_threads_of_the_process_end() -> None:
    over = threading.Event()

    def busy() -> None:
        while not over.is_set():
            brief = [threading.Thread(target=int) for _ in range(20)]
            for each in brief:
                each.start()
            for each in brief:
                each.join()

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        figures = [processor_seconds(os.getpid()) for _ in range(300)]
    finally:
        over.set()
        thread.join()
    assert figures == sorted(figures)
