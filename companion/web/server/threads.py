"""A fixed number of threads that do work for an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class Threads:
    """They start with the loop, and die with the program: one that is stuck keeps nobody from ending it."""

    def __init__(self, name: str, count: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[tuple[asyncio.Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._count = count
        for _ in range(count):
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def run(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Return what `work` will return, or raise, in one of the threads."""
        done: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put((done, work))
        return done

    def end(self) -> None:
        """Let each thread end after what it does now."""
        for _ in range(self._count):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            done, work = job
            try:
                answer, problem = work(), None
            except BaseException as error:  # it is raised where the result is awaited
                answer, problem = None, error
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(_finish, done, answer, problem)
            del job, done, work, answer, problem


def _finish(done: asyncio.Future[Any], answer: Any, problem: BaseException | None) -> None:
    if done.done():
        return
    if problem is None:
        done.set_result(answer)
    else:
        done.set_exception(problem)
