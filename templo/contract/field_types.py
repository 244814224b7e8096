"""The types that a field of a message can have: each reads a JSON value with its check, and writes it again.

A type's `expected` says in words what it takes: errors and the tables in docs/protocol.md show the same words.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Generic, Never, TypeVar

from templo.contract.vocabulary import God
from templo.quoting import quoted

MAX_SEQ = 2**63 - 1
MAX_FACT = 1e12
MOST_FLAGS = 16
MOST_FACTS = 16

_T = TypeVar("_T")
_E = TypeVar("_E", bound=StrEnum)
TEMPLE_NAME = "[a-z0-9][a-z0-9-]{0,31}"
"""What a temple's name may be, as a regular expression."""
NAME_EXPECTED = "1 to 32 lower-case letters, digits and hyphens, not starting with a hyphen"
"""The same in words."""

_TEMPLE = re.compile(TEMPLE_NAME, re.ASCII)
_HEX_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_CODE = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", re.ASCII)


class WireError(ValueError):
    """Bytes or values that break the contract; the message holds the value and what was expected."""


def refuse(where: str, value: object, expected: str) -> Never:
    """Raise the error for a value at a place such as ``token.seq``."""
    raise WireError(f"{where} is {quoted(value)}; expected {expected}")


def temple_name(text: str) -> str:
    """Return a temple's name unchanged, or raise `WireError`.

    >>> temple_name("attic-2")
    'attic-2'
    """
    if not _TEMPLE.fullmatch(text):
        refuse("temple name", text, NAME_EXPECTED)
    return text


def is_hex_id(text: str) -> bool:
    """Return whether a text is 32 lower-case hexadecimal digits."""
    return _HEX_ID.fullmatch(text) is not None


