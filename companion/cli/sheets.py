"""Builds PDFs of the games' printable pages from the HTML that the companion serves. It opens no port."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from companion.games import registry
from companion.games.kit import Game
from companion.web.rendering import fonts
from companion.web.rendering.paper import DEFAULT, PAPERS, Paper
from companion.web.rendering.renderer import SHELL, Painter
from companion.web.rendering.texts import LANGUAGES, Library
from companion.web.routes.printing import stylesheets

OUT = Path("build/sheets")


class SheetsError(Exception):
    """PDFs that cannot be built; the message says what was found and what was expected."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page for the printer in one language."""

    game: Game[Any]
    name: str
    language: str

    def file(self, paper: Paper) -> str:
        """Return the name of its PDF; that of the usual paper goes without saying."""
        suffix = "" if paper.name == DEFAULT else f"-{paper.name}"
        return f"{self.game.name}-{self.name}-{self.language}{suffix}.pdf"


class Press:
    """Lays out the sheets of some games."""

    def __init__(self, games: Mapping[str, Game[Any]]) -> None:
        self.games = games
        self._folders = {name: registry.folder(game) for name, game in games.items()}
        texts = {name: folder / "texts" for name, folder in self._folders.items()}
        self._painter = Painter(Library(SHELL / "texts", texts), self._folders, self._file)

    def sheets(self, wanted: Sequence[str] = ()) -> Iterator[Sheet]:
        """Yield the sheets that are named, ``game`` or ``game/sheet``, or all; raises `SheetsError`."""
        for words in wanted or self.games:
            name, _, sheet = words.partition("/")
            game = self.games.get(name)
            if game is None:
                raise SheetsError(f"game {name!r} is not there; expected one of {', '.join(self.games)}")
            if sheet and sheet not in game.sheets:
                raise SheetsError(
                    f"{name} has no sheet {sheet!r}; expected one of {', '.join(game.sheets) or 'none'}"
                )
            for each in [sheet] if sheet else game.sheets:
                for language in LANGUAGES:
                    yield Sheet(game, each, language)

    def html(self, sheet: Sheet, paper: Paper) -> str:
        """Return a sheet as the page that the companion serves, without the bar above it."""
        words = self._painter.library.words(sheet.language, sheet.game.name)
        context = {
            "language": sheet.language,
            "gt": words,
            "sheet": sheet.name,
            "paper": paper,
            "print_stylesheets": stylesheets(sheet.game.name, self._folders[sheet.game.name], paper, self._file),
            "leaves": self._painter.sheet(
                sheet.game.name, sheet.name, sheet.language, paper, sheet.game.sheet(sheet.name, sheet.language)
            ),
            "at_screen": False,
        }
        return self._painter.page("print.html", sheet.language, context)

    def pdf(self, sheet: Sheet, paper: Paper) -> bytes:
        """Return a sheet as a PDF; raises `SheetsError` where WeasyPrint is not there."""
        document: Any = _weasyprint().HTML(string=self.html(sheet, paper), base_url=SHELL.as_uri())
        style, known = self._fonts
        written: bytes = document.write_pdf(stylesheets=[style], font_config=known)
        return written

    @cached_property
    def _fonts(self) -> tuple[Any, Any]:
        """The style sheet that brings the fonts, and what WeasyPrint knows of fonts with it."""
        from weasyprint.text.fonts import FontConfiguration

        known = FontConfiguration()
        try:
            css = fonts.embedded((SHELL / "static" / "styles" / "base" / "font-face.css").read_text(encoding="utf-8"))
        except fonts.FontError as error:
            raise SheetsError(str(error)) from error
        return _weasyprint().CSS(string=css, font_config=known), known

    def _file(self, route: str, **values: str) -> str:
        """Return a static file's path on this machine: nothing is fetched from anywhere else."""
        folder = SHELL if route == "static" else self._folders[values["game"]]
        return (folder / "static" / values["filename"]).as_uri()


def main(argv: Sequence[str]) -> int:
    """Run ``companion sheets``; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="templo-companion sheets", description="Builds PDFs of the games' printable pages."
    )
    parser.add_argument("wanted", nargs="*", metavar="GAME[/SHEET]", help="the pages to build (all)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"the output folder ({OUT})")
    parser.add_argument("--paper", choices=list(PAPERS), default=DEFAULT, help=f"the paper size ({DEFAULT})")
    arguments = parser.parse_args(argv)
    try:
        build(Press(registry.load()), arguments.wanted, arguments.out, PAPERS[arguments.paper])
    except (SheetsError, registry.RegistryError) as error:
        print(f"templo-companion sheets: {error}", file=sys.stderr)
        return 2
    return 0


def build(press: Press, wanted: Sequence[str], out: Path, paper: Paper) -> None:
    """Write the PDFs that are wanted into a folder, and say each one's name."""
    for sheet in list(press.sheets(wanted)):
        path, pdf = out / sheet.file(paper), press.pdf(sheet, paper)
        try:
            out.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pdf)
        except OSError as error:
            raise SheetsError(f"--out is {str(out)!r}; expected a folder to write to ({error})") from error
        print(path, flush=True)


def _weasyprint() -> Any:
    try:
        import weasyprint
    except ImportError:
        raise SheetsError(
            "WeasyPrint is not installed; expected the extra [sheets], which 'make sheets' brings"
        ) from None
    except OSError as error:
        raise SheetsError(
            f"WeasyPrint does not find its libraries ({error}); expected Pango, which is "
            "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 on Debian, pango with Homebrew or Fedora"
        ) from None
    return weasyprint
