"""The companions and brokers of an installation, as the organiser's page lists them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from contextlib import suppress

from msgspec import Struct

from companion.model.table import ServiceError
from templo.broker import Address

PROBE_S = 1.0
"""How long a broker may take to accept a connection."""


class Companion(Struct, frozen=True):
    """One companion that shares the store."""

    name: str
    temples: int
    """How many temples' tokens it stores."""
    is_own: bool
    """Whether it is this companion."""


class BrokerState(Struct, frozen=True):
    """One broker of the list."""

    address: str
    is_used: bool
    """Whether this companion is connected to it."""
    answers: bool
    """Whether it accepts connections."""


class Installation(Struct, frozen=True):
    """The programs that serve the tables, as one companion sees them now."""

    companions: tuple[Companion, ...] = ()
    brokers: tuple[BrokerState, ...] = ()
    store_answers: bool = True
    """Whether the store could be read for its companions."""


def look(
    companions: Callable[[], tuple[Companion, ...]], listed: Iterable[Address], used: Address | None
) -> Installation:
    """Return the companions and brokers; `companions` raises `ServiceError` if the store could not be read."""
    states = brokers(listed, used)
    try:
        return Installation(companions(), states)
    except ServiceError:
        return Installation((), states, store_answers=False)


def brokers(listed: Iterable[Address], used: Address | None) -> tuple[BrokerState, ...]:
    """Return the state of each broker of a list; those that this companion does not use are tried briefly."""
    return tuple(BrokerState(str(each), each == used, each == used or _answers(each)) for each in listed)


def _answers(address: Address) -> bool:
    with suppress(OSError, UnicodeError), socket.create_connection(address, PROBE_S):
        return True
    return False
