"""The net of a tuck box for a deck of cards, to be cut, folded and glued, in millimetres."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from msgspec import Struct

from companion.web.printing.paper import MARGIN, STOCK, Paper

STOCKS = (f"{STOCK:g}", "0.2", "0.4")
"""The thicknesses of a card that a page offers, what is usual first."""
THINNEST, THICKEST = 0.05, 2.0
"""What is still a card: from thick paper to board."""

PLAY = 1.0
"""How much wider, higher and deeper than its cards a box is inside."""
SHALLOWEST = 8.0
"""A box that is shallower cannot be glued."""
GLUE = 11.0
TONGUE = 15.0
"""The width of the glued flap, and of the lid's tongue."""
BLEED = 0.6
"""How far colour runs past the cut, so that the line outside it is never on the box."""
LINE = 0.25
"""The thickness of the cutting line."""
GAP = 2.0
"""What is cut away between two flaps, so that the lines beside it can both be seen."""
FOOT = 11.0
"""The room below a box, for the ruler."""


class Rectangle(NamedTuple):
    """A part of a net."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its other edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height

    @property
    def middle(self) -> tuple[float, float]:
        """The point in its middle."""
        return self.left + self.width / 2, self.top + self.height / 2


class TuckBox(Struct, frozen=True):
    """The net of a box, seen from outside: back, side, front and side in a row, the lid above the back.

    `width`, `height` and `depth` are from fold to fold; inside, a box is smaller by the thickness of its own stock.
    """

    cards: int
    width: float
    height: float
    depth: float

    @property
    def glue(self) -> float:
        """How wide the flap is that is glued into the last side."""
        return min(GLUE, self.depth - 1)

    @property
    def dust(self) -> float:
        """How deep the flaps on the sides are, which never meet under the lid."""
        return min(self.bottom, self.width / 2 - 1)

    @property
    def bottom(self) -> float:
        """How deep both halves of the bottom are, which are glued to each other."""
        return self.depth - 0.5

    @property
    def across(self) -> float:
        """How wide the whole net is."""
        return self.glue + 2 * self.width + 2 * self.depth

    @property
    def down(self) -> float:
        """How high the whole net is."""
        return TONGUE + self.depth + self.height + self.bottom

    @property
    def back(self) -> Rectangle:
        """The panel that the lid hangs on."""
        return Rectangle(self.glue, TONGUE + self.depth, self.width, self.height)

    @property
    def front(self) -> Rectangle:
        """The panel with the notch for a thumb."""
        return Rectangle(self.back.right + self.depth, self.back.top, self.width, self.height)

    @property
    def sides(self) -> tuple[Rectangle, Rectangle]:
        """The panel between back and front, and the one that the glued flap goes behind."""
        first = Rectangle(self.back.right, self.back.top, self.depth, self.height)
        return first, first._replace(left=self.front.right)

    @property
    def lid(self) -> Rectangle:
        """The top of the box, without its tongue."""
        return Rectangle(self.back.left, TONGUE, self.width, self.depth)

    @property
    def glued(self) -> tuple[Rectangle, ...]:
        """What stays unprinted, because glue holds better on paper: the flap, and the bottom's inner half."""
        inner = Rectangle(self.front.left + 2, self.front.bottom + 2, self.width - 4, self.depth - 4)
        flap = Rectangle(1.5, self.back.top + 5, self.glue - 3, self.height - 10)
        return flap, inner

    @property
    def outline(self) -> str:
        """What is cut, as path data, clockwise from the upper end of the flap that is glued."""
        top, bottom, depth, width = self.back.top, self.back.bottom, self.depth, self.width
        notch = min(9.0, width / 4)  # it ends above the frame, which begins 4 mm below the edge
        path = f"M{self.glue:g} {top:g}"
        # The lid and its tongue, a little narrower and with round corners.
        path += (
            f"V{TONGUE:g}l0.8 -2V{8:g}a8 8 0 0 1 8 -8H{self.back.right - 8.8:g}a8 8 0 0 1 8 8V{TONGUE - 2:g}l0.8 2"
        )
        path += f"V{top:g}"
        path += self._flap(self.sides[0].left, top, depth, -self.dust, GAP)
        path += f"H{self.front.middle[0] - notch:g}a{notch:g} 3.2 0 0 0 {2 * notch:g} 0H{self.front.right:g}"
        path += self._flap(self.front.right, top, depth, -self.dust, GAP)
        path += f"V{bottom:g}"
        path += self._flap(self.sides[1].right, bottom, -depth, self.dust, GAP)
        path += self._flap(self.front.right, bottom, -width, self.bottom)
        path += self._flap(self.sides[0].right, bottom, -depth, self.dust, GAP)
        path += self._flap(self.back.right, bottom, -width, self.bottom)
        return path + f"L0 {bottom - 4:g}V{top + 4:g}z"

    @staticmethod
    def _flap(x: float, y: float, along: float, out: float, gap: float = 0.3) -> str:
        """Return a flap on the edge that begins at a point and goes `along` it, `gap` from both its ends."""
        way = 1 if along > 0 else -1
        near, far = way * gap, way * (gap + 1.2)
        there = f"L{x + near:g} {y:g}L{x + far:g} {y + out:g}h{along - 2 * far:g}"
        return f"{there}L{x + along - near:g} {y:g}L{x + along:g} {y:g}"

    @property
    def folds(self) -> str:
        """What is folded, as path data."""
        top, bottom, back, front = self.back.top, self.back.bottom, self.back, self.front
        upright = [back.left, back.right, front.left, front.right]
        lines = [f"M{x:g} {top:g}V{bottom:g}" for x in upright]
        lines += [f"M{back.left + 0.8:g} {TONGUE:g}H{back.right - 0.8:g}", f"M{back.left:g} {top:g}H{front.left:g}"]
        lines += [f"M{front.right:g} {top:g}H{self.sides[1].right:g}", f"M{back.left:g} {bottom:g}H{self.across:g}"]
        return "".join(lines)


