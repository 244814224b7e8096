"""Images for The Game Crafter: the faces and backs of a game's pieces, and its boards, in the sizes of its templates.

A template is 300 pixels to the inch. It runs an eighth of an inch past the cut on every side, rounded up to its size
in pixels, and what matters stays an eighth of an inch inside the cut. The sizes were read from lists that others
keep, not from the shop itself; docs/print-and-play.md names what is assumed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from companion.games.kit import Game
from companion.web.printing.pieces import MILLIMETRES, Boards, Drawn, PieceSet, boards, centred, sets, with_bleed
from companion.web.printing.press import Press

DPI = 300
SAFE = 0.125 * MILLIMETRES
"""How far inside the cut what matters stays, in millimetres."""


class Template(NamedTuple):
    """A product of the shop: its name there, the size of its image in pixels, and of the cut piece in inches."""

    name: str
    width: int
    height: int
    cut_width: float
    cut_height: float

    @property
    def safe(self) -> tuple[float, float]:
        """Width and height of what is safe, in millimetres."""
        return self.cut_width * MILLIMETRES - 2 * SAFE, self.cut_height * MILLIMETRES - 2 * SAFE


class Row(NamedTuple):
    """A line of a folder's list of contents: which template an image is for, and how many copies a game needs."""

    template: str
    image: str
    copies: int
    name: str


CARDS = (
    Template("EuroPokerDeck", 825, 1125, 63 / MILLIMETRES, 88 / MILLIMETRES),
    Template("PokerDeck", 825, 1125, 2.5, 3.5),
    Template("BridgeDeck", 750, 1125, 2.25, 3.5),
    Template("MiniDeck", 600, 825, 1.75, 2.5),
    Template("MicroDeck", 450, 600, 1.25, 1.75),
    Template("BusinessDeck", 675, 1125, 2, 3.5),
    Template("TarotDeck", 900, 1500, 2.75, 4.75),
    Template("JumboDeck", 1125, 1725, 3.5, 5.5),
    Template("SmallSquareDeck", 825, 825, 2.5, 2.5),
    Template("SquareDeck", 1125, 1125, 3.5, 3.5),
)
SQUARES = (
    Template("SmallSquareChit", 225, 225, 0.5, 0.5),
    Template("MediumSquareChit", 300, 300, 0.75, 0.75),
    Template("LargeSquareChit", 375, 375, 1, 1),
    Template("MiniSquareTile", 450, 450, 1.25, 1.25),
    Template("SmallSquareTile", 675, 675, 2, 2),
    Template("MediumSquareTile", 825, 825, 2.5, 2.5),
    Template("LargeSquareTile", 1125, 1125, 3.5, 3.5),
)
CIRCLES = (
    Template("SmallCircleChit", 225, 225, 0.5, 0.5),
    Template("MediumCircleChit", 300, 300, 0.75, 0.75),
    Template("LargeCircleChit", 375, 375, 1, 1),
    Template("MiniCircleTile", 450, 450, 1.25, 1.25),
)
BOARDS = (
    Template("SquareBoard", 2475, 2475, 8, 8),
    Template("LargeSquareBoard", 3075, 3075, 10, 10),
    Template("BiFoldBoard", 2775, 5475, 9, 18),
    Template("QuadFoldMat", 3375, 5175, 11, 17),
    Template("MediumSixFoldBoard", 4875, 4875, 16, 16),
    Template("QuadFoldBoard", 5475, 5475, 18, 18),
    Template("SixFoldBoard", 8175, 5475, 27, 18),
)


def nearest(templates: Sequence[Template], width: float, height: float) -> Template:
    """Return the template whose cut piece is nearest to one of a size in millimetres."""
    return min(
        templates,
        key=lambda each: (
            abs(log(each.cut_width * MILLIMETRES / width)) + abs(log(each.cut_height * MILLIMETRES / height))
        ),
    )


