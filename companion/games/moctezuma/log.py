"""Describes what a move did, as codes and facts that every seat may read, and never what only one seat saw."""

from __future__ import annotations

from companion.games.kit import Arg, Line, Move, Seat
from companion.games.moctezuma.rules.pieces import FACES, KINGS, NAMES, SPACES, UNSEEN, king_of
from companion.games.moctezuma.rules.result import totals
from companion.games.moctezuma.rules.state import COSTS, OVER, REVEAL, State


def story(before: State, seat: Seat, move: Move, after: State) -> list[Line]:
    """Return the lines of a move that was made; none if it informed one seat only, or was a note."""
    mark = f"seat:{seat}"
    args = move.args
    match move.name:
        case "first":
            return [Line("first", {"seat": args[0]}, f"seat:{args[0]}")]
        case "ready":
            return [Line("ready", {"by": seat}, mark)]
        case "walk":
            facts: dict[str, Arg] = {"seat": seat, "place": args[0]}
            return [Line("walked" if args[0] else "walked_library", facts, mark)]
        case "study":
            n = min(int(args[0]), SPACES - before.shown)
            return [Line("studied", {"seat": seat, "n": n, "cost": COSTS[int(args[0])]}, mark)]
        case "peek":
            if before.rules.peek_target_public == "off":
                return []
            return [Line("peeked", {"seat": seat, **_chit(before, int(args[0]))}, mark)]
        case "explore":
            facts = {"seat": seat, "place": before.places[before.current], "n": after.drawing}
            return [Line("explored", {**facts, "cost": COSTS[int(args[0])]}, mark)]
        case "keep":
            facts = {"seat": seat, "place": before.places[before.current]}
            if before.rules.open_treasure == "on":
                return [Line("kept_open", {**facts, "n": args[0]}, mark)]
            return [Line("kept", facts, mark)]
        case "leave":
            return [Line("left", {"seat": seat, "place": before.places[before.current]}, mark)]
        case "end_turn":
            return [Line("turn_ended", {"seat": seat}, mark)]
        case "chit":
            return _turned(before, after)
        case "name":
            return _revealed(before, after)
    return []


def _turned(before: State, after: State) -> list[Line]:
    if after.shown == before.shown:
        return []
    facts = {**_chit(before, before.shown), "face": FACES[after.chits[before.shown]]}
    lines = [Line("flipped", facts, str(facts["face"]))]
    return [*lines, Line("closed", picture=f"chit-{facts['face']}")] if after.stage == REVEAL else lines


def _revealed(before: State, after: State) -> list[Line]:
    if after.revealed == before.revealed:
        return []
    name = after.names[before.revealed]
    assert name != UNSEEN
    lines = [Line("revealed", {"place": after.revealed, "name": NAMES[name]})]
    if after.stage == OVER:
        won, scores = totals(after)
        best = max(each.total for each in scores)
        code = "won" if len(won) == 1 else "shared"
        lines += [Line(code, {"seat": after.seats[n], "n": best}, f"seat:{after.seats[n]}") for n in won]
    return lines


def _chit(state: State, space: int) -> dict[str, Arg]:
    return {"king": KINGS[king_of(space, state.rules.third_chit)], "column": space // len(KINGS) + 1}
