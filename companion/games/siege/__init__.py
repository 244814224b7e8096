"""The Siege of Tenochtitlan, after Lloyd Krassner: one city, one lake and the allies of both sides on a map of hexes.

`GAME` is composed of its parts.
"""

from __future__ import annotations

from collections.abc import Mapping

from companion.games import kit
from companion.games.siege import bot
from companion.games.siege.changes import changes, follows
from companion.games.siege.log import story
from companion.games.siege.page import board
from companion.games.siege.page.guide import guide
from companion.games.siege.page.regions import regions
from companion.games.siege.page.view import map_of, view
from companion.games.siege.printer import PIECES, SHEETS, boards, map_sheet, sheet
from companion.games.siege.recap import because, recap
from companion.games.siege.rules import legal, notation, play
from companion.games.siege.rules.choices import choices
from companion.games.siege.rules.laws import laws
from companion.games.siege.rules.maps import field_of
from companion.games.siege.rules.options import HANDICAPS, MINUTES, OPTIONS, PACES, PRESETS, SEATINGS, HouseRules
from companion.games.siege.rules.roster import SIDES
from companion.games.siege.rules.state import DEAD, State, setup
from companion.games.siege.tools import TOOLS

HEAT = {"en": "units that fell there", "es": "unidades que cayeron ahí"}


def _begun(options: Mapping[str, kit.Value], seats: tuple[kit.Seat, ...]) -> State:
    return setup(HouseRules.of(options))


def _to_act(state: State) -> tuple[kit.Seat, ...]:
    waiting = legal.decider(state)
    return (waiting,) if waiting else ()


def _on_turn(state: State) -> kit.Seat | None:
    return None if state.outcome else state.mover


def _result(state: State) -> kit.Result | None:
    end = state.outcome
    if not end:
        return None
    leaders = {"aztecs": "siege-cuauhtemoc", "spaniards": "siege-cortez"}
    picture = leaders[end.winner] if end.winner else "temple-front"
    return kit.Result(end.kind, (end.winner,) if end.winner else (), picture=picture, because=because(state))


def _standing(state: State) -> Mapping[kit.Seat, float]:
    """Return which share of its units each side still has, those aside that are routed."""
    return {
        side: sum(state.at[unit] != DEAD and not state.routed >> unit & 1 for unit in state.roster.of(side))
        / len(state.roster.of(side))
        for side in SIDES
    }


def _heat(options: Mapping[str, kit.Value]) -> kit.Heat:
    """Return the map, for where units fell."""
    field = field_of(str(options["map"]))
    outlines = {name: board.outline(field.grid, [name]) for name in field.grid.names}
    names = [(name, *board.middle(field.grid, h)) for h, name in field.places.items()]
    walls = str(board.drawing(map_of(field))["walls"])
    return kit.Heat(*board.size(field.grid), outlines, HEAT, names, walls)


def _fallen(before: State, seat: kit.Seat, move: kit.Move, after: State) -> list[str]:
    if before.at == after.at:
        return []
    names = before.field.grid.names
    gone = (was for was, now in zip(before.at, after.at, strict=True) if now == DEAD and was >= 0)
    return [names[where] for where in gone]


def _undoable(before: State, seat: kit.Seat, move: kit.Move) -> bool:
    return seat in SIDES and move.name not in play.BINDING


def _own_sheet(state: State, name: str, language: str) -> Mapping[str, kit.Json]:
    return map_sheet(state.field)


GAME: kit.Game[State] = kit.Game(
    "siege",
    options=OPTIONS,
    presets=PRESETS,
    seatings=SEATINGS,
    rules=kit.Rules(
        setup=_begun,
        to_act=_to_act,
        on_turn=_on_turn,
        moves=legal.moves,
        choices=choices,
        table=play.MOVES,
        chance=legal.chance,
        result=_result,
        undoable=_undoable,
        laws=laws,
        notation=notation.notation,
    ),
    page=kit.Page(
        view=view,
        regions=regions,
        log=story,
        recap=recap,
        guide=guide,
        emblem="siege-cuauhtemoc",
        minutes=MINUTES,
        changes=changes,
        follows=follows,
    ),
    bot=kit.Bot(decide=bot.decide, skills=bot.SKILLS, idle=kit.least("ready", "rest", "hold", "done")),
    printer=kit.Printer(
        sheets=SHEETS,
        sheet=sheet,
        pieces=PIECES,
        boards=boards,
        shared_by={"odds": 1},
        own_sheets=("map",),
        own_sheet=_own_sheet,
    ),
    playtest=kit.Playtest(standing=_standing, heat=_heat, touched=_fallen, handicaps=HANDICAPS, paces=PACES),
    tools=TOOLS,
)
