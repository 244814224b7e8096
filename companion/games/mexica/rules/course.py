"""The course of a full game: turns, their steps, and what happens automatically until somebody must act.

The agenda holds what is due. A task is carried out here unless it waits for a seat's decision or for chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import cast

from companion.games.kit import CHANCE, Seat, replace
from companion.games.mexica.rules import apocalypse, battle, events, landing, offerings
from companion.games.mexica.rules.board import Board, Task, laid
from companion.games.mexica.rules.bonuses import after_turn, raised, standing, unspent
from companion.games.mexica.rules.calendar import walk
from companion.games.mexica.rules.cards.deck import Pile
from companion.games.mexica.rules.hands import any_left, any_of, replenished, settler
from companion.games.mexica.rules.state import Outcome, State
from companion.games.mexica.rules.turn import SETTLED

_LAST_STEPS = {"text": ("sacrifice", "cards"), "tester": ("sacrifice", "cards"), "flower_war": ("cards", "sacrifice")}
"""The steps after the landing, the last of which ends the turn (ruling M5)."""

DECISIONS = frozenset(
    {"bless", "seek", "challenge", "arm", "reroll", "forfeit", "sacrifice", "cards", "choose", "take", "return"}
)


def opened(state: State) -> State:
    """Return the first state of a full game: the board laid, East to roll."""
    board = laid(state.seats, state.rules.starts)
    return advance(_turn(replace(state, board=board), state.turn))


def due(state: State) -> Task | None:
    """Return what the game waits for, or none when it is over: after `advance` a decision, a draw or a die."""
    board = state.board
    return board.agenda[0] if board is not None and board.agenda else None


def decider(state: State) -> Seat | None:
    """Return the seat that must act now, `CHANCE` for a die or a card, or none when the game is over."""
    board = state.board
    if board is None or not board.agenda:
        return None
    name, seat, _ = board.agenda[0]
    return seat if name in DECISIONS else CHANCE


def due_from(state: State, seat: Seat) -> Task | None:
    """Return what the game waits for if that seat must act now, or `CHANCE`; none if it waits for another."""
    acting = decider(state)
    return state.laid.agenda[0] if acting is not None and acting == seat else None


def advance(state: State) -> State:
    """Return the state after all that happens by itself: a tribe that holds the three signs settles at once (M22)."""
    before: Board | None = None
    while True:
        board = state.laid
        if state.clock is not None:
            state = _rebared(state, board)
        if state.outcome is None and not (before and board.holds_as(before)) and (seat := settler(state)):
            state = apocalypse.finish(state, Outcome(SETTLED, seat))
        if state.outcome is not None:
            return replace(state, board=replace(board, agenda=(), battle=None))
        before, agenda = board, board.agenda
        for at, task in enumerate(agenda):
            after = _TASKS[task[0]](state, task, at)
            if after is None:
                return replace(state, board=replace(board, agenda=agenda[at:])) if at else state
            if after is not state:
                state = after
                break


def _rebared(state: State, board: Board) -> State:
    """Return the state whose clock knows whether any space still holds a token (ruling M35)."""
    clock, bare = state.clock, board.bare and state.rules.forestall == "bare"
    if clock is None or clock.bare == bare or state.outcome:
        return state
    return replace(state, clock=replace(clock, bare=bare))


def moved(state: State, seat: Seat, roll: int) -> State:
    """Return the state after the roll that is due: the tribe walked as many spaces as it and its bonuses say."""
    board, n = state.laid, state.seats.index(seat)
    tribe, spaces = board.tribes[n], roll + standing(state, seat, "movement")
    if boosts := tribe.boosts:
        spaces, boosts = spaces + raised(boosts, "movement"), unspent(boosts, "movement")
    spaces = max(0, spaces)
    tribes = board.tribes_with(n, place=walk(tribe.place, spaces), boosts=boosts)
    # The roll is done; the effects of the landing replace it.
    due_ = (*(landing.tasks(state, seat) if spaces else ()), *board.agenda[1:])
    return replace(state, board=replace(board, tribes=tribes, agenda=due_))


def end_turn(state: State) -> State:
    """Return the state after the running turn: a tick where it is due, then the next turn, or an extra one (M43)."""
    state = after_turn(apocalypse.tick(state) if state.clock else state)
    if state.outcome is not None:
        return state
    board = state.laid
    if board.again:
        extras = (*board.extras, (state.turn + 1, board.again[0]))
        state = replace(state, board=replace(board, again=board.again[1:], extras=extras))
    return _turn(state, state.turn + 1)


def _turn(state: State, turn: int) -> State:
    """Return the state with a turn begun and all its steps due."""
    seat, order = state.seat_at(turn), state.rules.turn_order
    agenda = _steps(seat, order, order == "tester" and landing.collects_first(state, turn))
    if landing.earns(state, seat):
        agenda = (Task("income", seat), *agenda)
    return replace(state, turn=turn, board=replace(state.laid, forced=0, agenda=agenda))


@cache
def _steps(seat: Seat, order: str, collects_first: bool) -> tuple[Task, ...]:
    """Return what is due in a turn, from the roll on or by the author's tester from the collecting."""
    tasks = [*(landing.before_roll(seat) if collects_first else ()), Task("roll", seat)]
    steps = _LAST_STEPS[order]
    for each in steps:
        tasks += [Task("sacrifice_begins", seat)] if each == "sacrifice" else []
        tasks.append(Task(each, seat, (1 if each == steps[-1] else 0,)))
    return tuple(tasks)


