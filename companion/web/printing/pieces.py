"""Images of a game's pieces and boards, each rendered alone from the page that prints it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from PIL import Image, ImageDraw

from companion.games.kit import Board, Game, Piece, Pieces
from companion.web.printing.press import Press, SheetsError
from templo.quoting import counted

WHITE = (255, 255, 255)
MILLIMETRES = 25.4
"""Millimetres of an inch."""
POINTS = 72
"""Points of an inch."""
EDGE = 2
"""How many pixels at the edge of a drawing may be mixed with the paper around it."""


class Face(Struct, frozen=True):
    """Pieces that look alike: how many, what the piece is called, and the leaves of a document that show them."""

    piece: Piece
    name: str
    copies: int
    front: int
    back: int | None


class Drawn:
    """A document of leaves of one size, as images."""

    def __init__(self, pdf: bytes, width: float, height: float, rim: float = 0.0) -> None:
        """Read a PDF; raises `SheetsError` if pypdfium2 is not there.

        If it shows discs, `rim` is how many millimetres the line around a disc lies inside its leaf.
        """
        self.width, self.height, self.rim = width, height, rim
        self._document = _pypdfium2().PdfDocument(pdf)

    def __len__(self) -> int:
        return len(self._document)

    def image(self, leaf: int, width: int, height: int) -> Image.Image:
        """Return a leaf as large as fits into a box of pixels, exactly as wide or as high as that."""
        scale = min(width / self.width, height / self.height)
        size = max(1, round(self.width * scale)), max(1, round(self.height * scale))
        pixels = scale * MILLIMETRES / POINTS
        drawn = self._document[leaf].render(scale=pixels).to_pil().convert("RGB")
        if drawn.width < size[0] or drawn.height < size[1]:
            drawn = drawn.resize(size)
        cropped: Image.Image = drawn.crop((0, 0, *size))
        return _filled(cropped, self.rim * scale) if self.rim else cropped


class PieceSet:
    """The pieces of one page of a game, in one language."""

    def __init__(self, press: Press, game: Game[Any], page: str, language: str) -> None:
        self.game, self.page, self.language = game, page, language
        self.kind: Pieces = game.printer.pieces[page]
        self.pieces: Sequence[Piece] = self.kind.pieces(language)
        self._press = press

    @property
    def name(self) -> str:
        """What they are called together."""
        words = self._press.words(self.language, self.game.name)
        return words(f"sheet.{self.page}.name") if words.has(f"sheet.{self.page}.name") else self.faces[0].name

    @cached_property
    def faces(self) -> Sequence[Face]:
        """Each face once, in the order of the page."""
        words = self._press.words(self.language, self.game.name)
        step = 2 if self.kind.backs else 1
        found: dict[str, Face] = {}
        for place, piece in enumerate(self.pieces):
            known = found.get(piece.face)
            front, back = step * place, step * place + 1 if self.kind.backs else None
            found[piece.face] = (
                Face(piece, known.name, known.copies + 1, known.front, known.back)
                if known
                else Face(piece, words(piece.key, **piece.facts), 1, front, back)
            )
        return list(found.values())

    @cached_property
    def drawn(self) -> Drawn:
        """Their fronts, and where they have backs each back after its front; raises `SheetsError`."""
        pdf = self._press.single(self.game, self.page, self.language, self.kind.width, self.kind.height)
        drawn = Drawn(pdf, self.kind.width, self.kind.height, self.kind.inset if self.kind.round else 0.0)
        expected = len(self.pieces) * (2 if self.kind.backs else 1)
        if len(drawn) != expected:
            has = counted(len(drawn), "leaf", "leaves")
            raise SheetsError(f"{self.game.name}/{self.page} has {has}; expected {expected}")
        return drawn

    @property
    def one_back(self) -> bool:
        """Whether all backs are alike, so that no piece is known by its back."""
        backs = [self.drawn.image(face.back, 200, 200) for face in self.faces if face.back is not None]
        return all(back.tobytes() == backs[0].tobytes() for back in backs)


class Boards(Struct, frozen=True):
    """The boards of one page of a game, in one language."""

    game: Game[Any]
    page: str
    language: str
    board: Board
    drawn: Drawn


def sets(press: Press, game: Game[Any], language: str, page: str = "") -> Iterator[PieceSet]:
    """Yield the pieces of each page of a game, or of one."""
    for each in game.printer.pieces:
        if page in ("", each):
            yield PieceSet(press, game, each, language)


def boards(press: Press, game: Game[Any], language: str, page: str = "") -> Iterator[Boards]:
    """Yield the boards of each page of a game, or of one; raises `SheetsError`."""
    for each, board in game.printer.boards().items():
        if page in ("", each):
            drawn = Drawn(press.single(game, each, language, board.width, board.height), board.width, board.height)
            yield Boards(game, each, language, board, drawn)


def with_bleed(drawing: Image.Image, width: int, height: int) -> Image.Image:
    """Return a drawing in the middle of an image, its edge carried on to that of the image."""
    drawing = drawing.crop((EDGE, EDGE, drawing.width - EDGE, drawing.height - EDGE))
    left, top = (width - drawing.width) // 2, (height - drawing.height) // 2
    image = Image.new("RGB", (width, height), WHITE)
    image.paste(drawing, (left, top))
    right, bottom = left + drawing.width, top + drawing.height
    for x, box in ((left, (0, left)), (right - 1, (right, width))):
        if box[0] < box[1]:
            image.paste(image.crop((x, 0, x + 1, height)).resize((box[1] - box[0], height)), (box[0], 0))
    for y, box in ((top, (0, top)), (bottom - 1, (bottom, height))):
        if box[0] < box[1]:
            image.paste(image.crop((0, y, width, y + 1)).resize((width, box[1] - box[0])), (0, box[0]))
    return image


def centred(drawing: Image.Image, width: int, height: int) -> Image.Image:
    """Return a drawing in the middle of a white image."""
    image = Image.new("RGB", (width, height), WHITE)
    image.paste(drawing, ((width - drawing.width) // 2, (height - drawing.height) // 2))
    return image


def _filled(drawing: Image.Image, rim: float) -> Image.Image:
    """Return the drawing of a disc with the colour of its rim, so many pixels inside the edge, all round it."""
    image = Image.new("RGB", drawing.size, drawing.getpixel((round(rim), drawing.height // 2)))
    disc = Image.new("1", drawing.size)
    ImageDraw.Draw(disc).ellipse((rim, rim, drawing.width - 1 - rim, drawing.height - 1 - rim), fill=1)
    image.paste(drawing, mask=disc)
    return image


def _pypdfium2() -> Any:
    try:
        import pypdfium2
    except ImportError:
        raise SheetsError(
            "pypdfium2 is not installed; expected the extra [sheets], which 'make sheets' brings"
        ) from None
    return pypdfium2
