"""The Aztec Market: buyers, vendors and a king with capricious tastes. `GAME` is composed of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from companion.games.kit import Bot, Game, Page, Playtest, Printer, Rules, Seat, Value, least
from companion.games.market.bot import SKILLS, decide
from companion.games.market.changes import changes
from companion.games.market.log import story
from companion.games.market.page.guide import guide
from companion.games.market.page.regions import regions
from companion.games.market.page.view import view
from companion.games.market.printer import SHEETS, sheet
from companion.games.market.rules import legal, notation, turn
from companion.games.market.rules.choices import choices
from companion.games.market.rules.laws import laws
from companion.games.market.rules.options import MINUTES, OPTIONS, PRESETS, SEATINGS, HouseRules
from companion.games.market.rules.result import result, standing
from companion.games.market.rules.state import State, setup
from companion.games.market.tools import TOOLS


def _begun(options: Mapping[str, Value], seats: tuple[Seat, ...]) -> State:
    return setup(HouseRules.of(options), seats)


def _on_turn(state: State) -> Seat | None:
    return None if state.over else state.seats[state.seat]


def _standing(state: State) -> Mapping[Seat, float]:
    found = standing(state)
    return {state.seats[n]: found.points[at] for at, group in enumerate(state.partners) for n in group}


GAME: Game[State] = Game(
    "market",
    options=OPTIONS,
    presets=PRESETS,
    seatings=SEATINGS,
    rules=Rules(
        setup=_begun,
        to_act=legal.to_act,
        on_turn=_on_turn,
        turn=attrgetter("turn"),
        moves=legal.moves,
        choices=choices,
        table=turn.MOVES,
        chance=legal.chance,
        result=result,
        undoable=turn.undoable,
        laws=laws,
        notation=notation.notation,
    ),
    page=Page(
        view=view, regions=regions, log=story, guide=guide, emblem="tile-king", minutes=MINUTES, changes=changes
    ),
    bot=Bot(decide=decide, skills=SKILLS, idle=least("rollback", "leave", "pass")),
    printer=Printer(sheets=SHEETS, sheet=sheet, shared_by={"turn_card": 4}),
    playtest=Playtest(standing=_standing),
    tools=TOOLS,
)
