"""One door to the rules: every legal move carried out, and every other refused with a word. Illegal is a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from companion.games.kit import CHANCE, Arg, Move, Refusal, Seat, replace
from companion.games.siege.rules import combat, course, deployment, marching
from companion.games.siege.rules.legal import DICE, decider, holds, listed, walkers
from companion.games.siege.rules.roster import SIDES
from companion.games.siege.rules.state import DEAD, NOBODY, Outcome, State, afloat, moved, on, put

NAMES = frozenset({
    "place", "lift", "take", "rest", "ready", "march", "force", "all", "walk", "go", "done", "attack", "advance",
    "hold", "retreat", "succumb", "claim", *DICE,
})  # fmt: skip

BINDING = frozenset({"claim"})
"""What a seat cannot take back even when nothing has followed."""


def play(state: State, seat: Seat, move: Move) -> State | Refusal:
    """Return the state after a seat's move, or why it cannot be made."""
    name, args = move
    if state.outcome:
        return Refusal("over")
    if not isinstance(seat, str) or seat not in (*SIDES, CHANCE):
        return Refusal("not_seated", {"seat": _shown(seat)})
    if not isinstance(name, str) or name not in NAMES:
        return Refusal("unknown_move", {"move": _shown(name)})
    if (waiting := decider(state)) != seat:
        return Refusal("not_yours", {"seat": waiting or ""})
    if not isinstance(args, tuple) or any(type(arg) not in (int, str) for arg in args):
        return Refusal("not_among", {"move": name})
    if not holds(legal := listed(state), move):
        return Refusal("not_among" if any(each.name == name for each in legal) else "not_now", {"move": name})
    return _CARRIED_OUT[name](state, args)


def _shown(value: object) -> str:
    return ascii(value[:40])[1:-1][:40] if isinstance(value, str) else type(value).__name__[:40]


# What is carried out. Arguments were found in the legal list.


def _done_with(state: State) -> tuple[State, tuple[int, ...]]:
    """Return the state without the first task of its agenda, and what that task says."""
    _, *args = state.agenda[0]
    return replace(state, agenda=state.agenda[1:]), tuple(int(arg) for arg in args)


def _hexagon(state: State, arg: Arg) -> int:
    return state.field.grid.numbers[str(arg)]


def _do_place(state: State, args: tuple[Arg, ...]) -> State:
    return deployment.placed(state, _hexagon(state, args[0]))


def _do_lift(state: State, args: tuple[Arg, ...]) -> State:
    return deployment.lifted(state, _hexagon(state, args[0]))


def _do_take(state: State, args: tuple[Arg, ...]) -> State:
    return deployment.taken(state, str(args[0]))


def _do_rest(state: State, _args: tuple[Arg, ...]) -> State:
    return deployment.rest_placed(state)


def _do_ready(state: State, _args: tuple[Arg, ...]) -> State:
    return deployment.finished(state)


def _do_march(state: State, args: tuple[Arg, ...]) -> State:
    return _setting_out(state, (int(args[0]),), 0)


def _do_force(state: State, args: tuple[Arg, ...]) -> State:
    return _setting_out(replace(state, forced=state.forced | 1 << int(args[0])), (int(args[0]),), 1)


def _do_all(state: State, _args: tuple[Arg, ...]) -> State:
    return _setting_out(state, tuple(u for u in walkers(state) if not state.rolled >> u & 1), 0)


def _setting_out(state: State, units: tuple[int, ...], forced: int) -> State:
    """Return the state in which the dice of units that set out are due (ruling S6)."""
    rolled = state.rolled
    for u in units:
        rolled |= 1 << u
    return replace(state, rolled=rolled, active=NOBODY, agenda=tuple(("pace", u, forced) for u in units))


def _do_pace(state: State, args: tuple[Arg, ...]) -> State:
    rest, (unit, _) = _done_with(state)
    active = unit if not rest.agenda else NOBODY
    return course.settled(replace(rest, purse=put(rest.purse, unit, int(args[0])), active=active))


def _do_walk(state: State, args: tuple[Arg, ...]) -> State:
    return replace(state, active=int(args[0]))


