"""The options of a table: rules with a few values, numbers, and texts such as decks and maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Self, get_type_hints

from msgspec import Struct, field
from msgspec.structs import replace

from companion.games.kit.moves import Facts, Value

LONGEST_TEXT = 200_000
"""The most characters of a text for an option."""
LONGEST_LINE = 1_000
"""The most characters of one of its lines."""
MOST_LINES = 4_000
"""The most lines of such a text."""


class Fault(Struct, frozen=True):
    """A fault in a text: where it is, what was found and what was expected."""

    line: int
    """From 1."""
    code: str
    """Its text is under ``fault``."""
    facts: Facts = field(default_factory=dict)
    """What was found, and what was expected."""
    column: int = 1
    """From 1."""


class Reader(Struct, frozen=True):
    """How a game reads the text of an option. Both functions are pure.

    A text has at most `LONGEST_TEXT` letters, in at most
    `MOST_LINES` lines of at most `LONGEST_LINE`, and no control characters but tabs and line ends.
    """

    faults: Callable[[str], Sequence[Fault]]
    """Everything that is wrong in a text, in order."""
    contents: Callable[[str], Sequence[tuple[str, Facts]]]
    """What a text without faults contains, as codes with texts under ``contents``."""
    commands: Mapping[str, Callable[[str, Sequence[str]], str]] = field(default_factory=dict)
    """Commands that change a text, by their names: each returns it changed, by words that are given with it.

    The help of a command is the first line of its docstring, after "Return".

    It raises `ValueError` for words that it does not know, or a text that it cannot change.
    """


class Option(Struct, frozen=True):
    """A rule that a table may choose: one of `values`, a whole number from `low` to `high`, or a text of its own.

    Where there is a `reader`, a table may bring a file.
    """

    key: str
    """Its name among the options of the game, and under ``option`` in the texts."""
    default: Value
    """What a table has that chose nothing."""
    ruling: str
    """The id of the ruling that it settles, such as ``"M25"``, or empty."""
    values: tuple[Value, ...] = ()
    """What may be chosen; where there is a range, only suggestions."""
    low: int = 0
    """The lowest whole number."""
    high: int = 0
    """The highest whole number; 0 where there is no range."""
    reader: Reader | None = None
    """Reads a file that a table brings.

    The value is then its whole text, so the table keeps it whatever becomes of the file.
    """
    only: tuple[str, Value] | None = None
    """Another option of the game, and the value that it must have for this one to matter."""
    group: str = ""
    """Options of one group are offered together, under the words of ``option_group.<group>``."""

    def matters(self, chosen: Mapping[str, Value]) -> bool:
        """Return whether this option has any effect, given the others.

        >>> Option("deck", "default", "", ("default",), only=("scope", "full")).matters({"scope": "temple"})
        False
        """
        return self.only is None or chosen.get(self.only[0]) == self.only[1]

    def accepts(self, value: object) -> bool:
        """Return whether a table may choose this value; if there is a range, `values` are only suggestions.

        >>> Option("goal", 30, "", (20, 30), low=10, high=50).accepts(49)
        True
        """
        if self.high:
            return type(value) is int and self.low <= value <= self.high
        if type(value) in (int, str) and value in self.values:
            return True
        return self.reader is not None and isinstance(value, str) and not self.faults(value)

    @property
    def accepted(self) -> str:
        """What it accepts, for error messages."""
        if self.high:
            return f"a whole number from {self.low} to {self.high}"
        return " or ".join((*map(str, self.values), *("a text without faults",) * (self.reader is not None)))

    def faults(self, text: str) -> tuple[Fault, ...]:
        """Return the faults of a text for it; raises `ValueError` if it takes no text."""
        if self.reader is None:
            raise ValueError(f"option {self.key} was given a text; expected one of its values")
        return _unreadable(text) or tuple(self.reader.faults(text))


def rule(default: Value, ruling: str, values: tuple[Value, ...] = (), **rest: Any) -> Option:
    """Return an option for the annotation of a field of `TableRules`, whose name becomes its key.

    >>> rule(30, "", low=10, high=50).accepted
    'a whole number from 10 to 50'
    """
    return Option("", default, ruling, values, **rest)


def switch(default: str, ruling: str, **rest: Any) -> Option:
    """Return an option that is ``on`` or ``off``, the default first.

    >>> switch("off", "M4").values
    ('off', 'on')
    """
    return rule(default, ruling, ("on", "off") if default == "on" else ("off", "on"), **rest)


class TableRules(Struct, frozen=True):
    """The options of one table: a game's subclass declares each as a field, and its `rule` as the annotation.

    `Chosen.of({"goal": 20})` then reads a choice for ::

        class Chosen(TableRules, frozen=True):
            goal: Annotated[int, rule(30, "", low=10, high=50)]
    """

    @classmethod
    @cache
    def options(cls, *keys: str) -> tuple[Option, ...]:
        """Return some options by their keys, for a tool that has the same; without keys all, as the fields come."""
        hints = get_type_hints(cls, include_extras=True)
        return tuple(replace(hints[key].__metadata__[0], key=key) for key in keys or cls.__struct_fields__)

    @classmethod
    def of(cls, chosen: Mapping[str, Value]) -> Self:
        """Read a choice that is complete for what matters; what does not matter has its default.

        Raises `ValueError` if it is incomplete or has a value that is not accepted.
        """
        return cls(**complete(cls.options(), chosen))

    def chosen(self) -> dict[str, Value]:
        """Return each option that matters with its value."""
        values = {option.key: getattr(self, option.key) for option in self.options()}
        return {option.key: values[option.key] for option in self.options() if option.matters(values)}

    def departures(self) -> dict[str, Value]:
        """Return the options whose value is not their default."""
        default = {option.key: option.default for option in self.options()}
        return {key: value for key, value in self.chosen().items() if value != default[key]}


def complete(options: Sequence[Option], chosen: Mapping[str, Value]) -> dict[str, Value]:
    """Return the value of each option; of one that does not matter it is the default, whatever was chosen.

    Raises `ValueError` for a choice in which one that matters is missing, or with a value that no option accepts.

    >>> complete((Option("goal", 30, "", low=10, high=50),), {"goal": 60})
    Traceback (most recent call last):
        ...
    ValueError: option goal is 60; expected a whole number from 10 to 50
    """
    known = {option.key: option for option in options}
    for key, given in chosen.items():
        if key not in known:
            raise ValueError(f"option {ascii(key)[:60]} is unknown; expected only the game's options")
        if not known[key].accepts(given):
            raise ValueError(f"option {key} is {ascii(given)[:60]}; expected {known[key].accepted}")
    values = {}
    for option in options:
        if option.only and not option.matters(chosen):
            values[option.key] = option.default
        elif option.key in chosen:
            values[option.key] = chosen[option.key]
        else:
            raise ValueError(f"option {option.key} is missing; expected a value for each that matters")
    return values


def _unreadable(text: str) -> tuple[Fault, ...]:
    """Return why a text is not given to a reader at all, so that no text can exhaust it."""
    if not text.strip():
        return (Fault(1, "empty_text"),)
    if len(text) > LONGEST_TEXT:
        return (Fault(1, "long_text", {"length": len(text), "longest": LONGEST_TEXT}),)
    if (lines := text.count("\n") + 1) > MOST_LINES:
        return (Fault(MOST_LINES, "many_lines", {"n": lines, "most": MOST_LINES}),)
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            found.append(Fault(number, "long_line", {"length": len(line), "longest": LONGEST_LINE}))
        if any((sign < " " and sign != "\t") or "\ud800" <= sign <= "\udfff" for sign in line):
            found.append(Fault(number, "control"))
    return tuple(found)
