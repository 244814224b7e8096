"""Publishes a name for this machine's addresses in the local network, through avahi's daemon over D-Bus."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from enum import IntEnum
from typing import Any

from jeepney import DBusAddress, DBusErrorResponse, MatchRule, MessageFlag, message_bus, new_method_call
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import unwrap_msg

_AVAHI = "org.freedesktop.Avahi"
_ANY_PROTOCOL = -1
_NO_REVERSE = 16
"""The address itself leads to the machine's own name, which avahi announces already."""

_ANSWER_S = 10.0
_RESTARTED = MatchRule(
    type="signal", sender=message_bus.bus_name, interface=message_bus.interface, member="NameOwnerChanged"
)
_RESTARTED.add_arg_condition(0, _AVAHI)
_CHANGES = (_RESTARTED, MatchRule(type="signal", sender=_AVAHI, interface=f"{_AVAHI}.Server"))
"""What avahi says to all; of its own announcement a connection learns without asking."""


class AvahiError(Exception):
    """The daemon cannot be reached, or refuses; the message says which and why."""


class GroupState(IntEnum):
    """What avahi made of an announcement (`AvahiEntryGroupState`)."""

    UNCOMMITTED = 0
    REGISTERING = 1
    ESTABLISHED = 2
    COLLISION = 3
    FAILURE = 4


class Announcement:
    """A name that is announced until this is closed, or this process ends."""

    def __init__(self, name: str, addresses: Sequence[tuple[int, str]]) -> None:
        """Announce a name for addresses, each on the interface with this index; raises `AvahiError`.

        Each record is unique: avahi asks the network first whether another machine has the name.
        """
        try:
            self._connection = open_dbus_connection(bus="SYSTEM")
        except (OSError, KeyError, ValueError, RuntimeError) as error:
            raise AvahiError(f"the system's D-Bus cannot be reached: {error}") from error
        try:
            for rule in _CHANGES:
                self._call(message_bus, "AddMatch", "s", (rule.serialise(),))
            (path,) = self._call(DBusAddress("/", _AVAHI, f"{_AVAHI}.Server"), "EntryGroupNew")
            self._group = DBusAddress(path, _AVAHI, f"{_AVAHI}.EntryGroup")
            for interface, address in addresses:
                body = (interface, _ANY_PROTOCOL, _NO_REVERSE, name, address)
                self._call(self._group, "AddAddress", "iiuss", body)
            self._call(self._group, "Commit")
        except BaseException:
            self.close()
            raise

    def state(self) -> GroupState:
        """Return what became of it; raises `AvahiError`, also when the daemon was restarted and forgot it."""
        (state,) = self._call(self._group, "GetState")
        return GroupState(state)

    def fileno(self) -> int:
        """Return the descriptor that can be read when avahi says something, or has gone."""
        descriptor: int = self._connection.sock.fileno()
        return descriptor

    def has_news(self) -> bool:
        """Take what avahi has said since the last call; return whether there was anything."""
        said = False
        with suppress(TimeoutError, OSError, ValueError):  # a connection that is gone says so to the next call
            while True:
                self._connection.receive(timeout=0)
                said = True
        return said

    def close(self) -> None:
        """Take it back: avahi frees what a connection announced when that ends."""
        self._connection.close()

    def _call(self, where: DBusAddress, method: str, signature: str | None = None, body: tuple[Any, ...] = ()) -> Any:
        try:
            message = new_method_call(where, method, signature, body)
            message.header.flags |= MessageFlag.no_auto_start  # who stopped avahi wants it stopped
            return unwrap_msg(self._connection.send_and_get_reply(message, timeout=_ANSWER_S))
        except DBusErrorResponse as error:
            raise AvahiError(f"avahi refused {method}: {error}") from error
        except (OSError, TimeoutError) as error:
            raise AvahiError(f"avahi did not answer {method}: {error}") from error
