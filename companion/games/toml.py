"""Reads TOML that a stranger may have written in a time that its length bounds: a scan judges it before it is parsed.

`tomllib` needs the square of a key's parts in time and memory (100 kB of ``a.a.a...`` fill a machine), and recursion
for every bracket. So the scan, which is linear, refuses what no file of a game needs: keys of many parts, brackets
deep in each other, and more values than any deck or map has.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from companion.games.kernel import Arg, Fault

MOST_PARTS = 8
"""Parts of one key, ``a.b.c`` has three."""

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

Where the scan and `tomllib` could read a text in two ways, `tomllib` has met an error and reads no further.
"""


class TomlLimitError(ValueError):
    """A text that is not parsed at all, as it would cost too much; `fault` has words in every game's texts."""

    def __init__(self, line: int, code: str, **facts: Arg) -> None:
        super().__init__(f"line {line}: {code} {facts}")
        self.fault = Fault(line, code, facts)


def loads(text: str) -> dict[str, Any]:
    """Return what a TOML text holds; raises `TomlLimitError`, or `tomllib.TOMLDecodeError` for what is no TOML."""
    check(text)
    return tomllib.loads(text)


def check(text: str) -> None:
    """Raise `TomlLimitError` where a text is too deep or holds too much, whether it is TOML or not."""
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
