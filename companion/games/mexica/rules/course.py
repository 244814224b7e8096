"""The course of a full game: turns and their steps, and what happens by itself until somebody must decide or roll.

The agenda holds what is due. A task is carried out here unless it waits: for a seat's decision, or for chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeAlias

from companion.games.kernel import CHANCE, Seat, changed
from companion.games.mexica.rules import apocalypse, battle, events, landing, offerings
from companion.games.mexica.rules.board import Board, Task, laid
from companion.games.mexica.rules.bonuses import after_turn, raised, standing, unspent
from companion.games.mexica.rules.calendar import walk
from companion.games.mexica.rules.hands import any_left, any_of, replenish, replenishes, settler
from companion.games.mexica.rules.state import Outcome, State
from companion.games.mexica.rules.turn import SETTLED

_LAST_STEPS = {"text": ("sacrifice", "cards"), "tester": ("sacrifice", "cards"), "flower_war": ("cards", "sacrifice")}
"""What follows the landing, the last of which ends the turn (ruling M5)."""

DECISIONS = frozenset(
    {"bless", "challenge", "arm", "reroll", "forfeit", "sacrifice", "cards", "choose", "take", "return"}
)


def opened(state: State) -> State:
    """Return the first state of a full game: the board laid, East to roll."""
    board = laid(state.seats, state.rules.starts)
    return advance(_turn(changed(state, board=board), state.turn), board)


def due(state: State) -> Task | None:
    """Return what the game waits for, or none when it is over: after `advance` a decision, a draw or a die."""
    board = state.board
    return board.agenda[0] if board is not None and board.agenda else None


def decider(state: State) -> Seat | None:
    """Return the seat that must act now, `CHANCE` for a die or a card, or none when the game is over."""
    task = due(state)
    return None if task is None else decides(task)


def decides(task: Task) -> Seat:
    """Return who carries out a task that waits: its own seat, or `CHANCE`."""
    return task.seat if task.name in DECISIONS else CHANCE


def advance(state: State, before: Board) -> State:
    """Return the state after all that happens by itself, given the board before the move.

    A tribe that has come to hold the three signs settles at once (ruling M22).
    """
    while True:
        board = state.laid
        if state.clock is not None:
            state = _rebared(state, board)
        if not board.holds_as(before):
            state = settled(state)
        if state.outcome is not None:
            return changed(state, board=changed(board, agenda=(), battle=None))
        before, agenda = board, board.agenda
        for n, task in enumerate(agenda):
            waits, matters, carry_out = _TASKS[task[0]]
            if waits is not None and waits(state, task):
                return changed(state, board=changed(board, agenda=agenda[n:])) if n else state
            if carry_out is not None and (matters is None or matters(state, task)):
                state = carry_out(state, task, agenda[n + 1 :])
                break


def settled(state: State) -> State:
    """Return the state in which a tribe that holds the three signs has won, if one does and the game still runs."""
    seat = settler(state) if state.outcome is None else None
    return apocalypse.finish(state, Outcome(SETTLED, seat)) if seat else state


def _rebared(state: State, board: Board) -> State:
    """Return the state whose clock knows whether any space still holds a token (ruling M35)."""
    clock, bare = state.clock, board.bare and state.rules.forestall == "bare"
    if clock is None or clock.bare == bare or state.outcome:
        return state
    return changed(state, clock=changed(clock, bare=bare))


def moved(state: State, seat: Seat, roll: int) -> State:
    """Return the state after the roll that is due: the tribe walked as many spaces as it and its bonuses say."""
    board, n = state.laid, state.seats.index(seat)
    tribe, spaces = board.tribes[n], roll + standing(state, seat, "movement")
    if boosts := tribe.boosts:
        spaces, boosts = spaces + raised(boosts, "movement"), unspent(boosts, "movement")
    spaces = max(0, spaces)
    tribes = board.tribes_with(n, place=walk(tribe.place, spaces), boosts=boosts)
    # The roll is done; what a landing brings takes its place.
    due_ = (*(landing.tasks(state, seat) if spaces else ()), *board.agenda[1:])
    return changed(state, board=changed(board, tribes=tribes, agenda=due_))


def end_turn(state: State) -> State:
    """Return the state after the running turn: a tick where it is due, then the next turn, or an extra one (M43)."""
    state = after_turn(apocalypse.tick(state) if state.clock else state)
    if state.outcome is not None:
        return state
    board = state.laid
    if board.again:
        extras = (*board.extras, (state.turn + 1, board.again[0]))
        state = changed(state, board=changed(board, again=board.again[1:], extras=extras))
    return _turn(state, state.turn + 1)


def _turn(state: State, turn: int) -> State:
    """Return the state with a turn begun and all its steps due."""
    seat, order = state.seat_at(turn), state.rules.turn_order
    agenda = _steps(seat, order, order == "tester" and landing.collects_first(state, turn))
    if landing.earns(state, seat):
        agenda = (Task("income", seat), *agenda)
    return changed(state, turn=turn, board=changed(state.laid, forced=0, agenda=agenda))


@cache
def _steps(seat: Seat, order: str, collects_first: bool) -> tuple[Task, ...]:
    """Return what is due in a turn, from the roll on or by the author's tester from the collecting."""
    tasks = [*(landing.before_roll(seat) if collects_first else ()), Task("roll", seat)]
    steps = _LAST_STEPS[order]
    for each in steps:
        tasks += [Task("sacrifice_begins", seat)] if each == "sacrifice" else []
        tasks.append(Task(each, seat, (1 if each == steps[-1] else 0,)))
    return tuple(tasks)


