"""What a seat may know of a game, as JSON: the same for every seat, because nothing is hidden.

The app does not know what is in the bag and what was set aside unseen either: it counts both together (ruling A8).
"""

from __future__ import annotations

from companion.games.kit import Json, Seat
from companion.games.market.rules.board import COMMODITIES, HOLE, KIND_OF, LANES, TILE_NAMES
from companion.games.market.rules.legal import movable, undealt, within_reach
from companion.games.market.rules.purchase import Deal, deals
from companion.games.market.rules.result import standing
from companion.games.market.rules.scoring import Score
from companion.games.market.rules.state import DEAL, KINGS, LAY, SHIFT, START, TURN, State


def view(state: State, seat: Seat | None) -> dict[str, Json]:
    """Return what a seat, or with none a spectator, may know."""
    by = state.seats[state.seat]
    set_up = state.step in (START, DEAL, LAY)
    score = standing(state)
    return {
        "me": seat if seat in state.seats else None,
        "seats": list(state.seats),
        "partners": [[state.seats[one] for one in group] for group in state.partners],
        "rules": state.rules.chosen(),
        "step": state.step,
        "left": state.left,
        "turn": state.turn,
        "round": state.round,
        "start": None if state.step == START else state.seats[state.start],
        "on_turn": None if state.over else by,
        "market": [None if tile == HOLE else TILE_NAMES[tile] for tile in state.market],
        "undealt": {kind: n for kind, n in undealt(state).items() if n and kind != "hole"} if set_up else {},
        "vendors": dict(zip(COMMODITIES, state.vendors, strict=True)),
        "king": dict(zip(COMMODITIES, state.king, strict=True)),
        "bag": state.bag,
        "aside": state.aside,
        "unseen": dict(zip(COMMODITIES, state.unseen, strict=True)),
        "drawn": [COMMODITIES[which] for which in state.drawn],
        "moved": None if state.moved == HOLE else TILE_NAMES[state.moved],
        "movable": list(movable(state)) if state.step in (SHIFT, TURN) else [],
        "reach": [COMMODITIES[which] for which in within_reach(state)] if state.step == KINGS else [],
        "buyers": {each: [_buyer(state, 4 * n + lane) for lane in range(4)] for n, each in enumerate(state.seats)},
        "deals": [_deal(state, by, each) for each in deals(state, state.seat)] if state.step == TURN else [],
        "played": [move.to_json() for move in state.played],
        "bought": state.bought,
        "score": _score(state, score),
        "outcome": _outcome(state, score) if state.over else None,
    }


def _buyer(state: State, buyer: int) -> Json:
    count = state.counts[buyer]
    return {
        "coin": bool(state.coins[buyer]),
        "goods": COMMODITIES[state.goods[buyer]] if count else "",
        "n": count,
    }


def _deal(state: State, seat: Seat, deal: Deal) -> Json:
    cells = LANES[seat][deal.lane][: deal.depth + 1]
    return {
        "lane": deal.lane,
        "cells": list(cells),
        "commodity": COMMODITIES[deal.vendor],
        "taken": deal.taken,
        "brings": deal.brings,
        "returned": deal.returned,
        "king": deal.to_king,
        "keeps_coin": deal.keeps_coin,
        "by": [KIND_OF[state.market[cell]] for cell in cells[:-1] if state.market[cell] != HOLE],
    }


def _score(state: State, score: Score) -> Json:
    return {
        "lines": {
            seat: [
                {"commodity": name, "n": cell.tokens, "counts": cell.counts, "points": cell.points}
                for name, cell in zip(COMMODITIES, line, strict=True)
            ]
            for seat, line in zip(state.seats, score.lines, strict=True)
        },
        "totals": dict(zip(state.seats, score.totals, strict=True)),
        "points": list(score.points),
        "leading": list(score.winners),
        "decided": score.decided,
    }


def _outcome(state: State, score: Score) -> Json:
    return {
        "winners": [state.seats[one] for winner in score.winners for one in state.partners[winner]],
        "points": list(score.points),
        "decided": score.decided,
    }
