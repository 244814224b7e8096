"""The course of a full game: turns and their steps, and what happens by itself until somebody must decide or roll.

The agenda holds what is due. A task is carried out here unless it waits: for a seat's decision, or for chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from companion.games.kernel import CHANCE, Seat, changed
from companion.games.mexica.rules import apocalypse, battle, events, landing, offerings
from companion.games.mexica.rules.board import Board, Task, laid
from companion.games.mexica.rules.bonuses import after_turn, spend, standing, waiting
from companion.games.mexica.rules.calendar import walk
from companion.games.mexica.rules.hands import left, replenish, settler
from companion.games.mexica.rules.state import Outcome, State
from companion.games.mexica.rules.turn import SETTLED

_LAST_STEPS = {"text": ("sacrifice", "cards"), "tester": ("sacrifice", "cards"), "flower_war": ("cards", "sacrifice")}
"""What follows the landing, the last of which ends the turn (ruling M5)."""

DECISIONS = frozenset(
    {"bless", "challenge", "arm", "reroll", "forfeit", "sacrifice", "cards", "choose", "take", "return"}
)


def opened(state: State) -> State:
    """Return the first state of a full game: the board laid, East to roll."""
    return advance(_turn(changed(state, board=laid(state.seats, state.rules.starts))))


def due(state: State) -> Task | None:
    """Return what the game waits for, or none when it is over: after `advance` a decision, a draw or a die."""
    board = state.board
    return board.agenda[0] if board is not None and board.agenda and state.outcome is None else None


def decider(state: State) -> Seat | None:
    """Return the seat that must act now, `CHANCE` for a die or a card, or none when the game is over."""
    task = due(state)
    return None if task is None else decides(task)


def decides(task: Task) -> Seat:
    """Return who carries out a task that waits: its own seat, or `CHANCE`."""
    return task.seat if task.name in DECISIONS else CHANCE


def advance(state: State) -> State:
    """Return the state after all that happens by itself: a tribe that holds the three signs settles at once (M22)."""
    before: Board | None = None
    while True:
        board = state.laid
        if state.clock:
            state = _rebared(state, board)
        if not (before and board.holds_as(before)) and not state.over and (seat := settler(state)):
            state = apocalypse.finish(state, Outcome(SETTLED, seat))
        if state.over:
            return changed(state, board=changed(board, agenda=(), battle=None))
        before, agenda = board, board.agenda
        for n, task in enumerate(agenda):
            name = task.name
            if name == "draw":
                state = replenish(state, task.args[0])  # type: ignore[arg-type]  # a pile's name
            if name in _WAITS and _WAITS[name](state, task):
                return changed(state, board=changed(state.laid, agenda=agenda[n:])) if n else state
            if name in _BY_ITSELF and (name not in _MATTERS or _MATTERS[name](state, task)):
                state = changed(state, board=changed(state.laid, agenda=agenda[n + 1 :]))
                state = _BY_ITSELF[name](state, task)
                break


def _rebared(state: State, board: Board) -> State:
    """Return the state whose clock knows whether any space still holds a token (ruling M35)."""
    bare = board.bare and state.rules.forestall == "bare"
    if state.over or state.clock is None or state.clock.bare == bare:
        return state
    return changed(state, clock=changed(state.clock, bare=bare))


def moved(state: State, seat: Seat, roll: int) -> State:
    """Return the state after a tribe walked as many spaces as its roll and its bonuses say."""
    spaces = max(0, roll + standing(state, seat, "movement") + waiting(state, seat, "movement"))
    state = spend(state, seat, "movement")
    if not spaces:
        return state
    return landing.arrive(state, seat, walk(state.laid.tribes[state.index(seat)].place, spaces))


def end_turn(state: State) -> State:
    """Return the state after the running turn: a tick where it is due, then the next turn, or an extra one (M43)."""
    state = after_turn(apocalypse.tick(state))
    if state.over:
        return state
    board = state.laid
    if board.again:
        extras = (*board.extras, (state.turn + 1, board.again[0]))
        state = changed(state, board=changed(board, again=board.again[1:], extras=extras))
    return _turn(changed(state, turn=state.turn + 1))


def _turn(state: State) -> State:
    """Return the state with all the steps of the running turn due."""
    seat = state.seat
    first = (Task("income", seat), *landing.collect_here(state, seat), Task("roll", seat))
    board = changed(state.laid, forced=0, agenda=(*first, *_last_steps(seat, state.rules.turn_order)))
    return changed(state, board=board)


@cache
def _last_steps(seat: Seat, order: str) -> tuple[Task, ...]:
    tasks: list[Task] = []
    steps = _LAST_STEPS[order]
    for each in steps:
        tasks += [Task("sacrifice_begins", seat)] if each == "sacrifice" else []
        tasks.append(Task(each, seat, (1 if each == steps[-1] else 0,)))
    return tuple(tasks)


def _fight(state: State, task: Task) -> State:
    *defenders, bonus, stake = task.args
    return battle.begin(state, task.seat, tuple(map(str, defenders)), int(bonus), int(stake))


def _judge(state: State, task: Task) -> State:
    return battle.judge(state, task.seat) if state.laid.battle else state


_BY_ITSELF: Mapping[str, Callable[[State, Task], State]] = {
    "income": lambda state, task: landing.income(state, task.seat),
    "collect": lambda state, task: landing.collect(state, task.seat),
    "tribute": lambda state, task: landing.tribute(state, task.seat),
    "fresh": lambda state, task: landing.fresh_day(state, task.seat),
    "battles": lambda state, task: battle.battles(state, task.seat),
    "fight": _fight,
    "judge": _judge,
    "ransom": lambda state, task: battle.ransom(state, task.seat, str(task.args[0]), int(task.args[1])),
    "bonus": lambda state, task: events.bonus(state, task.seat, int(task.args[0]), int(task.args[1])),
    "sacrifice_begins": lambda state, _: offerings.begun(state),
    "sacrifice": lambda state, task: offerings.ended(state, task.seat),
}

_MATTERS: Mapping[str, Callable[[State, Task], bool]] = {
    "income": lambda state, task: landing.earns(state, task.seat),
    "tribute": lambda state, task: landing.owes(state, task.seat),
    "fresh": lambda _state, task: bool(task.args[0]),
    "battles": lambda state, task: battle.meets(state, task.seat),
    "sacrifice_begins": lambda state, _task: offerings.begins(state),
}
"""Whether a task that is carried out here changes anything; one that does not is passed over."""


def _holds(*piles: str) -> Callable[[State, Task], bool]:
    return lambda state, task: events.holds(state, task.seat, *piles)


def _in_battle(*piles: str) -> Callable[[State, Task], bool]:
    return lambda state, task: battle.fighting(state, task.seat) and events.holds(state, task.seat, *piles)


def _may_sacrifice(state: State, task: Task) -> bool:
    return bool(task.args[0]) or state.laid.tribes[state.index(task.seat)].tokens > 0


def _may_play(state: State, task: Task) -> bool:
    held = ("war", "day") if state.rules.card_timing == "hold_all" else ("war",)
    return bool(task.args[0]) or events.holds(state, task.seat, *held)


_WAITS: Mapping[str, Callable[[State, Task], bool]] = {
    "roll": lambda _state, _task: True,
    "draw": lambda state, task: left(state, task.args[0]) > 0,  # type: ignore[arg-type]  # a pile's name
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
