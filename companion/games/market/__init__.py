"""The Aztec Market: buyers, vendors and a king with capricious tastes. `GAME` is composed of its parts."""

from __future__ import annotations

from collections.abc import Mapping

from companion.games import kit
from companion.games.market.bot import SKILLS, decide
from companion.games.market.changes import changes
from companion.games.market.log import story
from companion.games.market.page import drawing
from companion.games.market.page.guide import guide
from companion.games.market.page.regions import regions
from companion.games.market.page.view import view
from companion.games.market.printer import PIECES, SHEETS, sheet
from companion.games.market.recap import recap
from companion.games.market.rules import legal, notation, turn
from companion.games.market.rules.board import LANES
from companion.games.market.rules.choices import choices
from companion.games.market.rules.laws import laws
from companion.games.market.rules.options import MINUTES, OPTIONS, PRESETS, SEATINGS, HouseRules
from companion.games.market.rules.result import result, standing
from companion.games.market.rules.state import State, setup
from companion.games.market.tools import TOOLS

HEAT = {
    "en": "purchases from a vendor there (lane and place, as South sees them)",
    "es": "compras a un vendedor de ahí (calle y puesto, como los ve el Sur)",
}

NAMES = {cell: f"{n}.{depth}" for n, lane in enumerate(LANES["south"], 1) for depth, cell in enumerate(lane, 1)}
"""What the heat map calls each cell."""


def _begun(options: Mapping[str, kit.Value], seats: tuple[kit.Seat, ...]) -> State:
    return setup(HouseRules.of(options), seats)


def _on_turn(state: State) -> kit.Seat | None:
    return None if state.over else state.seats[state.seat]


def _standing(state: State) -> Mapping[kit.Seat, float]:
    found = standing(state)
    return {state.seats[n]: found.points[at] for at, group in enumerate(state.partners) for n in group}


def _heat(options: Mapping[str, kit.Value]) -> kit.Heat:
    """Return the market as South sees it, for where the vendors stood from whom buyers bought."""
    sheet = drawing.sheet("south", ())
    outlines = {name: f"M{box.x},{box.y} h{box.width} v{box.height} h{-box.width} Z" for name, box in _boxes(sheet)}
    names = [(name, box.x + box.width / 2, box.y + box.height / 2) for name, box in _boxes(sheet)]
    return kit.Heat(sheet.width, sheet.height, outlines, HEAT, names)


def _boxes(sheet: drawing.Sheet) -> list[tuple[str, drawing.Box]]:
    return [(NAMES[cell], box) for cell, box in enumerate(sheet.cells)]


def _bought(before: State, seat: kit.Seat, move: kit.Move, after: State) -> list[str]:
    if move.name != "buy":
        return []
    lane, depth = map(int, move.args[:2])
    return [NAMES[LANES[seat][lane][depth]]]


GAME: kit.Game[State] = kit.Game(
    "market",
    options=OPTIONS,
    presets=PRESETS,
    seatings=SEATINGS,
    rules=kit.Rules(
        setup=_begun,
        to_act=legal.to_act,
        on_turn=_on_turn,
        moves=legal.moves,
        choices=choices,
        table=turn.MOVES,
        chance=legal.chance,
        result=result,
        undoable=turn.undoable,
        laws=laws,
        notation=notation.notation,
    ),
    page=kit.Page(
        view=view,
        regions=regions,
        log=story,
        recap=recap,
        guide=guide,
        emblem="tile-king",
        minutes=MINUTES,
        changes=changes,
    ),
    bot=kit.Bot(decide=decide, skills=SKILLS, idle=kit.least("rollback", "leave", "pass")),
    printer=kit.Printer(sheets=SHEETS, sheet=sheet, pieces=PIECES, shared_by={"turn_card": 4}),
    playtest=kit.Playtest(standing=_standing, heat=_heat, touched=_bought),
    tools=TOOLS,
)
