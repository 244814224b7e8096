"""The legal moves one level at a time, each with the thing on the board that it belongs to. It judges none.

Things are named so: ``cell:5`` a cell and the tile on it, ``buyer:south:0`` a buyer by seat and lane, ``stock:crowd``
a tile that is not laid yet, ``bag``. Lanes and places in words are counted from 1, as their own player sees them.
"""

from __future__ import annotations

from itertools import groupby

from companion.games.kit import CHANCE, Arg, Choice, Move, Seat
from companion.games.market.rules.board import COMMODITIES, KIND_OF, LANES, MESSENGER
from companion.games.market.rules.legal import moves
from companion.games.market.rules.purchase import Deal, deals
from companion.games.market.rules.state import KINGS, LAY, MONEY, SHIFT, TURN, State


def choices(state: State, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
    """Return the legal moves of a seat, or of chance, a level at a time: tile, then cell; tile, then who pays."""
    listed = moves(state, seat)
    if seat == CHANCE:
        return [] if picked else sorted((_brought(state, move) for move in listed), key=_in_the_box)
    if picked:
        return _deeper(state, seat, picked, listed)
    if state.step == LAY:
        return [] if not listed else [Choice("lay_tiles", {"pick": "lay"}, "stock:*", group="lay")]
    if state.step == TURN:
        return _of_a_turn(state, seat, listed)
    return [_simple(state, seat, move) for move in listed]


def _in_the_box(choice: Choice) -> int:
    """Return where goods stand in the order in which every page shows them."""
    return COMMODITIES.index(str(choice.facts["commodity"])) if choice.key == "draw" else 0


def place(seat: Seat, cell: int) -> tuple[int, int]:
    """Return the lane and the place in it, both from 1, at which a seat sees a cell."""
    for lane, cells in enumerate(LANES[seat]):
        if cell in cells:
            return lane + 1, cells.index(cell) + 1
    raise AssertionError(f"cell {cell} is in no lane of {seat}")


def _at(seat: Seat, cell: int) -> dict[str, Arg]:
    lane, depth = place(seat, cell)
    return {"lane": lane, "place": depth}


def _brought(state: State, move: Move) -> Choice:
    """Return what a person may type in that chance has brought."""
    if move.name == "draw":
        return Choice("draw", {"commodity": move.args[0]}, "bag", move, "draw")
    if move.name == "deal":
        return Choice("deal", {"tile": move.args[0]}, f"cell:{16 - state.left}", move, "deal")
    return Choice("start", {"seat": move.args[0]}, f"seat:{move.args[0]}", move, "start")


def _simple(state: State, seat: Seat, move: Move) -> Choice:
    """Return the choice of a move in the steps where all moves are on one level."""
    if move.name == "start":
        return Choice("start", {"seat": move.args[0]}, f"seat:{move.args[0]}", move, "start")
    if move.name == "coin":
        lane = int(move.args[0])
        first = "coin" if state.step == MONEY else "first_coin"
        return Choice(first, {"lane": lane + 1}, f"buyer:{seat}:{lane}", move, "coin")
    if state.step == SHIFT:
        cell = int(move.args[0])
        facts = {"tile": KIND_OF[state.market[cell]], **_at(seat, cell)}
        return Choice("shift", facts, f"cell:{cell}", move, "shift")
    if move.name == "take":
        cell = state.market.index(COMMODITIES.index(str(move.args[0])))
        return Choice("take", {"commodity": move.args[0]}, f"cell:{cell}", move, "king")
    assert state.step == KINGS  # no other step has a move that needs no argument here
    return Choice("leave", {}, "", move, "king")


def _of_a_turn(state: State, seat: Seat, listed: list[Move]) -> list[Choice]:
    level = [_purchase(seat, each) for each in deals(state, state.seat)] if listed else []
    names = [move.name for move in listed]
    if "messenger" in names:
        level.append(Choice("messenger", {}, f"cell:{state.market.index(MESSENGER)}", Move("messenger"), "move"))
    if "shift" in names:
        level.append(Choice("pay_shift", {"pick": "shift"}, "cell:*", group="move"))
    if "pass" in names:
        level.append(Choice("pass", {}, "", Move("pass"), "pass"))
    if "commit" in names:
        level.append(Choice("commit", {"n": state.bought}, "", Move("commit"), "close", confirm=True))
    if "rollback" in names:
        level.append(Choice("rollback", {}, "", Move("rollback"), "close"))
    return level


def _purchase(seat: Seat, deal: Deal) -> Choice:
    """Return the choice of a purchase; one that brings the buyer nothing asks twice (ruling A12)."""
    facts: dict[str, Arg] = {
        "n": deal.brings,
        "lane": deal.lane + 1,
        "commodity": COMMODITIES[deal.vendor],
        "taken": deal.taken,
        "returned": deal.returned,
        "king": deal.to_king,
    }
    key = "buy_tolled" if deal.returned or deal.to_king else "buy"
    element = f"buyer:{seat}:{deal.lane}"
    return Choice(key, facts, element, Move("buy", deal.args), "buy", confirm=not deal.brings)


def _deeper(state: State, seat: Seat, picked: tuple[Arg, ...], listed: list[Move]) -> list[Choice]:
    """Return the next level under what is picked of a laid tile or of a tile that a coin moves."""
    below = [move for move in listed if move.name == picked[0] and move.args[: len(picked) - 1] == picked[1:]]
    if not below or len(picked) > 2 or (state.step, picked[0]) not in ((LAY, "lay"), (TURN, "shift")):
        return []
    level = []
    if len(picked) == 1:
        for arg, _ in groupby(below, key=lambda move: move.args[0]):
            if picked[0] == "lay":
                level.append(Choice("lay_tile", {"tile": arg, "pick": arg}, f"stock:{arg}", group="lay"))
            else:
                facts = {"tile": KIND_OF[state.market[int(arg)]], **_at(seat, int(arg)), "pick": arg}
                level.append(Choice("shift_tile", facts, f"cell:{arg}", group="move"))
        return level
    for move in below:
        last = int(move.args[1])
        if picked[0] == "lay":
            facts = {"tile": move.args[0], **_at(seat, last)}
            level.append(Choice("lay", facts, f"cell:{last}", move, "lay"))
        else:
            facts = {"tile": KIND_OF[state.market[int(move.args[0])]], "lane": last + 1}
            level.append(Choice("shift_paid", facts, f"buyer:{seat}:{last}", move, "move"))
    return level
