"""Lays out the games' printable pages as PDFs, from the HTML that the companion serves, without opening a port."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from markupsafe import Markup
from msgspec import Struct

from companion.games import registry
from companion.games.kit import Game
from companion.web.printing.pages import leaves, stylesheets
from companion.web.printing.paper import DEFAULT, STOCK, Paper, Printing
from companion.web.rendering import fonts
from companion.web.rendering.renderer import SHELL, Renderer
from companion.web.rendering.subsets import FontError
from companion.web.rendering.texts import LANGUAGES, Library, Texts

EVERYTHING = "everything"


class SheetsError(Exception):
    """PDFs that cannot be built; the message says what was found and what was expected."""


class Sheet(Struct, frozen=True):
    """One page for the printer in one language."""

    game: Game[Any]
    name: str
    language: str
    players: int = 0
    """For how many players it holds all of the game's pages, under the name `EVERYTHING`; else none."""

    @property
    def pages(self) -> Sequence[str]:
        """The names of the pages that it holds."""
        return self.game.printer.copies(self.players) if self.players else [self.name]

    def file(self, printing: Printing) -> str:
        """Return the name of its PDF; what is usual goes without saying."""
        suffix = "" if printing.paper.name == DEFAULT else f"-{printing.paper.name}"
        suffix += "-low-ink" * printing.low_ink + "-fronts" * printing.fronts_only
        sheets = (self.game.printer.sheet(page, self.language) for page in self.pages)
        if printing.stock != STOCK and any("boxes" in sheet for sheet in sheets):
            suffix += f"-cards-{printing.stock:g}mm"
        suffix = f"-{self.players}{suffix}" if self.players else suffix
        return f"{self.game.name}-{self.name}-{self.language}{suffix}.pdf"


