"""Reads a game's guide: its rules in prose, with the rulings beside them.

A guide is Markdown. A ruling is a quotation after the paragraph that it interprets. Its first paragraph begins with
the ruling's id and says what the rule text leaves open; what follows is how we read it::

    Whoever rolls higher takes tokens from the other.

    > M12 The text says "the lower number": of the two dice, or of tokens?
    >
    > The value of the lower die.

Several rulings on one paragraph are several quotations with an empty line between them. HTML in a guide is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup
from msgspec import Struct, field

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_ID = re.compile(r"\s*([A-Z]\d{1,3})[\s.:·]+")


class Note(Struct, frozen=True):
    """A ruling: its id, what the rule text leaves open, and how we read it."""

    ruling: str
    says: Markup
    reads: Markup


class Passage(Struct):
    """A part of the prose, and the rulings beside it. A heading begins a passage, and names it."""

    heading: str = ""
    level: int = 0
    prose: Markup = field(default_factory=Markup)
    notes: list[Note] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """The anchor of the heading."""
        return re.sub(r"[^\w]+", "-", self.heading.lower()).strip("-")


class Guide(Struct, frozen=True):
    """A game's guide in one language."""

    title: str
    passages: Sequence[Passage]

    @property
    def rulings(self) -> list[str]:
        """The ids of all rulings in it, in order."""
        return [note.ruling for passage in self.passages for note in passage.notes]


class GuideError(ValueError):
    """A guide that cannot be read; the message says which line, and what was expected there."""


@cache
def load(path: Path) -> Guide:
    """Return the guide of a file; raises `GuideError`."""
    try:
        return read(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GuideError(f"guide {path}: {error}") from error


def read(text: str) -> Guide:
    """Return the guide that a Markdown text holds; raises `GuideError`."""
    from markdown_it import MarkdownIt  # a start has no use for its many modules

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    title, passages = "", [Passage()]
    for block in _blocks(markdown.parse(text)):
        first = block[0]
        if first.type == "heading_open":
            line, level = block[1].content, int(first.tag[1:])
            if level == 1:
                title = line
            else:
                passages.append(Passage(line, level))
        elif first.type == "blockquote_open":
            passages[-1].notes.append(_note(markdown, block))
        else:
            if passages[-1].notes:
                passages.append(Passage())
            passages[-1].prose += _html(markdown, block)
    if not title:
        raise GuideError("it has no title; expected a line that begins with one #")
    return Guide(title, [each for each in passages if each.heading or each.prose])


def _blocks(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Split tokens into the blocks of the outermost level, each with all that it holds."""
    block: list[Token] = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def _note(markdown: MarkdownIt, block: list[Token]) -> Note:
    first, *rest = _blocks([_raised(token) for token in block[1:-1]])
    inline = first[1] if len(first) > 1 else first[0]
    found = _ID.match(inline.content)
    line = (block[0].map or [0])[0] + 1
    if found is None or not inline.children:
        raise GuideError(
            f"line {line}: the quotation begins {inline.content[:30]!r}; expected a ruling's id and words"
        )
    if not rest:
        raise GuideError(
            f"line {line}: ruling {found[1]} says nothing of how it is read; expected a second paragraph"
        )
    inline.children[0].content = inline.children[0].content[found.end() :]
    return Note(found[1], _html(markdown, first), _html(markdown, [token for each in rest for token in each]))


def _raised(token: Token) -> Token:
    return token.copy(level=token.level - 1)


def _html(markdown: MarkdownIt, tokens: Sequence[Token]) -> Markup:
    return Markup(markdown.renderer.render(tokens, markdown.options, {}))  # noqa: S704  # its HTML is switched off
