"""Mexica: the game that the temple was built for. `GAME` is composed of its parts.

Its option ``scope`` decides how much the app runs: only what happens at the temple, or also the board, the hands and
the tokens that the tribes own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.games import kit
from companion.games.mexica import bot
from companion.games.mexica.changes import changes, follows
from companion.games.mexica.log import story
from companion.games.mexica.page import calendar_board, charts
from companion.games.mexica.page.film import film
from companion.games.mexica.page.guide import guide
from companion.games.mexica.page.regions import regions
from companion.games.mexica.page.view import known, view
from companion.games.mexica.printer import PIECES, SHEETS, boards, sheet
from companion.games.mexica.recap import because, recap
from companion.games.mexica.rules import apocalypse, course, decisions, hands, legal, notation, play
from companion.games.mexica.rules.audit import audit
from companion.games.mexica.rules.calendar import sign
from companion.games.mexica.rules.cards import blanked
from companion.games.mexica.rules.laws import laws
from companion.games.mexica.rules.options import FULL, MINUTES, OPTIONS, PRESETS, SEATINGS, HouseRules
from companion.games.mexica.rules.state import State, setup


def _begun(options: Mapping[str, kit.Value], seats: tuple[kit.Seat, ...]) -> State:
    rules = HouseRules.of(options)
    return course.opened(setup(rules, seats)) if rules.scope == FULL else setup(rules, seats)


def _on_turn(state: State) -> kit.Seat | None:
    return None if state.over else state.seat


def _amended(state: State, options: Mapping[str, kit.Value]) -> State | kit.Refusal:
    """Return the state with another deck (ruling M20): cards keep their ids, hands and piles stay as they are."""
    rules = HouseRules.of(options)
    if kit.replace(rules, deck=state.rules.deck) != state.rules:
        return kit.Refusal("not_amendable")
    return kit.replace(state, rules=rules)


def _result(state: State) -> kit.Result | None:
    end = state.outcome
    if not end:
        return None
    winners = (end.seat,) if end.seat else ()
    return kit.Result(end.kind, winners, picture=f"end-{end.kind}", because=because(state))


def _undoable(before: State, seat: kit.Seat, move: kit.Move) -> bool:
    """Return whether a seat may take back its own move while nobody has acted since.

    What ends a full game stands: once it is over its whole log is open, closed hands included (M21).
    """
    if not play.undoable(before, seat, move):
        return False
    if before.board is None or before.rules.open_hands == "on":
        return True
    if before.clock is None and move.name not in ("take", "choose"):
        return True  # only a running clock, or a week card that changes hands, can end it
    after = play.play(before, seat, move)
    return isinstance(after, State) and not after.over


def _acts_for(state: State, seat: kit.Seat, move: kit.Move) -> kit.Seat:
    """Return whose move this is: with a wooden board, anyone may sacrifice and end the turn for the seat on turn."""
    return state.seat if state.board is None and move.name in ("end_turn", "sacrifice") else seat


def _idle(moves: Sequence[kit.Move]) -> kit.Move | None:
    """Return the move that does least for a tribe that is passed: it lets all be, or does what it must."""
    return kit.least("pass", "end_turn")([move for move in moves if move.name not in play.CHORES])


def _standing(state: State) -> Mapping[kit.Seat, float]:
    """Return who has most signs, then most tokens; of the temple alone nobody can say."""
    if state.board is None:
        return {}
    tribes = zip(state.seats, state.laid.tribes, strict=True)
    return {seat: 1000 * len(hands.signs(state, seat)) + tribe.tokens for seat, tribe in tribes}


def _card(move: kit.Move) -> str:
    return str(move.args[1]) if move.name == "draw" else ""


def _blanked(options: Mapping[str, kit.Value], card: str) -> Mapping[str, kit.Value]:
    return {**options, "deck": blanked(str(options["deck"]), card)}


HEAT = {"en": "tribes that came there", "es": "tribus que llegaron ahí"}


def _heat(options: Mapping[str, kit.Value]) -> kit.Heat:
    """Return the calendar, for where tribes landed."""
    outlines = {space.sign: space.outline for space in calendar_board.spaces()}
    names = [(space.sign, space.glyph.x, space.glyph.y) for space in calendar_board.spaces()]
    return kit.Heat(calendar_board.SIZE, calendar_board.SIZE, outlines, HEAT, names)


def _landed(before: State, seat: kit.Seat, move: kit.Move, after: State) -> list[str]:
    if before.board is None or after.board is None or before.laid.tribes is after.laid.tribes:
        return []
    pairs = zip(before.laid.tribes, after.laid.tribes, strict=True)
    return [sign(now.place) for was, now in pairs if was.place != now.place]


def _decide(
    view: Mapping[str, kit.Json], moves: Sequence[kit.Move], below: kit.Below, chief: bot.Chief = bot.PRACTISED_CHIEF
) -> kit.Move | None:
    """Return what the app plays for a tribe; tokens that nobody claimed are for people to settle."""
    if view["scope"] != FULL:
        # This tribe's cards are on the real table, where the app does not see them: it only passes.
        return _idle(moves)
    return bot.decide(view, [move for move in moves if move.name not in play.CHORES], below, chief)


GAME: kit.Game[State] = kit.Game(
    "mexica",
    options=OPTIONS,
    presets=PRESETS,
    seatings=SEATINGS,
    rules=kit.Rules(
        setup=_begun,
        to_act=play.to_act,
        on_turn=_on_turn,
        moves=legal.moves,
        choices=legal.choices,
        table=play.MOVES,
        play=play.play,
        chance=decisions.chance,
        amended=_amended,
        result=_result,
        resample=hands.resample,
        undoable=_undoable,
        acts_for=_acts_for,
        laws=laws,
        notation=notation.notation,
    ),
    page=kit.Page(
        view=view,
        regions=regions,
        log=story,
        recap=recap,
        film=film,
        known=known,
        charts=charts.regions,
        guide=guide,
        changes=changes,
        follows=follows,
        emblem="temple-front",
        minutes=MINUTES,
    ),
    bot=kit.Bot(decide=_decide, idle=_idle, skills=bot.SKILLS),
    printer=kit.Printer(sheets=SHEETS, sheet=sheet, pieces=PIECES, boards=boards),
    temple=kit.TempleRules(drop=play.entering, doubted=play.doubting, audit=audit, mood=apocalypse.mood),
    playtest=kit.Playtest(
        chores=play.CHORES,
        plays=lambda options: options["scope"] == FULL,  # a wooden board is played by people only
        standing=_standing,
        heat=_heat,
        touched=_landed,
        card=_card,
        blanked=_blanked,
    ),
)
