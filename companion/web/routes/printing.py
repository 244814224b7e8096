"""A game's printable pages: HTML at actual size, with a toolbar that only a screen shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, request

from companion.games import registry
from companion.games.kit import Game, Json
from companion.model.table import ServiceError
from companion.web.rendering.paper import DEFAULT, PAPERS, Paper
from companion.web.rendering.renderer import DAY, Url
from companion.web.site import language, site

blueprint = Blueprint("printing", __name__)

STYLES = Path(__file__).parents[1] / "static" / "print"


@blueprint.get("/games/<game>/print/<sheet>")
def sheet(game: str, sheet: str) -> Response:
    """Show one of a game's pages for the printer, as it will lie on the paper that ``?paper=`` names."""
    found = site().game(game)
    if sheet not in found.sheets:
        raise ServiceError("unknown_sheet", sheet=sheet[:32])
    back = (site().url("game", game=game), site().painter.library.words(language(), game)("name"))
    return _page(found, sheet, found.sheet(sheet, language()), back, {"route": "sheet", "game": game})


@blueprint.get("/t/<table_id>/print/<sheet>")
def own_sheet(table_id: str, sheet: str) -> Response:
    """Show a page for the printer of what one table has of its own; it stays as it was when it was asked for."""
    table = site().services.tables.get(table_id)
    if sheet not in table.game.own_sheets or not table.steps:
        raise ServiceError("unknown_sheet", sheet=sheet[:32])
    back = (site().url("table", table_id=table_id), table.title)
    slice_ = table.game.own_sheet(table.state, sheet, language())
    return _page(table.game, sheet, slice_, back, {"route": "own_sheet", "table_id": table_id})


def _page(
    game: Game[Any], sheet: str, slice_: Mapping[str, Json], back: tuple[str, str], here_is: Mapping[str, str]
) -> Response:
    here = site()
    name, _ = registry.parts(game.name)
    paper = PAPERS.get(request.args.get("paper", ""), PAPERS[DEFAULT])
    papers = {each: here.url(**here_is, sheet=sheet, paper=each) for each in PAPERS}
    return here.page(
        "print.html",
        gt=here.painter.library.words(language(), game.name),
        sheet=sheet,
        paper=paper,
        papers=papers,
        back=back,
        print_stylesheets=stylesheets(name, here.folders[name], paper, here.url),
        leaves=here.painter.sheet(game.name, sheet, language(), paper, slice_),
        at_screen=True,
    )


def stylesheets(game: str, folder: Path, paper: Paper, url: Url) -> Sequence[str]:
    """Return the paths of the style sheets of a game's pages for the printer; `url` names a static file."""
    shell = [f"print/{path.name}" for path in sorted(STYLES.glob("*.css"))]
    own = [f"print/{path.name}" for path in sorted((folder / "static" / "print").glob("*.css"))]
    return [
        *(url("static", filename=name) for name in (DAY, *shell, f"print/paper/{paper.name}.css")),
        *(url("game_static", game=game, filename=name) for name in own),
    ]
