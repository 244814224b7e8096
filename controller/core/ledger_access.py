"""The pipeline's access to the ledger: reopens it after a failure, and reads a copy while it cannot be written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from controller.core.counting import SECOND
from controller.core.ports import Ledger, LedgerError, LedgerTrouble
from templo import contract
from templo.contract import Trouble

RETRY_NS = SECOND // 2
"""How soon to retry a ledger that failed."""

log = logging.getLogger(__name__)


class LedgerAccess:
    """The ledger, or a copy of what can be read while its disk refuses writes."""

    def __init__(self, open_ledger: Callable[[], Ledger], read_copy: Callable[[], Ledger] | None = None) -> None:
        """Try to open the ledger; if that fails, `trouble` says how.

        `read_copy` reads a ledger whose disk cannot be written. Both raise `LedgerTrouble` or `LedgerError`.
        """
        self._open_ledger = open_ledger
        self._read_copy = read_copy
        self.ledger: Ledger | None = None
        """The ledger, or None while the disk refuses it."""
        self._copy: Ledger | None = None
        self._notices: tuple[contract.Notice, ...] = ()
        self._source: str | None = None
        self.trouble: Trouble | None = None
        self.retry_ns: int | None = None
        """When to retry the ledger, if it failed."""
        with self.attempt(0):
            self.ledger = open_ledger()

    @property
    def readable(self) -> Ledger | None:
        """The ledger, or a copy of it while it cannot be written."""
        return self.ledger or self._copy

    @property
    def source(self) -> str | None:
        """The ledger's source as it was read last, or None if it never was."""
        if (readable := self.readable) is not None:
            self._source = readable.source
        return self._source

    @property
    def notices(self) -> tuple[contract.Notice, ...]:
        """The notices that nobody has dismissed, as they were read last."""
        if (readable := self.readable) is not None:
            self._notices = readable.notices
        return self._notices

    def open(self) -> Ledger:
        """Return the ledger, opened again if it had failed; raises `LedgerTrouble` or `LedgerError`."""
        if self.ledger is None:
            self.ledger = self._open_ledger()
        return self.ledger

    @contextmanager
    def attempt(self, now_ns: int) -> Iterator[None]:
        """Run a block that uses the ledger; if the disk refuses, end the block and note the trouble."""
        try:
            yield
        except (LedgerTrouble, LedgerError) as error:
            self._fail(error, now_ns)

    def works(self) -> None:
        """Note that the ledger was just written."""
        if self.retry_ns is not None:
            log.warning("the ledger can be written again")
            self.retry_ns = self.trouble = None
        if self._copy is not None:
            self._copy.abandon()
            self._copy = None

    def close(self) -> None:
        """Close the ledger, if it is open."""
        if self.ledger is not None:
            self.ledger.close()

    def _fail(self, error: LedgerTrouble | LedgerError, now_ns: int) -> None:
        if error.trouble is not self.trouble:
            log.error("%s (tokens wait in memory)", error)
        self.trouble = error.trouble
        self.retry_ns = now_ns + RETRY_NS
        # After a failed sync only a new connection finds out what is on disk and what is not.
        source = self.source
        if self.ledger is not None:
            self.ledger.abandon()
            self.ledger = None
        if self._read_copy is None or self._copy is not None:
            return
        try:
            copy = self._read_copy()
        except (LedgerTrouble, LedgerError) as refusal:
            log.debug("nothing is published from the disk: %s", refusal)
            return
        if source in (None, copy.source):
            self._copy = copy
        else:
            copy.abandon()
