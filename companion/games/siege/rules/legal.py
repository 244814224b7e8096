"""Who has to decide, what a die has to decide, and the legal moves of a state, sorted.

Law: a move is legal exactly when it is listed here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

from companion.games.kit import CHANCE, Arg, Chance, Move, Seat
from companion.games.siege.rules import combat, course, deployment, fighting, marching
from companion.games.siege.rules.field import Field
from companion.games.siege.rules.geometry import bits
from companion.games.siege.rules.roster import SIDES
from companion.games.siege.rules.state import MOVE, NOBODY, State

MOST_UNITS = 128
_MARCH, _FORCE, _WALK, _SUCCUMB = (
    tuple(Move(name, (u,)) for u in range(MOST_UNITS)) for name in ("march", "force", "walk", "succumb")
)
_ALL, _CLAIM, _DONE, _HOLD, _READY, _REST = (Move(name) for name in ("all", "claim", "done", "hold", "ready", "rest"))


def die(name: str, faces: int = 6) -> Mapping[Move, Fraction]:
    """Return the outcomes of a die as moves of a name, each as likely as the others."""
    return MappingProxyType({Move(name, (n,)): Fraction(1, faces) for n in range(1, faces + 1)})


DICE: Mapping[str, Mapping[Move, Fraction]] = {
    "event": die("event"),
    "pace": die("pace"),
    "strike": die("strike"),
    "fate": die("fate"),
    "flight": die("flight", 3),
    "panic": die("panic"),
    "rally": die("rally"),
    "fire": die("fire"),
}
"""What each die brings; of a retreat's, half a six-sided die, rounded up (ruling S16)."""

_TWODICE: Mapping[Move, Fraction] = MappingProxyType(
    {Move("pace", (n,)): Fraction(6 - abs(n - 7), 36) for n in range(2, 13)}
)

_LISTED_OUTCOMES = {name: sorted(outcomes) for name, outcomes in DICE.items()}
_LISTED_TWO = sorted(_TWODICE)


def decider(state: State) -> Seat | None:
    """Return the seat that must decide now, or `CHANCE`; none when the siege is over."""
    if state.outcome:
        return None
    if state.agenda:
        task = state.agenda[0]
        if task[0] in DICE:
            return CHANCE
        if task[0] == "succumb":
            return SIDES[int(task[1])]
        return SIDES[state.roster.side[int(task[1])]]
    return state.mover


def chance(state: State) -> Chance | None:
    """Return the die that is due, whose it is and what it is for, or None."""
    if state.outcome or not state.agenda or state.agenda[0][0] not in DICE:
        return None
    name, *args = state.agenda[0]
    if name == "event":
        return Chance("event", DICE["event"], None, {"n": course.EVENTS + 1 - len(state.agenda)})
    if name == "fire":
        return Chance("fire", DICE["fire"], None, {"hex": state.field.grid.name(int(args[0]))})
    unit = int(args[0])
    side = state.roster.side[unit]
    facts: dict[str, Arg] = unit_facts(state, unit)
    owner = SIDES[side]
    if name == "pace":
        key, outcomes = ("forced", _TWODICE) if args[1] else ("pace", DICE["pace"])
        return Chance(key, outcomes, owner, facts)
    if name == "strike":
        modifier = sum(fighting.modifiers(state, unit, int(args[1])).values())
        facts |= {"target": state.field.grid.name(int(args[1])), "modifier": modifier}
    if name == "rally":
        facts["modifier"] = combat.rally_bonus(state, unit)
    return Chance(str(name), DICE[str(name)], owner, facts)


def unit_facts(state: State, unit: int) -> dict[str, Arg]:
    """Return what words about a unit need: its people, its number among them, where it stands."""
    here = state.at[unit]
    facts: dict[str, Arg] = {"people": state.roster.people[unit], "no": state.roster.number[unit]}
    return facts | {"hex": state.field.grid.name(here)} if here >= 0 else facts


def moves(state: State, seat: Seat) -> list[Move]:
    """Return exactly the legal moves of a seat, or of chance the outcomes that may come, sorted."""
    return list(listed(state)) if seat == decider(state) else []


_last: tuple[State | None, tuple[Move, ...]] = (None, ())


def listed(state: State) -> tuple[Move, ...]:
    """Return the legal list of a state; that of the last state is remembered, as a move is checked by it."""
    global _last
    known, listed = _last
    if known is not state:
        listed = tuple(_made(state))
        _last = (state, listed)
    return listed


