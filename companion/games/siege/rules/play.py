"""The entry point of the rules: carries out every legal move, and refuses every other with a code."""

from __future__ import annotations

from collections.abc import Callable

from companion.games.kit import CHANCE, Kind, Move, MoveTable, MoveType, Refusal, Seat, number, one_of, put, replace
from companion.games.siege.rules import combat, course, deployment, marching
from companion.games.siege.rules.geometry import LARGEST, grid
from companion.games.siege.rules.legal import MOST_UNITS, decider, holds, listed, walkers
from companion.games.siege.rules.roster import FULL, ROSTERS, SIDES
from companion.games.siege.rules.state import DEAD, NOBODY, Outcome, State, afloat, moved, on

BINDING = frozenset({"claim"})
"""What a seat cannot take back even when nothing has followed."""


def _done_with(state: State) -> tuple[State, tuple[int, ...]]:
    """Return the state without the first task of its agenda, and what that task says."""
    _, *args = state.agenda[0]
    return replace(state, agenda=state.agenda[1:]), tuple(int(arg) for arg in args)


def _hexagon(state: State, name: str) -> int:
    return state.field.grid.numbers[name]


def _do_place(state: State, where: str) -> State:
    return deployment.placed(state, _hexagon(state, where))


def _do_lift(state: State, where: str) -> State:
    return deployment.lifted(state, _hexagon(state, where))


def _do_march(state: State, unit: int) -> State:
    return _setting_out(state, (unit,), 0)


def _do_force(state: State, unit: int) -> State:
    return _setting_out(replace(state, forced=state.forced | 1 << unit), (unit,), 1)


def _do_all(state: State) -> State:
    return _setting_out(state, tuple(u for u in walkers(state) if not state.rolled >> u & 1), 0)


def _setting_out(state: State, units: tuple[int, ...], forced: int) -> State:
    """Return the state in which the dice of units that set out are due (ruling S6)."""
    rolled = state.rolled
    for u in units:
        rolled |= 1 << u
    return replace(state, rolled=rolled, active=NOBODY, agenda=tuple(("pace", u, forced) for u in units))


def _do_pace(state: State, n: int) -> State:
    rest, (unit, _) = _done_with(state)
    active = unit if not rest.agenda else NOBODY
    return course.settled(replace(rest, purse=put(rest.purse, unit, n), active=active))


def _do_walk(state: State, unit: int) -> State:
    return replace(state, active=unit)


def _do_go(state: State, where: str) -> State:
    unit, to = state.active, _hexagon(state, where)
    cost = marching.reach(state, unit)[to]
    rowed = afloat(state, unit) and not state.field.dry(to) and not state.hulls >> to & 1
    gone = on(state, state.at[unit]) if rowed else (unit,)
    stirred = state.stirred
    for each in gone:
        stirred |= 1 << each
    left = state.purse[unit] - cost
    after = replace(moved(state, gone, to), purse=put(state.purse, unit, left), stirred=stirred)
    return course.settled(after if marching.reach(after, unit) else replace(after, active=NOBODY))


def _do_claim(state: State) -> State:
    return replace(state, agenda=(), outcome=Outcome("draw"))


def _do_attack(state: State, unit: int, where: str) -> State:
    return combat.attack(state, unit, _hexagon(state, where))


def _do_advance(state: State, where: str) -> State:
    rest, (unit,) = _done_with(state)
    return course.settled(combat.advanced(rest, unit, _hexagon(state, where)))


def _do_hold(state: State) -> State:
    return course.settled(_done_with(state)[0])


def _do_retreat(state: State, where: str) -> State:
    rest, (unit, _, _, tries, burn) = _done_with(state)
    return course.settled(combat.retreated(rest, unit, tries, burn, _hexagon(state, where)))


def _do_succumb(state: State, unit: int) -> State:
    rest, _ = _done_with(state)
    gone = moved(rest, (unit,), DEAD)
    gone = replace(gone, routed=gone.routed & ~(1 << unit))
    return course.settled(combat.captured(gone, (unit,)) or gone)


def _do_event(state: State, n: int) -> State:
    rest, _ = _done_with(state)
    side = 0 if n <= course.AZTECS_SUFFER else 1
    return course.settled(replace(rest, agenda=(("succumb", side), *rest.agenda)))


def _thrown(outcome: Callable[..., State]) -> Callable[[State, int], State]:
    """Return a throw that settles the task due: `outcome` takes the state, the task's numbers and the die."""

    def thrown(state: State, n: int) -> State:
        rest, numbers = _done_with(state)
        return course.settled(outcome(rest, *numbers, n))

    return thrown


def _do_fire(state: State, n: int) -> State:
    rest, (hexagon,) = _done_with(state)
    out = n <= combat.GOES_OUT
    return course.settled(replace(rest, fires=rest.fires & ~(1 << hexagon)) if out else rest)


def _gate(state: State, seat: Seat, _move: Move) -> Refusal | None:
    if state.outcome:
        return Refusal("over")
    waiting = decider(state)
    return None if waiting == seat else Refusal("not_yours", {"seat": waiting or ""})


def _legal(state: State, _seat: Seat, move: Move) -> Refusal | None:
    legal = listed(state)
    if holds(legal, move):
        return None
    return Refusal("not_among" if any(each.name == move.name for each in legal) else "not_now", {"move": move.name})


_HEX = Kind("hex", grid(LARGEST, LARGEST).numbers)
_UNIT = number(0, MOST_UNITS - 1)
_WHERE, _WHOM = {"hex": _HEX}, {"unit": _UNIT}

MOVES: MoveTable[State] = MoveTable(
    MoveType("place", _do_place, _WHERE),
    MoveType("lift", _do_lift, _WHERE),
    MoveType("take", deployment.taken, {"people": one_of(*dict.fromkeys(ROSTERS[FULL].people))}),
    MoveType("rest", deployment.rest_placed),
    MoveType("ready", deployment.finished),
    MoveType("march", _do_march, _WHOM),
    MoveType("force", _do_force, _WHOM),
    MoveType("all", _do_all),
    MoveType("walk", _do_walk, _WHOM),
    MoveType("go", _do_go, _WHERE),
    MoveType("done", course.ended_phase),
    MoveType("attack", _do_attack, {"unit": _UNIT, "hex": _HEX}),
    MoveType("advance", _do_advance, _WHERE),
    MoveType("hold", _do_hold),
    MoveType("retreat", _do_retreat, _WHERE),
    MoveType("succumb", _do_succumb, _WHOM),
    MoveType("claim", _do_claim),
    MoveType("event", _do_event, {"n": number(1, 6)}, CHANCE),
    MoveType("pace", _do_pace, {"n": number(1, 12)}, CHANCE),
    MoveType("strike", _thrown(combat.struck), {"n": number(1, 6)}, CHANCE),
    MoveType("fate", _thrown(combat.fated), {"n": number(1, 6)}, CHANCE),
    MoveType("flight", _thrown(combat.flown), {"n": number(1, 3)}, CHANCE),
    MoveType("panic", _thrown(combat.panicked), {"n": number(1, 6)}, CHANCE),
    MoveType("rally", _thrown(combat.rallied), {"n": number(1, 6)}, CHANCE),
    MoveType("fire", _do_fire, {"n": number(1, 6)}, CHANCE),
    seats=lambda _state: SIDES,
    gate=_gate,
    legal=_legal,
)
"""Every move of the siege. Law: one is legal exactly when it is listed."""
