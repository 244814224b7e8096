"""What the printable pages show: decks, names, chits, board and record sheets."""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kit import Board, Json, Piece, Pieces
from companion.games.moctezuma.rules.boards import PLACES, ways
from companion.games.moctezuma.rules.pieces import (
    COPIES,
    DOUBLED,
    FACES,
    KINGS,
    NAMES,
    TEMPLES,
    WORTH_COPIES,
    WORTHS,
    chits,
    chits_of,
)

SHEETS: tuple[str, ...] = ("decks", "names", "boxes", "chits", "board", "records")

CARD = (44, 63)
"""Width and height of a card, in millimetres."""

_ROWS = ((1, 2, 3, 4), (5, 0, 6), (7, 8, 9, 10))
"""The positions of the places on paper; 0 is the Library (ruling Z10)."""


def sheet(name: str, language: str) -> Mapping[str, Json]:
    """Return the slice of one page for the printer; raises `KeyError` for a name that is not in `SHEETS`."""
    slices = {
        "decks": _decks,
        "names": _names,
        "boxes": _boxes,
        "chits": _chits,
        "board": _board,
        "records": _records,
    }
    return slices[name]()


def _decks() -> Mapping[str, Json]:
    """Return every treasure of every temple. No back shows its temple: a name card must look like any other."""
    return {
        "cards": [
            {"temple": temple, "worth": worth}
            for temple in range(1, TEMPLES + 1)
            for worth, copies in zip(WORTHS, WORTH_COPIES, strict=True)
            for _ in range(copies)
        ]
    }


def _names() -> Mapping[str, Json]:
    return {
        "cards": [
            {"name": NAMES[name], "doubled": name in DOUBLED}
            for name, copies in enumerate(COPIES)
            for _ in range(copies)
        ]
    }


def _boxes() -> Mapping[str, Json]:
    size: Mapping[str, Json] = {"width": CARD[0], "height": CARD[1], "tint": "war"}
    treasures = TEMPLES * sum(WORTH_COPIES)
    return {
        "emblem": "library",
        "boxes": [
            {"name": "sheet.decks.name", "cards": treasures, "drawing": "tomb", **size},
            {"name": "sheet.names.name", "cards": sum(COPIES), "drawing": "name-moctezuma_ii", **size},
        ],
    }


def _chits() -> Mapping[str, Json]:
    """Return the later edition's chits, of which the first takes a part (ruling Z1)."""
    first, later = chits("any"), chits("two_plus")
    faces = [FACES[1]] * later.cursed + [FACES[0]] * later.safe
    return {"chits": list(faces), "first": {"cursed": first.cursed, "safe": first.safe}}


def _treasures(language: str) -> list[Piece]:
    return [
        Piece(f"temple-{temple}-treasure-{worth}", "piece.treasure", {"place": temple, "n": worth})
        for temple in range(1, TEMPLES + 1)
        for worth, copies in zip(WORTHS, WORTH_COPIES, strict=True)
        for _ in range(copies)
    ]


def _name_cards(language: str) -> list[Piece]:
    names = [NAMES[name] for name, copies in enumerate(COPIES) for _ in range(copies)]
    return [Piece(name.replace("_", "-"), f"named.{name}") for name in names]


def _chit_faces(language: str) -> list[Piece]:
    later = chits("two_plus")
    return [Piece(face, f"face.{face}") for face in [FACES[1]] * later.cursed + [FACES[0]] * later.safe]


def _board() -> Mapping[str, Json]:
    columns = {place: n - (len(row) - 1) / 2 for row in _ROWS for n, place in enumerate(row)}
    rows = {place: n - 1 for n, row in enumerate(_ROWS) for place in row}
    return {
        "places": [{"place": place, "column": columns[place], "row": rows[place]} for place in range(PLACES)],
        "ways": [
            [columns[a], rows[a], columns[b], rows[b]] for a, near in enumerate(ways("hex434")) for b in near if a < b
        ],
        "kings": _kings(),
    }


def _records() -> Mapping[str, Json]:
    return {"kings": _kings(), "temples": list(range(1, TEMPLES + 1)), "sheets": 2}


def _kings() -> list[Json]:
    return [
        {"king": name, "doubled": king in DOUBLED, "chits": len(chits_of(king, "second"))}
        for king, name in enumerate(KINGS)
    ]


PIECES: Mapping[str, Pieces] = {
    "decks": Pieces(width=CARD[0], height=CARD[1], inset=2.2, pieces=_treasures, cards=True, backs=True),
    "names": Pieces(width=CARD[0], height=CARD[1], inset=2, pieces=_name_cards, cards=True, backs=True),
    "chits": Pieces(width=27, height=27, inset=1.65, pieces=_chit_faces, backs=True, round=True),
}


def boards() -> Mapping[str, Board]:
    """Return the sheets that show a whole board."""
    return {"board": Board(204, 236, "sheet.board.name")}


"""The map of places, and the chart."""
