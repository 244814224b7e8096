"""The words of the project: what the glossary replaced stays out of the docs, the texts and the docstrings.

A word in backticks is a name, and not looked at.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.test_docs import PAGES, ROOT

INSTEAD = {
    "told|tells?|telling": "say, report, publish, send or distinguish",
    "hears?|heard|hearing|unheard": "receive, detect or connect",
    "errands?": "request",
    "heralds?": "publisher",
    "mourn(?:s|ed|ing)?": "report an exception",
    "dwells?|dwelt|dwelling": "be, stay",
    "untold": "pending",
    "anew": "again",
    "reckon(?:s|ed|ing)?": "count, expect",
}
BANNED = re.compile("|".join(rf"\b(?:{words})\b" for words in INSTEAD), re.IGNORECASE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
PLAIN_PACKAGES = ("bench", "companion/cli", "companion/web", "hardware", "templo/contract", "tools")
"""Packages in which every docstring is looked at; elsewhere it is the modules' own."""
PROGRAMS = ("templo", "controller", "companion", "firmware", "bench", "hardware", "tools")
TEXTS = sorted([*(ROOT / "companion").rglob("texts/en*.toml"), *(ROOT / "companion").rglob("guide.en.md")])


def found(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the advice for each banned word of a text."""
    for number, line in enumerate(text.splitlines(), 1):
        for word in BANNED.finditer(re.sub(r"`+[^`]*`+|\{[^}]*\}|\"[^\"]*\"(?= =)|^\[?[\w.]+\]?(?: =|$)", "", line)):
            advice = next(to for words, to in INSTEAD.items() if re.fullmatch(words, word[0], re.IGNORECASE))
            yield number, f"{word[0]!r}; write {advice}"


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring that is looked at; constants' docstrings are among them."""
    tree = ast.parse(path.read_text("utf-8"))
    everywhere = path.relative_to(ROOT).as_posix().startswith(PLAIN_PACKAGES)
    for node in ast.walk(tree) if everywhere else [tree]:
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) and everywhere else tree.body[:1]:
            if (
                isinstance(each, ast.Expr)
                and isinstance(each.value, ast.Constant)
                and isinstance(each.value.value, str)
            ):
                yield each.lineno, each.value.value


@pytest.mark.parametrize("page", [*PAGES, *TEXTS], ids=lambda page: str(page.relative_to(ROOT)))
def test_docs_and_texts_use_the_field_s_words(page: Path) -> None:
    text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), page.read_text("utf-8"))
    wrong = [f"{page.relative_to(ROOT)}:{number}: {advice}" for number, advice in found(text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", PROGRAMS)
def test_docstrings_use_the_field_s_words(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line + number - 1}: {advice}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, text in docstrings(path)
        for number, advice in found(text)
    ]
    assert not wrong, "\n".join(wrong)
