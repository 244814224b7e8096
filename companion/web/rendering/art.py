"""The drawings of `companion/art`, all or one at a time, in the colours of the palette.

A page on the screen contains all symbols and shows them with ``<use>``. A page for the printer contains only the
lines that it shows, with the daytime colours written in, because the program that lays out PDFs supports neither.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy
from pathlib import Path

from markupsafe import Markup
from msgspec import Struct

_SYMBOL = re.compile(r'<symbol id="([\w-]+)" viewBox="([^"]+)">(.*?)</symbol>', re.DOTALL)
_USE = re.compile(r"<use\b([^>]*?)/>")
_VARIABLE = re.compile(r"var\(--([\w-]+)\)")
_ATTRIBUTE = re.compile(r'([\w:-]+)="([^"]*)"')


class ArtError(LookupError):
    """A drawing or a colour that is not there; the message names it."""


class Symbol(Struct, frozen=True):
    """A drawing: the box that its coordinates fill, and its lines."""

    left: float
    top: float
    width: float
    height: float
    lines: str


class Art:
    """All symbols of a folder of drawings, for pages without a palette of their own."""

    def __init__(self, folder: Path, palette: Path) -> None:
        """Read the symbols of every drawing, and the colours of the day from a style sheet."""
        self.colours = day_colours(palette.read_text(encoding="utf-8"))
        self._symbols: dict[str, Symbol] = {}
        for path in sorted(folder.glob("*.svg")):
            for name, box, lines in _SYMBOL.findall(path.read_text(encoding="utf-8")):
                left, top, width, height = map(float, box.split())
                self._symbols[name] = Symbol(left, top, width, height, lines.strip())

    def in_low_ink(self) -> Art:
        """Return the same drawings in the colours that save ink."""
        pale = copy(self)
        pale.colours = low_ink(self.colours)
        return pale

    @property
    def names(self) -> frozenset[str]:
        """The ids of all symbols."""
        return frozenset(self._symbols)

    def placed(self, name: str, x: float, y: float, width: float, height: float = 0) -> Markup:
        """Return a drawing for use inside an SVG, fitted into a box (a square where no height is given)."""
        symbol = self._symbol(name)
        height = height or width
        scale = min(width / symbol.width, height / symbol.height)
        left = x + (width - symbol.width * scale) / 2 - symbol.left * scale
        top = y + (height - symbol.height * scale) / 2 - symbol.top * scale
        lines = Markup(self._coloured(self._whole(symbol.lines)))  # noqa: S704  # drawings of our own
        return Markup('<g transform="translate({:.4f} {:.4f}) scale({:.5f})">{}</g>').format(left, top, scale, lines)

    def drawing(self, name: str, width: float, height: float = 0) -> Markup:
        """Return a drawing as an image of a size in millimetres, hidden from screen readers."""
        height = height or width
        return Markup(
            '<svg class="drawing" width="{0:g}mm" height="{1:g}mm" viewBox="0 0 {0:g} {1:g}" '
            'aria-hidden="true">{2}</svg>'
        ).format(width, height, self.placed(name, 0, 0, width, height))

    def _symbol(self, name: str) -> Symbol:
        try:
            return self._symbols[name.removeprefix("#")]
        except KeyError:
            raise ArtError(f"drawing {name!r} is not there; expected the id of a symbol in the art folder") from None

    def _whole(self, lines: str) -> str:
        """Return lines with each symbol that they use drawn out."""

        def drawn(match: re.Match[str]) -> str:
            given = dict(_ATTRIBUTE.findall(match[1]))
            x, y = float(given.get("x", 0)), float(given.get("y", 0))
            symbol = self._symbol(given["href"])
            width, height = float(given.get("width", symbol.width)), float(given.get("height", symbol.height))
            placed = str(self.placed(given["href"], x, y, width, height))
            turn = given.get("transform")
            return f'<g transform="{turn}">{placed}</g>' if turn else placed

        return _USE.sub(drawn, lines)

    def _coloured(self, lines: str) -> str:
        def colour(match: re.Match[str]) -> str:
            try:
                return self.colours[match[1]]
            except KeyError:
                raise ArtError(f"colour --{match[1]} is not there; expected one of the day's palette") from None

        return _VARIABLE.sub(colour, lines)


INKED = frozenset({"ink", "dark", "soot"})
"""The colours of lines and words, which low ink does not change."""

SIGN = "on-colour"
"""The colour of signs on areas of colour: low ink makes it dark, as the areas are pale."""

PALE = 0.22
"""How much of a colour is left with low ink."""


def low_ink(colours: Mapping[str, str]) -> Mapping[str, str]:
    """Return the colours for low ink: areas are pale or white, lines and words unchanged.

    >>> low_ink({"war": "#a03020", "paper": "#fbf3df", "ink": "#231815", "light": "#ffffff"})
    {'war': '#ead1ce', 'paper': '#ffffff', 'ink': '#231815', 'light': '#ffffff'}
    """

    def pale(name: str, colour: str) -> str:
        if name == SIGN:
            return colours["ink"]
        if name in INKED or name.endswith("-text"):
            return colour
        digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        channels = [int(digits[at : at + 2], 16) for at in (0, 2, 4)]
        if min(channels) > 200:
            return "#ffffff"
        return "#" + "".join(f"{255 - round((255 - channel) * PALE):02x}" for channel in channels)

    return {name: pale(name, colour) for name, colour in colours.items()}


def day_colours(palette: str) -> Mapping[str, str]:
    """Return the daytime colours by name, ``"ink": "#231815"``, from the style sheet's first block."""
    first = palette[palette.index("{") : palette.index("}")]
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{3,8});", first))
