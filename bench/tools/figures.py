"""Figures and the table that shows them. Pure: it measures nothing."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """A summary of many samples, in their unit."""

    count: int
    median: float
    p95: float
    p99: float
    worst: float


def spread(samples: Iterable[float]) -> Spread:
    """Return median, 95th and 99th percentile (nearest rank) and worst; raises ValueError without any sample."""
    ordered = sorted(samples)
    if not ordered:
        raise ValueError("there are 0 samples; expected at least one")
    return Spread(len(ordered), _rank(ordered, 0.5), _rank(ordered, 0.95), _rank(ordered, 0.99), ordered[-1])


def _rank(ordered: Sequence[float], share: float) -> float:
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: our figure, a peer's where there is one, and the target.

    `target` is the most that ours may be, or the least where `more` is better.
    """

    what: str
    unit: str
    ours: float
    peer: float | None = None
    target: float | None = None
    more: bool = False

    @property
    def verdict(self) -> str:
        """Whether the target is met; empty if there is none."""
        if self.target is None:
            return ""
        return "met" if (self.ours >= self.target if self.more else self.ours <= self.target) else "missed"


@dataclass(frozen=True, slots=True)
class Chapter:
    """One part of the bench: its title, its lines, and notes that help to read them."""

    title: str
    rows: tuple[Row, ...]
    note: str


HEAD = ("figure", "unit", "ours", "peer", "ours/peer", "target", "")


def written(chapters: Sequence[Chapter]) -> str:
    """Return all chapters as one Markdown table with its notes below."""
    lines: list[tuple[str, ...]] = []
    for chapter in chapters:
        lines.append((f"**{chapter.title}**", "", "", "", "", "", ""))
        lines.extend(_cells(row) for row in chapter.rows)
    text = [table(HEAD, lines, left=(0, 1, 6))]
    for chapter in chapters:
        text += ["", *textwrap.wrap(f"**{chapter.title}.** {chapter.note}", 118)]
    return "\n".join(text)


def table(head: Sequence[str], lines: Sequence[Sequence[str]], left: Collection[int]) -> str:
    """Return a Markdown table; the columns in `left` are aligned to the left, all others to the right.

    >>> print(table(("what", "n"), [("posts", "7")], left=(0,)))
    | what  |  n |
    | ----- | -: |
    | posts |  7 |
    """
    widths = [max(2, *(len(line[n]) for line in [head, *lines])) for n in range(len(head))]
    rule = ["-" * width if n in left else "-" * (width - 1) + ":" for n, width in enumerate(widths)]
    return "\n".join(_line(line, widths, left) for line in (head, rule, *lines))


def _cells(row: Row) -> tuple[str, ...]:
    ratio = "" if not row.peer else f"{row.ours / row.peer:.2f}"
    bound = "" if row.target is None else f"{'>=' if row.more else '<='} {number(row.target)}"
    return (
        row.what,
        row.unit,
        number(row.ours),
        "" if row.peer is None else number(row.peer),
        ratio,
        bound,
        row.verdict,
    )


def _line(cells: Sequence[str], widths: Sequence[int], left: Collection[int]) -> str:
    padded = [
        cell.ljust(width) if n in left else cell.rjust(width)
        for n, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return f"| {' | '.join(padded)} |"


def number(value: float) -> str:
    """Return a figure rounded to its significant digits."""
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
