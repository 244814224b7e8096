"""What a supervised companion does while it cannot start: it shows the reason on its page and tries again.

If its store is damaged it tries again only when the file is another one, as after a restore by its owner.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import chain, repeat
from pathlib import Path

from companion.adapters.database import backup
from companion.adapters.database.backup import Restored
from companion.adapters.database.damage import find_damage
from companion.adapters.database.opening import StoreError
from companion.adapters.network.addresses import own_hosts
from companion.adapters.owner import FILE, Owner
from companion.games.registry import RegistryError
from companion.model.table import ServiceError
from companion.settings import Settings, WebSettings
from companion.web.rendering.texts import TextError
from companion.web.server.guard import Lockout
from companion.web.server.serving import ServeError, Server
from companion.web.trouble import Repair, Trouble, create_trouble_app
from templo.liveness import Feeder, Pulse, Supervisor
from templo.settings import SettingsError

PAUSES_S = (2.0, 5.0, 10.0)
"""Seconds between the first attempts: short, for a database that is only slow to start."""

LATER_S = 30.0

_NOT_OF_THE_STORE = (SettingsError, TextError, RegistryError, ServeError)

log = logging.getLogger(__name__)


def start_when_possible(
    start: Callable[[], int], settings: Settings, supervisor: Supervisor, owner: Callable[[], Owner | None]
) -> int:
    """Run `start` until the store can be used, and return its result; 0 if a signal came first.

    Where nobody supervises this process the error is raised: a person who typed the command reads it at once. A
    supervised one would only be restarted for ever, and no page would say why. `owner` returns the owner's code.
    """
    ended = threading.Event()
    lockout = Lockout(time.monotonic)
    state = settings.state_directory
    reason = ""
    for pause in chain(PAUSES_S, repeat(LATER_S)):
        try:
            return start()
        except _NOT_OF_THE_STORE:
            raise
        except Exception as error:  # damage can bring about any
            if not supervisor.present:
                raise
            if is_news := _reason(error) != reason:
                reason = _reason(error)
                log.error("the companion cannot start: %s", reason)
                supervisor.notify(f"STATUS=cannot start: {reason}")
            failure = _Failure(error, settings, is_news)
        repair = Repair(failure.restore, owner, state / FILE, state, lockout)
        _show(failure, pause, repair, settings.web, supervisor, ended)
        if ended.is_set():
            return 0
    raise AssertionError("the pauses never end")


def explained(error: Exception, url: str) -> str:
    """Return what the store at `url` has to do with an error, for who typed a command; empty if nothing is known."""
    if (damage := find_damage(url)) is not None:
        return (
            f"store {damage.file} is damaged ({damage.problem}); expected an undamaged one: restore a backup with "
            "'templo-companion restore FILE', which keeps the damaged file"
        )
    return _reason(error) if _is_of_the_store(error) else ""


def _is_of_the_store(error: Exception) -> bool:
    return isinstance(error, StoreError) or (isinstance(error, ServiceError) and error.code == "store_failing")


def _reason(error: Exception) -> str:
    if isinstance(error, ServiceError) and "reason" in error.facts:
        return f"the store cannot be read: {error.facts['reason']}"
    return str(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {error}"


class _Failure:
    """A start that failed: what is known of it, and whether the time has come to try again."""

    def __init__(self, error: Exception, settings: Settings, is_news: bool) -> None:
        self.trouble = Trouble(_reason(error), is_examined=False)
        self._error = error
        self._is_news = is_news
        self._settings = settings
        self._restoring = threading.Lock()
        self._restored: Restored | None = None
        self._is_over = False
        self._backup: Path | None = None
        self._identity: tuple[int, ...] = ()

    def examine(self) -> None:
        """Read the whole store, which may take minutes, and find the newest backup if it is damaged."""
        damage, newest = find_damage(self._settings.store_url), None
        if damage is not None:
            self._identity = _identity(damage.file)
            newest = backup.newest(self._settings.state_directory, self._settings.store_url)
            log.error("%s is damaged: %s", damage.file, damage.problem)
        elif self._is_news and not _is_of_the_store(self._error):
            log.error("the start failed, and the store is not damaged", exc_info=self._error)
        self._backup, made = newest or (None, None)
        self.trouble = Trouble(self.trouble.reason, True, damage, made)

    def restore(self) -> Restored:
        """Restore the newest backup, once; raises `BackupError` or `StoreError` if nothing was changed."""
        with self._restoring:
            if self._restored is None:
                if self._is_over or self._backup is None:
                    raise StoreError("the companion tries to start at this moment; expected it to show its page")
                url, aside = self._settings.store_url, self._settings.state_directory
                self._restored = backup.restore(self._backup, url, aside, datetime.now(UTC))
                log.warning("%s was restored; the damaged store is kept as %s", self._backup, self._restored.replaced)
            return self._restored

    def is_over(self, is_time: bool) -> bool:
        """Return whether to try again: in time, but with a damaged store only if the file is another one now."""
        if not self._restoring.acquire(blocking=False):
            return False
        try:
            damage = self.trouble.damage
            is_changed = damage is not None and _identity(damage.file) != self._identity
            is_due = self.trouble.is_examined and damage is None and is_time
            self._is_over = is_changed or is_due
            return self._is_over
        finally:
            self._restoring.release()


def _identity(file: Path) -> tuple[int, ...]:
    """Return what changes when another file takes the place of this one, or its content is written again."""
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _show(
    failure: _Failure,
    seconds: float,
    repair: Repair,
    web: WebSettings,
    supervisor: Supervisor,
    ended: threading.Event,
) -> None:
    """Serve the page, for some seconds at least, until it is time to try again or a signal comes."""
    pulse = Pulse(("server", "pages"), time.monotonic)
    feeder = Feeder(pulse, supervisor)
    server = Server(
        create_trouble_app(lambda: failure.trouble, repair, web.allowed_hosts, own_hosts, time.monotonic, web.path),
        web,
        beat=pulse.of("server"),
        pages_beat=pulse.of("pages"),
    )
    before = {
        number: signal.signal(number, lambda _number, _frame: ended.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    until = time.monotonic() + seconds

    def watch() -> None:
        while not failure.is_over(time.monotonic() >= until) and not ended.wait(feeder.pause(0.5)):
            feeder.turn()
        server.stop()

    watching = threading.Thread(target=watch, name="watch", daemon=True)
    watching.start()
    threading.Thread(target=failure.examine, name="examine", daemon=True).start()
    server.serve()
    watching.join()
    for number, handler in before.items():  # a signal during the next try ends the process at once
        signal.signal(number, handler)
