"""The code in pages of Markdown: what stands in fences and in backticks. Python's own library is enough for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


SHELLS = ("", "console", "sh", "bash")
"""What a fence is marked with that holds commands, or nothing in particular."""

_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def text_without_fences(page: Path) -> str:
    """Return a page without its blocks of code."""
    return _FENCE.sub("", page.read_text("utf-8"))


def code(page: Path) -> Iterator[str]:
    """Yield each line of the fences and each piece in backticks; a line that ends with a backslash goes on."""
    for language, block in _FENCE.findall(page.read_text("utf-8")):
        if language in SHELLS:
            yield from block.replace("\\\n", " ").splitlines()
    yield from re.findall(r"`([^`\n]+)`", text_without_fences(page))


_GENERATED = re.compile(r"<!-- (?:generated:|table|by) .*?<!-- (?:end|to here) -->", re.DOTALL)


def written(page: Path) -> str:
    """Return what people wrote of a page: it without what programs put between marks."""
    return _GENERATED.sub("", page.read_text("utf-8"))


def words_of(page: Path) -> int:
    """Return how many words people wrote on a page; code, a table's lines and other signs are none."""
    words = _FENCE.sub("", written(page)).split()
    return sum(any(letter.isalnum() for letter in word) for word in words)
