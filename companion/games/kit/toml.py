"""Reads TOML that a stranger may have written, with the line and the column of everything in it.

It takes a time that the text's length bounds: a scan judges it before it is parsed.

`tomllib` needs the square of a key's parts in time and memory (100 kB of ``a.a.a...`` fill a machine), and recursion
for every bracket. So the scan, which is linear, refuses what no file of a game needs: keys of many parts, brackets
deep in each other, and more values than any deck or map has.
"""

from __future__ import annotations

import re
import tomllib
from functools import cached_property
from typing import Any, TypeAlias

from companion.games.kit.moves import Arg
from companion.games.kit.options import Fault

Path: TypeAlias = tuple[str | int, ...]
"""The path of a key, with the indices of list items: ``("walls", 3)``."""

MOST_PARTS = 8
"""Parts of one key, ``a.b.c`` has three."""

MOST_ERRORS = 20
"""Places at which a text is no TOML, after which it is read no further."""

DEEPEST = 16
"""Brackets that may be open at once."""

MOST_SIGNS = 24_000
"""Brackets, commas, dots, equals signs, strings, comments and lines of a text; a deck with all words has 10,500."""

_SIGN = re.compile(
    r'''
      \#[^\n]*+
    | """(?:[^"\\]++|\\.|"(?!""))*+"{0,5}   # up to two quotes before the closing three belong to the text
    | \'\'\'(?:[^']++|'(?!''))*+'{0,5}
    | "(?:[^"\\\n]++|\\.)*+"?
    | '[^'\n]*+'?
    | [][{}.,=\n]
    ''',
    re.VERBOSE | re.DOTALL,
)
"""One sign. Each alternative succeeds wherever it begins, so that nothing is looked at twice.

If the scan and `tomllib` could read a text in two ways, `tomllib` has met an error and reads no further.
"""


class TomlError(ValueError):
    """A text that is not TOML; `said` is the parser's message."""

    def __init__(self, line: int, column: int, said: str) -> None:
        super().__init__(f"{line}:{column}: {said}; expected TOML")
        self.line, self.column, self.said = line, column, said


class TomlLimitError(ValueError):
    """A text that is not parsed because it would cost too much; `fault` has a text for every game."""

    def __init__(self, line: int, code: str, **facts: Arg) -> None:
        super().__init__(f"{line}: {code} {facts}")
        self.fault = Fault(line, code, facts)


class Document:
    r"""A parsed TOML text: its contents, and the position of each key and list item.

    >>> mine = read('name = "Lake"\n[places]\n  a1 = [1, 2]')
    >>> mine.tree["places"]
    {'a1': [1, 2]}
    >>> mine.position("places", "a1"), mine.position("places", "a1", 1)
    ((3, 3), (3, 12))
    """

    def __init__(self, text: str, tree: dict[str, Any]) -> None:
        self.text, self.tree = text, tree

    @cached_property
    def _places(self) -> dict[Path, int]:
        return _Places(self.text).found

    def position(self, *path: str | int) -> tuple[int, int]:
        """Return the line and column, from 1, of a key or an item, or of its parent if it has none."""
        places = self._places
        at = next((places[path[:n]] for n in range(len(path), 0, -1) if path[:n] in places), 0)
        return self.text.count("\n", 0, at) + 1, at - self.text.rfind("\n", 0, at)

    def line(self, *path: str | int) -> int:
        """Return the line of a key or an item."""
        return self.position(*path)[0]

    def fault(self, path: Path, code: str, **facts: Arg) -> Fault:
        """Return a fault at a key, an item or its value."""
        line, column = self.position(*path)
        return Fault(line, code, facts, column)


EMPTY = Document("", {})


