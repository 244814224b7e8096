"""Reads PDFs of sheets: how big the pages are, and how long the lines on them came out, in millimetres."""

from __future__ import annotations

import io
from collections.abc import Iterator
from math import hypot
from typing import Any

from pypdf import PageObject, PdfReader

POINT = 25.4 / 72

Point = tuple[float, float]


def pages(pdf: bytes) -> list[PageObject]:
    return list(PdfReader(io.BytesIO(pdf)).pages)


def asked(pdf: bytes) -> dict[str, str]:
    """Return what a PDF asks of the viewer who prints it."""
    asks = PdfReader(io.BytesIO(pdf)).trailer["/Root"]["/ViewerPreferences"]  # type: ignore[index]
    return {str(key): str(value) for key, value in asks.items()}


def size(page: PageObject) -> tuple[float, float]:
    """Return a page's width and height."""
    box = page.mediabox
    return round(float(box.width) * POINT, 1), round(float(box.height) * POINT, 1)


def fonts(page: PageObject) -> set[str]:
    """Return the names of the fonts that a page is set in."""
    held = page["/Resources"].get_object()["/Font"]  # type: ignore[index]
    return {str(font.get_object()["/BaseFont"]).partition("+")[2] for font in held.get_object().values()}


def lengths(page: PageObject) -> list[float]:
    """Return the length of every straight stroke from a starting point, as it lies on the paper."""
    return [round(hypot(x2 - x1, y2 - y1), 2) for (x1, y1), (x2, y2) in strokes(page)]


def strokes(page: PageObject) -> list[tuple[Point, Point]]:
    """Return both ends of every straight stroke, from the lower left corner of the paper."""
    return list(_strokes(page))


def _strokes(page: PageObject) -> Iterator[tuple[Point, Point]]:
    contents = page.get_contents()
    assert contents is not None
    matrix, kept = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0), []
    operands: list[str] = []
    begun: Point | None = None
    for word in contents.get_data().decode("latin-1").split():
        if word[0] in "-+.0123456789":
            operands.append(word)
            continue
        numbers = [float(each) for each in operands[-6:]] if word in ("cm", "m", "l") else []
        operands = []
        if word == "q":
            kept.append(matrix)
        elif word == "Q":
            matrix = kept.pop()
        elif word == "cm":
            a, b, c, d, e, f = numbers
            m, n, o, p, q, r = matrix
            matrix = (
                a * m + b * o,
                a * n + b * p,
                c * m + d * o,
                c * n + d * p,
                e * m + f * o + q,
                e * n + f * p + r,
            )
        elif word == "l" and begun:
            yield begun, _on_paper(numbers, matrix)
        begun = _on_paper(numbers, matrix) if word == "m" else None


def _on_paper(point: list[float], m: tuple[float, ...]) -> Point:
    x, y = point
    return (m[0] * x + m[2] * y + m[4]) * POINT, (m[1] * x + m[3] * y + m[5]) * POINT


def bottoms_and_tops(document: Any, above: str, below: str) -> list[tuple[float, float]]:
    """Return for each pair of boxes of two classes, in their order, where the upper ends and the lower begins."""
    boxes = [box for page in document.pages for box in page._page_box.descendants() if box.element is not None]
    blocks = [box for box in boxes if type(box).__name__ in ("BlockBox", "AbsolutePlaceholder")]
    uppers = [box for box in blocks if box.element.get("class") == above]
    lowers = [box for box in blocks if box.element.get("class") == below]
    return [(upper.position_y + upper.height, lower.position_y) for upper, lower in zip(uppers, lowers, strict=True)]
