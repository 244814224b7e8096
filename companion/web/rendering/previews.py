"""Words the preview of a move: what is certain, then each possible outcome of the dice."""

from __future__ import annotations

from collections.abc import Iterable

from companion.games.kit import Line, Preview
from companion.web.rendering.texts import Words


def preview_words(words: Words, preview: Preview) -> str:
    """Return a preview, a line of text for each change and each way; nothing if it shows nothing."""
    said = _said(words, preview.certain)
    if preview.assumed:
        said.append(words("preview.assumed"))
    for way in preview.ways:
        lines = " ".join(_said(words, way.lines))
        if way.open or not lines:
            lines = f"{lines} {words('preview.open' if way.open else 'preview.nothing')}".strip()
        said.append(words("preview.way", share=words.share(float(way.share)), lines=lines))
    return "\n".join(said)


def _said(words: Words, lines: Iterable[Line]) -> list[str]:
    return [words(f"preview.{line.code}", **line.facts) for line in lines]
