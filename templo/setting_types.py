"""What one setting may be: each kind reads a value from a file, the environment or a flag, and says what it expects.

It knows no setting by its name, and none beside the one that it reads.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from templo import contract

_NS_PER_MS = 1_000_000


class RawValue(NamedTuple):
    """A value and where it came from; `text` where it came without a type of its own."""

    value: object
    origin: str
    text: bool


class SettingType(Protocol):
    """What a setting must be; `expected` says it in an error's words."""

    expected: str

    def read(self, given: RawValue) -> object:
        """Return the value, checked; raises `ValueError` or `OverflowError` for anything else."""


class Whole:
    """A whole number within a range."""

    def __init__(self, low: int, high: int, what: str = "a whole number") -> None:
        self.low, self.high = low, high
        self.expected = f"{what} from {low} to {high}"

    def read(self, given: RawValue) -> object:
        """Return the value, checked."""
        value = int(str(given.value)) if given.text else given.value
        if type(value) is not int or not self.low <= value <= self.high:
            raise ValueError
        return value


class Milliseconds:
    """A time within a range, given in milliseconds and read as whole nanoseconds."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        self.expected = f"milliseconds from {low:g} to {high:g}"

    def read(self, given: RawValue) -> object:
        """Return the value, checked."""
        value = float(str(given.value)) if given.text else given.value
        if type(value) not in (int, float) or not self.low <= value <= self.high:  # type: ignore[operator]
            raise ValueError
        return round(value * _NS_PER_MS)  # type: ignore[operator]


class OneOf:
    """One of a few words."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.expected = "one of " + ", ".join(words)

    def read(self, given: RawValue) -> object:
        """Return the value, checked."""
        if given.value not in self.words:
            raise ValueError
        return given.value


class Text:
    """Printable text of a length."""

    def __init__(self, longest: int, expected: str) -> None:
        self.longest = longest
        self.expected = expected

    def read(self, given: RawValue) -> object:
        """Return the value, checked."""
        value = given.value
        if not isinstance(value, str) or not 0 < len(value) <= self.longest or not value.isprintable():
            raise ValueError
        return value


class Temple:
    """A name that may stand in a topic."""

    expected = "1 to 32 lower-case letters, digits and inner hyphens"

    def read(self, given: RawValue) -> object:
        """Return the value, checked."""
        if not isinstance(given.value, str):
            raise ValueError
        return contract.temple_name(given.value)
