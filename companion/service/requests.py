"""Requests to temples: people's commands, and requests for missing tokens. They are not stored."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec.structs import replace

from companion.model.missing import EMPTY, NEVER, REFUSED, SILENT, Missing
from companion.model.requests import LIVES, MOST, TempleRequest
from companion.model.table import ServiceError
from companion.model.temples import Temple
from companion.service.change import Change
from companion.service.ledgers import Ledgers
from companion.service.workspace import Workspace
from templo import contract

log = logging.getLogger(__name__)

_REASONS = {
    REFUSED: "it refuses to send them: restart it, and see its log",
    SILENT: "it does not answer: restart it",
    EMPTY: "it agrees to send them, and none has come: restart it, and see its log",
}

Carrier = Callable[[str, contract.Command], None]
"""Sends a request to a temple by its name; must not block."""


class TempleRequests:
    """Requests to temples and their replies. The caller decides who may send one."""

    def __init__(self, workspace: Workspace, ledgers: Ledgers) -> None:
        self._workspace = workspace
        self._ledgers = ledgers
        self._carrier: Carrier | None = None
        self._missing: dict[str, Missing] = {}

    def connect(self, carrier: Carrier) -> None:
        """Send requests through `carrier` from now on."""
        self._carrier = carrier

    def send(
        self,
        name: str,
        what: contract.CommandName,
        post: str,
        god: contract.God | None = None,
        count: int | None = None,
        keep: bool | None = None,
        notice: str | None = None,
    ) -> Temple:
        """Send a request to a temple, once for each id of a post, and one at a time.

        Raises `ServiceError` ``unknown_temple``, ``temple_away`` if it would not arrive, ``temple_busy`` while it
        still answers the last request, ``bad_count``.
        """
        self._workspace.temples.get(name)

        def work(change: Change) -> contract.Command | None:
            temple = change.temple(name)
            if temple.request is not None and temple.request.post == post:
                return None
            if not (temple.alive and temple.reachable and self._carrier):
                raise ServiceError("temple_away", temple=name)
            ends = keep is False and temple.request is not None and temple.request.measuring
            if temple.request is not None and temple.request.pending and not ends:
                raise ServiceError("temple_busy", temple=name)
            if count is not None and not 1 <= count <= MOST:
                raise ServiceError("bad_count", most=MOST)
            details: dict[str, Any] = {"god": god, "count": count, "keep": keep, "notice": notice}
            command = contract.Command(self._workspace.entropy(16).hex(), what, change.now + LIVES, **details)
            change.put(replace(temple, request=TempleRequest(command, post, change.now)))
            return command

        self._carry(name, self._workspace.run(work, temples=[name]))
        return self._workspace.temples.get(name)

    def end_calibration(self, name: str) -> None:
        """End a temple's running calibration, so that tokens score from now on."""

        def work(change: Change) -> contract.Command | None:
            temple = change.temple(name)
            if temple.request is None or not temple.request.measuring or self._carrier is None:
                return None
            god, calibrate = temple.request.command.god, contract.CommandName.CALIBRATE
            command = contract.Command(
                self._workspace.entropy(16).hex(), calibrate, change.now + LIVES, god=god, keep=False
            )
            change.put(replace(temple, request=TempleRequest(command, command.id, change.now)))
            return command

        self._carry(name, self._workspace.run(work, temples=[name]))

    def _carry(self, name: str, command: contract.Command | None) -> None:
        if command is not None and self._carrier is not None:
            self._carrier(name, command)

    def receive_reply(self, name: str, reply: contract.Reply, now_s: float = 0.0) -> None:
        """Process a temple's reply; a reply to anything but the last requests is ignored.

        `now_s` is of the same clock as that of `request_missing`.
        """
        if self._workspace.temples.seen(name) is None:
            return

        def work(change: Change) -> None:
            temple = change.temple(name)
            if (missing := self._missing.get(name)) is not None:
                temple = self._with_missing(temple, missing.replied(reply, now_s))
            request = temple.request and temple.request.replied(reply, change.now)
            change.put(replace(temple, request=request), visible=False)

        self._workspace.run(work, temples=[name], live=True)

    @property
    def awaits_tokens(self) -> bool:
        """Whether a temple has tokens that are not here."""
        return any(each.due_s is not None for each in self._missing.values())

    def request_missing(self, now_s: float) -> None:
        """Request the missing tokens of each temple; `now_s` is of a monotonic clock.

        Call it twice a second while there are such tokens, and after some were stored. Only the temple's own ledger
        is considered, because a request names a number and no ledger.
        """

        def work(name: str, change: Change) -> None:
            change.put(self._checked(change.temple(name), now_s), visible=False)

        for temple in self._workspace.temples.as_read():
            self._workspace.run(partial(work, temple.name), temples=[temple.name], live=True)

    def _checked(self, temple: Temple, now_s: float) -> Temple:
        """Request a temple's missing tokens if that is due; return the temple with what prevents their arrival."""
        gap = bool(self._ledgers.mark(temple.source).ahead)
        present = temple.alive or (gap and temple.status is None)
        is_own = self._workspace.owners.holds(f"temple:{temple.name}")
        if not (present and temple.reachable and temple.source and self._carrier and is_own):
            self._missing.pop(temple.name, None)
            return replace(temple, trouble=None)
        missing = self._missing.get(temple.name)
        if missing is None or missing.source != temple.source:
            missing = Missing(temple.source)
        recorded, acknowledged = self._ledgers.queue(temple.name)
        missing = missing.looked(now_s, acknowledged, gap, recorded)
        if missing.due(now_s):
            log.info("temple %r: asking for its tokens from number %d on again", temple.name, acknowledged + 1)
            resend = contract.CommandName.RESEND
            command = contract.Command(self._workspace.entropy(16).hex(), resend, NEVER, acknowledged + 1)
            missing = missing.requested(command.id, now_s)
            self._carrier(temple.name, command)
        return self._with_missing(temple, missing)

    def _with_missing(self, temple: Temple, missing: Missing) -> Temple:
        self._missing[temple.name] = missing
        if missing.trouble is not None and missing.trouble != temple.trouble:
            log.warning(
                "temple %r: its tokens from number %d on are missing here: %s%s",
                temple.name,
                missing.mark + 1,
                _REASONS[missing.trouble.code],
                f" ({missing.trouble.error})" if missing.trouble.error else "",
            )
        return replace(temple, trouble=missing.trouble)
