"""A game's printable pages: HTML at actual size, with a toolbar that is shown only on a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, request
from markupsafe import Markup

from companion.games import registry
from companion.games.kit import Game, Json
from companion.model.table import ServiceError
from companion.web.rendering.paper import DEFAULT, PAPERS, Printing
from companion.web.rendering.renderer import DAY, Url
from companion.web.rendering.tuck_box import STOCKS
from companion.web.site import language, site, whole_number

blueprint = Blueprint("printing", __name__)

STYLES = Path(__file__).parents[1] / "static" / "print"


@blueprint.get("/games/<game>/print/<sheet>")
def sheet(game: str, sheet: str) -> Response:
    """Show one of a game's printable pages, laid out for the paper that ``?paper=`` names."""
    found = site().game(game)
    if sheet not in found.printer.sheets:
        raise ServiceError("unknown_sheet", sheet=sheet[:32])
    back = (site().url("game", game=game), site().game_words(game)("name"))
    leaves = [(sheet, found.printer.sheet(sheet, language()))]
    return _page(found, leaves, "", back, {"route": "sheet", "game": game, "sheet": sheet})


@blueprint.get("/games/<game>/print")
def sheets(game: str) -> Response:
    """Show all of a game's printable pages, each as often as ``?players=`` people need it."""
    found = site().game(game)
    if not found.printer.sheets:
        raise ServiceError("unknown_sheet", sheet="all")
    typed = whole_number(request.args.get("players", ""), 99)
    players = typed if typed is not None and typed in found.seatings else max(found.seatings)
    name = site().game_words(game)("name")
    return _page(
        found,
        [(each, found.printer.sheet(each, language())) for each in found.printer.copies(players)],
        site().words()("print.everything", players=players),
        (site().url("game", game=game), name),
        {"route": "sheets", "game": game, "players": players},
        players,
    )


@blueprint.get("/t/<table_id>/print/<sheet>")
def own_sheet(table_id: str, sheet: str) -> Response:
    """Show a printable page of what one table has of its own, as it is now."""
    table = site().services.tables.get(table_id)
    if sheet not in table.game.printer.own_sheets or not table.steps:
        raise ServiceError("unknown_sheet", sheet=sheet[:32])
    back = (site().url("table", table_id=table_id), table.title)
    slice_ = table.game.printer.own_sheet(table.state, sheet, language())
    here_is = {"route": "own_sheet", "table_id": table_id, "sheet": sheet}
    return _page(table.game, [(sheet, slice_)], "", back, here_is)


def _page(
    game: Game[Any],
    sheets: Sequence[tuple[str, Mapping[str, Json]]],
    title: str,
    back: tuple[str, str],
    here_is: Mapping[str, Any],
    players: int | None = None,
) -> Response:
    """Show sheets one after the other; `players` where the page is of all that so many need."""
    here = site()
    name, _ = registry.parts(game.name)
    given = request.args
    chosen = {
        "paper": PAPERS.get(given.get("paper", ""), PAPERS[DEFAULT]).name,
        "ink": "low" if given.get("ink") == "low" else "full",
        "sides": "fronts" if given.get("sides") == "fronts" else "both",
    }
    offered = {"paper": list(PAPERS), "ink": ["full", "low"], "sides": ["both", "fronts"]}
    if any("boxes" in slice_ for _, slice_ in sheets):
        offered["stock"] = list(STOCKS)
        chosen["stock"] = next((each for each in STOCKS if each == given.get("stock")), STOCKS[0])
    printing = Printing(
        PAPERS[chosen["paper"]],
        chosen["ink"] == "low",
        chosen["sides"] == "fronts",
        float(chosen.get("stock", STOCKS[0])),
    )

    def address(**more: Any) -> str:
        usual = {key: values[0] for key, values in offered.items()}
        query = {key: "" if value == usual[key] else value for key, value in chosen.items()}
        return here.url(**{**here_is, **query, **more})

    choices = {
        key: {each: (address(**{key: each}), each == chosen[key]) for each in values}
        for key, values in offered.items()
    }
    words = here.game_words(game.name)
    return here.page(
        "print.html",
        gt=words,
        title=title or words(f"sheet.{sheets[0][0]}.name"),
        printing=printing,
        choices=choices,
        seatings={} if players is None else {n: address(players=n) for n in game.seatings},
        players=players,
        back=back,
        print_stylesheets=stylesheets(name, here.folders[name], printing, here.url),
        leaves=Markup("\n").join(
            here.renderer.sheet(game.name, sheet, language(), printing, slice_) for sheet, slice_ in sheets
        ),
        at_screen=True,
    )


def stylesheets(game: str, folder: Path, printing: Printing, url: Url) -> Sequence[str]:
    """Return the paths of the style sheets of a game's pages for the printer; `url` names a static file."""
    shell = [f"print/{path.name}" for path in sorted(STYLES.glob("*.css"))]
    own = [f"print/{path.name}" for path in sorted((folder / "static" / "print").glob("*.css"))]
    known = printing.paper.name in PAPERS
    return [
        *(url("static", filename=name) for name in (DAY, *shell)),
        *([url("static", filename=f"print/paper/{printing.paper.name}.css")] if known else []),
        *(url("game_static", game=game, filename=name) for name in own),
        *([url("static", filename="print/ink/low.css")] if printing.low_ink else []),
        *([url("static", filename="print/sides/fronts.css")] if printing.fronts_only else []),
    ]
