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
CODE_INSTEAD = INSTEAD | {
    "(?:the|a|this|each|every|our) house(?! rules?)": "companion or installation, or say who reads a rule so",
    "shall": "must, or 'is to'",
    "l(?:ies|ay) open": "is open",
    "whose word": "who decides",
    "that (?:it|he|they) be": "the usual order of words",
    "to be had": "available",
}
"""What docstrings avoid besides; a game's text may well speak of houses."""
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
PROGRAMS = ("templo", "controller", "companion", "firmware", "bench", "lab", "hardware", "tests", "tools")
TEXTS = sorted([*(ROOT / "companion").rglob("texts/en*.toml"), *(ROOT / "companion").rglob("guide.en.md")])


def found(text: str, instead: dict[str, str] = INSTEAD) -> Iterator[tuple[int, str]]:
    """Yield the line and the advice for each banned word of a text."""
    banned = re.compile("|".join(rf"\b(?:{words})\b" for words in instead), re.IGNORECASE)
    for number, line in enumerate(text.splitlines(), 1):
        for word in banned.finditer(re.sub(r"`+[^`]*`+|\{[^}]*\}|\"[^\"]*\"(?= =)|^\[?[\w.]+\]?(?: =|$)", "", line)):
            advice = next(to for words, to in instead.items() if re.match(words, word[0], re.IGNORECASE))
            yield number, f"{word[0]!r}; write {advice}"


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring; constants' docstrings are among them."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else ():
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
        for number, advice in found(text, CODE_INSTEAD)
    ]
    assert not wrong, "\n".join(wrong)