def board_template(width: float, height: float) -> tuple[Template, bool]:
    """Return the smallest template on which a board is as large as printed, and whether it is turned for that.

    Where none is large enough it is the largest.
    """
    turns = [(each, turned) for each in BOARDS for turned in (False, True)]
    large = [
        (each, turned) for each, turned in turns if each.safe[turned] >= width and each.safe[not turned] >= height
    ]
    return min(
        large or [(BOARDS[-1], width < height)], key=lambda each: (each[0].cut_width * each[0].cut_height, each[1])
    )


def template_of(pieces: PieceSet) -> Template:
    """Return the template for the pieces of a page."""
    kind = pieces.kind
    templates = CARDS if kind.cards else CIRCLES if kind.round else SQUARES
    return nearest(templates, kind.width, kind.height)


def fitted(drawn: Drawn, leaf: int, template: Template, inset: float) -> Image.Image:
    """Return a piece on its template: what lies inside its inset is in the safe zone, its edge runs past the cut."""
    scale = min(
        safe / (length - 2 * inset) for safe, length in zip(template.safe, (drawn.width, drawn.height), strict=True)
    )
    size = [round(length * scale * DPI / MILLIMETRES) for length in (drawn.width, drawn.height)]
    return with_bleed(drawn.image(leaf, size[0], size[1]), template.width, template.height)


def export(press: Press, wanted: Sequence[tuple[Game[Any], str, str]], out: Path) -> Iterator[Path]:
    """Write the images of each game, page or none for all, and language that is wanted; yields what it wrote.

    Each page has a folder of its own with a list of its contents; what an earlier export left there is replaced.
    Raises `SheetsError` and `OSError`.
    """
    for game, page, language in wanted:
        folder = out / f"{game.name}-{language}"
        for pieces in sets(press, game, language, page):
            yield from _set(pieces, folder)
        for board in boards(press, game, language, page):
            yield from _boards(press, board, folder)


def _emptied(folder: Path) -> Path:
    """Return a folder without the images of an earlier export."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("front-*.png", "back*.png", "board-*.png"):
        for path in folder.glob(name):
            path.unlink()
    return folder


def _listed(folder: Path, rows: Sequence[Row]) -> Path:
    """Write a folder's list of contents; returns its path."""
    path = folder / "contents.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([Row._fields, *rows])
    return path


def _set(pieces: PieceSet, out: Path) -> Iterator[Path]:
    template = template_of(pieces)
    drawn = pieces.drawn
    folder = _emptied(out / f"{pieces.page}-{template.name}")
    rows = []
    alike = pieces.kind.backs and pieces.one_back
    for number, face in enumerate(pieces.faces, 1):
        name = f"{number:03}-{face.piece.face}" + f"-x{face.copies}" * (face.copies > 1)
        images = {f"front-{name}": face.front}
        if face.back is not None and not alike:
            images[f"back-{name}"] = face.back
        for image, leaf in images.items():
            path = folder / f"{image}.png"
            fitted(drawn, leaf, template, pieces.kind.inset).save(path, dpi=(DPI, DPI))
            rows.append(Row(template.name, path.name, face.copies, face.name))
            yield path
    if alike:
        path = folder / "back.png"
        fitted(drawn, 1, template, pieces.kind.inset).save(path, dpi=(DPI, DPI))
        rows.append(Row(template.name, path.name, len(pieces.pieces), pieces.name))
        yield path
    yield _listed(folder, rows)


def _boards(press: Press, board: Boards, out: Path) -> Iterator[Path]:
    words = press.words(board.language, board.game.name)
    template, turned = board_template(board.board.width, board.board.height)
    folder = _emptied(out / f"{board.page}-{template.name}")
    rows = []
    safe = [round(length * DPI / MILLIMETRES) for length in template.safe]
    for leaf in range(len(board.drawn)):
        drawing = board.drawn.image(leaf, *(reversed(safe) if turned else safe))
        if turned:
            drawing = drawing.transpose(Image.Transpose.ROTATE_90)
        path = folder / f"board-{leaf + 1}.png"
        centred(drawing, template.width, template.height).save(path, dpi=(DPI, DPI))
        rows.append(Row(template.name, path.name, 1, words(board.board.key)))
        yield path
    yield _listed(folder, rows)
