"""Describes what a move did, as codes and facts for the log."""

from __future__ import annotations

from collections.abc import Sequence

from companion.games.kit import Arg, Line, Move, Seat
from companion.games.market.rules.board import COMMODITIES, KIND_OF, MESSENGER
from companion.games.market.rules.purchase import Deal, deal
from companion.games.market.rules.result import standing
from companion.games.market.rules.state import DEAL, DRAW, State


def story(before: State, seat: Seat, move: Move, after: State) -> list[Line]:
    """Return the lines of a move that was made."""
    lines = _done(before, move, after)
    if after.over:
        lines.append(ending(after))
    return lines


def _done(before: State, move: Move, after: State) -> list[Line]:
    by = before.seats[before.seat]
    mark = f"seat:{by}"
    match move.name:
        case "start":
            return [Line("start", {"seat": move.args[0]}, f"seat:{move.args[0]}")]
        case "deal":
            return [] if after.step == DEAL else [Line("dealt", {"seat": by})]
        case "lay":
            return [Line("laid", {"seat": by, "tile": move.args[0]}, mark)]
        case "coin":
            return [Line("coin", {"seat": by, "lane": int(move.args[0]) + 1}, mark)]
        case "pass":
            return [Line("passed", {"seat": by}, mark)]
        case "draw":
            return [] if after.step == DRAW else [_drawn(by, after)]
        case "shift":
            tile = KIND_OF[before.market[int(move.args[0])]]
            return [Line("moved" if len(move.args) == 1 else "moved_paid", {"seat": by, "tile": tile}, mark)]
        case "messenger":
            return [Line("moved", {"seat": by, "tile": KIND_OF[MESSENGER]}, mark)]
        case "take":
            return [Line("given", {"seat": by, "commodity": move.args[0]}, f"commodity:{move.args[0]}")]
        case "leave":
            return [Line("left", {"seat": by}, mark)]
        case "buy":
            return _bought(before, by, move)
        case "commit":
            return [Line("committed", {"seat": by, "n": before.bought}, mark)]
    return [Line("rolled_back", {"seat": by}, mark)]


def _drawn(by: Seat, after: State) -> Line:
    facts: dict[str, Arg] = {
        name: COMMODITIES[which] for name, which in zip("abcd", sorted(after.drawn), strict=True)
    }
    return Line("drew", {"seat": by, **facts}, f"seat:{by}")


def _bought(before: State, by: Seat, move: Move) -> list[Line]:
    """Return the lines of a purchase: what the buyer keeps, what porters put back, what the king got."""
    made = deal(before, before.seat, [int(arg) for arg in move.args])
    assert isinstance(made, Deal)  # the move was made
    name = COMMODITIES[made.vendor]
    mark = f"commodity:{name}"
    lines = [Line("bought", {"seat": by, "n": made.brings, "commodity": name}, mark)]
    if made.returned:
        lines.append(Line("porters", {"n": made.returned, "commodity": name}, mark))
    if made.to_king:
        lines.append(Line("governors", {"n": made.to_king, "commodity": name}, mark))
    return lines


def seats_of(state: State, players: Sequence[int]) -> dict[str, Arg]:
    """Return the facts that name one player, or two."""
    return dict(zip(("seat", "other"), (state.seats[one] for one in players), strict=False))


def ending(after: State) -> Line:
    """Return the line that says who has won: one player, two together, or all."""
    end = standing(after)
    won = [one for winner in end.winners for one in after.partners[winner]]
    points: dict[str, Arg] = {"n": max(end.points)}
    if len(won) == len(after.seats):
        return Line("shared", points)
    code = "won_together" if won[1:] else "won"
    return Line(code, seats_of(after, won) | points, f"seat:{after.seats[won[0]]}")
