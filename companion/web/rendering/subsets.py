"""Cuts Noto Sans down to the letters that a page needs, as woff2: ``python3 subsets.py FOLDER [NAME...]``.

A program of its own, which the companion starts for what is not in its state folder, and Debian's package while it is
built: fontTools needs 40 MB and a second. It imports nothing of this project, so that it runs without it.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

FAMILY = "Noto Sans"
FOLDER = Path("/usr/share/fonts/truetype/noto")
"""The folder of Debian's fonts-noto-core."""

FACES: Mapping[str, tuple[str, str]] = {
    "regular": ("NotoSans-Regular.ttf", "notos"),
    "bold": ("NotoSans-Bold.ttf", "notosbo"),
    "italic": ("NotoSans-Italic.ttf", "notosit"),
    "bold-italic": ("NotoSans-BoldItalic.ttf", "notosbi"),
}
"""The file of each face in Debian's package, and its name in Python's pymupdf-fonts."""

RANGES: Mapping[str, str] = {
    "latin": "U+0-17F, U+218-21B, U+2000-206F, U+20AC, U+2122",
    "latin-more": "U+180-217, U+21C-2AF, U+300-36F, U+1E00-1EFF",
    "greek-cyrillic": "U+370-52F, U+1C80-1C88, U+1F00-1FFF, U+2DE0-2DFF, U+A640-A69F",
}
"""The letters of each file, in the words of style sheets. Texts and most names need the first alone."""

_EXPECTED = "expected fonttools and brotli, from the extra [companion] of this project"

NAMES = tuple(f"{face}-{part}" for face in FACES for part in RANGES)


class FontError(LookupError):
    """A font that is not there; the message says what brings it."""


@cache
def whole(face: str, folder: Path = FOLDER) -> bytes:
    """Return one of `FACES` with all its letters, from Debian's package or else Python's; raises `FontError`."""
    file, name = FACES[face]
    if (folder / file).is_file():
        return (folder / file).read_bytes()
    try:
        from pymupdf_fonts import fontbuffers
    except ImportError:
        raise FontError(
            f"{file} is not in {folder}, and pymupdf-fonts is not installed; expected {FAMILY} from "
            "fonts-noto-core on Debian, or from the extra [companion] of this project"
        ) from None
    held: bytes = fontbuffers[name]()
    return held


@cache
def file_name(name: str, folder: Path = FOLDER) -> str:
    """Return the name of the file of one of `NAMES`: another one for another font or other letters.

    Raises `FontError`.
    """
    face, part = _parts(name)
    content = hashlib.sha256(whole(face, folder) + RANGES[part].encode()).hexdigest()
    return f"{name}.{content[:12]}.woff2"


def cut(name: str, folder: Path = FOLDER) -> bytes:
    """Return the file of one of `NAMES`, without hints, which few screens use; raises `FontError`."""
    try:
        from fontTools import subset
        from fontTools.ttLib import TTFont
    except ImportError as error:
        raise FontError(f"{error}; {_EXPECTED}") from None
    face, part = _parts(name)
    font = TTFont(io.BytesIO(whole(face, folder)))
    options = subset.Options(flavor="woff2", hinting=False)
    options.layout_features += ["lnum", "tnum"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[letter for first, last in letters(part) for letter in range(first, last + 1)])
    subsetter.subset(font)
    font.flavor = "woff2"
    made = io.BytesIO()
    try:
        font.save(made)
    except ImportError as error:
        raise FontError(f"{error}; {_EXPECTED}") from None
    return made.getvalue()


def letters(part: str) -> list[tuple[int, int]]:
    """Return the first and the last letter of each range of a part.

    >>> letters("latin")[-2:]
    [(8364, 8364), (8482, 8482)]
    """
    ends = [each.strip().removeprefix("U+").split("-") for each in RANGES[part].split(",")]
    return [(int(each[0], 16), int(each[-1], 16)) for each in ends]


def write(folder: Path, names: Sequence[str] = NAMES) -> None:
    """Write the files of some `NAMES` into a folder, each whole or not at all, in place of earlier ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        file = folder / file_name(name)
        draft = folder / f".{file.name}.{os.getpid()}"
        try:
            with draft.open("wb") as written:
                written.write(cut(name))
                written.flush()
                os.fsync(written.fileno())
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)
        for earlier in folder.glob(f"{name}.*.woff2"):
            if earlier != file:
                earlier.unlink(missing_ok=True)


def _parts(name: str) -> tuple[str, str]:
    part = next(part for part in sorted(RANGES, key=len, reverse=True) if name.endswith(f"-{part}"))
    return name.removesuffix(f"-{part}"), part


def main(arguments: Sequence[str]) -> int:
    """Write the named files, or all; returns 1 where a font or a program for it is missing."""
    try:
        write(Path(arguments[0]), arguments[1:] or NAMES)
    except (FontError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
