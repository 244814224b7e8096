"""A game in one readable line that parses back, for errors, logs and tests. Only what it wrote is read.

A line holds ``key=value`` words; the rules are those that differ from their default::

    rules=removed:40 start=south turn=3 step=turn:west:0 market=pcjh/1234/xyuv/amk. vendors=3,0,1,2 king=0,1,0,0
    unseen=15,18,18,17 drawn=- moved=- south=o3p,-,o,2j west=o,-,-,- played=shift:5:1,buy:0:2

A tile is a letter: the vendors p, c, j, h, the crowds 1 to 4, the porters x, y, the governors u, v, then a, m, k; a
cell without one is a dot. A buyer is its coin ``o`` and its goods. In a Play the line is that of the turn's
beginning, and ``played`` leads on from there.
"""

from __future__ import annotations

import re

from companion.games.kit import Move, Refusal, Value
from companion.games.market.rules.board import HOLE, PER_COMMODITY
from companion.games.market.rules.legal import undealt
from companion.games.market.rules.options import OPTIONS, SEATINGS, HouseRules
from companion.games.market.rules.state import (
    COIN,
    DEAL,
    DRAW,
    KINGS,
    LAY,
    MONEY,
    OVER,
    SHIFT,
    START,
    STEPS,
    State,
)
from companion.games.market.rules.turn import DRAWN_AT_ONCE, MOVED_IN_A_PASS, play

_NONE = "-"
_TILES = "pcjh1234xyuvamk."
_GOODS = "pcjh"
_BUYER = re.compile(r"(o?)(?:([1-9]\d?)([pcjh]))?", re.ASCII)
_NUMBER = re.compile(r"\d{1,4}", re.ASCII)
_MOVES = {"shift": 2, "messenger": 0, "buy": 3}


def notation(state: State) -> str:
    """Return the state in one line; ``parse(notation(state)) == state``."""
    base = state.origin or state
    words = {
        "rules": ",".join(f"{key}:{value}" for key, value in _departures(base.rules)) or _NONE,
        "start": base.seats[base.start],
        "turn": str(base.turn),
        "step": f"{base.step}:{base.seats[base.seat]}:{base.left}",
        "market": "/".join("".join(_TILES[tile] for tile in base.market[row : row + 4]) for row in (0, 4, 8, 12)),
        "vendors": _numbers(base.vendors),
        "king": _numbers(base.king),
        "unseen": _numbers(base.unseen),
        "drawn": "".join(_GOODS[which] for which in base.drawn) or _NONE,
        "moved": _TILES[base.moved] if base.moved != HOLE else _NONE,
        **{seat: ",".join(_buyer(base, 4 * n + lane) for lane in range(4)) for n, seat in enumerate(base.seats)},
        "played": ",".join(":".join(map(str, (move.name, *move.args))) for move in state.played) or _NONE,
    }
    return " ".join(f"{key}={value}" for key, value in words.items())


def parse(text: str) -> State:
    """Read a state that `notation` wrote; raises `ValueError` for any other text."""
    try:
        base, played = _read(text)
    except KeyError as error:
        raise ValueError(f"market notation is {_short(text)}; it lacks {error}") from None
    _check(base, text)
    state = base
    for move in played:
        after = play(state, state.seats[state.seat], move)
        if isinstance(after, Refusal):
            raise ValueError(f"market notation is {_short(text)}; {move} in it is refused: {after.code}")
        state = after
    if (again := notation(state)) != text:
        raise ValueError(f"market notation is {_short(text)}; expected what writes the same state, {_short(again)}")
    return state


def _read(text: str) -> tuple[State, list[Move]]:
    words = dict(_pair(each) for each in text.split(" "))
    named = [key for key in words if key in SEATINGS[max(SEATINGS)]]
    seats = next((seats for seats in SEATINGS.values() if list(seats) == named), None)
    if seats is None:
        raise ValueError(f"market notation has the seats {named}; expected a seating of the game")
    buyers = [_read_buyer(each) for seat in seats for each in _parts(words[seat], ",", 4)]
    step, seat, left = _parts(words["step"], ":", 3)
    state = State(
        rules=_rules(words["rules"]),
        seats=seats,
        coins=tuple(coin for coin, _, _ in buyers),
        goods=tuple(goods for _, goods, _ in buyers),
        counts=tuple(count for _, _, count in buyers),
        unseen=_four(words["unseen"]),
        step=step,
        start=_place(words["start"], seats),
        seat=_place(seat, seats),
        turn=_number(words["turn"]),
        left=_number(left),
        market=tuple(_tile(each) for row in _parts(words["market"], "/", 4) for each in row),
        vendors=_four(words["vendors"]),
        king=_four(words["king"]),
        drawn=() if words["drawn"] == _NONE else tuple(_GOODS.index(each) for each in words["drawn"]),
        moved=HOLE if words["moved"] == _NONE else _tile(words["moved"]),
    )
    played = [] if words["played"] == _NONE else words["played"].split(",")
    return state, [_move(each) for each in played]


