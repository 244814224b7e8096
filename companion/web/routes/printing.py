"""The routes of a game's printable pages; what lays them out is imported when somebody asks for one."""

from __future__ import annotations

from flask import Blueprint, Response, request

from companion.model.table import ServiceError
from companion.web.site import language, site, whole_number

blueprint = Blueprint("printing", __name__)


@blueprint.get("/games/<game>/print/<sheet>")
def sheet(game: str, sheet: str) -> Response:
    """Show one of a game's printable pages, laid out for the paper that ``?paper=`` names."""
    from companion.web.printing.pages import page

    found = site().game(game)
    if sheet not in found.printer.sheets:
        raise ServiceError("unknown_sheet", sheet=sheet[:32])
    back = (site().url("game", game=game), site().game_words(game)("name"))
    leaves = [(sheet, found.printer.sheet(sheet, language()))]
    return page(found, leaves, "", back, {"route": "sheet", "game": game, "sheet": sheet})


@blueprint.get("/games/<game>/print")
def sheets(game: str) -> Response:
    """Show all of a game's printable pages, each as often as ``?players=`` people need it."""
    from companion.web.printing.pages import page

    found = site().game(game)
    if not found.printer.sheets:
        raise ServiceError("unknown_sheet", sheet="all")
    typed = whole_number(request.args.get("players", ""), 99)
    players = typed if typed is not None and typed in found.seatings else max(found.seatings)
    name = site().game_words(game)("name")
    return page(
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
    from companion.web.printing.pages import page

    table = site().services.tables.get(table_id)
    if sheet not in table.game.printer.own_sheets or not table.steps:
        raise ServiceError("unknown_sheet", sheet=sheet[:32])
    back = (site().url("table", table_id=table_id), table.title)
    slice_ = table.game.printer.own_sheet(table.state, sheet, language())
    here_is = {"route": "own_sheet", "table_id": table_id, "sheet": sheet}
    return page(table.game, [(sheet, slice_)], "", back, here_is)
