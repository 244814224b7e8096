"""Joins style sheets for delivery: one file for all pages, one for each page that has its own, one for each game.

A folder is a layer: what is in ``static/styles/components/`` is in ``@layer components``. The order of the layers
is declared once, in ``static/styles/layers.css``; the order of the files within one does not matter. What a page has
of its own, ``static/pages/<page>.css``, is in ``components`` too. The style sheets of a game's folder,
``static/*.css``, are in ``games``: a game's rule overrides the site's whatever their selectors are. A process reads a
folder once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

ORDER = "layers.css"
FONTS_LAYER = "base"
PAGES_LAYER = "components"
GAMES_LAYER = "games"

_COMMENT = re.compile(r"^\s*/\*.*?\*/\n", re.MULTILINE | re.DOTALL)
_INDENT = re.compile(r"^\s+", re.MULTILINE)


class Joined(Struct, frozen=True):
    """A joined file, with its ETag."""

    text: str
    tag: str

    @classmethod
    def of(cls, text: str) -> Joined:
        """Return a file with a text."""
        return cls(text, hashlib.sha256(text.encode()).hexdigest()[:16])


@cache
def of_site(folder: Path, fonts: str) -> Joined:
    """Join the order of the layers, what brings the fonts, and every layer of a folder such as ``static/styles``."""
    layers = [_layer(path.name, path) for path in sorted(folder.iterdir()) if path.is_dir()]
    return _sheet((folder / ORDER).read_text(encoding="utf-8"), f"@layer {FONTS_LAYER} {{\n{fonts}}}\n", *layers)


@cache
def of_fonts(fonts: str) -> Joined:
    """Return what brings the fonts alone, for pages that have none of the site's style sheets."""
    return _sheet(fonts)


@cache
def of_pages(folder: Path) -> Mapping[str, Joined]:
    """Return what each page of a folder such as ``static/pages`` has of its own."""
    return {path.stem: _sheet(_in_layer(PAGES_LAYER, path)) for path in sorted(folder.glob("*.css"))}


@cache
def of_game(folder: Path) -> Joined:
    """Join the style sheets of a game's folder ``static``; a game may have none."""
    return _sheet(_layer(GAMES_LAYER, folder))


def _layer(name: str, folder: Path) -> str:
    return _in_layer(name, *sorted(folder.glob("*.css")))


def _in_layer(name: str, *files: Path) -> str:
    rules = "".join(path.read_text(encoding="utf-8") for path in files)
    return f"@layer {name} {{\n{rules}}}\n"


def _sheet(*texts: str) -> Joined:
    """Return a style sheet of several, without the comments and the indents that only people read."""
    return Joined.of(_INDENT.sub("", _COMMENT.sub("", "".join(texts))))
