"""The slices of the organiser's pages: all tables and temples at a glance, and an event as it stands.

Everything that changes by itself passes here: codes and numbers, never words.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from companion.adapters.news import ViewModel
from companion.games.kit import Json
from companion.model.rounds import MOST_PLAYERS
from companion.model.table import Table
from companion.model.temples import Temple
from companion.service.rounds import EventPage
from companion.service.services import Services
from companion.web.view_models.table import temple_tone


def overview(services: Services, games: Container[str]) -> ViewModel:
    """Return the organiser's page: what is played of the games that a lobby offers, and every temple.

    Raises `ServiceError` if the store does not answer.
    """
    return _overview(services, open_tables(services, games), services.tables.all(), can_list=True)


def overview_of_silent_store(services: Services) -> ViewModel:
    """Return the organiser's page without tables, as other companions may have changed them meanwhile."""
    return _overview(services, (), (), can_list=False)


def _overview(services: Services, tables: Sequence[Table], every: Sequence[Table], *, can_list: bool) -> ViewModel:
    titles = {table.id: table.title for table in every}
    choices = [_choice(table) for table in tables if table.game.temple]
    return ViewModel(
        0,
        "organiser",
        None,
        {
            "all_tables": {"tables": [_row(table) for table in tables], "can_list": can_list},
            "all_temples": {
                "temples": [_temple(temple, titles) for temple in services.temples.all()],
                "choices": choices,
                "can_list": can_list,
            },
        },
    )


def event(page: EventPage, names: str = "", with_temples: bool = True) -> ViewModel:
    """Return the page of an event; another round, or event, is another page, whose form names it.

    `names` is what somebody typed into that form, instead of the players of the last round.
    """
    last, number = page.event.rounds[-1], len(page.event.rounds)
    return ViewModel(
        0,
        f"{page.event.id} round {number}",
        None,
        {
            "standings": {
                "players": [
                    {
                        "place": each.place,
                        "name": each.name,
                        "points": round(float(each.points), 2),
                        "met": round(float(each.met), 2),
                    }
                    for each in page.standings
                ]
            },
            "round": {
                "game": page.event.game,
                "number": number,
                "tables": [_of_round(page, each.table_id, each.players) for each in last.tables],
                "rests": list(last.rests),
            },
            "next_round": {
                "event": page.event.id,
                "number": number + 1,
                "waits_for": page.waits_for,
                "names": names or "\n".join(sorted(page.event.players)),
                "with_temples": with_temples,
                "most": MOST_PLAYERS,
            },
        },
    )


def open_tables(services: Services, games: Container[str]) -> list[Table]:
    """Return every table that is not over, those of aids left out, by their titles."""
    tables = [table for table in services.tables.all() if table.phase != "over"]
    return sorted((table for table in tables if table.charter.game in games), key=lambda table: table.title)


def _row(table: Table) -> Mapping[str, Json]:
    return {
        **_choice(table),
        "game": table.charter.game,
        "phase": table.phase,
        "taken": sum(chair.taken for chair in table.chairs),
        "seats": len(table.chairs),
        "temple": table.temple or "",
    }


def _choice(table: Table) -> dict[str, Json]:
    return {"id": table.id, "title": table.title, "code": table.code}


def _temple(temple: Temple, titles: Mapping[str, str]) -> Mapping[str, Json]:
    health = temple.health()
    serves = temple.table_id if temple.table_id in titles else ""
    return {
        "name": temple.name,
        "tone": temple_tone(temple),
        "code": health.code,
        "god": health.god,
        "table": serves,
        "title": titles[serves] if serves else "",
    }


def _of_round(page: EventPage, table_id: str, players: Mapping[str, str]) -> Mapping[str, Json]:
    table, result = page.tables.get(table_id), page.results.get(table_id)
    winners: Sequence[str] = result.winners if table and result else ()
    return {
        **(_row(table) if table else {"id": ""}),
        "players": [{"seat": seat, "name": name, "won": seat in winners} for seat, name in players.items()],
    }
