"""What a companion does on a shared database: it follows the others' changes and holds its share of the leases."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

from companion.adapters.database.announcements import Announcements
from companion.adapters.database.leases import PACING, Leases
from companion.adapters.installation import Companion
from companion.model.table import ServiceError
from companion.service.services import Services
from companion.service.workspace import Workspace
from templo.liveness import Pulse

THREADS = ("announcements", "leases")
_TEMPLE = "temple:"
_WRONG = "wrong:"

log = logging.getLogger(__name__)


def wrong_coder(topic: str) -> str:
    """Return the client that typed a wrong code at another companion, from a topic; empty for other topics."""
    return topic.removeprefix(_WRONG).partition(":")[2] if topic.startswith(_WRONG) else ""


def announce_wrong(workspace: Workspace, who: str) -> None:
    """Let every companion that shares a workspace's store count a wrong code that somebody typed at this one."""
    try:
        workspace.announce(f"{_WRONG}{secrets.token_hex(4)}:{who}")  # no two are alike: each counts
    except ServiceError as error:
        log.warning("a wrong code is counted by this companion alone: %s", error.facts["reason"])


class Alone:
    """The only companion of its database, which does all of the work."""

    def paces(self) -> bool:
        """Return whether this companion makes the app's moves for absent players."""
        return True

    def consumes(self, temple: str) -> bool:
        """Return whether this companion stores a temple's tokens."""
        return True

    def companions(self) -> tuple[Companion, ...]:
        """Return the companions that share the store, with how many temples each stores; none if it is alone."""
        return ()

    def announce_wrong(self, who: str) -> None:
        """Announce a wrong code that was typed here, so that every companion counts it."""

    def start(self, take_over: Callable[[str], None], look_at_all: Callable[[], None]) -> None:
        """Begin."""

    def stop(self) -> None:
        """End."""


class Share(Alone):
    """One of several companions."""

    def __init__(self, url: str, workspace: Workspace, services: Services, pulse: Pulse, name: str = "") -> None:
        """Store the arguments; `start` begins. `name` is this companion's name on the organiser's page."""
        self._workspace = workspace
        self._services = services
        self._announcements = Announcements(
            url, workspace.origin, workspace.follow, workspace.follow_all, pulse.of("announcements")
        )
        self._leases = Leases(url, workspace.origin, self._wanted, self._on_taken, pulse.of("leases"), name)

    def paces(self) -> bool:
        """Return whether the app's moves for absent players are this companion's to make."""
        return self._leases.holds(PACING)

    def consumes(self, temple: str) -> bool:
        """Return whether a temple's tokens are this companion's to store."""
        return self._leases.holds(f"{_TEMPLE}{temple}")

    def announce_wrong(self, who: str) -> None:
        """Let every companion count a wrong code that somebody typed at this one."""
        announce_wrong(self._workspace, who)

    def companions(self) -> tuple[Companion, ...]:
        """Return the companions that share the store, each with how many temples it stores; raises `ServiceError`."""
        return tuple(
            Companion(
                worker.name or worker.holder[:6],
                sum(lease.startswith(_TEMPLE) for lease in worker.leases),
                worker.holder == self._workspace.origin,
            )
            for worker in self._leases.workers()
        )

    def start(self, take_over: Callable[[str], None], look_at_all: Callable[[], None]) -> None:
        """Begin; the two are called with each temple whose tokens, and when the app's moves, become its own."""
        self._take_over, self._look_at_all = take_over, look_at_all
        self._announcements.start()
        self._leases.start()

    def stop(self) -> None:
        """End, and give back what is held."""
        self._leases.stop()
        self._announcements.stop()

    def _wanted(self) -> list[str]:
        return [PACING, *(f"{_TEMPLE}{temple.name}" for temple in self._services.temples.all())]

    def _on_taken(self, name: str) -> None:
        if name == PACING:
            self._look_at_all()
        else:
            temple = name.removeprefix(_TEMPLE)
            self._services.temples.follow(temple)
            self._take_over(temple)