def read(text: str) -> Document:
    """Parse a TOML text; raises `TomlLimitError`, or `TomlError` if it is not TOML.

    >>> read("name = ")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    TomlError: 1:8: Invalid value; expected TOML
    """
    check(text)
    try:
        return Document(text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        at = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", str(error))
        lines = text.split("\n")
        line, column = (int(at[1]), int(at[2])) if at and at[1] else (len(lines), len(lines[-1]) + 1)
        raise TomlError(line, column, str(error)[: at.start() if at else None]) from error


def read_past_errors(text: str) -> tuple[Document, list[TomlError]]:
    r"""Parse what can be read of a text that may not be TOML everywhere, and return what is wrong with the rest.

    Lines with an error are left out, and with a table's header all lines up to the next one; raises `TomlLimitError`.

    >>> mine, wrong = read_past_errors("[war]\na = 1\nb = \nc = 3")
    >>> mine.tree, [error.line for error in wrong]
    ({'war': {'a': 1, 'c': 3}}, [3])
    """
    lines, errors = text.split("\n"), list[TomlError]()
    while True:
        try:
            return read("\n".join(lines)), errors
        except TomlError as error:
            errors.append(error)
            at = error.line - 1
            if len(errors) >= MOST_ERRORS or not lines[at].strip():  # it is not that line alone
                return EMPTY, errors
            is_header = lines[at].lstrip().startswith("[")
            lines[at] = ""
            while is_header and (at := at + 1) < len(lines) and not lines[at].lstrip().startswith("["):
                lines[at] = ""


def with_list(text: str, key: str, items: str) -> str:
    r"""Return a text with another list of plain items under a key of its own line, everything else as it is.

    >>> with_list('# mine\nwalls = ["a1 e"]  # all', "walls", "[]")
    '# mine\nwalls = []  # all'
    """
    pattern = rf"^([ \t]*{re.escape(key)}[ \t]*=[ \t]*)\[[^]]*\]"
    return re.sub(pattern, lambda found: found[1] + items, text, count=1, flags=re.MULTILINE)


def check(text: str) -> None:
    """Raise `TomlLimitError` if a text is too deep or too large, whether it is TOML or not."""
    depth = dots = 0
    for signs, found in enumerate(_SIGN.finditer(text), 1):
        sign = found[0]
        if signs > MOST_SIGNS:
            raise TomlLimitError(_line(text, found), "many_signs", most=MOST_SIGNS)
        if sign == ".":
            dots += 1
            if dots >= MOST_PARTS:
                raise TomlLimitError(_line(text, found), "long_key", most=MOST_PARTS)
        elif sign in ("[", "{"):
            depth, dots = depth + 1, 0
            if depth > DEEPEST:
                raise TomlLimitError(_line(text, found), "nested", most=DEEPEST)
        elif sign in ("]", "}"):
            depth, dots = max(0, depth - 1), 0
        elif sign in (",", "=", "\n"):
            dots = 0


def _line(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start()) + 1


_TOKEN = re.compile(rf"{_SIGN.pattern}|[^][{{}}.,=#\"'\s]+", re.VERBOSE | re.DOTALL)


class _Places:
    """Walks through a valid TOML text and records where each key, table and list item first appears."""

    def __init__(self, text: str) -> None:
        self.found: dict[Path, int] = {}
        self._tokens = [(each[0], each.start()) for each in _TOKEN.finditer(text) if each[0][0] != "#"]
        self._tokens.reverse()
        table: Path = ()
        while self._tokens:
            sign, at = self._tokens[-1]
            if sign == "\n":
                self._tokens.pop()
            elif sign == "[":
                table = self._keys("]")
                self.found.setdefault(table, at)
                while self._tokens and self._tokens[-1][0] == "]":
                    self._tokens.pop()
            else:
                self._pair(table)

    def _keys(self, end: str) -> Path:
        keys: list[str] = []
        while (sign := self._tokens.pop()[0]) != end:
            if sign not in (".", "["):
                keys.append(sign.strip("\"'"))
        return tuple(keys)

    def _pair(self, holder: Path) -> None:
        at = self._tokens[-1][1]
        path = (*holder, *self._keys("="))
        for n in range(len(holder) + 1, len(path) + 1):
            self.found.setdefault(path[:n], at)
        self._value(path)

    def _value(self, path: Path) -> None:
        sign, _ = self._tokens.pop()
        if sign not in ("[", "{"):
            while self._tokens and self._tokens[-1][0] not in (",", "]", "}", "\n"):
                self._tokens.pop()
            return
        n = 0
        while (sign_at := self._tokens[-1])[0] not in ("]", "}"):
            if sign_at[0] in (",", "\n"):
                self._tokens.pop()
            elif sign == "{":
                self._pair(path)
            else:
                self.found.setdefault((*path, n), sign_at[1])
                self._value((*path, n))
                n += 1
        self._tokens.pop()