def _do_go(state: State, args: tuple[Arg, ...]) -> State:
    unit, to = state.active, _hexagon(state, args[0])
    cost = marching.reach(state, unit)[to]
    rowed = afloat(state, unit) and not state.field.dry(to) and not state.hulls >> to & 1
    gone = on(state, state.at[unit]) if rowed else (unit,)
    stirred = state.stirred
    for each in gone:
        stirred |= 1 << each
    left = state.purse[unit] - cost
    after = replace(moved(state, gone, to), purse=put(state.purse, unit, left), stirred=stirred)
    return course.settled(after if marching.reach(after, unit) else replace(after, active=NOBODY))


def _do_done(state: State, _args: tuple[Arg, ...]) -> State:
    return course.ended_phase(state)


def _do_claim(state: State, _args: tuple[Arg, ...]) -> State:
    return replace(state, agenda=(), outcome=Outcome("draw"))


def _do_attack(state: State, args: tuple[Arg, ...]) -> State:
    return combat.attack(state, int(args[0]), _hexagon(state, args[1]))


def _do_advance(state: State, args: tuple[Arg, ...]) -> State:
    rest, (unit,) = _done_with(state)
    return course.settled(combat.advanced(rest, unit, _hexagon(state, args[0])))


def _do_hold(state: State, _args: tuple[Arg, ...]) -> State:
    return course.settled(_done_with(state)[0])


def _do_retreat(state: State, args: tuple[Arg, ...]) -> State:
    rest, (unit, _, _, tries, burn) = _done_with(state)
    return course.settled(combat.retreated(rest, unit, tries, burn, _hexagon(state, args[0])))


def _do_succumb(state: State, args: tuple[Arg, ...]) -> State:
    rest, _ = _done_with(state)
    unit = int(args[0])
    gone = moved(rest, (unit,), DEAD)
    gone = replace(gone, routed=gone.routed & ~(1 << unit))
    return course.settled(combat.captured(gone, (unit,)) or gone)


def _do_event(state: State, args: tuple[Arg, ...]) -> State:
    rest, _ = _done_with(state)
    side = 0 if int(args[0]) <= course.AZTECS_SUFFER else 1
    return course.settled(replace(rest, agenda=(("succumb", side), *rest.agenda)))


def _do_strike(state: State, args: tuple[Arg, ...]) -> State:
    rest, (unit, target) = _done_with(state)
    return course.settled(combat.struck(rest, unit, target, int(args[0])))


def _do_fate(state: State, args: tuple[Arg, ...]) -> State:
    rest, (unit, victor) = _done_with(state)
    return course.settled(combat.fated(rest, unit, victor, int(args[0])))


def _do_flight(state: State, args: tuple[Arg, ...]) -> State:
    rest, (unit, enemy, tries, burn) = _done_with(state)
    return course.settled(combat.flown(rest, unit, enemy, tries, burn, int(args[0])))


def _do_panic(state: State, args: tuple[Arg, ...]) -> State:
    rest, (unit, victor) = _done_with(state)
    return course.settled(combat.panicked(rest, unit, victor, int(args[0])))


def _do_rally(state: State, args: tuple[Arg, ...]) -> State:
    rest, (unit,) = _done_with(state)
    return course.settled(combat.rallied(rest, unit, int(args[0])))


def _do_fire(state: State, args: tuple[Arg, ...]) -> State:
    rest, (hexagon,) = _done_with(state)
    out = int(args[0]) <= combat.GOES_OUT
    return course.settled(replace(rest, fires=rest.fires & ~(1 << hexagon)) if out else rest)


_CARRIED_OUT: Mapping[str, Callable[[State, tuple[Arg, ...]], State]] = {
    "place": _do_place,
    "lift": _do_lift,
    "take": _do_take,
    "rest": _do_rest,
    "ready": _do_ready,
    "march": _do_march,
    "force": _do_force,
    "all": _do_all,
    "pace": _do_pace,
    "walk": _do_walk,
    "go": _do_go,
    "done": _do_done,
    "claim": _do_claim,
    "attack": _do_attack,
    "advance": _do_advance,
    "hold": _do_hold,
    "retreat": _do_retreat,
    "succumb": _do_succumb,
    "event": _do_event,
    "strike": _do_strike,
    "fate": _do_fate,
    "flight": _do_flight,
    "panic": _do_panic,
    "rally": _do_rally,
    "fire": _do_fire,
}
