"""Arriving on a space: collecting, tribute, week cards, the refill, and the Day card of a fresh space.

The parts of a landing come in the order of the table's option (ruling M5).
"""

from __future__ import annotations

from functools import cache
from itertools import chain

from companion.games.kit import Seat, replace
from companion.games.mexica.rules import apocalypse
from companion.games.mexica.rules.board import FORCED_LANDINGS, Board, Task, draw
from companion.games.mexica.rules.bonuses import raised, spend, standing, unspent
from companion.games.mexica.rules.calendar import WEEK
from companion.games.mexica.rules.state import State

_ORDERS = {
    "text": ("bless", "collect", "tribute", "seek", "battles", "challenge", "fresh"),
    "flower_war": ("bless", "battles", "challenge", "collect", "tribute", "seek", "fresh"),
    "tester": ("tribute", "battles", "challenge"),
}
"""What a landing consists of; by the author's tester one collects at the start of the next turn.

Rain cards are played twice: those that serve the collecting before it, those that may move the tribe after it (M45).
"""

_TESTER_FIRST = ("bless", "collect", "seek", "fresh")

_OF_A_SPACE = frozenset({*chain(*_ORDERS.values(), _TESTER_FIRST), "meet"})
"""What a landing has to resolve on its own space; what it has not when the tribe leaves lapses (ruling M45)."""


def tasks(state: State, seat: Seat) -> tuple[Task, ...]:
    """Return what a landing brings."""
    return _tasks(seat, _ORDERS[state.rules.turn_order])


def collects_first(state: State, turn: int) -> bool:
    """Return whether one collects before the roll, as the author's tester does but in a tribe's first turn (M53)."""
    seat = state.seat_at(turn)
    return any(state.seat_at(earlier) == seat for earlier in range(1, turn))


def before_roll(seat: Seat) -> tuple[Task, ...]:
    """Return what is due before the roll by the author's tester."""
    return _tasks(seat, _TESTER_FIRST)


def forced(state: State, seat: Seat, place: int) -> State:
    """Return the state after a card moved a tribe, with all that a landing brings; three times a turn (M15, M40)."""
    board, rules = state.laid, state.rules
    if exhausted(state):
        return state
    due = tasks(state, seat) if rules.forced_landing == "all" else _tasks(seat, ("battles", "challenge"))
    left = [each for each in board.agenda if each.seat != seat or each.name not in _OF_A_SPACE]
    tribes, agenda = board.tribes_with(state.index(seat), place=place), (*due, *left)
    return replace(state, board=replace(board, tribes=tribes, agenda=agenda, forced=board.forced + 1))


def exhausted(state: State) -> bool:
    """Return whether cards have moved tribes so often this turn that a further one moves nobody (M40, M47)."""
    return state.laid.forced >= FORCED_LANDINGS


def earns(state: State, seat: Seat) -> bool:
    """Return whether week cards bring a tribe anything each turn."""
    return standing(state, seat, "income") > 0


def collect(state: State, task: Task, at: int) -> State:
    """Return the state after a tribe collected from the space it stands on (rulings M6, M7, M28, M29, M42).

    It takes one token from the space, what bonuses add from the reserve or, by a house rule, from the space too
    (M49). In a flood and on a bare space it takes none, but bonuses pay (M48, M54). With the last token comes the
    week card.
    """
    seat, board, rules = task.seat, state.laid, state.rules
    n, rest = state.seats.index(seat), board.agenda[at + 1 :]
    tribe = board.tribes[n]
    place, boosts = tribe.place, tribe.boosts
    biting, there = apocalypse.biting(state) if state.clock else "", board.spaces[place - 1]
    fresh, visited = _fresh(state, seat, place), board.visited
    if seat not in visited[place - 1]:
        visited = (*visited[: place - 1], (*visited[place - 1], seat), *visited[place:])
    flooded = biting == apocalypse.FLOOD
    if flooded or not there:
        agenda = _marked(rest, seat) if fresh and there and rules.flood_day_card == "on" else rest
        board = replace(board, visited=visited, agenda=agenda)
        if boosts and (not flooded or rules.flood_gather == "on"):
            extra, boosts = max(0, raised(boosts, "gather")), unspent(boosts, "gather")
            board = board.tribe(n, boosts=boosts).from_reserve(n, extra)
        return replace(state, board=board)
    gathered = 1
    if boosts:
        gathered, boosts = max(0, 1 + raised(boosts, "gather")), unspent(boosts, "gather")
    if not gathered:
        tribes = board.tribes_with(n, boosts=boosts)
        return replace(state, board=replace(board, visited=visited, tribes=tribes, agenda=rest))
    taken = 1 if rules.gather_from == "reserve" else min(gathered, there)
    drained = 1 if biting == apocalypse.WAR and rules.war == "drain" and there > taken else 0
    spaces = list(board.spaces)
    spaces[place - 1] = there - taken - drained
    board = replace(
        board,
        spaces=tuple(spaces),
        tribes=board.tribes_with(n, tokens=tribe.tokens + taken, boosts=boosts),
        visited=visited,
        lost=board.lost + drained,
        agenda=_marked(rest, seat) if fresh else rest,
    )
    if biting == apocalypse.WAR and rules.war == "netzero":
        board = board.lose(n, 1)
    if gathered > 1 and rules.gather_from == "reserve":
        board = board.from_reserve(n, gathered - 1)
    state = replace(state, board=board)
    return week_over(state, seat, place) if there == taken + drained else state


