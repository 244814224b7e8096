"""Each command of a companion is carried out once and answered; what a command does comes in as a handler."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeAlias

from templo.contract import Command, CommandName, Reply, format_utc

Result: TypeAlias = Mapping[str, object]
Handler: TypeAlias = Callable[[Command, Callable[[Result], None]], None]
"""Carries a command out and calls back with the result, now or later; raises `RefusedError`."""

_REMEMBERED = 64


class RefusedError(Exception):
    """A command that is not carried out; the message says why to a person, the code to a program."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def result(self) -> Result:
        """Return it as a result that comes later carries it."""
        return {"error": str(self), "code": self.code}


class Commands:
    """Answers commands. A command that comes twice, as QoS 1 allows, gets the answer it had, and does nothing.

    A command has expired where it has by this temple's clock and by the companion's, as far as that is known: either
    may be wrong by years. `resend` never expires, as to carry it out late or twice does no harm.
    """

    def __init__(self, handlers: Mapping[CommandName, Handler], answer: Callable[[Reply], object]) -> None:
        """Begin with nothing remembered."""
        self._handlers = handlers
        self._answer = answer
        self._seen: OrderedDict[str, Reply | None] = OrderedDict()

    def take(self, command: Command, now: datetime, companion_now: datetime | None = None) -> None:
        """Carry a command out, or answer why not; `companion_now` is the present time by the companion's clock."""
        if command.id in self._seen:
            if (reply := self._seen[command.id]) is not None:
                self._answer(reply)
            return
        self._seen[command.id] = None
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        try:
            if companion_now is not None:
                now = min(now, companion_now)
            if now > command.expires and command.name is not CommandName.RESEND:
                raise RefusedError(
                    "expired",
                    f"{command.name} expired at {format_utc(command.expires)}, and here it is {format_utc(now)}",
                )
            handler = self._handlers.get(command.name)
            if handler is None:
                known = ", ".join(sorted(self._handlers))
                raise RefusedError("unknown", f"this temple cannot {command.name}; expected {known}")
            handler(command, lambda result: self._reply(Reply(command.id, True, result)))
        except RefusedError as error:
            self._reply(Reply(command.id, False, error=_short(error), code=error.code))

    def _reply(self, reply: Reply) -> None:
        if reply.ok and reply.result is not None and "error" in reply.result:
            code = reply.result.get("code")
            reply = Reply(reply.id, False, error=_short(reply.result["error"]), code=str(code) if code else None)
        if reply.id in self._seen:
            self._seen[reply.id] = reply
        self._answer(reply)


def _short(error: object) -> str:
    """Return an error as a reply may hold it: a path in it can be of any length."""
    return str(error)[:512]