def _popped(carry_out: Callable[[State, Task], State]) -> Callable[[State, Task, int], State]:
    """Return how a task is carried out once the agenda holds only what comes after it."""

    def popped(state: State, task: Task, at: int) -> State:
        board = state.laid
        return carry_out(replace(state, board=replace(board, agenda=board.agenda[at + 1 :])), task)

    return popped


def _waiting(waits: Callable[[State, Task], object]) -> Callable[[State, Task, int], State | None]:
    """Return how a task is carried out that waits, or else is passed over."""
    return lambda state, task, _at: None if waits(state, task) else state


def _fight(state: State, task: Task) -> State:
    *defenders, bonus, stake = task.args
    return battle.begin(state, task.seat, tuple(map(str, defenders)), int(bonus), int(stake))


def _judge(state: State, task: Task) -> State:
    return battle.judge(state, task.seat) if state.laid.battle else state


def _drawing(state: State, task: Task, at: int) -> State | None:
    """Wait for a card, from a pile that has its discards back if it ran out, or pass over a pile that has none."""
    pile, board = cast("Pile", task.args[0]), state.laid
    if any_left(state, pile):
        return None
    return replenished(replace(state, board=replace(board, agenda=board.agenda[at:])), pile) or state


def _blessing(state: State, task: Task, _at: int) -> State | None:
    return None if any_of(state.laid.tribes[state.seats.index(task.seat)].hand, "rain") else state


def _in_battle(*piles: str) -> Callable[[State, Task, int], State | None]:
    return _waiting(lambda state, task: battle.fighting(state, task.seat) and events.holds(state, task.seat, *piles))


def _sacrificing(state: State, task: Task, at: int) -> State | None:
    """Wait for a tribe that has something to give, or has to end its turn."""
    if task.args[0] or state.laid.tribes[state.seats.index(task.seat)].tokens:
        return None
    return offerings.ended(state, task, at)


def _playing(state: State, task: Task, _at: int) -> State | None:
    """Wait for a tribe that holds what it may play, or has to end its turn."""
    held = ("war", "day") if state.rules.card_timing == "hold_all" else ("war",)
    return None if task.args[0] or events.holds(state, task.seat, *held) else state


_TASKS: Mapping[str, Callable[[State, Task, int], State | None]] = {
    "income": _popped(lambda state, task: landing.income(state, task.seat)),
    "roll": lambda _state, _task, _at: None,
    "bless": _blessing,
    "collect": landing.collect,
    "tribute": landing.tribute,
    "battles": battle.battles,
    "challenge": _waiting(lambda state, task: battle.within_reach(state, task.seat)),
    "seek": _blessing,
    "fresh": landing.fresh_day,
    "meet": _popped(battle.meet),
    "fight": _popped(_fight),
    "arm": _in_battle("war", "rain"),
    "die": _waiting(lambda state, task: battle.fighting(state, task.seat)),
    "reroll": _in_battle("war"),
    "judge": _popped(_judge),
    "ransom": _popped(lambda state, task: battle.ransom(state, task.seat, str(task.args[0]), int(task.args[1]))),
    "forfeit": lambda _state, _task, _at: None,
    "draw": _drawing,
    "bonus": _popped(lambda state, task: events.bonus(state, task.seat, int(task.args[0]), int(task.args[1]))),
    "choose": _waiting(lambda state, task: events.targets(state, task.seat, str(task.args[0]))),
    "take": _waiting(lambda state, _task: events.unissued(state)),
    "return": _waiting(lambda state, task: events.returnable(state, task.seat, str(task.args[0]))),
    "sacrifice_begins": offerings.begun,
    "sacrifice": _sacrificing,
    "cards": _playing,
}
"""What comes of each task when it is met, given its place on the agenda.

The state after it, which no longer holds the task nor what was passed over before it; the same state where nothing
comes of it; or none if the game waits for it, judged by what everybody sees: nobody's hand is revealed by it.
"""
