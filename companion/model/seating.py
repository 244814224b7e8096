"""Which seats of a table a phone holds or may act for, according to its token."""

from __future__ import annotations

import hmac

from companion.games.kit import Seat
from companion.model.lobby import digest
from companion.model.table import COMPANION, Chair, ServiceError, Table
from templo.codes import normal_code


def own_seats(table: Table, token: str) -> tuple[Seat, ...]:
    """Return the seats that a phone holds itself, in turn order."""
    mine = digest(token).encode()
    return tuple(seat for seat in table.seats if hmac.compare_digest(table.keys.get(seat, "").encode(), mine))


def seats_held(table: Table, token: str) -> tuple[Seat, ...]:
    """Return the seats that a phone may act for, in turn order; none for an unknown token.

    They are those that it holds, and those of absent players for whom anyone may act.
    """
    own = own_seats(table, token)
    return tuple(seat for seat in table.seats if seat in own or (own and seat in table.delegated_seats()))


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


def free_seat(table: Table, name: str) -> Seat:
    """Return the seat for somebody who takes any: one that is reserved for the name, or else one that is free.

    Free seats come in an order in which a game for fewer players is complete, those for which the app plays after
    the others, and those that are reserved for somebody else last. Raises `ServiceError` ``table_full``.
    """
    reserved = table.reserved()
    seatings = table.game.seatings
    order = [seat for players in sorted(seatings) for seat in seatings[players]]

    def rank(chair: Chair) -> tuple[int, int]:
        kept = reserved.get(chair.seat)
        is_theirs = kept is not None and kept.casefold() == name.casefold()
        return (0 if is_theirs else 3 if kept else 2 if chair.away else 1), order.index(chair.seat)

    free = sorted((chair for chair in table.chairs if not chair.taken), key=rank)
    if not free:
        raise ServiceError("table_full")
    return free[0].seat


def empty_seats(table: Table) -> tuple[Seat, ...]:
    """Return the seats that nobody has in the lobby, and that are reserved for nobody."""
    reserved = table.reserved()
    return tuple(chair.seat for chair in table.chairs if not (chair.taken or chair.away or chair.seat in reserved))


def seats_without_empty(table: Table) -> tuple[Seat, ...]:
    """Return the seats of the game without those that are empty; none where its rules need as many players."""
    seats = table.game.seatings.get(len(table.chairs) - len(empty_seats(table)), ())
    order = iter(table.seats)
    return seats if all(seat in order for seat in seats) else ()


def places_without_empty(table: Table) -> dict[Seat, Seat]:
    """Return where those move who sit at a seat that the game for so few has not: from which seat to which.

    Raises `ServiceError` ``bad_players`` where there is no such game.
    """
    seats = seats_without_empty(table)
    if not seats:
        players = len(table.chairs) - len(empty_seats(table))
        seatings = table.game.seatings
        raise ServiceError("bad_players", players=players, fewest=min(seatings), most=max(seatings))
    empty = empty_seats(table)
    moving = [seat for seat in table.seats if seat not in empty and seat not in seats]
    return dict(zip(moving, [seat for seat in seats if seat in empty], strict=True))
