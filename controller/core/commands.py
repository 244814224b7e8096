"""Carries out each of the companion's commands once and replies; the handlers are passed in."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeAlias

from templo.contract import Command, CommandName, Reply, format_utc

Result: TypeAlias = Mapping[str, object]
Handler: TypeAlias = Callable[[Command, Callable[[Result], None]], None]
"""Carries out a command and calls back with the result, now or later; raises `RefusedError`."""

_REMEMBERED = 64


class RefusedError(Exception):
    """A command that is not carried out; the message says why, the code is for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def result(self) -> Result:
        """Return it in the form of a result."""
        return {"error": str(self), "code": self.code}


class Commands:
    """Answers commands. A command that comes twice, as QoS 1 allows, is answered again and not carried out again.

    A command has expired only if both this temple's clock and the companion's, if known, say so, because either may
    be wrong by years. `resend` never expires: carrying it out late or twice does no harm.
    """

    def __init__(self, handlers: Mapping[CommandName, Handler], answer: Callable[[Reply], object]) -> None:
        """Start with no commands remembered."""
        self._handlers = handlers
        self._answer = answer
        self._seen: OrderedDict[str, Reply | None] = OrderedDict()

    def take(self, command: Command, now: datetime, companion_now: datetime | None = None) -> None:
        """Carry out a command, or answer why not; `companion_now` is the time by the companion's clock."""
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
    """Return an error short enough for a reply: a path in it can be of any length."""
    return str(error)[:512]
