"""A game whose answers are known: heads draws a card, calls or bluffs, and a biased coin says who wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated

from companion.games.kit import (
    CHANCE,
    Below,
    Bot,
    Chance,
    Game,
    Json,
    Move,
    MoveTable,
    MoveType,
    Page,
    Playtest,
    Result,
    Rules,
    Seat,
    Struct,
    TableRules,
    Value,
    one_of,
    replace,
    rule,
)

_with_any_paint = partial(rule, only=("paint", "any"))


class Chosen(TableRules, frozen=True):
    tenths: Annotated[int, rule(6, "", (3, 6), low=0, high=8)]
    paint: Annotated[str, rule("gold", "", ("gold", "silver", "any"))]
    blank: Annotated[str, _with_any_paint("", "", ("", "lucky"))]
    endless: Annotated[str, _with_any_paint("off", "", ("off", "on"))]


class State(Struct, frozen=True):
    rules: Chosen
    card: str = ""
    called: str = ""
    winner: str = ""


def _setup(options: Mapping[str, Value], seats: tuple[Seat, ...]) -> State:
    return State(Chosen(**options))


def _on_turn(state: State) -> Seat | None:
    return None if state.winner else "heads"


def _tenths(state: State) -> int:
    """Return in how many of ten games heads wins now: a lucky card is worth two, a bluff leaves one."""
    if state.called == "bluff":
        return 1
    return state.rules.tenths + 2 * (state.card == "lucky" and state.rules.blank != "lucky")


def _chance(state: State) -> Chance | None:
    if not state.card:
        cards = {Move("draw", (card,)): Fraction(1, 2) for card in ("lucky", "plain")}
        return Chance("draw", cards, "heads")
    if state.called and not state.winner:
        share = Fraction(_tenths(state), 10)
        sides = {"heads": share, "tails": 1 - share}
        return Chance("toss", {Move("toss", (side,)): share for side, share in sides.items() if share}, "heads")
    return None


def _listed(state: State) -> list[Move]:
    return [Move("bluff"), Move("call")]


def _called(state: State, what: str) -> State:
    return state if state.rules.endless == "on" else replace(state, called=what)


def _result(state: State) -> Result | None:
    return Result("tossed", (state.winner,)) if state.winner else None


def _view(state: State, seat: Seat | None) -> dict[str, Json]:
    return {"card": state.card, "winner": state.winner}


def _call(view: Mapping[str, Json], moves: Sequence[Move], below: Below) -> Move | None:
    return Move("call")


def _blanked(options: Mapping[str, Value], card: str) -> Mapping[str, Value]:
    return {**options, "blank": card} if card == "lucky" else options


GAME: Game[State] = Game(
    "coin",
    options=Chosen.options(),
    presets={"classic": {}, "stuck": {"endless": "on"}},
    seatings={2: ("heads", "tails")},
    rules=Rules(
        setup=_setup,
        on_turn=_on_turn,
        turn=lambda state: 1 + bool(state.called),
        listed=_listed,
        table=MoveTable(
            MoveType(
                "draw", lambda state, card: replace(state, card=card), {"card": one_of("lucky", "plain")}, CHANCE
            ),
            MoveType(
                "toss", lambda state, side: replace(state, winner=side), {"side": one_of("heads", "tails")}, CHANCE
            ),
            MoveType("call", lambda state: _called(state, "call")),
            MoveType("bluff", lambda state: _called(state, "bluff")),
        ),
        chance=_chance,
        result=_result,
    ),
    page=Page(view=_view),
    bot=Bot(decide=_call),
    playtest=Playtest(
        standing=lambda state: {"heads": _tenths(state), "tails": 10 - _tenths(state)},
        card=lambda move: str(move.args[0]) if move.name == "draw" else "",
        blanked=_blanked,
    ),
)
