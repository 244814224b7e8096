"""A game's pages for the printer as HTML at actual size, with a toolbar that is shown only on a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from flask import Response, request
from markupsafe import Markup

from companion.games import registry
from companion.games.kit import Game, Json
from companion.web.printing.paper import DEFAULT, PAPERS, Printing
from companion.web.printing.tuck_box import BLEED, LINE, STOCKS, tuck_boxes
from companion.web.rendering.renderer import DAY, Renderer, Url
from companion.web.site import language, site

STYLES = Path(__file__).parents[1] / "static" / "print"


def leaves(
    renderer: Renderer, game: str, name: str, language: str, printing: Printing, slice_: Mapping[str, Json]
) -> Markup:
    """Return the sheets of a printable page of a game or a tool."""
    words = renderer.library.words(language, game)
    art = renderer.pale_art if printing.low_ink else renderer.art
    colours = dict(art.colours)
    if printing.low_ink:
        colours["light"] = colours["ink"]  # what is written on an area of colour, which is pale now
    pieces: Any = renderer.template("print_pieces.html").module
    html = renderer.template(f"game-{registry.parts(game)[0]}/print/{name}.html").render(
        t=words,
        words=words,
        language=language,
        slice=slice_,
        sheet=name,
        paper=printing.paper,
        drawing=art.drawing,
        placed=art.placed,
        colour=colours.__getitem__,
        cut_marks=pieces.cut_marks,
        ruler=lambda: pieces.ruler(words),
        stock=printing.stock,
        tuck_boxes=partial(tuck_boxes, stock=printing.stock, paper=printing.paper),
        bleed=BLEED,
        line_width=LINE,
    )
    return Markup(html)  # noqa: S704  # templates that escape


def page(
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
            leaves(here.renderer, game.name, sheet, language(), printing, slice_) for sheet, slice_ in sheets
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
