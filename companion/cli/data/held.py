"""`templo-companion held list|count|dismiss`: decides about tokens held apart while the companion is stopped.

While it runs, people decide on its pages, which know who sits at the table. Both write to the same table's log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TextIO

from companion.adapters.database import store_lock
from companion.adapters.database.opening import StoreError
from companion.adapters.database.sql_store import SqlStore
from companion.games.kit import Game, Seat
from companion.model.ports import StoredToken
from companion.model.table import ServiceError, Table
from companion.model.temples import Temple
from companion.service.services import Services
from companion.service.workspace import Workspace
from companion.settings import Settings

SHORTEST = 4
"""The shortest unique beginning of an id that is accepted."""


class HeldError(Exception):
    """The request cannot be carried out; the message contains what was given and what was expected."""


class Wanted(NamedTuple):
    """The arguments: ``list``, ``count`` or ``dismiss``, which tokens, and for whom."""

    what: str
    temple: str = ""
    tokens: Sequence[str] = ()
    all: bool = False
    whose: str = ""


def held(
    settings: Settings,
    wanted: Wanted,
    games: Mapping[str, Game[Any]],
    clock: Callable[[], datetime],
    entropy: Callable[[int], bytes],
    out: TextIO,
) -> int:
    """List, count or dismiss; raises `HeldError`, or `StoreError` while a companion uses the database."""
    if wanted.what != "list" and not wanted.tokens and not wanted.all:
        raise HeldError(f"{wanted.what} is given no token; expected ids as list prints them, or --all")
    try:
        lock = store_lock.hold(settings.store_url)
    except StoreError as error:
        raise StoreError(f"{error}; while it runs, decide on its page of the temple") from None
    with lock:
        store = SqlStore(settings.store_url)
        try:
            return _carry_out(Services.over(Workspace(store, games, clock, entropy)), wanted, out)
        finally:
            store.close()


def _carry_out(services: Services, wanted: Wanted, out: TextIO) -> int:
    temples = [each for each in services.temples.all() if wanted.temple in ("", each.name)]
    if wanted.temple and not temples:
        raise HeldError(f"temple is {wanted.temple!r}; expected one of {_names(services.temples.all())}")
    holding = [each for each in temples if each.quarantined]
    if wanted.what == "list":
        _list(services, holding, out)
        return 0
    if len(holding) != 1:
        given = f"temple is {wanted.temple!r}" if wanted.temple else "no temple is given"
        raise HeldError(f"{given}; expected --temple with one that holds tokens apart: {_names(holding)}")
    temple = holding[0]
    chosen = _chosen(services.temples.decisions.held(temple.name), wanted)
    table = services.tables.find(temple.table_id)
    whose = _seat(table, wanted.whose, temple) if wanted.what == "count" else None
    try:
        services.temples.decisions.decide_as_owner(temple.name, [stored.token.token for stored in chosen], whose)
    except ServiceError as error:
        raise HeldError(f"the table refuses: {error}; expected tokens that may count there now") from None
    where = f" at {table.title!r}" if table else ""
    done = f"counted for {whose}{where}" if whose else "dismissed"
    seen = "" if table is None else f" The log of {table.title!r} says so."
    print(f"{len(chosen)} of the tokens held apart of {temple.name!r}: {done}.{seen}", file=out)
    return 0


def _list(services: Services, holding: Sequence[Temple], out: TextIO) -> None:
    if not holding:
        print("No token is held apart.", file=out)
    for temple in holding:
        table = services.tables.find(temple.table_id)
        serves = f"serves {table.title!r}: {_seats(table)}" if table else "serves no table"
        print(f"{temple.name} ({serves})", file=out)
        for stored in services.temples.decisions.held(temple.name):
            token = stored.token
            flags = f" {' '.join(sorted(token.flags))}" if token.flags else ""
            print(
                f"  {token.token[:8]}  {token.at:%Y-%m-%d %H:%M:%S}  {token.god:<16} {token.width_ms:.1f} ms{flags}  "
                f"its number, {token.seq}, was taken by another token",
                file=out,
            )


def _chosen(held: Sequence[StoredToken], wanted: Wanted) -> list[StoredToken]:
    if wanted.all:
        return list(held)
    chosen: dict[str, StoredToken] = {}
    for given in wanted.tokens:
        found = [stored for stored in held if stored.token.token.startswith(given.lower())]
        if len(given) < SHORTEST or len(found) != 1:
            raise HeldError(
                f"token is {given!r}, which fits {len(found)} of those held apart; expected the id of one as list "
                f"prints it, of {SHORTEST} characters or more"
            )
        chosen[found[0].token.token] = found[0]
    return list(chosen.values())


def _seat(table: Table | None, whose: str, temple: Temple) -> Seat:
    if table is None:
        raise HeldError(f"{temple.name!r} serves no table; expected one at which the tokens count")
    found = [chair.seat for chair in table.chairs if whose in (chair.seat, chair.name)]
    if len(found) != 1:
        raise HeldError(f"--for is {whose!r}; expected one of {_seats(table)}")
    return found[0]


def _seats(table: Table) -> str:
    return ", ".join(f"{chair.seat} ({chair.name})" if chair.name else chair.seat for chair in table.chairs)


def _names(temples: Sequence[Temple]) -> str:
    return ", ".join(temple.name for temple in temples) or "none, as there is none"
