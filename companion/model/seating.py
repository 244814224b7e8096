"""Which seats of a table a phone holds or may act for, according to its token."""

from __future__ import annotations

import hmac

from companion.games.kit import Seat
from companion.model.lobby import digest
from companion.model.table import COMPANION, ServiceError, Table
from templo.codes import normal_code


def own_seats(table: Table, token: str) -> tuple[Seat, ...]:
    """Return the seats that a phone holds itself, in turn order."""
    mine = digest(token).encode()
    return tuple(seat for seat in table.charter.seats if hmac.compare_digest(table.keys.get(seat, "").encode(), mine))


def seats_held(table: Table, token: str) -> tuple[Seat, ...]:
    """Return the seats that a phone may act for, in turn order; none for an unknown token.

    They are those that it holds, and those of absent players for whom anyone may act.
    """
    own = own_seats(table, token)
    return tuple(seat for seat in table.charter.seats if seat in own or (own and seat in table.delegated_seats()))


def require_seats(table: Table, token: str) -> tuple[Seat, ...]:
    """Return the seats that a phone holds itself; raises `ServiceError` ``not_seated`` if there are none."""
    if own := own_seats(table, token):
        return own
    raise ServiceError("not_seated")


def is_code(table: Table, typed: str) -> bool:
    """Return whether a join code, however it was typed, is this table's; compared in constant time."""
    return hmac.compare_digest(table.code.encode(), normal_code(typed).encode())


def proved(table: Table, proof: str) -> Seat:
    """Return who acts with a proof: the first seat of a phone's token, or `COMPANION` with the join code.

    Raises `ServiceError` ``not_seated`` for anything else.
    """
    if own := own_seats(table, proof):
        return own[0]
    if not is_code(table, proof):
        raise ServiceError("not_seated")
    return COMPANION
