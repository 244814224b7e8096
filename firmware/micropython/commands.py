"""Executes each command to the temple once and replies; the handlers come in as arguments."""

import wire

_REMEMBERED = 16


class RefusedError(Exception):
    """A command that is not carried out, with a code for programs and a message for people."""

    def __init__(self, code, message):
        """Take the code and the words."""
        super().__init__(message)
        self.code = code
        self.words = message


class Commands:
    """Answers commands. A command that comes twice, as QoS 1 allows, gets the answer it had, and does nothing."""

    def __init__(self, handlers, answer):
        """`handlers` carry out what they are named for: each takes the command and a callback for its result."""
        self._handlers = handlers
        self._answer = answer
        self._seen = []  # [id, answer or None], the oldest first

    def take(self, command, utc_ms):
        """Carry a command out, or say why not; `utc_ms`, the earlier of both clocks, is None while nobody gave it."""
        request = command["id"]
        for name, answer in self._seen:
            if name == request:
                if answer is not None:
                    self._answer(answer)
                return
        self._seen.append([request, None])
        if len(self._seen) > _REMEMBERED:
            self._seen.pop(0)
        try:
            self._expire(command, utc_ms)
            handler = self._handlers.get(command["name"])
            if handler is None:
                known = ", ".join(sorted(self._handlers))
                raise RefusedError("unknown", "this temple cannot %s; expected %s" % (command["name"], known))
            handler(command, lambda result, error=None: self._reply(request, result, error))
        except RefusedError as error:
            self._reply(request, None, error)

    def _expire(self, command, utc_ms):
        name, expires = command["name"], command["expires"]
        if name == "resend":  # carried out twice it does no harm, and without it a game may stand still
            return
        if utc_ms is None:
            words = (
                "this temple does not know the time, and so not whether %s has expired: no time server and no "
                "companion gave it yet"
            )
            raise RefusedError("no_time", words % name)
        if utc_ms > expires:
            words = "%s expired at %s, and here it is %s"
            raise RefusedError("expired", words % (name, wire.format_utc(expires), wire.format_utc(utc_ms)))

    def _reply(self, request, result, error):
        answer = wire.reply(request, result, *(() if error is None else (error.words, error.code)))
        for each in self._seen:
            if each[0] == request:
                each[1] = answer
        self._answer(answer)
