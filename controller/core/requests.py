"""Carries out what a companion requests over the broker, and what the command line requests on this machine."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple, TypeAlias

from controller.core.calibration import USUAL, Calibration
from controller.core.commands import Commands, RefusedError, Result
from controller.core.ledger_access import LedgerAccess
from controller.core.messages import (
    CalibrationRequest,
    DismissRequest,
    DropRequest,
    SelftestRequest,
    StatusRequest,
)
from controller.core.ports import Host, LedgerError, LedgerTrouble, MessageSink
from controller.core.publisher import Publisher
from controller.core.slots import Found, Slots
from controller.core.status import StatusReporter
from templo.contract import Command, CommandName, God

Respond: TypeAlias = Callable[[Result], None]
Request: TypeAlias = DropRequest | DismissRequest | StatusRequest | SelftestRequest | CalibrationRequest


class Doing(NamedTuple):
    """What the pipeline does for a request."""

    drop: Callable[[DropRequest], None]
    """Drops tokens."""
    handle: Callable[[Found], None]
    """Processes what the emitters proved."""


class Requests:
    """Carries out each request and answers it, at once or when its tokens are recorded."""

    def __init__(
        self,
        reporter: StatusReporter,
        slots: Slots,
        calibration: Calibration,
        access: LedgerAccess,
        publisher: Publisher,
        host: Host,
        sink: MessageSink,
        doing: Doing,
    ) -> None:
        """Answer commands through `sink`."""
        self._reporter = reporter
        self._slots = slots
        self._calibration = calibration
        self._access = access
        self._publisher = publisher
        self._host = host
        self._drop, self._handle = doing
        self.companion_ahead: timedelta | None = None
        """How far the companion's clock is ahead of this temple's, if known."""
        self._commands = Commands(
            {
                CommandName.IDENTIFY: lambda _, respond: respond(self._identify()),
                CommandName.SELFTEST: lambda _, respond: respond(self._selftest()),
                CommandName.CALIBRATE: self._calibrate,
                CommandName.RESEND: self._resend,
                CommandName.DROP: self._test,
                CommandName.DISMISS: self._dismiss_by_command,
            },
            sink.publish,
        )

    def command(self, command: Command) -> None:
        """Carry out a companion's command, or answer why not."""
        now, ahead = self._host.utc(), self.companion_ahead
        self._commands.take(command, now, None if ahead is None else now + ahead)

    def take(self, request: Request) -> None:
        """Carry out a request of the command line, or answer why not."""
        try:
            match request:
                case DropRequest():
                    self._drop(request)
                case DismissRequest(code, respond):
                    self._dismiss(code, respond)
                case StatusRequest(respond):
                    respond(self._reporter.report())
                case SelftestRequest(respond):
                    respond(self._selftest())
                case CalibrationRequest(god, number, keep, respond):
                    self._measure(god, number, keep, respond)
        except RefusedError as error:
            request.respond(error.result())

    def _identify(self) -> Result:
        return {key: value for key, value in self._reporter.report().items() if value is not None}

    def _selftest(self) -> Result:
        """Test the beams; the emitters are switched only if no beam has changed for a second."""
        now_ns = self._host.monotonic_ns()
        if quiet := self._slots.quiet(now_ns):
            self._handle(self._slots.prove())
        return self._reporter.selftest(now_ns, quiet)

    def _resend(self, command: Command, respond: Respond) -> None:
        if command.seq is None:
            raise RefusedError("no_seq", "resend needs seq, the first token to send again")
        if command.seq > (highest := self._publisher.last_seq + 1):
            message = f"resend from {command.seq}; expected at most {highest}, the next token"
            raise RefusedError("beyond", message)
        if self._access.ledger is not None:
            with self._access.attempt(self._host.monotonic_ns()):  # what is read of a full disk is sent all the same
                self._access.ledger.deliver_again(command.seq)
        if self._access.readable is None:
            raise RefusedError("ledger", "the ledger cannot be read now: see the temple's status")
        self._publisher.resend_from(command.seq)
        respond({"from": command.seq, "last_seq": self._publisher.last_seq})

    def _dismiss_by_command(self, command: Command, respond: Respond) -> None:
        if command.notice is None:
            raise RefusedError("no_notice", "dismiss needs notice, the code of the notice to take away")
        self._dismiss(command.notice, respond)

    def _dismiss(self, code: str, respond: Respond) -> None:
        """Remove a notice that a person has dealt with."""
        if self._access.ledger is None:
            raise RefusedError("ledger", "the ledger cannot be written now: see the temple's status")
        try:
            dismissed = self._access.ledger.dismiss(code)
        except (LedgerTrouble, LedgerError) as error:
            raise RefusedError("ledger", str(error)) from error
        standing = [notice.code for notice in self._access.notices]
        if not dismissed:
            expected = ", ".join(standing) or "none stands"
            raise RefusedError("no_notice", f"there is no notice {code[:32]!r} here; expected one of: {expected}")
        respond({"dismissed": code, "notices": standing})

    def _calibrate(self, command: Command, respond: Respond) -> None:
        if command.god is None:
            raise RefusedError("no_god", f"calibrate needs a god: {' or '.join(God)}")
        self._measure(command.god, command.count, command.keep, respond)

    def _measure(self, god: God, number: int | None, keep: bool | None, respond: Respond) -> None:
        if keep is None:
            wanted = USUAL if number is None else number
            self._calibration.begin(god, wanted, self._host.monotonic_ns(), respond)
            return
        limits, result = self._calibration.decide(god, keep)
        self._slots.learn(limits)
        respond(result)

    def _test(self, command: Command, respond: Respond) -> None:
        if command.god is None:
            raise RefusedError("no_god", f"drop needs a god: {' or '.join(God)}")
        self._drop(DropRequest(command.god, 1, 0, True, respond))