def collecting(state: State, seat: Seat) -> int | None:
    """Return how many tokens a tribe receives by the collecting that is due to it, or None if none is due."""
    task, board, n = Task("collect", seat), state.laid, state.index(seat)
    if task not in board.agenda:
        return None
    return collect(state, task, board.agenda.index(task)).laid.tribes[n].tokens - board.tribes[n].tokens


def week_over(state: State, seat: Seat, place: int) -> State:
    """Return the state after the last token of a space was taken: the week card passes, the space is refilled."""
    board = _refilled(state, state.laid, place)
    holder = board.holders[place - 1]
    if not holder:
        return issued(replace(state, board=board), seat, place)
    if holder == seat:
        return replace(state, board=board)
    if state.rules.disc_transfer == "battle":
        return replace(state, board=board.due(Task("fight", seat, (holder, 0, place))))
    return replace(state, board=board.with_holder(place, seat))


def issued(state: State, seat: Seat, place: int) -> State:
    """Return the state with a week card issued to a tribe; the 20th may wake the gods (ruling M23)."""
    return recount(replace(state, board=state.laid.with_holder(place, seat)))


def came_back(state: State, place: int) -> State:
    """Return the state with a week card back at its space; it stays issued, or by a house rule is not (M51)."""
    board = state.laid.with_holder(place, "")
    if state.rules.weeks_issued == "ever" and place not in board.returned:
        board = replace(board, returned=tuple(sorted((*board.returned, place))))
    return recount(replace(state, board=board))


def recount(state: State) -> State:
    """Return the state with its week cards counted again."""
    return apocalypse.update(replace(state, week_cards=state.laid.issued))


def tribute(state: State, task: Task, at: int) -> State:
    """Return the state after tribute to the holder of the space's week card (rulings M10, M11)."""
    seat, board = task.seat, state.laid
    n = state.seats.index(seat)
    holder = board.holders[board.tribes[n].place - 1]
    if not board.debts and (not holder or holder == seat):
        return state
    board = replace(board, agenda=board.agenda[at + 1 :])
    for debt in board.debts:
        if debt[0] == seat and board.tribes[n].tokens:
            board = _settled(board.pay(n, state.index(debt[1]), 1), debt)
    if not holder or holder == seat:
        return replace(state, board=board)
    owed = max(0, 1 + raised(board.tribes[n].boosts, "tribute"))
    paid = min(owed, board.tribes[n].tokens)
    board = board.pay(n, state.index(holder), paid)
    if state.rules.tribute_debt == "on":
        board = replace(board, debts=board.debts + ((seat, holder),) * (owed - paid))
    return spend(replace(state, board=board), seat, "tribute")


def fresh_day(state: State, task: Task, at: int) -> State:
    """Return the state with a Day card due to a tribe if it collected from a fresh space (rulings M9, M41)."""
    if not task.args[0]:
        return state
    board = state.laid
    return replace(state, board=replace(board, agenda=(draw(task.seat, "day"), *board.agenda[at + 1 :])))


def income(state: State, seat: Seat) -> State:
    """Return the state after a tribe received what its week cards bring each turn."""
    tokens = max(0, standing(state, seat, "income"))
    return replace(state, board=state.laid.from_reserve(state.index(seat), tokens))


@cache
def _last(seat: Seat, earned: int) -> Task:
    """Return the last task of a landing, which knows whether a Day card was earned."""
    return Task("fresh", seat, (earned,))


@cache
def _tasks(seat: Seat, names: tuple[str, ...]) -> tuple[Task, ...]:
    return tuple(_last(seat, earned=0) if name == "fresh" else Task(name, seat) for name in names)


def _fresh(state: State, seat: Seat, place: int) -> bool:
    board, visitors = state.laid, state.laid.visited[place - 1]
    counts = state.rules.first_landing
    if counts == "full":
        return board.spaces[place - 1] == WEEK
    return not visitors if counts == "ever" else counts == "per_player" and seat not in visitors


def _marked(agenda: tuple[Task, ...], seat: Seat) -> tuple[Task, ...]:
    """Note on this landing's last task that a Day card was earned."""
    at = agenda.index(_last(seat, earned=0))
    return (*agenda[:at], _last(seat, earned=1), *agenda[at + 1 :])


def _refilled(state: State, board: Board, place: int) -> Board:
    if state.rules.refill == "unlimited":
        return board.with_space(place, WEEK)
    if state.rules.refill == "recycle_mary" and board.reserve < WEEK:
        board = replace(board, reserve=board.reserve + board.pile, pile=0)
    tokens = min(WEEK, board.reserve)
    return replace(board.with_space(place, tokens), reserve=board.reserve - tokens)


def _settled(board: Board, debt: tuple[Seat, Seat]) -> Board:
    at = board.debts.index(debt)
    return replace(board, debts=board.debts[:at] + board.debts[at + 1 :])
