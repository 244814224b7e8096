"""Divides a view into the regions of the page, each with exactly what its template draws."""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kit import Json, Slice, View, only, whose_turn
from companion.games.market.page.drawing import Box, sheet
from companion.games.market.rules.board import COMMODITIES, LANES, SIDES

_PLAYING = ("buy", "move", "close", "pass")


def regions(view: View) -> Mapping[str, Mapping[str, Json]]:
    """Return the view cut into its regions. What the platform adds to a view may be missing: then none may act."""
    return {
        "turn": _turn(view),
        "market": _market(view),
        "king": _king(view),
        "action": _action(view),
        "holdings": _holdings(view),
        "bag": _bag(view),
        "drawer": _drawer(view),
    }


def kind(tile: str) -> str:
    """Return the kind of a tile by its name: ``crowd-2`` is a ``crowd``."""
    return tile.partition("-")[0]


def _turn(view: View) -> Slice:
    return {
        **whose_turn(view),
        "step": _step(view),
        "n": view["left"],
        "over": view["outcome"] is not None,
        "setup": _setting_up(view),
        "last": _last_round(view),
    }


def _step(view: View) -> str:
    """Return what the seat on turn is at; of a turn in which something was played or bought, that."""
    step: str = view["step"]
    if step == "turn" and view["played"]:
        return "bought" if view["bought"] else "playing"
    return step


def _setting_up(view: View) -> bool:
    return view["step"] in ("start", "deal", "lay", "coin")


def _last_round(view: View) -> bool:
    return not view["bag"] and view["outcome"] is None and not _setting_up(view)


def _market(view: View) -> Slice:
    """Return the market as its viewer sees it: own buyers nearest, lanes lit by what a purchase would bring."""
    nearest = view["me"] or SIDES[0]
    drawn = sheet(nearest, view["seats"])
    lit = {cell for deal in view["deals"] for cell in deal["cells"]}
    places = {cell: (lane + 1, n + 1) for lane, cells in enumerate(LANES[nearest]) for n, cell in enumerate(cells)}
    tiles: list[Json] = []
    for cell, tile in enumerate(view["market"]):
        box = drawn.cells[cell]
        n = view["vendors"].get(tile)
        tiles.append(
            {
                "cell": cell,
                "lane": places[cell][0],
                "place": places[cell][1],
                "x": box.x,
                "y": box.y,
                "lit": cell in lit,
                "tile": tile or "",
                "kind": kind(tile) if tile else "hole",
                "n": n,
                "moved": bool(tile) and tile == view["moved"],
            }
        )
    return {
        "nearest": nearest,
        "width": drawn.width,
        "height": drawn.height,
        "square": [drawn.cells[LANES[nearest][0][3]].x, drawn.cells[LANES[nearest][0][3]].y],
        # Fixed order: a tile that moves keeps its element, and the story of the picture stays the same to a reader.
        "tiles": sorted(tiles, key=lambda each: str(each["tile"])),  # type: ignore[index,call-overload]
        "king": sum(view["king"].values()),
        "sides": [_side(view, seat, drawn.buyers[seat]) for seat in view["seats"]],
    }


def _side(view: View, seat: str, boxes: tuple[Box, ...]) -> Json:
    on_turn = seat == view["on_turn"]
    return {
        "seat": seat,
        "on_turn": on_turn,
        "mine": seat == view["me"],
        "buyers": [
            {
                "lane": lane,
                "x": box.x,
                "y": box.y,
                "width": box.width,
                "height": box.height,
                **buyer,
                "deals": [
                    only(deal, "commodity", "brings", "returned", "king", "keeps_coin")
                    for deal in sorted(view["deals"], key=lambda deal: -deal["brings"])
                    if on_turn and deal["lane"] == lane
                ],
            }
            for lane, (box, buyer) in enumerate(zip(boxes, view["buyers"][seat], strict=True))
        ],
    }


def _king(view: View) -> Slice:
    """Return the king's multipliers, and beside them what the viewer's partnership has of each."""
    group: list[str] = next((group for group in view["partners"] if view["me"] in group), [])
    lines = view["score"]["lines"]
    return {
        "laid": not _setting_up(view),
        "goods": [
            {
                "commodity": name,
                "n": view["king"][name],
                "own": max((lines[seat][which]["n"] for seat in group), default=None),
            }
            for which, name in enumerate(COMMODITIES)
        ],
    }


def _action(view: View) -> Slice:
    acting = view.get("acting", "")
    mine = bool(acting) and acting == view["on_turn"]
    choices = [dict(each) for each in view.get("choices", [])]
    return {
        "acting": acting,
        "seat": view["on_turn"] or "",
        "mine": mine or (view["step"] == "start" and bool(acting)),
        "step": _step(view),
        "n": view["left"],
        "drawn": view["drawn"],
        "buys": [each for each in choices if each["group"] == "buy"],
        "moves": [each for each in choices if each["group"] == "move"],
        "ends": [each for each in choices if each["group"] in ("close", "pass")],
        "stock": [{"kind": kind, "n": n} for kind, n in view["undealt"].items()] if view["step"] == "lay" else [],
        "others": [each for each in choices if each["group"] not in _PLAYING],
        "chance": only(view.get("chance"), "may", "mine", "key", "choices"),
    }


def _holdings(view: View) -> Slice:
    """Return what everybody holds, partners side by side, and what it would score if it ended now."""
    score = view["score"]
    lines = score["lines"]
    return {
        "shown": not _setting_up(view),
        "king": [view["king"][name] for name in COMMODITIES],
        "groups": [
            {
                "points": score["points"][n],
                "leads": n in score["leading"] and any(score["points"]),
                "mine": view["me"] in group,
                "players": [
                    {
                        "seat": seat,
                        "cells": lines[seat],
                        "points": score["totals"][seat],
                        "coins": sum(buyer["coin"] for buyer in view["buyers"][seat]),
                    }
                    for seat in group
                ],
            }
            for n, group in enumerate(view["partners"])
        ],
    }


def _bag(view: View) -> Slice:
    total = sum(view["unseen"].values())
    return {
        "n": view["bag"],
        "passes": (view["bag"] + 3) // 4,
        "aside": view["aside"],
        "last": _last_round(view),
        "over": view["outcome"] is not None,
        "goods": [
            {
                "commodity": name,
                "n": view["unseen"][name],
                "share": view["unseen"][name] / total if total and view["bag"] else 0,
            }
            for name in COMMODITIES
        ],
    }


def _drawer(view: View) -> Slice:
    return {"over": view["outcome"] is not None}
