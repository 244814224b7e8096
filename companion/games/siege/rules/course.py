"""The order of a turn: which phase follows, what happens automatically, and when the siege is over.

Law: `settled` returns a state in which a seat or chance has something to do, or one that is over.
"""

from __future__ import annotations

from companion.games.kit import replace
from companion.games.siege.rules import combat, fighting
from companion.games.siege.rules.geometry import bits
from companion.games.siege.rules.roster import ALLIES, SIDES
from companion.games.siege.rules.state import (
    ATTACK,
    EVENT,
    FIRE,
    MOVE,
    NOBODY,
    PHASES,
    RALLY,
    Outcome,
    State,
    Task,
    standing,
)

EVENTS = 2
"""Rolls on the event table in each turn (ruling S5)."""

AZTECS_SUFFER = 3
"""The highest roll by which it is the Aztecs who lose a unit."""


def begun(state: State) -> State:
    """Return the state at the beginning of the first turn, when all are deployed."""
    return settled(_entered(replace(state, active=NOBODY, seen=(state.at, state.at)), 0))


def ended_phase(state: State) -> State:
    """Return the state after the side whose phase it is has done all it wants to."""
    if state.stage == MOVE and state.rules.rout_contact == "next_move":
        for unit in tuple(standing(state, state.side)):
            lost = state.at[unit] >= 0 and state.routed >> unit & 1 and combat.contact(state, unit) is not None
            if lost:
                state = combat.destroyed(state, unit)
                if state.outcome:
                    return state
    return settled(_next(state))


def settled(state: State) -> State:
    """Return the state after all that nobody decides and no die has to bring."""
    while state.outcome is None:
        if state.routed and state.rules.rout_contact == "now":
            state = _with_contacts(state)
        if state.agenda:
            if not _idle(state, state.agenda[0]):
                return state
            state = replace(state, agenda=state.agenda[1:])
        elif state.stage == MOVE or (state.stage == ATTACK and next(fighting.attacks(state), None)):
            return state
        else:
            state = _next(state)
    return state


def _with_contacts(state: State) -> State:
    """Return the state in which every routed unit that an enemy has come up to has to flee (ruling S15)."""
    head = state.agenda[0] if state.agenda else None
    if head and head[0] in ("strike", "fate", "retreat"):
        return state
    fleeing = {state.at[int(task[1])] for task in state.agenda if task[0] in ("flight", "retreat")}
    for unit in bits(state.routed):
        here = state.at[unit]
        if here < 0 or here in fleeing:
            continue
        enemy = combat.contact(state, unit)
        if enemy is not None:
            fleeing.add(here)
            state = replace(state, agenda=(("flight", unit, enemy, 1, combat.NOTHING), *state.agenda))
    return state


def _idle(state: State, task: Task) -> bool:
    """Return whether a task has lost its object meanwhile."""
    name, unit = str(task[0]), int(task[1]) if len(task) > 1 else NOBODY
    if name == "succumb":
        return not mortal(state, unit)
    if name in ("event", "fire"):
        return False
    if state.at[unit] < 0:
        return True
    if name == "panic":
        return bool(state.routed >> unit & 1)
    return name == "victory" and not combat.advances(state, unit)


def mortal(state: State, side: int) -> list[int]:
    """Return the units of which a side gives one to disease and hunger (ruling S5)."""
    people, rules = state.roster.people, state.rules
    allies = (*ALLIES, "rogue") if rules.rogues_are_allies == "on" else ALLIES
    return [
        u
        for u in standing(state, side)
        if (people[u] in allies if side else people[u] == "warrior" or rules.leader_immune == "off")
    ]


def _next(state: State) -> State:
    if state.stage == RALLY:
        first, second = state.seen
        state = replace(state, seen=(first, state.at) if state.side else (state.at, second))
    if state.phase + 1 < len(PHASES):
        return _entered(state, state.phase + 1)
    return _of_limits(state) or _entered(replace(state, turn=state.turn + 1), 0)


def _of_limits(state: State) -> State | None:
    """Return the end of the siege if a turn was the last by the house rules (rulings S32, S41), or None."""
    if state.turn == state.rules.turn_limit:
        return replace(state, outcome=Outcome("limit", SIDES[0]))
    quiet = state.rules.quiet_limit
    if isinstance(quiet, int) and quiet_turns(state) + 1 >= 2 * quiet:
        return replace(state, outcome=Outcome("draw"))
    return None


def quiet_turns(state: State) -> int:
    """Return how many full turns have gone by since somebody attacked."""
    return max(0, state.turn - 1 - state.last_attack)


def may_claim(state: State) -> bool:
    """Return whether the side whose phase it is may claim a draw (ruling S41)."""
    quiet = state.rules.quiet_limit
    return isinstance(quiet, int) and state.stage == MOVE and quiet_turns(state) >= quiet


def _entered(state: State, phase: int) -> State:
    """Return the state at the beginning of a phase, with all that is due in it by itself."""
    stage, side = PHASES[phase]
    agenda: tuple[Task, ...] = ()
    if stage == EVENT:
        agenda = (("event",),) * EVENTS
    elif stage == RALLY:
        agenda = tuple(("rally", u) for u in _shaken(state, side))
    elif stage == FIRE:
        agenda = tuple(("fire", h) for h in bits(state.fires))
    fresh = replace(state, phase=phase, agenda=agenda, active=NOBODY, checked=0)
    if stage == EVENT:
        return replace(fresh, forced=0)
    if stage == MOVE:
        return replace(fresh, rolled=0, stirred=0, purse=(0,) * len(state.at))
    if stage == ATTACK:
        return replace(fresh, spent=0, advanced=0, rolled=0, stirred=0, purse=(0,) * len(state.at))
    return fresh


def _shaken(state: State, side: int) -> list[int]:
    """Return a side's routed units that may try to rally: those beside no enemy."""
    sides = state.roster.side
    return [u for u in bits(state.routed) if sides[u] == side and combat.contact(state, u) is None]
