"""Codes by which new temples are given their user at the broker: for which temple each is, and until when."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import msgspec

from companion.model.lobby import digest
from companion.model.table import ServiceError
from templo.codes import CODE_LETTERS, PAIRING_LENGTH, normal_code

NOTE = "pairing"
"""Under which the store keeps the codes."""

GROUP = 4

VALID = timedelta(minutes=10)

REMEMBERED = timedelta(days=1)
"""How long a code is remembered, so that who types it later learns that it was used or has expired."""


class PairingCode(msgspec.Struct, frozen=True):
    """A code as it is stored: its digest alone, so that nobody reads a valid one there."""

    digest: str
    temple: str
    table_id: str
    """The table that the temple will serve; empty for none."""
    until: datetime
    is_used: bool = False


def new_code(entropy: Callable[[int], bytes]) -> str:
    """Return a code; `entropy` gives that many random bytes."""
    return "".join(CODE_LETTERS[byte % len(CODE_LETTERS)] for byte in entropy(PAIRING_LENGTH))


def encode(codes: Iterable[PairingCode]) -> str:
    """Return codes as they are stored."""
    return msgspec.json.encode(list(codes)).decode()


def decode(stored: str) -> tuple[PairingCode, ...]:
    """Return codes from what was stored.

    >>> decode("")
    ()
    """
    return msgspec.json.decode(stored, type=tuple[PairingCode, ...]) if stored else ()


def with_code(
    codes: Iterable[PairingCode], code: str, temple: str, table_id: str, now: datetime
) -> tuple[PairingCode, ...]:
    """Return the codes with a new one, which replaces any other of its temple; the oldest are forgotten."""
    remembered = [
        each if each.is_used or each.temple != temple else msgspec.structs.replace(each, until=min(each.until, now))
        for each in codes
        if now - each.until < REMEMBERED
    ]
    return (*remembered, PairingCode(digest(code), temple, table_id, now + VALID))


def find(codes: Iterable[PairingCode], typed: str, now: datetime) -> PairingCode:
    """Return the code that somebody typed; every one is compared, each in constant time.

    Raises `ServiceError` ``wrong_pairing_code``, ``used_pairing_code``, ``expired_pairing_code``.
    """
    wanted = digest(normal_code(typed))
    matches = [each for each in codes if hmac.compare_digest(each.digest.encode(), wanted.encode())]
    if not matches:
        raise ServiceError("wrong_pairing_code")
    found = matches[-1]
    if found.is_used:
        raise ServiceError("used_pairing_code")
    if now >= found.until:
        raise ServiceError("expired_pairing_code")
    return found


def with_used(codes: Iterable[PairingCode], used: PairingCode) -> tuple[PairingCode, ...]:
    """Return the codes with one of them used."""
    return tuple(msgspec.structs.replace(each, is_used=True) if each == used else each for each in codes)
