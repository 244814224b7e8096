"""Moctezuma's Revenge: research, exploration and cursed kings. `GAME` is composed of its parts."""

from __future__ import annotations

from collections.abc import Mapping

from companion.games import kit
from companion.games.moctezuma import bot
from companion.games.moctezuma.changes import changes
from companion.games.moctezuma.log import story
from companion.games.moctezuma.page import board
from companion.games.moctezuma.page.guide import guide
from companion.games.moctezuma.page.regions import regions
from companion.games.moctezuma.page.view import for_stand_in, known, view
from companion.games.moctezuma.printer import PIECES, SHEETS, boards, sheet
from companion.games.moctezuma.recap import recap
from companion.games.moctezuma.rules import chance, legal, notation, play
from companion.games.moctezuma.rules.knowledge import resample
from companion.games.moctezuma.rules.laws import laws
from companion.games.moctezuma.rules.options import MINUTES, OPTIONS, PRESETS, SEATINGS, HouseRules
from companion.games.moctezuma.rules.result import result, totals
from companion.games.moctezuma.rules.state import State, setup
from companion.games.moctezuma.tools import TOOLS

HEAT = {
    "en": "researchers who walked there (0 is the Library)",
    "es": "investigadores que llegaron a pie (0 es la Biblioteca)",
}


def _begun(options: Mapping[str, kit.Value], seats: tuple[kit.Seat, ...]) -> State:
    return setup(HouseRules.of(options), seats)


def _on_turn(state: State) -> kit.Seat | None:
    return None if state.over else state.seat


def _aside(move: kit.Move) -> bool:
    return move.name == play.NOTE


def _standing(state: State) -> Mapping[kit.Seat, float]:
    """Return what each would score if the game ended here, by names that nobody has read yet."""
    return {seat: count.total for seat, count in zip(state.seats, totals(state)[1], strict=True)}


def _heat(options: Mapping[str, kit.Value]) -> kit.Heat:
    """Return the board, for where researchers walked to."""
    layout = board.shape(str(options["board"]))
    corners = [[*map(float, corner.split(","))] for corner in board.tile(layout).split()]
    places, names = {}, []
    for place, spot in enumerate(board.spots(layout)):
        name = str(place)
        places[name] = "M" + " L".join(f"{spot.x + x:.1f},{spot.y + y:.1f}" for x, y in corners) + " Z"
        names.append((name, spot.x, spot.y))
    return kit.Heat(board.WIDTH, board.HEIGHT[layout], places, HEAT, names)


def _walked(before: State, seat: kit.Seat, move: kit.Move, after: State) -> list[str]:
    return [str(move.args[0])] if move.name == "walk" else []


GAME: kit.Game[State] = kit.Game(
    "moctezuma",
    options=OPTIONS,
    presets=PRESETS,
    seatings=SEATINGS,
    rules=kit.Rules(
        setup=_begun,
        to_act=legal.to_act,
        on_turn=_on_turn,
        moves=legal.moves,
        choices=legal.choices,
        table=play.MOVES,
        chance=chance.chance,
        result=result,
        resample=resample,
        undoable=play.undoable,
        aside=_aside,
        laws=laws,
        notation=notation.notation,
    ),
    page=kit.Page(
        view=view,
        for_stand_in=for_stand_in,
        regions=regions,
        log=story,
        recap=recap,
        known=known,
        guide=guide,
        emblem="library",
        minutes=MINUTES,
        changes=changes,
    ),
    bot=kit.Bot(decide=bot.decide, skills=bot.SKILLS, idle=kit.least("end_turn", "leave", "ready")),
    printer=kit.Printer(sheets=SHEETS, sheet=sheet, pieces=PIECES, boards=boards, shared_by={"records": 2}),
    playtest=kit.Playtest(standing=_standing, heat=_heat, touched=_walked),
    tools=TOOLS,
)
