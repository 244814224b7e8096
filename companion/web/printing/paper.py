"""The paper that pages are printed on: its sizes, and where pieces are placed on it, in millimetres."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from msgspec import Struct

MARGIN = 5.0
"""The margin that nearly every printer needs."""
STOCK = 0.3
"""The default thickness of a card."""
GAP, SHORTEST, LONGEST = 1.0, 1.0, 5.0
"""How far a cut mark stays from the pieces, and how long it is at least and at most."""

Item = TypeVar("Item")


class Paper(Struct, frozen=True):
    """A size of paper, upright."""

    name: str
    width: float
    height: float
    margin: float = MARGIN
    """The margins on each side."""

    def grid(self, width: float, height: float) -> Grid:
        """Return a grid of as many pieces of one size as fit inside the margins, centred, edge to edge.

        If several fit in a row, there is room for cut marks beside them.
        """
        columns, rows = self._fit(self.width, width), self._fit(self.height, height)
        if not columns or not rows:
            raise ValueError(f"a piece is {width} by {height} mm; expected one that fits on {self.name}")
        left, top = (self.width - columns * width) / 2, (self.height - rows * height) / 2
        return Grid(self, columns, rows, width, height, left, top)

    def _fit(self, whole: float, each: float) -> int:
        number = int((whole - 2 * self.margin) // each)
        room = (whole - number * each) / 2 - self.margin
        return number - 1 if number > 1 and room < GAP + SHORTEST else number


class Grid(Struct, frozen=True):
    """Pieces of one size, edge to edge, their block in the middle of a page: what backs need to meet their fronts."""

    paper: Paper
    columns: int
    rows: int
    width: float
    height: float
    left: float
    top: float

    @property
    def room(self) -> int:
        """How many pieces a page holds."""
        return self.columns * self.rows

    def pages(self, pieces: Sequence[Item]) -> Iterator[list[Item | None]]:
        """Deal pieces onto pages, row by row; the last page ends in empty places."""
        for first in range(0, len(pieces), self.room):
            page: list[Item | None] = list(pieces[first : first + self.room])
            yield page + [None] * (self.room - len(page))

    def mirrored(self, page: Sequence[Item]) -> list[Item]:
        """Return a page's pieces with each row reversed, so that on the back each is behind its front."""
        rows = [page[start : start + self.columns] for start in range(0, len(page), self.columns)]
        return [piece for row in rows for piece in reversed(row)]

    @property
    def marks(self) -> str:
        """The cut marks as path data: short strokes outside the block, at the end of each line to be cut."""
        right, bottom = self.left + self.columns * self.width, self.top + self.rows * self.height
        across, down = self._mark(self.left), self._mark(self.top)
        marks = []
        for column in range(self.columns + 1):
            x = self.left + column * self.width
            marks += [f"M{x:g} {self.top - GAP:g}v{-down:g}", f"M{x:g} {bottom + GAP:g}v{down:g}"]
        for row in range(self.rows + 1):
            y = self.top + row * self.height
            marks += [f"M{self.left - GAP:g} {y:g}h{-across:g}", f"M{right + GAP:g} {y:g}h{across:g}"]
        return "".join(marks)

    def _mark(self, beside: float) -> float:
        """Return the length of a mark for pieces at a distance from the edge of the paper."""
        return max(0.0, min(LONGEST, beside - GAP - self.paper.margin))


class Printing(Struct, frozen=True):
    """How pages are printed: the paper, the amount of ink, and one side or two."""

    paper: Paper
    low_ink: bool = False
    """Whether areas of colour are pale, for a table that prints at home."""
    fronts_only: bool = False
    """Whether the backs of pieces are left out, for sleeves or opaque card."""
    stock: float = STOCK
    """How thick a card is, in millimetres, for the boxes: card stock of 250 to 300 g/m2."""


PAPERS: Mapping[str, Paper] = MappingProxyType(
    {paper.name: paper for paper in (Paper("a4", 210.0, 297.0), Paper("letter", 215.9, 279.4))}
)
"""The sizes of paper; the first is the default."""

DEFAULT = next(iter(PAPERS))
