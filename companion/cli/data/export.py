"""`templo-companion export FILE`: every table with its log and tokens, all temples and records, as one JSON file.

Like the export of a single table it contains no join code and no phone's token, and of a running game only what a
spectator may know.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from msgspec.structs import asdict

from companion.adapters.database import backup
from companion.adapters.database.backup import BackupError
from companion.adapters.database.sql_store import SqlStore
from companion.games.kit import Game, Json
from companion.model.evenings import by_game, by_person, by_temple, plays
from companion.model.exports import exported
from companion.model.plays import minutes, result_of
from companion.model.table import Table
from companion.service.services import Services
from companion.service.workspace import Workspace
from companion.settings import Settings
from templo import contract
from templo.files import draft_beside, sync
from templo.quoting import counted

FORMAT = "templo-mayor companion"
VERSION = 1

_ALL = 1_000_000
"""The most decisions about tokens held apart, for one temple."""


def export(settings: Settings, file: Path, games: Mapping[str, Game[Any]], now: datetime, out: TextIO) -> int:
    """Write everything as of one moment; the companion may be running.

    Returns 1 if this release cannot replay a table's log: the file then names it, without its log. Raises
    `BackupError`, for example if `file` exists.
    """
    if file.exists():
        raise BackupError(f"{file} is there already; expected the name of a new file")
    try:
        with tempfile.TemporaryDirectory(dir=file.absolute().parent) as folder, draft_beside(file) as draft:
            copy = Path(folder) / "store.sqlite"
            backup.back_up(settings.store_url, copy, now)
            store = SqlStore(f"sqlite:///{copy}")
            try:
                workspace = Workspace(store, games, lambda: now, bytes)
                with draft.open("w", encoding="utf-8") as written:
                    written.writelines(_pieces(Services.over(workspace), now))
            finally:
                store.close()
            sync(draft)
            draft.rename(file)
            sync(file.absolute().parent)
    except OSError as error:
        raise BackupError(f"{file} cannot be written ({error}); expected a folder that can") from error
    for title, reason in workspace.tables.unreadable:
        print(
            f"The log of {title!r} cannot be replayed ({reason}): the file names the table, without its log.",
            file=out,
        )
    tables, temples = counted(len(workspace.tables.all()), "table"), counted(len(workspace.temples), "temple")
    print(f"Wrote {file}: {tables}, {temples}.", file=out)
    return 1 if workspace.tables.unreadable else 0


def _pieces(services: Services, now: datetime) -> Iterator[str]:
    """Yield the file piece by piece, one table a line, so that it need not be in memory at once."""
    tables = services.tables.all()
    played = plays(tables)
    head: dict[str, Json] = {"format": FORMAT, "version": VERSION, "made_at": contract.format_utc(now)}
    yield f'{json.dumps(head)[:-1]},\n"tables": ['
    comma = ""
    for listed in tables:
        if table := services.tables.find(listed.id):
            yield f"{comma}\n{_json(_table(services, table))}"
            comma = ","
    yield f'\n],\n"unreadable": {_json([title for title, _ in services.tables.unreadable])},\n"temples": ['
    for n, temple in enumerate(services.temples.all()):
        decided = services.temples.decisions.last(temple.name, _ALL)
        described = {
            "name": temple.name,
            "source": temple.source,
            "table": temple.table_id,
            "tokens": {str(god): count for god, count in temple.totals.items()},
            "held_apart": [
                {
                    **_token(each.stored.token),
                    "verdict": each.verdict,
                    "decided_at": contract.format_utc(each.at),
                    "by": each.by,
                    "name": each.name,
                    "table": each.table_id,
                    "seat": each.seat,
                }
                for each in decided
            ],
        }
        yield f"{',' if n else ''}\n{_json(described)}"
    records = {
        "games": [
            {"game": each.game, "played": each.played, "minutes": each.minutes, "longest": each.longest.table.id}
            for each in by_game(played)
        ],
        "people": [asdict(each) for each in by_person(played)],
        "temples": [asdict(each) for each in by_temple(played)],
    }
    yield f'\n],\n"records": {_json(records)}\n}}\n'


def _table(services: Services, table: Table) -> dict[str, Json]:
    over = table.phase == "over" and "." not in table.charter.game
    result = result_of(table) if over else None
    return {
        "id": table.id,
        **exported(table.charter, table.game, services.tables.replay(table), ()),
        "title": table.title,
        "temple": table.temple,
        "began_at": contract.format_utc(table.began_at) if table.began_at else None,
        "ended_at": contract.format_utc(table.ended_at) if table.ended_at else None,
        "minutes": minutes(table),
        "result": {"kind": result.kind, "winners": list(result.winners), "points": dict(result.points)}
        if result
        else None,
        "tokens": [_token(stored.token) for stored in services.tables.tokens(table.id)],
    }


def _token(token: contract.Token) -> dict[str, Json]:
    return {
        "source": token.source,
        "seq": token.seq,
        "token": token.token,
        "god": str(token.god),
        "at": contract.format_utc(token.at),
        "width_ms": token.width_ms,
        "flags": sorted(token.flags),
        "replayed": token.replayed,
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