def _check(state: State, text: str) -> None:
    """Raise `ValueError` unless a state keeps the laws of the game; its form is right already."""
    tiles = [tile for tile in state.market if tile != HOLE]
    each = tuple(
        state.unseen[which]
        + state.vendors[which]
        + state.king[which]
        + sum(n for n, goods in zip(state.counts, state.goods, strict=True) if goods == which)
        for which in range(4)
    )
    gone = state.rules.removed // 4 if state.rules.removed_mode == "equal" else 0
    set_up = state.step in (START, DEAL, LAY)
    lefts = {SHIFT: range(1, MOVED_IN_A_PASS + 1), DRAW: range(1, DRAWN_AT_ONCE + 1), DEAL: range(1, 17)}
    laws = {
        "a step that there is": state.step in STEPS,
        "sixteen cells": len(state.market) == 16,
        "each tile once": len(set(tiles)) == len(tiles),
        "fifteen tiles and a hole": set_up or len(tiles) == 15,
        "a market that is being set up": not set_up or (state.step == LAY) <= (len(tiles) < 15),
        "an empty market before it is set up": state.step != START or not tiles,
        "cells that chance has come to": state.step != DEAL
        or (16 - state.left - len(tiles) in (0, 1) and not any(n < 0 for n in undealt(state).values())
            and all(tile == HOLE for tile in state.market[16 - state.left :])),
        "twenty tokens of each commodity": each == (PER_COMMODITY - gone,) * 4,
        "a bag of a multiple of four": state.bag >= 0
        and (state.bag + (4 - state.left if state.step == DRAW else 0)) % 4 == 0
        and (state.step != DRAW or state.bag >= state.left),
        "as much left to do as the step has": state.left in lefts.get(state.step, range(1)),
        "as many tokens drawn as the step wants": len(state.drawn) in _drawn(state),
        "a tile that was moved": state.moved == HOLE or (state.step == SHIFT and state.left == 1),
        "the first tile moved before the second": (state.step, state.left) != (SHIFT, 1) or state.moved != HOLE,
        "a buyer without a coin": state.step not in (COIN, MONEY)
        or not all(state.coins[4 * state.seat : 4 * state.seat + 4]),
        "an end when the bag is empty": state.step != OVER or not state.bag,
        "a turn from 1": state.turn >= 1,
    }  # fmt: skip
    for law, kept in laws.items():
        if not kept:
            raise ValueError(f"market notation is {_short(text)}; expected {law}")


def _drawn(state: State) -> tuple[int, ...]:
    """Return how many tokens may have been drawn in the Pass that runs: all, or none out of an empty bag."""
    if state.step == DRAW:
        return (DRAWN_AT_ONCE - state.left,)
    return (0, DRAWN_AT_ONCE) if state.step in (SHIFT, MONEY, KINGS) else (0,)


def _departures(rules: HouseRules) -> list[tuple[str, Value]]:
    chosen = rules.chosen()
    return [(each.key, chosen[each.key]) for each in OPTIONS if chosen[each.key] != each.default]


def _rules(text: str) -> HouseRules:
    chosen: dict[str, Value] = {option.key: option.default for option in OPTIONS}
    for each in () if text == _NONE else text.split(","):
        key, _, value = each.partition(":")
        chosen[key] = int(value) if _NUMBER.fullmatch(value) else value
    return HouseRules.of(chosen)


def _buyer(state: State, buyer: int) -> str:
    count = state.counts[buyer]
    goods = f"{count}{_GOODS[state.goods[buyer]]}" if count else ""
    return f"{'o' if state.coins[buyer] else ''}{goods}" or _NONE


def _read_buyer(text: str) -> tuple[int, int, int]:
    found = _BUYER.fullmatch("" if text == _NONE else text)
    if not found:
        raise ValueError(f"buyer is {_short(text)}; expected such as o3p, 3p, o or -")
    coin, count, goods = found.groups()
    return int(coin == "o"), _GOODS.index(goods) if goods else 0, int(count or 0)


def _move(text: str) -> Move:
    name, *args = text.split(":")
    if name not in _MOVES or len(args) > _MOVES[name]:
        raise ValueError(f"market notation has the move {_short(text)}; expected one of a Play")
    return Move(name, tuple(_number(each) for each in args))


def _numbers(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


def _four(text: str) -> tuple[int, ...]:
    return tuple(_number(each) for each in _parts(text, ",", 4))


def _tile(text: str) -> int:
    if len(text) != 1 or text not in _TILES:
        raise ValueError(f"market notation has the tile {_short(text)}; expected one of {_TILES}")
    return _TILES.index(text)


def _place(seat: str, seats: tuple[str, ...]) -> int:
    if seat not in seats:
        raise ValueError(f"market notation has the seat {_short(seat)}; expected one of {', '.join(seats)}")
    return seats.index(seat)


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"market notation has the word {_short(text)}; expected key=value")
    return key, value


def _parts(text: str, mark: str, count: int) -> list[str]:
    parts = text.split(mark)
    if len(parts) != count:
        raise ValueError(f"market notation has {_short(text)}; expected {count} parts between {mark!r}")
    return parts


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"market notation has the number {_short(text)}; expected at most four digits")
    return int(text)


def _short(text: object) -> str:
    return ascii(str(text)[:200])
