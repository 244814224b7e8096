"""`templo-companion forget list|table|person`: removes a table or a person's name while the companion is stopped.

It is a command and not a page because there are no accounts: a page could not know whose name or table somebody
removes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TextIO

from companion.adapters.database import erasure, store_lock
from companion.adapters.database.sql_store import SqlStore
from companion.model import rounds
from companion.model.entries import Rename, Sit
from companion.model.evenings import person_key
from companion.model.ports import TableRecord
from companion.settings import Settings
from templo.quoting import counted

SHORTEST = 6
"""The shortest unique beginning of an id that is accepted."""


_ELSEWHERE = "Backups and exports that were made before still hold it."


class ForgetError(Exception):
    """The request cannot be carried out; the message contains what was given and what was expected."""


class Whom(NamedTuple):
    """The arguments: ``list``, ``table`` or ``person``, which one, and whether to do it."""

    what: str
    name: str = ""
    yes: bool = False


def forget(settings: Settings, whom: Whom, out: TextIO) -> int:
    """List the tables, remove one, or remove a name; raises `ForgetError`, or `StoreError` while a companion runs.

    Without `whom.yes` it prints what would be removed, and returns 1.
    """
    with store_lock.hold(settings.store_url):
        store = SqlStore(settings.store_url)
        try:
            records, event = list(store.tables()), store.note(rounds.NOTE)
        finally:
            store.close()
    if whom.what == "table":
        return _forget_table(settings.store_url, _table(records, whom.name), whom.yes, out)
    if whom.what == "person":
        return _forget_person(settings.store_url, records, event, whom, out)
    for record in records:
        print(f"{record.charter.id}  {_described(record)}", file=out)
    if not records:
        print("No table was ever opened.", file=out)
    return 0


def _forget_table(url: str, record: TableRecord, yes: bool, out: TextIO) -> int:
    table = f"the table {_described(record)}, with {counted(len(record.entries), 'entry', 'entries')} of its log"
    if not yes:
        return _would(table, out)
    erasure.erase_table(url, record.charter.id)
    print(f"Removed for good: {table}. {_ELSEWHERE}", file=out)
    return 0


def _forget_person(url: str, records: Sequence[TableRecord], event: str, whom: Whom, out: TextIO) -> int:
    wanted = person_key(whom.name)
    listed = rounds.names_of(rounds.decode(event)) if event else []
    is_listed = any(person_key(name) == wanted for name in listed)
    at = [record for record in records if any(person_key(name) == wanted for name in _names(record))]
    if not wanted or not (at or is_listed):
        raise ForgetError(
            f"person is {whom.name!r}, who sat at none of {counted(len(records), 'table')}; expected a name as shown"
        )
    places = [repr(_title(each)) for each in at] + ["the event under way"] * is_listed
    what = f"the name {whom.name!r} from {', '.join(places)}"
    if not whom.yes:
        return _would(what, out)
    erasure.erase_person(url, lambda name: person_key(name) == wanted)
    print(f"Removed for good: {what}. Seats' names are shown instead. {_ELSEWHERE}", file=out)
    for title in sorted({_title(each) for each in records if wanted in person_key(_title(each))}):
        print(f"The title {title!r} still holds the name: rename that table, or remove it.", file=out)
    return 0


def _would(what: str, out: TextIO) -> int:
    print(f"This would remove {what}. Nothing is removed yet; add --yes to do it.", file=out)
    return 1


def _table(records: Sequence[TableRecord], given: str) -> TableRecord:
    found = [record for record in records if record.charter.id.startswith(given.lower())]
    if len(given) < SHORTEST or len(found) != 1:
        raise ForgetError(
            f"table is {given!r}, which fits {len(found)} of {counted(len(records), 'table')}; expected an id as "
            f"list prints it, or as it stands in the table's address, of {SHORTEST} characters or more"
        )
    return found[0]


def _described(record: TableRecord) -> str:
    people = ", ".join(dict.fromkeys(_names(record))) or "nobody with a name"
    charter = record.charter
    return f"{_title(record)!r} of {charter.opened_at:%Y-%m-%d} ({charter.game}; {people})"


def _title(record: TableRecord) -> str:
    titles = [entry.action.title for entry in record.entries if isinstance(entry.action, Rename)]
    return titles[-1] if titles else record.charter.title


def _names(record: TableRecord) -> list[str]:
    return [entry.action.name for entry in record.entries if isinstance(entry.action, Sit) and entry.action.name]
