"""What a move of Mexica did, as lines for the log: codes and facts, never words. It decides nothing."""

from __future__ import annotations

from companion.games.kernel import Arg, Line, Move, Seat
from companion.games.mexica import chronicle
from companion.games.mexica.rules import apocalypse, decisions
from companion.games.mexica.rules.state import Proposal, State, Unclaimed
from companion.games.mexica.view import UNITS


def story(before: State, seat: Seat, move: Move, after: State) -> list[Line]:
    """Return the lines of a move that was made: what was done, then what came of it."""
    if before.board is None:
        return [_done(before, seat, move, after), *_followed(before, after)]
    first = chronicle.done(before, seat, move) if move.name in decisions.NAMES else _done(before, seat, move, after)
    return [*([first] if first else []), *chronicle.followed(before, after), *_followed(before, after)]


def _done(before: State, by: Seat, move: Move, after: State) -> Line:
    args = move.args
    match move.name:
        case "end_turn":
            code = "turn_ended" if by == before.seat else "turn_ended_for"
            return Line(code, {"seat": before.seat, "by": by}, f"seat:{before.seat}")
        case "sacrifice":
            return Line("gave", {"seat": before.seat, "god": args[0], "n": args[1], "by": by}, str(args[0]), adds="n")
        case "token":
            return _fallen(before, by, after)
        case "claim":
            god = _waiting(before, args[0]).god
            return Line("claimed", {"seat": args[1], "god": god, "n": 1, "by": by}, god, adds="n")
        case "dismiss":
            god = _waiting(before, args[0]).god
            return Line("dismissed", {"god": god, "n": 1, "by": by}, god, adds="n")
        case "issue":
            return Line("issued", {"n": after.week_cards, "by": by})
        case "settle":
            return Line("settled", {"seat": args[0], "by": by}, f"seat:{args[0]}")
        case "bare":
            return Line("bare", {"by": by})
    # What is left concerns a correction: the one that was proposed just now, or was open before.
    code = {"propose": "proposed", "confirm": "confirmed", "withdraw": "withdrawn"}[move.name]
    proposal = after.proposal or before.proposal
    assert proposal is not None  # neither is confirmed or withdrawn without one
    return Line(code, _correction(proposal, by), proposal.god)


def _fallen(before: State, by: Seat, after: State) -> Line:
    if len(after.unclaimed) > len(before.unclaimed):
        waiting = after.unclaimed[-1]
        return Line("unclaimed", {"god": waiting.god, "n": 1, "doubt": waiting.doubt}, waiting.god, adds="n")
    god = next(god for god in apocalypse.DOOM_OF if after.tallies.of(god) > before.tallies.of(god))
    return Line("gave", {"seat": before.seat, "god": god, "n": 1, "by": by}, god, adds="n")


def _followed(before: State, after: State) -> list[Line]:
    lines: list[Line] = []
    clock, then = after.clock, before.clock
    if clock and then is None:
        god = apocalypse.doom_god(after)
        lines.append(Line("triggered", {"cause": clock.cause}, god if god in apocalypse.DOOM_OF else ""))
    if clock and then and (after.turn > before.turn or after.over) and apocalypse.ticking(before):
        facts: dict[str, Arg] = {"left": clock.left, "unit": UNITS[after.rules.countdown]}
        if clock.left < then.left:
            lines.append(Line("tick", facts))
        elif not after.over:
            lines.append(Line("forestalled", facts))
    if after.outcome and not before.outcome and after.outcome.seat is None:
        kind = after.outcome.kind
        lines.append(Line("ended", {"kind": kind}, apocalypse.GOD_OF.get(kind, "")))
    return lines


def _waiting(state: State, token: Arg) -> Unclaimed:
    return next(each for each in state.unclaimed if each.id == token)


def _correction(proposal: Proposal, by: Seat) -> dict[str, Arg]:
    return {"seat": proposal.seat, "god": proposal.god, "delta": proposal.delta, "by": by}
