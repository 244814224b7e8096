"""Arriving on a space: collecting, tribute, week cards, the refill, and the Day card of a fresh space.

The order of a landing's parts is here too, as the table's turn order has it (ruling M5). It rolls no die.
"""

from __future__ import annotations

from functools import cache

from companion.games.kernel import Seat, changed
from companion.games.mexica.rules import apocalypse
from companion.games.mexica.rules.board import FORCED_LANDINGS, Board, Task
from companion.games.mexica.rules.bonuses import spend, standing, waiting
from companion.games.mexica.rules.calendar import WEEK
from companion.games.mexica.rules.state import State

_ORDERS = {
    "text": ("bless", "collect", "tribute", "battles", "challenge", "fresh"),
    "flower_war": ("bless", "battles", "challenge", "collect", "tribute", "fresh"),
    "tester": ("tribute", "battles", "challenge"),
}
"""What a landing consists of; by the author's tester one collects at the start of the next turn."""

_TESTER_FIRST = ("bless", "collect", "fresh")


def arrive(state: State, seat: Seat, place: int) -> State:
    """Return the state with a tribe on a space and its landing due."""
    board = state.laid
    tribes = board.tribes_with(state.index(seat), place=place)
    agenda = (*_tasks(seat, _ORDERS[_order(state)]), *board.agenda)
    return changed(state, board=changed(board, tribes=tribes, agenda=agenda))


def collect_here(state: State, seat: Seat) -> tuple[Task, ...]:
    """Return what is due before the roll: by the author's tester the collecting, though not in one's first turn."""
    if _order(state) != "tester" or state.round == 1:
        return ()
    return _tasks(seat, _TESTER_FIRST)


def forced(state: State, seat: Seat, place: int) -> State:
    """Return the state after a card moved a tribe, with all that a landing brings; three times a turn (M15, M40)."""
    board = state.laid
    if board.forced >= FORCED_LANDINGS:
        return state
    state = changed(state, board=changed(board, forced=board.forced + 1))
    if state.rules.forced_landing == "all":
        return arrive(state, seat, place)
    board = state.laid.tribe(state.index(seat), place=place)
    return changed(state, board=board.due(Task("battles", seat), Task("challenge", seat)))


def earns(state: State, seat: Seat) -> bool:
    """Return whether week cards bring a tribe anything each turn."""
    return standing(state, seat, "income") > 0


def owes(state: State, seat: Seat) -> bool:
    """Return whether a tribe stands on a space that is held by another, or debts are open."""
    board = state.laid
    return bool(board.debts) or board.holders[board.tribes[state.index(seat)].place - 1] not in ("", seat)


def collect(state: State, seat: Seat) -> State:
    """Return the state after a tribe collected from the space it stands on (rulings M6, M7, M28, M29, M42).

    It takes one token from the space, what bonuses add from the reserve. With the last token comes the week card.
    """
    n = state.index(seat)
    place = state.laid.tribes[n].place
    gathered = max(0, 1 + waiting(state, seat, "gather"))
    biting, there, fresh = apocalypse.biting(state), state.laid.spaces[place - 1], _fresh(state, seat, place)
    if there and biting != apocalypse.FLOOD:
        state = spend(state, seat, "gather")
    board = _visited(state.laid, seat, place)
    if biting == apocalypse.FLOOD:
        marked = _mark(board, seat) if fresh and state.rules.flood_day_card == "on" else board
        return changed(state, board=marked)
    if not there or not gathered:
        return changed(state, board=board)
    drained = 1 if biting == apocalypse.WAR and state.rules.war == "drain" and there > 1 else 0
    spaces = (*board.spaces[: place - 1], there - 1 - drained, *board.spaces[place:])
    tribes = board.tribes_with(n, tokens=board.tribes[n].tokens + 1)
    board = changed(board, spaces=spaces, tribes=tribes, lost=board.lost + drained)
    if biting == apocalypse.WAR and state.rules.war == "netzero":
        board = board.lose(n, 1)
    if gathered > 1:
        board = board.from_reserve(n, gathered - 1)
    state = changed(state, board=_mark(board, seat) if fresh else board)
    return week_over(state, seat, place) if there == 1 + drained else state


