"""The invariants of the market, which the conformance suite checks after every random move."""

from __future__ import annotations

from companion.games.market.rules.board import HOLE, PER_COMMODITY
from companion.games.market.rules.legal import undealt
from companion.games.market.rules.state import COIN, DEAL, DRAW, KINGS, LAY, MONEY, OVER, SHIFT, START, STEPS, State
from companion.games.market.rules.turn import DRAWN_AT_ONCE, MOVED_IN_A_PASS


def laws(state: State) -> dict[str, bool]:
    """Return the invariants of the game, each with whether this state satisfies it."""
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
    return {
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


def _drawn(state: State) -> tuple[int, ...]:
    """Return how many tokens may have been drawn in the Pass that runs: all, or none out of an empty bag."""
    if state.step == DRAW:
        return (DRAWN_AT_ONCE - state.left,)
    return (0, DRAWN_AT_ONCE) if state.step in (SHIFT, MONEY, KINGS) else (0,)