class PlacedBox(Struct, frozen=True):
    """A box on its page: which of a deck's boxes it is, and where its net lies."""

    box: TuckBox
    number: int
    of: int
    turned: bool
    """Whether the net lies on its side."""
    left: float
    top: float

    @property
    def transform(self) -> str:
        """The transform of an SVG group that puts the net where it lies."""
        if self.turned:
            return f"translate({self.left + self.box.down:g} {self.top:g}) rotate(90)"
        return f"translate({self.left:g} {self.top:g})"


def tuck_box(cards: int, width: float, height: float, stock: float) -> TuckBox:
    """Return the box for a number of cards of one size; `stock` is a card's thickness. Raises `ValueError`.

    >>> tuck_box(40, 63, 88, 0.3)
    TuckBox(cards=40, width=64.3, height=89.3, depth=13.3)
    """
    if not THINNEST <= stock <= THICKEST:
        raise ValueError(f"a card is {stock:g} mm thick; expected {THINNEST:g} to {THICKEST:g}")
    depth = max(SHALLOWEST, cards * stock + PLAY + stock)
    return TuckBox(cards, round(width + PLAY + stock, 2), round(height + PLAY + stock, 2), round(depth, 2))


def tuck_boxes(cards: int, width: float, height: float, stock: float, paper: Paper) -> Iterator[PlacedBox]:
    """Yield the fewest boxes that hold a deck, each on a page of its own; raises `ValueError` if no box fits."""
    for number in count(1):
        shares = [cards // number + (each < cards % number) for each in range(number)]
        placed = [
            _placed(tuck_box(share, width, height, stock), each, number, paper) for each, share in enumerate(shares)
        ]
        if all(placed):
            yield from (each for each in placed if each)
            return
        if shares[0] <= 1:
            raise ValueError(f"a box for cards of {width} by {height} mm does not fit on {paper.name}")


def _placed(box: TuckBox, number: int, of: int, paper: Paper) -> PlacedBox | None:
    """Return where a box lies in the middle of a page, upright if it can; None if it does not fit."""
    edge = MARGIN + BLEED + LINE
    for turned, (wide, high) in ((False, (box.across, box.down)), (True, (box.down, box.across))):
        left, top = (paper.width - wide) / 2, (paper.height - FOOT - high) / 2
        if min(left, top) >= edge:
            return PlacedBox(box, number + 1, of, turned, round(left, 2), round(top, 2))
    return None