def _made(state: State) -> list[Move]:
    if state.agenda:
        return _TASKS[str(state.agenda[0][0])](state)
    if state.deploying:
        return _deploying(state)
    return _marching(state) if state.stage == MOVE else _attacking(state)


def holds(listed: tuple[Move, ...], move: Move) -> bool:
    """Return whether a sorted list holds a move, whose arguments are of the kinds that moves of its name have."""
    place = bisect_left(listed, move)
    return place < len(listed) and listed[place] == move


@lru_cache(maxsize=64)
def _named(field: Field, name: str) -> tuple[Move, ...]:
    """Return the move of a name to every hex of a map."""
    return tuple(Move(name, (each,)) for each in field.grid.names)


def _to(state: State, name: str, hexes: Iterable[int]) -> list[Move]:
    """Return the moves of a name to some hexes, sorted."""
    field = state.field
    made = _named(field, name)
    return [made[h] for h in sorted(hexes, key=field.grid.rank.__getitem__)]


@lru_cache(maxsize=64)
def _zoned(field: Field, name: str, zone: int) -> tuple[tuple[int, Move], ...]:
    """Return the hexes of a zone with the move of a name to each, sorted by the moves."""
    made = _named(field, name)
    return tuple((h, made[h]) for h in sorted(bits(zone), key=field.grid.rank.__getitem__))


def _deploying(state: State) -> list[Move]:
    field, lifting = state.field, deployment.liftable(state)
    zone = field.city & ~field.water if state.side == 0 else field.camp | field.harbour
    listed = [move for h, move in _zoned(field, "lift", zone) if lifting >> h & 1]
    if state.active == NOBODY:
        return [*listed, _READY if deployment.complete(state) else _REST]
    people = state.roster.people[state.active]
    others = sorted(each for each in deployment.peoples(state) if each != people)
    free = deployment.free(state, state.active)
    placing = [move for h, move in _zoned(field, "place", zone) if free >> h & 1]
    return [*listed, *placing, _REST, *(Move("take", (each,)) for each in others)]


def walkers(state: State) -> list[int]:
    """Return the units of the side whose phase it is that march by themselves: no boat with a rider does."""
    at, side = state.at, state.side
    units = [u for u in state.roster.land[side] if at[u] >= 0]
    if side == 1:
        held = state.held[1]
        units += [boat for boat in state.roster.boats if at[boat] >= 0 and not held >> at[boat] & 1]
    return units


def _marching(state: State) -> list[Move]:
    units, purse, active = walkers(state), state.purse, state.active
    fresh, forced, marched = _unrolled(tuple(units), state.rolled)
    listed = [_ALL] if fresh else []
    if course.may_claim(state):
        listed.append(_CLAIM)
    listed.append(_DONE)
    listed += forced
    if active != NOBODY:
        made = _named(state.field, "go")
        listed += [made[h] for h in marching.reach(state, active)]
    listed += marched
    listed += [_WALK[u] for u in units if purse[u] and u != active]
    return listed


@lru_cache(maxsize=256)
def _unrolled(units: tuple[int, ...], rolled: int) -> tuple[tuple[int, ...], tuple[Move, ...], tuple[Move, ...]]:
    """Return the units that may still be rolled for, with the moves that force them and that let them march."""
    fresh = tuple([u for u in units if not rolled >> u & 1])
    return fresh, tuple(map(_FORCE.__getitem__, fresh)), tuple(map(_MARCH.__getitem__, fresh))


def _attacking(state: State) -> list[Move]:
    names = state.field.grid.names
    return [*sorted(Move("attack", (u, names[h])) for u, h in fighting.attacks(state)), _DONE]


def _succumbing(state: State) -> list[Move]:
    return [_SUCCUMB[u] for u in course.mortal(state, int(state.agenda[0][1]))]


def _retreating(state: State) -> list[Move]:
    _, unit, enemy, n, *_ = state.agenda[0]
    return _to(state, "retreat", marching.retreats(state, int(unit), int(enemy), int(n)))


def _victorious(state: State) -> list[Move]:
    return [*_to(state, "advance", combat.advances(state, int(state.agenda[0][1]))), _HOLD]


def _rolled(state: State) -> list[Move]:
    name, *args = state.agenda[0]
    return list(_LISTED_TWO if name == "pace" and args[1] else _LISTED_OUTCOMES[str(name)])


_TASKS: Mapping[str, Callable[[State], list[Move]]] = {
    "succumb": _succumbing,
    "retreat": _retreating,
    "victory": _victorious,
    **dict.fromkeys(DICE, _rolled),
}