_Agenda: TypeAlias = tuple[Task, ...]


def _popped(carry_out: Callable[[State, Task], State]) -> Callable[[State, Task, _Agenda], State]:
    """Return how a task is carried out once the agenda holds only what comes after it."""
    return lambda state, task, rest: carry_out(changed(state, board=changed(state.laid, agenda=rest)), task)


def _fight(state: State, task: Task) -> State:
    *defenders, bonus, stake = task.args
    return battle.begin(state, task.seat, tuple(map(str, defenders)), int(bonus), int(stake))


def _judge(state: State, task: Task) -> State:
    return battle.judge(state, task.seat) if state.laid.battle else state


def _replenish(state: State, task: Task, rest: _Agenda) -> State:
    """Return the state whose pile has its discards back, and is to be drawn from after all."""
    again = changed(state.laid, agenda=(task, *rest))
    return replenish(changed(state, board=again), task.args[0])  # type: ignore[arg-type]  # a pile's name


_BY_ITSELF: Mapping[str, Callable[[State, Task, _Agenda], State]] = {
    "income": _popped(lambda state, task: landing.income(state, task.seat)),
    "collect": landing.collect,
    "tribute": landing.tribute,
    "fresh": landing.fresh_day,
    "battles": battle.battles,
    "fight": _popped(_fight),
    "judge": _popped(_judge),
    "ransom": _popped(lambda state, task: battle.ransom(state, task.seat, str(task.args[0]), int(task.args[1]))),
    "bonus": _popped(lambda state, task: events.bonus(state, task.seat, int(task.args[0]), int(task.args[1]))),
    "draw": _replenish,
    "sacrifice_begins": offerings.begun,
    "sacrifice": offerings.ended,
}
"""What comes of a task that is met, given what is due after it; what happens at every turn takes that in at once."""

_MATTERS: Mapping[str, Callable[[State, Task], bool]] = {
    "tribute": landing.owes,
    "fresh": lambda _state, task: task.args[0] == 1,
    "battles": battle.meets,
    "draw": lambda state, task: replenishes(state, task.args[0]),  # type: ignore[arg-type]  # a pile's name
    "sacrifice_begins": offerings.begins,
}
"""Whether a task that is carried out here changes anything; one that does not is passed over."""


def _holds(pile: str) -> Callable[[State, Task], bool]:
    return lambda state, task: any_of(state.laid.tribes[state.seats.index(task.seat)].hand, pile)


def _in_battle(*piles: str) -> Callable[[State, Task], bool]:
    return lambda state, task: battle.fighting(state, task.seat) and events.holds(state, task.seat, *piles)


def _may_sacrifice(state: State, task: Task) -> bool:
    return task.args[0] == 1 or state.laid.tribes[state.seats.index(task.seat)].tokens > 0


def _may_play(state: State, task: Task) -> bool:
    if task.args[0] == 1:
        return True
    held = ("war", "day") if state.rules.card_timing == "hold_all" else ("war",)
    return events.holds(state, task.seat, *held)


_WAITS: Mapping[str, Callable[[State, Task], bool]] = {
    "roll": lambda _state, _task: True,
    "draw": lambda state, task: any_left(state, task.args[0]),  # type: ignore[arg-type]  # a pile's name
    "die": lambda state, task: battle.fighting(state, task.seat),
    "bless": _holds("rain"),
    "arm": _in_battle("war", "rain"),
    "reroll": _in_battle("war"),
    "challenge": lambda state, task: bool(battle.within_reach(state, task.seat)),
    "sacrifice": _may_sacrifice,
    "cards": _may_play,
    "return": lambda state, task: bool(events.returnable(state, task.seat, str(task.args[0]))),
    "take": lambda state, _task: bool(events.unissued(state)),
    "choose": lambda state, task: bool(events.targets(state, task.seat, str(task.args[0]))),
    "forfeit": lambda _state, _task: True,
}
"""Whether a task stops the game, judged by what everybody sees: nobody's hand tells on it."""

_TASKS = {name: (_WAITS.get(name), _MATTERS.get(name), _BY_ITSELF.get(name)) for name in (*_WAITS, *_BY_ITSELF)}
"""For each task: whether it waits, whether it matters where it does not, and how it is carried out."""
