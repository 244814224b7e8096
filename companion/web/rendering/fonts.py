"""Finds the files of Noto Sans, in which pages and sheets are set."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FAMILY = "Noto Sans"
FOLDER = Path("/usr/share/fonts/truetype/noto")
"""The folder of Debian's fonts-noto-core."""
FILES: Mapping[str, str] = {
    "NotoSans-Regular.ttf": "notos",
    "NotoSans-Bold.ttf": "notosbo",
    "NotoSans-Italic.ttf": "notosit",
    "NotoSans-BoldItalic.ttf": "notosbi",
}
"""The names in Python's pymupdf-fonts of the files that `font-face.css` names."""


class FontError(LookupError):
    """A font that is not there; the message says what brings it."""


@cache
def font(name: str, folder: Path = FOLDER) -> bytes:
    """Return one of `FILES`, from Debian's package or else from Python's; raises `FontError`."""
    if name not in FILES:
        raise FontError(f"no font {name[:40]!r}; expected one of {', '.join(FILES)}")
    if (folder / name).is_file():
        return (folder / name).read_bytes()
    try:
        from pymupdf_fonts import fontbuffers
    except ImportError:
        raise FontError(
            f"{name} is not in {folder}, and pymupdf-fonts is not installed; expected {FAMILY} from "
            "fonts-noto-core on Debian, or from the extra [companion] of this project"
        ) from None
    held: bytes = fontbuffers[FILES[name]]()
    return held


def on_this_machine(css: str) -> str:
    """Return a style sheet whose fonts need no server, for what lays out PDFs: files, or data where there are none.

    Files, because WeasyPrint reads the data of a style sheet letter by letter: it takes it a second for these fonts.
    """

    def source(match: re.Match[str]) -> str:
        path = FOLDER / match[1]
        if match[1] in FILES and path.is_file():
            return f"url({path.as_uri()})"
        return f"url(data:font/ttf;base64,{base64.b64encode(font(match[1])).decode()})"

    return re.sub(r'url\("/fonts/([^"]+)"\)', source, css)
