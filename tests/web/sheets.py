"""Reads PDFs of sheets: how big the pages are, and how long the lines on them came out, in millimetres."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from math import hypot
from typing import Any

from pypdf import PageObject, PdfReader

POINT = 25.4 / 72


def pages(pdf: bytes) -> list[PageObject]:
    return list(PdfReader(io.BytesIO(pdf)).pages)


def size(page: PageObject) -> tuple[float, float]:
    """Return a page's width and height."""
    box = page.mediabox
    return round(float(box.width) * POINT, 1), round(float(box.height) * POINT, 1)


def lengths(page: PageObject) -> list[float]:
    """Return the length of every straight stroke from a starting point, as it lies on the paper."""
    return [round(hypot(x2 - x1, y2 - y1), 2) for (x1, y1), (x2, y2) in strokes(page)]


def strokes(page: PageObject) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Return both ends of every straight stroke, from the lower left corner of the paper."""
    return list(_strokes(page))


def _strokes(page: PageObject) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    found: list[tuple[bytes, list[float], list[float]]] = []

    def seen(operator: bytes, operands: list[Any], matrix: list[float], _: list[float]) -> None:
        if operator in (b"m", b"l"):
            found.append((operator, [float(each) for each in operands], list(matrix)))

    page.extract_text(visitor_operand_before=seen)
    for (before, start, matrix), (operator, end, _) in itertools.pairwise(found):
        if (before, operator) == (b"m", b"l"):
            yield _on_paper(start, matrix), _on_paper(end, matrix)


def _on_paper(point: list[float], m: list[float]) -> tuple[float, float]:
    x, y = point
    return (m[0] * x + m[2] * y + m[4]) * POINT, (m[1] * x + m[3] * y + m[5]) * POINT
