"""What a move would change, as lines that the player reads before confirming it."""

from __future__ import annotations

from collections.abc import Iterator

from companion.games.kit import Line, Move, Seat
from companion.games.mexica.page.view import UNITS
from companion.games.mexica.rules import apocalypse
from companion.games.mexica.rules.calendar import SIGNS, sign
from companion.games.mexica.rules.hands import DRAWN
from companion.games.mexica.rules.landing import collecting
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import GODS


def changes(before: State, seat: Seat, move: Move, after: State) -> Iterator[Line]:
    """Yield what a move changes: gods, countdown and end; in the full game tribes and cards, of these the backs."""
    match move.name:
        case "dismiss":
            yield Line("dismissed", {"god": next(each.god for each in before.unclaimed if each.id == move.args[0])})
        case "bare":
            yield Line("bare")
        case "issue":
            yield Line("week_cards", {"was": before.week_cards, "n": after.week_cards})
    yield from _of_the_gods(before, after)
    if before.board and after.board:
        yield from _of_tribes(before, seat, after)
        yield from _of_cards(before, after)
    yield from _of_the_clock(before, after)
    if (end := after.outcome) and not before.outcome:
        yield Line(f"ends_{end.kind}", {"seat": end.seat} if end.seat else {})
    elif move.name == "end_turn":
        yield Line("next", {"seat": after.seat})


def follows(state: State) -> bool:
    """Return whether a battle is fought."""
    return state.board is not None and (
        state.board.battle is not None or any(task.name in ("fight", "meet") for task in state.board.agenda[:1])
    )


def _of_the_gods(before: State, after: State) -> Iterator[Line]:
    for god in GODS:
        if (was := before.tallies.of(god)) != (now := after.tallies.of(god)):
            yield Line("god", {"god": god, "was": was, "n": now})
    left = apocalypse.tokens_left(after)
    if left is not None and after.clock is None and left != apocalypse.tokens_left(before):
        yield Line("left", {"n": left})


def _of_the_clock(before: State, after: State) -> Iterator[Line]:
    clock, then = after.clock, before.clock
    if clock is None or after.outcome:
        return
    unit = UNITS[after.rules.countdown]
    if then is None:
        yield Line("starts", {"n": clock.left, "unit": unit})
    elif then.left != clock.left:
        yield Line("countdown", {"was": then.left, "n": clock.left, "unit": unit})
    halted = apocalypse.forestalled(after)
    if then is not None and halted != apocalypse.forestalled(before):
        yield Line("halts" if halted else "goes_on")
    if then is None or apocalypse.doom(before) != apocalypse.doom(after):
        yield Line(f"doom_{apocalypse.doom(after)}")


def _of_tribes(before: State, seat: Seat, after: State) -> Iterator[Line]:
    tribes = list(zip(after.seats, before.laid.tribes, after.laid.tribes, strict=True))
    won = [name for name, was, now in tribes if now.wins > was.wins]
    for name in won:
        yield Line("wins", {"seat": name})
    for name, was, now in tribes:
        if was.place != now.place:
            yield Line("moves", {"seat": name, "space": sign(was.place), "to": sign(now.place)})
        if was.tokens != now.tokens and not won:  # the cost of a battle depends on every pip
            yield Line("tokens", {"seat": name, "was": was.tokens, "n": now.tokens})
        then, due = collecting(before, name), collecting(after, name)
        if then is not None and due is not None and then != due:
            yield Line("collects", {"seat": name, "was": then, "n": due})
        elif len(now.boosts) > len(was.boosts) or len(now.wards) > len(was.wards):
            yield Line("waits", {"seat": name})
        if name != seat and len(now.hand) != len(was.hand):
            yield Line("cards", {"seat": name, "was": len(was.hand), "n": len(now.hand)})


def _of_cards(before: State, after: State) -> Iterator[Line]:
    then, now = before.laid, after.laid
    for name, was, holds in zip(SIGNS, then.holders, now.holders, strict=True):
        if holds != was:
            yield Line("week_card" if holds else "week_card_back", {"seat": holds or was, "space": name})
    for pile in DRAWN:
        due = [sum(task.name == "draw" and task.args[0] == pile for task in each.agenda) for each in (then, now)]
        if due[1] > due[0]:
            yield Line("draws", {"pile": pile, "n": due[1] - due[0]})