class Press:
    """Lays out the sheets of some games."""

    def __init__(self, games: Mapping[str, Game[Any]]) -> None:
        self.games = games
        self._folders = {name: registry.folder(game) for name, game in games.items()}
        texts = {name: folder / "texts" for name, folder in self._folders.items()}
        self._renderer = Renderer(Library(SHELL / "texts", texts), self._folders, self._file)

    def sheets(self, wanted: Sequence[str] = ()) -> Iterator[Sheet]:
        """Yield the sheets that are named, ``game`` or ``game/sheet``, or all; raises `SheetsError`."""
        for words in wanted or self.games:
            name, _, sheet = words.partition("/")
            game = self._game(name)
            if sheet and sheet not in game.printer.sheets:
                raise SheetsError(
                    f"{name} has no sheet {sheet!r}; expected one of {', '.join(game.printer.sheets) or 'none'}"
                )
            for each in [sheet] if sheet else game.printer.sheets:
                for language in LANGUAGES:
                    yield Sheet(game, each, language)

    def exported(self, wanted: Sequence[str] = ()) -> Iterator[tuple[Game[Any], str, str]]:
        """Yield game, page and language of the images of ``game`` or ``game/page``, or of all; raises `SheetsError`.

        The page is empty if all are wanted.
        """
        for words in wanted or self.games:
            name, _, page = words.partition("/")
            game = self._game(name)
            known = [*game.printer.pieces, *game.printer.boards()]
            if page and page not in known:
                raise SheetsError(f"{name} has no pieces {page!r}; expected one of {', '.join(known) or 'none'}")
            for language in LANGUAGES:
                yield game, page, language

    def _game(self, name: str) -> Game[Any]:
        game = self.games.get(name)
        if game is None:
            raise SheetsError(f"game {name!r} is not there; expected one of {', '.join(self.games)}")
        return game

    def everything(self, players: int, wanted: Sequence[str] = ()) -> Iterator[Sheet]:
        """Yield for each game, or each that is named, all of its pages for so many players; raises `SheetsError`.

        A game for other numbers of players is left out if none is named and another game is for so many.
        """
        games = [self.games[name] for name in dict.fromkeys(sheet.game.name for sheet in self.sheets(wanted))]
        seated = [game for game in games if players in game.seatings]
        refused = [game for game in games if players not in game.seatings]
        if refused and (wanted or not seated):
            seatings = "; ".join(f"for {game.name} one of {', '.join(map(str, game.seatings))}" for game in refused)
            raise SheetsError(f"--players is {players}; expected {seatings}")
        for game in seated:
            for language in LANGUAGES:
                yield Sheet(game, EVERYTHING, language, players)

    def words(self, language: str, game: str) -> Texts:
        """Return the words of a game's pages."""
        return self._renderer.library.words(language, game)

    def html(self, sheet: Sheet, printing: Printing) -> str:
        """Return a sheet as the page that the companion serves, without the bar above it."""
        words = self._renderer.library.words(sheet.language, sheet.game.name)
        context = {
            "language": sheet.language,
            "gt": words,
            "title": self._title(sheet, words),
            "print_stylesheets": stylesheets(sheet.game.name, self._folders[sheet.game.name], printing, self._file),
            "leaves": Markup("\n").join(
                leaves(
                    self._renderer,
                    sheet.game.name,
                    page,
                    sheet.language,
                    printing,
                    sheet.game.printer.sheet(page, sheet.language),
                )
                for page in sheet.pages
            ),
            "at_screen": False,
        }
        return self._renderer.page("print.html", sheet.language, context)

    def _title(self, sheet: Sheet, words: Texts) -> str:
        if sheet.players:
            return self._renderer.library.words(sheet.language)("print.everything", players=sheet.players)
        key = f"sheet.{sheet.name}.name"
        return words(key if words.has(key) else "name")

    def pdf(self, sheet: Sheet, printing: Printing) -> bytes:
        """Return a sheet as a PDF; raises `SheetsError` if WeasyPrint is not there."""
        html = self.html(sheet, printing)
        both = not printing.fronts_only and _has_backs(html)
        asks = {"PrintScaling": "/None"} | ({"Duplex": "/DuplexFlipLongEdge"} if both else {})
        return self._written(html, _size(printing.paper), asks)

    def document(self, sheet: Sheet, printing: Printing) -> Any:
        """Return a sheet as WeasyPrint laid it out; raises `SheetsError` if that is not there."""
        return self._laid_out(self.html(sheet, printing), _size(printing.paper))

    def single(self, game: Game[Any], name: str, language: str, width: float, height: float) -> bytes:
        """Return a PDF of a page's pieces, each alone on a leaf of its own size in millimetres, without marks.

        Fronts and backs come in the order in which the page prints them. Raises `SheetsError`.
        """
        paper = Paper("piece", width, height, margin=0)
        html = self.html(Sheet(game, name, language), Printing(paper))
        return self._written(html, _size(paper) + _ALONE, {"PrintScaling": "/None"})

    def _written(self, html: str, style: str, asks: Mapping[str, str]) -> bytes:
        """Return a page as a PDF, tagged where WeasyPrint can, that asks the viewer who prints it for `asks`."""

        def ask(_document: Any, pdf: Any) -> None:
            pdf.catalog["ViewerPreferences"] = "<<" + "".join(f"/{key} {value}" for key, value in asks.items()) + ">>"

        tags = {"pdf_tags": True} if "pdf_tags" in _weasyprint().DEFAULT_OPTIONS else {}
        written: bytes = self._laid_out(html, style).write_pdf(finisher=ask, **tags)
        return written

    def _laid_out(self, html: str, css: str) -> Any:
        weasyprint = _weasyprint()
        style, known = self._fonts
        page = weasyprint.HTML(string=html, base_url=SHELL.as_uri())
        return page.render(stylesheets=[style, weasyprint.CSS(string=css, font_config=known)], font_config=known)

    @cached_property
    def _fonts(self) -> tuple[Any, Any]:
        """The style sheet that brings the fonts, and what WeasyPrint knows of fonts with it."""
        from weasyprint.text.fonts import FontConfiguration

        known = FontConfiguration()
        try:
            css = fonts.on_this_machine()
        except FontError as error:
            raise SheetsError(str(error)) from error
        return _weasyprint().CSS(string=css, font_config=known), known

    def _file(self, route: str, **values: str) -> str:
        """Return a static file's path on this machine: nothing is fetched from anywhere else."""
        folder = SHELL if route == "static" else self._folders[values["game"]]
        return (folder / "static" / values["filename"]).as_uri()


_ALONE = """
.leaf > div { display: block !important; }
.leaf > .cut-marks, .leaf .ruler { display: none !important; }
"""
"""What a page leaves out that shows its pieces one by one."""


def _has_backs(html: str) -> bool:
    """Return whether the back of every leaf of a page follows it."""
    leaves = re.findall(r'<section class="leaf([^"]*)"', html)
    return bool(leaves) and ["backs" in each for each in leaves] == [False, True] * (len(leaves) // 2)


def _size(paper: Paper) -> str:
    """Return the style sheet for leaves of a size."""
    size = f"{paper.width:g}mm {paper.height:g}mm"
    leaf = f"width: {paper.width:g}mm; height: {paper.height:g}mm"
    return f"@page {{ size: {size}; margin: 0; }} .leaf {{ {leaf}; }}"


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
