"""A finished game in the file format in which BG Stats imports a play."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from uuid import UUID, uuid5

from companion.games.kit import Json, Result, Seat
from companion.model.table import ServiceError, Table

_OURS = UUID("4a1ccf3f-6a37-5d0e-9a54-25a1f6c0d1c8")
"""Names and tables get the same ids in every file, so that a person in two imported files is one person."""

LONGEST = timedelta(days=30)
"""What seems to have lasted longer is a game in which the machine's clock was set: it may have begun in 1970."""


def result_of(table: Table) -> Result:
    """Return how a table's game ended; raises `ServiceError` ``not_over`` before, and for a tool."""
    if table.phase != "over" or "." in table.charter.game:
        raise ServiceError("not_over")
    return table.result


def ranked(table: Table, result: Result) -> list[Seat]:
    """Return the seats of a table, winners first, then by points."""
    return sorted(table.seats, key=lambda seat: _standing(result, seat))


def _standing(result: Result, seat: Seat) -> tuple[bool, int]:
    return seat not in result.winners, -result.points.get(seat, 0)


def began(table: Table) -> datetime:
    """Return when a table's game began, or when it ended if the clock was set in between."""
    at, ended = table.began_at or table.charter.opened_at, table.ended_at
    return at if ended is None or timedelta(0) <= ended - at <= LONGEST else ended


def minutes(table: Table) -> int:
    """Return how long a game that is over lasted; 0 if the clock was set meanwhile."""
    if table.began_at is None or table.ended_at is None:
        return 0
    return round((table.ended_at - began(table)).total_seconds() / 60)


def bg_stats(table: Table, game: str, roles: dict[Seat, str], zone: tzinfo | None = None) -> dict[str, Json]:
    """Return a ``.bgsplay`` file of a game that is over: one play, its game, its place and its players.

    `game` is the game's name and `roles` are those of the seats, in the words of the reader. A player without a name
    is called by the seat's. Times are in a time zone, by default this machine's.
    """
    result = result_of(table)
    names = {chair.seat: chair.name or roles[chair.seat] for chair in table.chairs}
    changed = _time(table.ended_at or began(table), zone)
    order = ranked(table, result)
    standings = [_standing(result, seat) for seat in order]
    ids = {seat: n for n, seat in enumerate(table.seats, start=1)}
    return {
        "about": "Templo Mayor",
        "games": [
            {
                "uuid": _id("game", table.charter.game),
                "id": 1,
                "name": game,
                "modificationDate": changed,
                "cooperative": False,
                "highestWins": True,
                "noPoints": not result.points,
                "usesTeams": False,
                "bggId": 0,
                "bggName": "",
                "bggYear": 0,
            }
        ],
        "locations": [{"uuid": _id("place", table.title), "id": 1, "name": table.title, "modificationDate": changed}],
        "players": [
            {
                "uuid": _id("player", names[seat]),
                "id": ids[seat],
                "name": names[seat],
                "isAnonymous": not table.chair(seat).name,
                "modificationDate": changed,
            }
            for seat in table.seats
        ],
        "plays": [
            {
                "uuid": _id("table", table.id),
                "modificationDate": changed,
                "entryDate": changed,
                "playDate": _time(began(table), zone),
                "usesTeams": False,
                "durationMin": minutes(table),
                "ignored": False,
                "manualWinner": not result.points or len({result.points[seat] for seat in result.winners}) > 1,
                "rounds": table.turn,
                "locationRefId": 1,
                "gameRefId": 1,
                "board": "",
                "scoringSetting": 0,
                "playerScores": [
                    {
                        "playerRefId": ids[seat],
                        "score": str(result.points.get(seat, "")),
                        "winner": seat in result.winners,
                        "newPlayer": False,
                        "startPlayer": False,
                        "role": roles[seat],
                        "rank": 1 if seat in result.winners else 1 + standings.index(_standing(result, seat)),
                        "seatOrder": ids[seat],
                    }
                    for seat in order
                ],
            }
        ],
        "userInfo": {"meRefId": 0},
    }


def _id(kind: str, name: str) -> str:
    return str(uuid5(_OURS, f"{kind} {name}")).upper()


def _time(at: datetime, zone: tzinfo | None) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M:%S}"