def format_utc(at: datetime) -> str:
    """Write an aware time as the contract does, in UTC to the millisecond.

    >>> format_utc(datetime(2026, 11, 21, 18, 42, 7, 123456, tzinfo=UTC))
    '2026-11-21T18:42:07.123Z'
    """
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_utc(text: str) -> datetime:
    """Read a time that `format_utc` wrote; raises `WireError`.

    >>> parse_utc("2026-11-21T18:42:07.123Z")
    datetime.datetime(2026, 11, 21, 18, 42, 7, 123000, tzinfo=datetime.timezone.utc)
    """
    if _UTC.fullmatch(text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass
    refuse("time", text, "UTC such as 2026-11-21T18:42:07.123Z")


class FieldType(ABC, Generic[_T]):
    """How one field is read and written."""

    expected: str

    @abstractmethod
    def read(self, where: str, value: object) -> _T:
        """Decode a JSON value; raises `WireError`, which names `where`."""

    def write(self, value: _T) -> object:
        """Encode a value as JSON."""
        return value

    @property
    def writer(self) -> Callable[[_T], object] | None:
        """Return `write`, or None if every value is its own JSON value."""
        return None if type(self).write is FieldType.write else self.write


class Whole(FieldType[int]):
    """A whole number from `low` to `high`."""

    def __init__(self, low: int, high: int = MAX_SEQ) -> None:
        self._low = low
        self._high = high
        self.expected = f"a whole number from {low} to {high}"

    def read(self, where: str, value: object) -> int:
        if type(value) is not int or not self._low <= value <= self._high:
            refuse(where, value, self.expected)
        return value


def _number(where: str, value: object, high: float, expected: str) -> float:
    if (type(value) is float or type(value) is int) and 0 <= value <= high:
        return value
    refuse(where, value, expected)


class Number(FieldType[float]):
    """A number from 0 to `high`, read as a float."""

    def __init__(self, high: float) -> None:
        self._high = high
        self.expected = f"a number from 0 to {high:g}"

    def read(self, where: str, value: object) -> float:
        return float(_number(where, value, self._high, self.expected))


class Fact(FieldType[float]):
    """A number of a diagnosis: one that came without a fraction stays without it."""

    expected = f"a number from 0 to {MAX_FACT:g}"

    def read(self, where: str, value: object) -> float:
        return _number(where, value, MAX_FACT, self.expected)


class Truth(FieldType[bool]):
    """True or false."""

    expected = "true or false"

    def read(self, where: str, value: object) -> bool:
        if type(value) is not bool:
            refuse(where, value, self.expected)
        return value


class Colour(FieldType[tuple[int, int, int]]):
    """Red, green and blue, each from 0 to 255."""

    expected = "a list of red, green and blue, each from 0 to 255"

    def read(self, where: str, value: object) -> tuple[int, int, int]:
        if (
            not isinstance(value, list)
            or len(value) != 3
            or any(type(each) is not int or not 0 <= each <= 255 for each in value)
        ):
            refuse(where, value, self.expected)
        red, green, blue = value
        return red, green, blue

    def write(self, value: tuple[int, int, int]) -> list[int]:
        return list(value)


class Text(FieldType[str]):
    """Printable characters, at most `longest` of them."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self.expected = f"1 to {longest} printable characters"

    def read(self, where: str, value: object) -> str:
        if not isinstance(value, str) or not 0 < len(value) <= self._longest or not value.isprintable():
            refuse(where, value, self.expected)
        return value


class Matching(FieldType[str]):
    """A text of a pattern."""

    def __init__(self, pattern: re.Pattern[str], expected: str) -> None:
        self._pattern = pattern
        self.expected = expected

    def read(self, where: str, value: object) -> str:
        if not isinstance(value, str) or not self._pattern.fullmatch(value):
            refuse(where, value, self.expected)
        return value


class Time(FieldType[datetime]):
    """A time in UTC."""

    expected = "a time in UTC such as 2026-11-21T18:42:07.123Z"

    def read(self, where: str, value: object) -> datetime:
        if isinstance(value, str):
            try:
                return parse_utc(value)
            except WireError:
                pass
        refuse(where, value, self.expected)

    def write(self, value: datetime) -> str:
        return format_utc(value)


class Member(FieldType[_E]):
    """One word of a fixed list."""

    def __init__(self, kind: type[_E]) -> None:
        self._members: Mapping[str, _E] = {each.value: each for each in kind}
        self.expected = " or ".join(kind)

    def read(self, where: str, value: object) -> _E:
        if isinstance(value, str) and (member := self._members.get(value)) is not None:
            return member
        refuse(where, value, self.expected)


class Flags(FieldType[frozenset[str]]):
    """A set of codes, written in their order."""

    expected = f"a list of at most {MOST_FLAGS} flags"

    def read(self, where: str, value: object) -> frozenset[str]:
        if not isinstance(value, list) or len(value) > MOST_FLAGS:
            refuse(where, value, self.expected)
        for item in value:
            if not isinstance(item, str) or not _CODE.fullmatch(item):
                refuse(where, item, "a flag of lower-case letters and underscores")
        return frozenset(value)

    def write(self, value: frozenset[str]) -> list[str]:
        return sorted(value)


class AnyObject(FieldType[Mapping[str, object]]):
    """A JSON object of any shape."""

    expected = "a JSON object"

    def read(self, where: str, value: object) -> dict[str, object]:
        if not isinstance(value, dict):
            refuse(where, value, self.expected)
        return value

    def write(self, value: Mapping[str, object]) -> dict[str, object]:
        return dict(value)


OBJECT, FACT = AnyObject(), Fact()
HEX_ID = Matching(_HEX_ID, "32 hexadecimal digits")
"""An id of 128 bits."""
CODE = Matching(_CODE, "lower-case letters, digits and underscores")
"""A word that programs know."""


class Limits(FieldType[Mapping[str, float | None]]):
    """Settings by their names; one that is not set is null."""

    expected = f"a JSON object with at most {MOST_FACTS} limits, each a number or null"

    def read(self, where: str, value: object) -> dict[str, float | None]:
        entries = OBJECT.read(where, value)
        if len(entries) > MOST_FACTS:
            refuse(where, entries, f"at most {MOST_FACTS} limits")
        return {
            CODE.read(where, key): None if entry is None else FACT.read(f"{where}.{key}", entry)
            for key, entry in entries.items()
        }

    def write(self, value: Mapping[str, float | None]) -> dict[str, float | None]:
        return dict(value)


class ByGod(FieldType[Mapping[God, _T]]):
    """One value for each god."""

    def __init__(self, each: FieldType[_T]) -> None:
        self._each = each
        self.expected = f"for each god: {each.expected}"

    def read(self, where: str, value: object) -> dict[God, _T]:
        entries = OBJECT.read(where, value)
        if missing := [god for god in God if god not in entries]:
            refuse(where, entries, f"an entry for {missing[0]}")
        return {god: self._each.read(f"{where}.{god}", entries[god]) for god in God}

    def write(self, value: Mapping[God, _T]) -> dict[God, object]:
        writer = self._each.writer
        return dict(value) if writer is None else {god: writer(value[god]) for god in God}


class ListOf(FieldType[tuple[_T, ...]]):
    """A list of at most `most` values."""

    def __init__(self, each: FieldType[_T], most: int, plural: str) -> None:
        self._each = each
        self._most = most
        self._few = f"a list of at most {most} {plural}"
        self.expected = f"{self._few}, each {each.expected}"

    def read(self, where: str, value: object) -> tuple[_T, ...]:
        return tuple(self._items(where, value))

    def _items(self, where: str, value: object) -> Iterator[_T]:
        if not isinstance(value, list) or len(value) > self._most:
            refuse(where, value, self._few)
        for item in value:
            yield self._each.read(where, item)

    def write(self, value: tuple[_T, ...]) -> list[object]:
        return [self._each.write(item) for item in value]
