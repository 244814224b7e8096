"""Writes the preview of a move: what is certain, then each possible outcome of the dice."""

from __future__ import annotations

from collections.abc import Iterable

from companion.games.kit import Line, Preview
from companion.web.rendering.texts import Texts


def preview_text(words: Texts, preview: Preview) -> str:
    """Return a preview, a line of text for each change and each way; nothing if it shows nothing."""
    lines = _lines(words, preview.certain)
    if preview.assumed:
        lines.append(words("preview.assumed"))
    for way in preview.ways:
        outcome = " ".join(_lines(words, way.lines))
        if way.open or not outcome:
            outcome = f"{outcome} {words('preview.open' if way.open else 'preview.nothing')}".strip()
        lines.append(words("preview.way", share=words.share(float(way.share)), lines=outcome))
    return "\n".join(lines)


def _lines(words: Texts, lines: Iterable[Line]) -> list[str]:
    return [words(f"preview.{line.code}", **line.facts) for line in lines]
