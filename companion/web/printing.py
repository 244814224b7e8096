"""A game's pages for the printer: served as HTML in true sizes, with a bar that only a screen shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, request

from companion.games.kernel import Game
from companion.table import HouseError
from companion.web.painting import DAY, Url
from companion.web.paper import DEFAULT, PAPERS, Paper
from companion.web.site import language, site

blueprint = Blueprint("printing", __name__)

STYLES = Path(__file__).parent / "static" / "print"


@blueprint.get("/games/<game>/print/<sheet>")
def sheet(game: str, sheet: str) -> Response:
    """Show one of a game's pages for the printer, as it will lie on the paper that ``?paper=`` names."""
    here = site()
    found = here.game(game)
    if sheet not in found.sheets:
        raise HouseError("unknown_sheet", sheet=sheet[:32])
    paper = PAPERS.get(request.args.get("paper", ""), PAPERS[DEFAULT])
    return here.page(
        "print.html",
        game=found,
        gt=here.painter.library.words(language(), game),
        sheet=sheet,
        paper=paper,
        papers=list(PAPERS),
        print_stylesheets=stylesheets(found, here.folders[game], paper, here.url),
        leaves=here.painter.sheet(found, sheet, language(), paper),
        at_screen=True,
    )


def stylesheets(game: Game[Any], folder: Path, paper: Paper, url: Url) -> Sequence[str]:
    """Return the paths of the style sheets of a game's pages for the printer; `url` names a static file."""
    shell = [f"print/{path.name}" for path in sorted(STYLES.glob("*.css"))]
    own = [f"print/{path.name}" for path in sorted((folder / "static" / "print").glob("*.css"))]
    return [
        *(url("static", filename=name) for name in (DAY, *shell, f"print/paper/{paper.name}.css")),
        *(url("game_static", game=game.name, filename=name) for name in own),
    ]
