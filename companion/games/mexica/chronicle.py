"""What a move of the full game did, as lines for the log that every seat may read. It names no card that is hidden.

What a move itself was comes first, then whatever came of it, told from the two states alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from companion.games.kernel import Arg, Line, Move, Seat
from companion.games.mexica.cards.words import sentence
from companion.games.mexica.rules import course
from companion.games.mexica.rules.calendar import SIGNS, sign
from companion.games.mexica.rules.hands import card, count, pile_of
from companion.games.mexica.rules.state import State


def done(before: State, seat: Seat, move: Move) -> Line | None:
    """Return the line of what a seat or chance did, or none where only what came of it is worth telling."""
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
                return Line("day_card", {**who, **_said(before, known.id)}, mark)
            return Line("drew", {**who, "pile": args[0]}, mark)
        case "play":
            return Line("played", {**who, **_said(before, str(args[0]))}, mark)
        case "give":
            return Line("gave_card", {**who, "to": str(task.args[0]), "pile": pile_of(str(args[0]))}, mark)
        case "return":
            return Line("returned", {**who, "pile": pile_of(str(args[0]))}, mark)
        case "attack":
            return Line("attacked", {**who, "whom": args[0]}, mark)
        case "choose":
            return Line("chose", {**who, "whom": args[0], **_said(before, str(task.args[0]))}, mark)
        case "sacrifice":
            return Line("gave", {"seat": task.seat, "god": args[0], "n": args[1], "by": seat}, str(args[0]), adds="n")
        case "tonantzin":
            return Line("fed", who, mark)
        case "end_turn":
            return Line("turn_ended", {**who, "by": seat}, mark)
        case "pass" if task.name == "forfeit":
            return Line("kept_cards", who, mark)
    return None


def _said(state: State, card_id: str) -> dict[str, Arg]:
    """Return the facts by which a card that lies open is told: which it is, and what it says."""
    known = card(state, card_id)
    key, facts = sentence(known)
    day: dict[str, Arg] = {"day": known.space} if known.pile == "day" and known.space else {}
    return {"card": known.id, "name": f"card_name.{known.pile}", **day, "number": known.number, "says": key, **facts}


def followed(before: State, after: State) -> Iterator[Line]:
    """Yield what came of a move: who stands elsewhere, holds more or less, won, drew a week card, or settled."""
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
