"""`templo-companion tenant ...`: adds, lists, limits, exports and deletes the tenants of an installation.

The companion may be running: it notices each of these within two seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TextIO

from companion.adapters.database.tenants import TenantError, Tenants
from companion.cli.settings import Settings
from companion.model.table import ServiceError
from companion.model.tenants import MEBIBYTE, Limits
from companion.web.server.tenants import prefix_of

LIMITS: Mapping[str, int] = asdict(Limits())
"""The limits, each with its default."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The arguments."""

    what: str
    name: str = ""
    file: Path | None = None
    limits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class World:
    """The time, random bytes, and where a person is asked and answered."""

    now: Callable[[], datetime]
    entropy: Callable[[int], bytes]
    read: Callable[[], str]
    out: TextIO


def tenant(settings: Settings, wanted: Wanted, world: World) -> int:
    """Do what is wanted; returns the exit code. Raises `TenantError`, `StoreError` and `BackupError`."""
    tenants = Tenants(settings.store_url, aside=settings.state_directory)
    try:
        return _COMMANDS[wanted.what](settings, tenants, wanted, world)
    except ServiceError as error:
        raise TenantError(f"the store cannot be read: {error.facts.get('reason', error)}") from error
    finally:
        tenants.close()


def _add(settings: Settings, tenants: Tenants, wanted: Wanted, world: World) -> int:
    settings.state_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = tenants.add(wanted.name, replace(Limits(), **wanted.limits), world.entropy, wanted.file, world.now())
    print(
        f"Added {made.name}. Its pages are at {prefix_of(made.name)}/, and its organiser's code is {made.code}.",
        file=world.out,
    )
    if settings.hosted != "on":
        print('They are served once the setting hosted is "on".', file=world.out)
    return 0


def _list(settings: Settings, tenants: Tenants, wanted: Wanted, world: World) -> int:
    known = tenants.all()
    for each in known.values():
        limits = ", ".join(f"{name} {value}" for name, value in asdict(each.limits).items())
        stored = tenants.size(each) / MEBIBYTE
        print(f"{each.name}: {prefix_of(each.name)}/, {stored:.1f} MiB stored; at most {limits}", file=world.out)
    if not known:
        print("There are no tenants.", file=world.out)
    return 0


def _limit(settings: Settings, tenants: Tenants, wanted: Wanted, world: World) -> int:
    limits = replace(tenants.get(wanted.name).limits, **wanted.limits)
    tenants.set_limits(wanted.name, limits)
    print(f"{wanted.name}: at most {', '.join(f'{n} {v}' for n, v in asdict(limits).items())}", file=world.out)
    return 0


def _code(settings: Settings, tenants: Tenants, wanted: Wanted, world: World) -> int:
    print(tenants.get(wanted.name).code, file=world.out)
    return 0


def _export(settings: Settings, tenants: Tenants, wanted: Wanted, world: World) -> int:
    assert wanted.file
    made = tenants.export(tenants.get(wanted.name), wanted.file, world.now())
    print(f"Wrote {wanted.file}: {made.summary()}.", file=world.out)
    return 0


def _delete(settings: Settings, tenants: Tenants, wanted: Wanted, world: World) -> int:
    tenants.check_deletable(wanted.name)
    print(
        f"This deletes {wanted.name} with all its tables, logs, tokens and people, for good. Type its name to go on:",
        file=world.out,
        flush=True,
    )
    typed = world.read().strip()
    if typed != wanted.name:
        raise TenantError(f"{typed!r} was typed; expected {wanted.name!r}. Nothing was deleted")
    tenants.delete(wanted.name)
    print(
        f"Deleted {wanted.name}. Its users at the broker go with templo-broker-access --again --remove-tenant "
        f"{wanted.name}; its name is not given again.",
        file=world.out,
    )
    return 0


_COMMANDS = {"add": _add, "list": _list, "limits": _limit, "code": _code, "export": _export, "delete": _delete}