def week_over(state: State, seat: Seat, place: int) -> State:
    """Return the state after the last token of a space was taken: the week card passes, the space is refilled."""
    board = _refilled(state, state.laid, place)
    holder = board.holders[place - 1]
    if not holder:
        return issued(changed(state, board=board), seat, place)
    if holder == seat:
        return changed(state, board=board)
    if state.rules.disc_transfer == "battle":
        return changed(state, board=board.due(Task("fight", seat, (holder, 0, place))))
    return changed(state, board=board.with_holder(place, seat))


def issued(state: State, seat: Seat, place: int) -> State:
    """Return the state with a week card issued to a tribe; the 20th may wake the gods (ruling M23)."""
    return recount(changed(state, board=state.laid.with_holder(place, seat)))


def recount(state: State) -> State:
    """Return the state with its week cards counted anew."""
    return apocalypse.reckon(changed(state, week_cards=state.laid.issued))


def tribute(state: State, seat: Seat) -> State:
    """Return the state after tribute was paid to whoever holds the week card of the space (rulings M10, M11)."""
    n = state.index(seat)
    board = state.laid
    for debt in board.debts:
        if debt[0] == seat and board.tribes[n].tokens:
            board = _settled(board.pay(n, state.index(debt[1]), 1), debt)
    holder = board.holders[board.tribes[n].place - 1]
    if not holder or holder == seat:
        return changed(state, board=board)
    owed = max(0, 1 + waiting(state, seat, "tribute"))
    paid = min(owed, board.tribes[n].tokens)
    board = board.pay(n, state.index(holder), paid)
    if state.rules.tribute_debt == "on":
        board = changed(board, debts=board.debts + ((seat, holder),) * (owed - paid))
    return spend(changed(state, board=board), seat, "tribute")


def fresh_day(state: State, seat: Seat) -> State:
    """Return the state with a Day card due to a tribe that collected from a fresh space (rulings M9, M41)."""
    return changed(state, board=state.laid.due(Task("draw", seat, ("day",))))


def income(state: State, seat: Seat) -> State:
    """Return the state after a tribe received what its week cards bring each turn."""
    tokens = max(0, standing(state, seat, "income"))
    return changed(state, board=state.laid.from_reserve(state.index(seat), tokens))


def _order(state: State) -> str:
    return state.rules.turn_order


@cache
def _tasks(seat: Seat, names: tuple[str, ...]) -> tuple[Task, ...]:
    return tuple(Task(name, seat, (0,) if name == "fresh" else ()) for name in names)


def _fresh(state: State, seat: Seat, place: int) -> bool:
    board, visitors = state.laid, state.laid.visited[place - 1]
    match state.rules.first_landing:
        case "full":
            return board.spaces[place - 1] == WEEK
        case "ever":
            return not visitors
        case "per_player":
            return seat not in visitors
    return False


def _visited(board: Board, seat: Seat, place: int) -> Board:
    if seat in board.visited[place - 1]:
        return board
    visitors = (*board.visited[place - 1], seat)
    return changed(board, visited=(*board.visited[: place - 1], visitors, *board.visited[place:]))


def _mark(board: Board, seat: Seat) -> Board:
    """Note on this landing's last task that a Day card was earned."""
    at = board.agenda.index(Task("fresh", seat, (0,)))
    return changed(board, agenda=(*board.agenda[:at], Task("fresh", seat, (1,)), *board.agenda[at + 1 :]))


def _refilled(state: State, board: Board, place: int) -> Board:
    if state.rules.refill == "unlimited":
        return board.with_space(place, WEEK)
    if state.rules.refill == "recycle_mary" and board.reserve < WEEK:
        board = changed(board, reserve=board.reserve + board.pile, pile=0)
    tokens = min(WEEK, board.reserve)
    return changed(board.with_space(place, tokens), reserve=board.reserve - tokens)


def _settled(board: Board, debt: tuple[Seat, Seat]) -> Board:
    at = board.debts.index(debt)
    return changed(board, debts=board.debts[:at] + board.debts[at + 1 :])
