"""The code in pages of Markdown: what stands in fences and in backticks. Python's own library is enough for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def text_without_fences(page: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def code(page: Path) -> Iterator[str]:
    """Yield each line of the fences and each piece in backticks; a line that ends with a backslash goes on."""
    text = page.read_text("utf-8")
    for block in re.findall(r"^```(?:console|sh|bash)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield from block.replace("\\\n", " ").splitlines()
    yield from re.findall(r"`([^`\n]+)`", text_without_fences(page))
