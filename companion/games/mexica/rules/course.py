"""The course of a full game: turns and their steps, and what happens by itself until somebody must decide or roll.

The agenda holds what is due. A task is carried out here unless it waits: for a seat's decision, or for chance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from companion.games.kernel import CHANCE, Seat
from companion.games.mexica.rules import apocalypse, battle, events, landing, offerings
from companion.games.mexica.rules.board import Task, laid
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
    return advance(_turn(replace(state, board=laid(state.seats, state.rules.starts))))


def due(state: State) -> Task | None:
    """Return what the game waits for, or none when it is over: after `advance` a decision, a draw or a die."""
    return state.board.agenda[0] if state.board and state.board.agenda and not state.over else None


def decider(state: State) -> Seat | None:
    """Return the seat that must act now, `CHANCE` for a die or a card, or none when the game is over."""
    task = due(state)
    if task is None:
        return None
    return task.seat if task.name in DECISIONS else CHANCE


def advance(state: State) -> State:
    """Return the state after all that happens by itself: a tribe that holds the three signs settles at once (M22)."""
    while True:
        board = state.laid
        bare = board.bare and state.rules.forestall == "bare"
        if state.clock and not state.over and state.clock.bare != bare:
            state = replace(state, clock=replace(state.clock, bare=bare))  # ruling M35
        if not state.over and (seat := settler(state)):
            state = apocalypse.finish(state, Outcome(SETTLED, seat))
        if state.over:
            return replace(state, board=replace(state.laid, agenda=(), battle=None))
        task = board.agenda[0]
        if task.name == "draw":
            state = replenish(state, task.args[0])  # type: ignore[arg-type]  # a pile's name
        if _waits(state, task):
            return state
        state = replace(state, board=state.laid.done())
        if task.name in _BY_ITSELF:
            state = _BY_ITSELF[task.name](state, task)


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
        state = replace(state, board=replace(board, again=board.again[1:], extras=extras))
    return _turn(replace(state, turn=state.turn + 1))


def _turn(state: State) -> State:
    """Return the state with all the steps of the running turn due."""
    seat = state.seat
    *steps, last = _LAST_STEPS[state.rules.turn_order]
    tasks = [Task("income", seat), *landing.collect_here(state, seat), Task("roll", seat)]
    for each in steps:
        tasks += [Task("sacrifice_begins", seat)] if each == "sacrifice" else []
        tasks.append(Task(each, seat, (0,)))
    tasks += [Task("sacrifice_begins", seat)] if last == "sacrifice" else []
    board = replace(state.laid, forced=0, agenda=(*tasks, Task(last, seat, (1,))))
    return replace(state, board=board)


def _waits(state: State, task: Task) -> bool:
    """Return whether a task stops the game, judged by what everybody sees: nobody's hand tells on it."""
    board, seat = state.laid, task.seat
    match task.name:
        case "roll":
            return True
        case "draw":
            return left(state, task.args[0]) > 0  # type: ignore[arg-type]  # a pile's name
        case "die":
            return battle.fighting(state, seat)
        case "bless":
            return events.holds(state, seat, "rain")
        case "arm":
            return battle.fighting(state, seat) and events.holds(state, seat, "war", "rain")
        case "reroll":
            return battle.fighting(state, seat) and events.holds(state, seat, "war")
        case "challenge":
            return bool(battle.within_reach(state, seat))
        case "sacrifice":
            return bool(task.args[0]) or board.tribes[state.index(seat)].tokens > 0
        case "cards":
            held = ("war", "day") if state.rules.card_timing == "hold_all" else ("war",)
            return bool(task.args[0]) or events.holds(state, seat, *held)
        case "return":
            return bool(events.returnable(state, seat, str(task.args[0])))
        case "take":
            return bool(events.unissued(state))
        case "choose":
            return bool(events.targets(state, seat, str(task.args[0])))
    return task.name == "forfeit"


def _fight(state: State, task: Task) -> State:
    *defenders, bonus, stake = task.args
    return battle.begin(state, task.seat, tuple(map(str, defenders)), int(bonus), int(stake))


def _judge(state: State, task: Task) -> State:
    return battle.judge(state, task.seat) if state.laid.battle else state


_BY_ITSELF: Mapping[str, Callable[[State, Task], State]] = {
    "income": lambda state, task: landing.income(state, task.seat),
    "collect": lambda state, task: landing.collect(state, task.seat),
    "tribute": lambda state, task: landing.tribute(state, task.seat),
    "fresh": lambda state, task: landing.fresh_day(state, task.seat, int(task.args[0])),
    "battles": lambda state, task: battle.battles(state, task.seat),
    "fight": _fight,
    "judge": _judge,
    "ransom": lambda state, task: battle.ransom(state, task.seat, str(task.args[0]), int(task.args[1])),
    "bonus": lambda state, task: events.bonus(state, task.seat, int(task.args[0]), int(task.args[1])),
    "sacrifice_begins": lambda state, _: offerings.begun(state),
    "sacrifice": lambda state, task: offerings.ended(state, task.seat),
}
