"""Saved objects for Tabletop Simulator: a deck, a bag of pieces or a board each, with the images that they name.

A deck's faces lie in a grid of at most ten by seven on one image of at most 4096 pixels, the last place of which is
what others see of a hidden card: its back. The images stay where they are, and each object names them by their path.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from zlib import crc32

from msgspec import Struct
from PIL import Image

from companion.games.kit import Game
from companion.web.printing.pieces import MILLIMETRES, Boards, Face, PieceSet, boards, sets, with_bleed
from companion.web.printing.press import Press

LARGEST = 4096
"""Pixels of the longer side of an image."""
MOST_COLUMNS, MOST_ROWS, LEAST = 10, 7, 2
"""How many places a grid of faces may have on each side."""
DPI = 300
"""A drawing is not made finer than it is printed."""
THUMBNAIL = 256
CARD = 88.9
"""Millimetres of the height of a card at scale 1."""
TILE = 2 * MILLIMETRES
"""Millimetres of the side of a tile at scale 1."""
BOX, CIRCLE = 0, 2
"""Shapes of a tile."""

Saved = dict[str, Any]


class Grid(NamedTuple):
    """The places for faces on one image, and the pixels of each."""

    columns: int
    rows: int
    width: int
    height: int

    @property
    def faces(self) -> int:
        """How many faces it holds beside the hidden one."""
        return self.columns * self.rows - 1


MOST_FACES = MOST_COLUMNS * MOST_ROWS - 1


def grid(faces: int, width: float, height: float) -> Grid:
    """Return the grid on which so many faces of a size in millimetres are largest, beside the hidden one."""
    if not 0 < faces <= MOST_FACES:
        raise ValueError(f"a deck's image has {faces} faces; expected 1 to {MOST_FACES}")
    found = []
    for columns in range(LEAST, MOST_COLUMNS + 1):
        for rows in range(LEAST, MOST_ROWS + 1):
            if columns * rows > faces:
                scale = min(LARGEST // columns / width, LARGEST // rows / height, DPI / MILLIMETRES)
                found.append((-int(width * scale), columns * rows, columns, rows, int(height * scale)))
    wide, _, columns, rows, high = min(found)
    return Grid(columns, rows, -wide, high)


class OutputFolders(Struct, frozen=True):
    """Where the files of one game in one language go, and how an object names an image."""

    objects: Path
    images: Path
    named: str

    def image(self, picture: Image.Image, name: str) -> tuple[Path, str]:
        """Write an image; returns its path, and what an object calls it."""
        self.images.mkdir(parents=True, exist_ok=True)
        path = self.images / name
        picture.save(path)
        return path, f"{self.named}/{name}"

    def saved(self, state: Saved, name: str, picture: Image.Image) -> Iterator[Path]:
        """Write a saved object with the picture that the menu shows of it."""
        self.objects.mkdir(parents=True, exist_ok=True)
        path = self.objects / f"{name.replace('/', '-')}.json"
        path.write_text(json.dumps(saved_object(state), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        yield path
        small = picture.copy()
        small.thumbnail((THUMBNAIL, THUMBNAIL))
        small.save(path.with_suffix(".png"))
        yield path.with_suffix(".png")


def saved_object(state: Saved) -> Saved:
    """Return what the game reads from its folder of saved objects: a save with nothing but objects in it."""
    empty = ("SaveName", "Date", "VersionNumber", "GameMode", "GameType", "GameComplexity", "Table", "Sky", "Note")
    scripts = ("LuaScript", "LuaScriptState", "XmlUI")
    return {
        **dict.fromkeys(empty, ""),
        "Tags": [],
        "Gravity": 0.5,
        "PlayArea": 0.5,
        "TabStates": {},
        **dict.fromkeys(scripts, ""),
        "ObjectStates": [state],
    }


def export(press: Press, wanted: Sequence[tuple[Game[Any], str, str]], out: Path, images: str = "") -> Iterator[Path]:
    """Write the objects of each game, page or none for all, and language that is wanted; yields what it wrote.

    `images` is the folder in which the images will lie on the player's machine, else it is where they are written.
    Raises `SheetsError` and `OSError`.
    """
    for game, page, language in wanted:
        title = press.words(language, game.name)("name")
        here = out / "images" / f"{game.name}-{language}"
        there = images.replace("\\", "/").rstrip("/") or (out / "images").resolve().as_posix()
        folders = OutputFolders(
            out / "Saved Objects" / "Templo Mayor" / f"{title} ({language})",
            here,
            f"file:///{there.lstrip('/')}/{PurePosixPath(here.name)}",
        )
        for pieces in sets(press, game, language, page):
            if pieces.kind.cards and pieces.kind.backs:
                yield from _deck(pieces, folders)
            else:
                yield from _bag(pieces, folders)
        for board in boards(press, game, language, page):
            yield from _boards(press, board, folders)


def _deck(pieces: PieceSet, folders: OutputFolders) -> Iterator[Path]:
    kind, drawn = pieces.kind, pieces.drawn
    back = drawn.image(1, *_pixels(kind.width, kind.height))
    path, back_url = folders.image(back, f"{pieces.page}-back.png")
    yield path
    first = 1000 + crc32(f"{pieces.game.name} {pieces.page} {pieces.language}".encode()) % 8000
    decks: dict[str, Saved] = {}
    cards: list[Saved] = []
    for number in range(-(-len(pieces.faces) // MOST_FACES)):
        faces = pieces.faces[number * MOST_FACES : (number + 1) * MOST_FACES]
        laid = grid(len(faces), kind.width, kind.height)
        path, face_url = folders.image(_sheet(pieces, faces, laid), f"{pieces.page}-{number + 1}.png")
        yield path
        deck = {
            "FaceURL": face_url,
            "BackURL": back_url,
            "NumWidth": laid.columns,
            "NumHeight": laid.rows,
            "BackIsHidden": True,
            "UniqueBack": False,
            "Type": 0,
        }
        decks[str(first + number)] = deck
        for place, face in enumerate(faces):
            card = _object("Card", face.name, f"{face_url} {place}", kind.height / CARD, turned=180)
            card |= {"CardID": (first + number) * 100 + place, "SidewaysCard": False}
            card["CustomDeck"] = {str(first + number): deck}
            cards += [card | {"GUID": _guid(f"{face_url} {place} {copy}")} for copy in range(face.copies)]
    state = _object("DeckCustom", pieces.name, back_url, kind.height / CARD, turned=180)
    state |= {"SidewaysCard": False, "DeckIDs": [card["CardID"] for card in cards], "CustomDeck": decks}
    yield from folders.saved(state | {"ContainedObjects": cards}, pieces.name, back)


def _sheet(pieces: PieceSet, faces: Sequence[Face], laid: Grid) -> Image.Image:
    """Return the image of a deck: its faces row by row, and in the last place the back."""
    sheet = Image.new("RGB", (laid.columns * laid.width, laid.rows * laid.height), (255, 255, 255))
    leaves = {place: face.front for place, face in enumerate(faces)} | {laid.faces: 1}
    for place, leaf in leaves.items():
        row, column = divmod(place, laid.columns)
        drawing = with_bleed(pieces.drawn.image(leaf, laid.width, laid.height), laid.width, laid.height)
        sheet.paste(drawing, (column * laid.width, row * laid.height))
    return sheet


def _bag(pieces: PieceSet, folders: OutputFolders) -> Iterator[Path]:
    kind, drawn = pieces.kind, pieces.drawn
    size = _pixels(kind.width, kind.height)
    secret = kind.backs and pieces.one_back
    within: list[Saved] = []
    picture: Image.Image | None = None
    for face in pieces.faces:
        front = with_bleed(drawn.image(face.front, *size), *size)
        picture = picture or front
        path, front_url = folders.image(front, f"{pieces.page}-{face.piece.face}.png")
        yield path
        back_url = front_url
        if face.back is not None:
            back = with_bleed(drawn.image(face.back, *size), *size)
            path, back_url = folders.image(back, f"{pieces.page}-{face.piece.face}-back.png")
            yield path
        tile = _object("Custom_Tile", face.name, front_url, kind.width / TILE, turned=180 if secret else 0)
        tile["CustomImage"] = _image(front_url, back_url) | {
            "CustomTile": {
                "Type": CIRCLE if kind.round else BOX,
                "Thickness": 0.05 if kind.cards else 0.1,
                "Stackable": False,
                "Stretch": True,
            }
        }
        within += [tile | {"GUID": _guid(f"{front_url} {copy}")} for copy in range(face.copies)]
    state = _object("Bag", pieces.name, f"{folders.named} {pieces.page}", 1) | {"ContainedObjects": within}
    assert picture
    yield from folders.saved(state if len(within) > 1 else within[0], pieces.name, picture)


def _boards(press: Press, board: Boards, folders: OutputFolders) -> Iterator[Path]:
    title = press.words(board.language, board.game.name)(board.board.key)
    for leaf in range(len(board.drawn)):
        name = f"{title} {leaf + 1}" if len(board.drawn) > 1 else title
        size = _pixels(board.board.width, board.board.height)
        drawing = board.drawn.image(leaf, *size)
        path, url = folders.image(drawing, f"{board.page}-{leaf + 1}.png")
        yield path
        state = _object("Custom_Board", name, url, 1) | {"Locked": True, "CustomImage": _image(url, "")}
        yield from folders.saved(state, name, drawing)


def _pixels(width: float, height: float) -> tuple[int, int]:
    """Return the pixels of an image of a size in millimetres, no finer than print and no larger than allowed."""
    scale = min(DPI / MILLIMETRES, LARGEST / max(width, height))
    return round(width * scale), round(height * scale)


def _image(front: str, back: str) -> Saved:
    return {"ImageURL": front, "ImageSecondaryURL": back, "ImageScalar": 1.0, "WidthScale": 0.0}


def _object(kind: str, name: str, seed: str, scale: float, turned: int = 0) -> Saved:
    """Return an object in the middle of the table, `turned` about its long axis: 180 is face down."""
    at: Mapping[str, float] = {"posX": 0.0, "posY": 1.0, "posZ": 0.0, "rotX": 0.0, "rotY": 180.0, "rotZ": turned}
    return {
        "GUID": _guid(f"{kind} {seed}"),
        "Name": kind,
        "Transform": {**at, **dict.fromkeys(("scaleX", "scaleY", "scaleZ"), round(scale, 4))},
        "Nickname": name,
        "Description": "",
        "GMNotes": "",
        "ColorDiffuse": {"r": 1.0, "g": 1.0, "b": 1.0},
        "Locked": False,
        "Grid": True,
        "Snap": True,
        "Autoraise": True,
        "Sticky": True,
        "Tooltip": True,
        "HideWhenFaceDown": True,
        "LuaScript": "",
        "LuaScriptState": "",
        "XmlUI": "",
    }


def _guid(seed: str) -> str:
    """Return six hexadecimal digits, always the same for the same seed; the game renews those that are taken."""
    return f"{crc32(seed.encode()) & 0xFFFFFF:06x}"
