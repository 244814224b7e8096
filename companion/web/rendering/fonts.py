"""The fonts of pages and sheets: what style sheets say of them, and the files that phones load."""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

from companion.web.rendering import subsets
from companion.web.rendering.subsets import FontError

SHIPPED = Path(__file__).parents[1] / "fonts"
"""Where Debian's package brings the files."""
PATIENCE_S = 120

LOOKS: Mapping[str, str] = {
    "regular": "",
    "bold": "font-weight: 600 900; ",
    "italic": "font-style: italic; ",
    "bold-italic": "font-style: italic; font-weight: 600 900; ",
}
"""What a style sheet says of each face."""


class Fonts:
    """The files of the pages' font: those that a package brought, or else made once and kept in a folder."""

    def __init__(self, kept: Path, shipped: Path = SHIPPED) -> None:
        self._kept, self._shipped = kept, shipped
        self._making = threading.Lock()
        self._made: dict[str, bytes] = {}

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The file of each of `subsets.NAMES`; none of those whose font this machine lacks."""
        found = {}
        for name in subsets.NAMES:
            brought = next(self._shipped.glob(f"{name}.*.woff2"), None)
            try:
                found[name] = brought.name if brought else subsets.file_name(name)
            except FontError:
                continue
        return found

    def css(self, url: Callable[[str], str]) -> str:
        """Return the style sheet that names every file by its `url`; browsers load those whose letters they show."""
        return "".join(
            _face(face, f'url("{url(self.files[name])}") format("woff2")', f" unicode-range: {letters};")
            for face in subsets.FACES
            for part, letters in subsets.RANGES.items()
            if (name := f"{face}-{part}") in self.files
        )

    def file(self, file: str) -> bytes:
        """Return one of `files`, made now if nobody needed it before; raises `FontError`."""
        name = next((name for name, known in self.files.items() if known == file), "")
        if not name:
            raise FontError(f"no font {file[:60]!r}; expected one of {', '.join(self.files.values()) or 'none'}")
        for folder in (self._shipped, self._kept):
            if (folder / file).is_file():
                return (folder / file).read_bytes()
        with self._making:
            if file not in self._made:
                self._made[file] = self._make(name, file)
            return self._made[file]

    def _make(self, name: str, file: str) -> bytes:
        if (self._kept / file).is_file():
            return (self._kept / file).read_bytes()
        with tempfile.TemporaryDirectory() as elsewhere:
            problem = ""
            for folder in (self._kept, Path(elsewhere)):  # a state folder may be full
                made = subprocess.run(  # noqa: S603  # this project's own program
                    [sys.executable, "-P", subsets.__file__, str(folder), name],
                    capture_output=True,
                    text=True,
                    timeout=PATIENCE_S,
                    check=False,
                )
                if not made.returncode:
                    return (folder / file).read_bytes()
                problem = made.stderr.strip()[-300:]
        raise FontError(problem)


def on_this_machine() -> str:
    """Return a style sheet whose fonts need no server, for what lays out PDFs: files, or data where there are none.

    Files, because WeasyPrint reads the data of a style sheet letter by letter: it takes it a second for these fonts.
    Raises `FontError`.
    """

    def source(face: str) -> str:
        path = subsets.FOLDER / subsets.FACES[face][0]
        if path.is_file():
            return f"url({path.as_uri()})"
        return f"url(data:font/ttf;base64,{base64.b64encode(subsets.whole(face)).decode()})"

    return "".join(_face(face, source(face)) for face in subsets.FACES)


def _face(face: str, source: str, more: str = "") -> str:
    return (
        f'@font-face {{ font-family: "{subsets.FAMILY}"; {LOOKS[face]}src: {source}; font-display: swap;{more} }}\n'
    )
