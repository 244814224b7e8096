"""Describes what a move did, as codes and facts for the log, without any hidden card."""

from __future__ import annotations

from collections.abc import Iterator

from companion.games.kit import Arg, Line, Move, Seat
from companion.games.mexica.page.view import UNITS
from companion.games.mexica.rules import apocalypse, course, decisions
from companion.games.mexica.rules.calendar import SIGNS, sign
from companion.games.mexica.rules.cards.words import sentence
from companion.games.mexica.rules.hands import card, count, pile_of
from companion.games.mexica.rules.state import Proposal, State, Unclaimed


def story(before: State, seat: Seat, move: Move, after: State) -> list[Line]:
    """Return the lines of a move that was made: what was done, then what came of it."""
    if before.board is None:
        return [_done(before, seat, move, after), *_followed(before, after)]
    first = _done_in_full(before, seat, move) if move.name in decisions.NAMES else _done(before, seat, move, after)
    return [*([first] if first else []), *_followed_in_full(before, after), *_followed(before, after)]


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
        case "doubt":
            return Line("doubted", {"god": args[1], "n": 1, "doubt": args[2]}, str(args[1]), adds="n")
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
        named = god if god in apocalypse.DOOM_OF else ""
        lines.append(Line("triggered", {"cause": clock.cause}, named, picture=named or "sun"))
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


def _done_in_full(before: State, seat: Seat, move: Move) -> Line | None:
    """Return the line of what a seat or chance did, or None if only its result is worth a line."""
    args, task = move.args, course.due(before)
    assert task is not None  # or nothing could be done
    who: dict[str, Arg] = {"seat": task.seat}
    mark = f"seat:{task.seat}"
    match move.name:
        case "roll":
            return Line("rolled" if task.name == "roll" else "rolled_battle", {**who, "n": args[0]}, mark)
        case "draw":
            known = card(before, str(args[1]))
            if known.pile == "day" and known.sign is None and before.rules.card_timing == "text":
                return Line("day_card", {**who, **_card_facts(before, known.id)}, mark)
            return Line("drew", {**who, "pile": args[0]}, mark)
        case "play":
            return Line("played", {**who, **_card_facts(before, str(args[0]))}, mark)
        case "give":
            return Line("gave_card", {**who, "to": str(task.args[0]), "pile": pile_of(str(args[0]))}, mark)
        case "return":
            return Line("returned", {**who, "pile": pile_of(str(args[0]))}, mark)
        case "attack":
            return Line("attacked", {**who, "whom": args[0]}, mark)
        case "choose":
            return Line("chose", {**who, "whom": args[0], **_card_facts(before, str(task.args[0]))}, mark)
        case "sacrifice":
            return Line("gave", {"seat": task.seat, "god": args[0], "n": args[1], "by": seat}, str(args[0]), adds="n")
        case "tonantzin":
            return Line("fed", who, mark)
        case "end_turn":
            return Line("turn_ended", {**who, "by": seat}, mark)
        case "pass" if task.name == "forfeit":
            return Line("kept_cards", who, mark)
    return None


def _card_facts(state: State, card_id: str) -> dict[str, Arg]:
    """Return the facts about an open card for its line: which it is, and what it says."""
    known = card(state, card_id)
    key, facts = sentence(known)
    day: dict[str, Arg] = {"day": known.space} if known.pile == "day" and known.space else {}
    return {"card": known.id, "name": f"card_name.{known.pile}", **day, "number": known.number, "says": key, **facts}


def _followed_in_full(before: State, after: State) -> Iterator[Line]:
    """Yield the consequences of a move: who moved, gained or lost something, won, drew a week card, or settled."""
    then, now = before.laid, after.laid
    for seat, was, is_ in zip(after.seats, then.tribes, now.tribes, strict=True):
        mark = f"seat:{seat}"
        if is_.place != was.place:
            yield Line("moved", {"seat": seat, "space": sign(is_.place)}, mark)
        if is_.wins > was.wins:
            yield Line("won_battle", {"seat": seat}, mark)
        given = sum(after.tallies.tribes[after.index(seat)].given(god) for god in ("huitzilopochtli", "tlaloc"))
        given -= sum(before.tallies.tribes[before.index(seat)].given(god) for god in ("huitzilopochtli", "tlaloc"))
        if change := is_.tokens - was.tokens + given + is_.fed - was.fed:
            yield Line("received" if change > 0 else "parted", {"seat": seat, "n": abs(change)}, mark)
        if len(is_.wards) < len(was.wards):
            yield Line("warded", {"seat": seat}, mark)
    for name, was_held, held in zip(SIGNS, then.holders, now.holders, strict=True):
        if held != was_held:
            code = "week_card" if held else "week_card_back"
            yield Line(code, {"seat": held or was_held, "space": name}, f"seat:{held or was_held}")
    if now.lost > then.lost:
        yield Line("lost", {"n": now.lost - then.lost})
    for pile in ("day", "war", "rain"):
        if count(now.discards, pile) < count(then.discards, pile):
            yield Line("reshuffled", {"pile": pile})
    if len(now.extras) > len(then.extras):
        yield Line("another_turn", {"seat": after.seat}, f"seat:{after.seat}")
    if after.outcome and not before.outcome and after.outcome.seat:
        yield Line("settled", {"seat": after.outcome.seat, "by": after.outcome.seat}, f"seat:{after.outcome.seat}")
