"""Deployment before the siege: who may begin where, and a good array for players who skip placing every unit."""

from __future__ import annotations

from companion.games.kit import replace
from companion.games.siege.rules import course, marching
from companion.games.siege.rules.geometry import bits
from companion.games.siege.rules.maps import LEAST_GARRISON
from companion.games.siege.rules.roster import People
from companion.games.siege.rules.state import NOBODY, WAITING, State, is_boat, moved, on


def waiting(state: State) -> list[int]:
    """Return the units of the side now deploying that have no place yet, boats last."""
    at, side = state.at, state.side
    units = state.roster.land[side] if side == 0 else (*state.roster.land[1], *state.roster.boats)
    return [u for u in units if at[u] == WAITING]


def peoples(state: State) -> list[People]:
    """Return the peoples that still have units to place, in the order of their numbers."""
    return list(dict.fromkeys(state.roster.people[u] for u in waiting(state)))


def free(state: State, unit: int) -> int:
    """Return where a unit may be placed (ruling S31): riders on boats that are there already."""
    field = state.field
    if state.roster.side[unit] == 0:
        return field.city & ~field.water & ~state.held[0]
    if is_boat(state, unit):
        return field.harbour & ~state.hulls
    return (field.camp & ~state.held[1]) | marching.decks_for(state, unit)


def placed(state: State, hexagon: int) -> State:
    """Return the state after the unit in hand was placed; the next of its people is taken up, or of the next."""
    people = state.roster.people[state.active]
    there = moved(state, (state.active,), hexagon)
    return taken(there, people)


def taken(state: State, people: str) -> State:
    """Return the state with another people in hand, or the next that has units to place."""
    rest = waiting(state)
    same = [u for u in rest if state.roster.people[u] == people]
    return replace(state, active=(same or rest or [NOBODY])[0])


def lifted(state: State, hexagon: int) -> State:
    """Return the state after a unit was taken up again: a rider before its boat."""
    unit = _upper(state, hexagon)
    return replace(moved(state, (unit,), WAITING), active=unit)


def _upper(state: State, hexagon: int) -> int:
    walking = [u for u in on(state, hexagon) if not is_boat(state, u)]
    return walking[-1] if walking else on(state, hexagon)[0]


def liftable(state: State) -> int:
    """Return the hexes from which a unit may be taken up again."""
    return state.held[0] if state.side == 0 else state.held[1] | state.hulls


def lacking(state: State) -> dict[str, int]:
    """Return for each quarter without its garrison how many units it lacks (ruling S3)."""
    if state.rules.garrison == "off":
        return {}
    counts = {key: (state.held[0] & hexes).bit_count() for key, hexes in state.field.quarter_hexes.items()}
    return {key: LEAST_GARRISON - n for key, n in counts.items() if n < LEAST_GARRISON}


def complete(state: State) -> bool:
    """Return whether the side now deploying may begin."""
    return state.active == NOBODY and not (state.side == 0 and lacking(state))


def finished(state: State) -> State:
    """Return the state after a side has placed all: the other places its own, or the first turn begins."""
    if any(here == WAITING for here in state.at):
        other = replace(state, phase=-2 if state.phase == -1 else -1)
        return replace(other, active=waiting(other)[0])
    return course.begun(state)


def rest_placed(state: State) -> State:
    """Return the state after the app has placed all that was left, and filled every garrison: always the same way."""
    while True:
        while state.active != NOBODY:
            state = placed(state, _sound_place(state))
        if complete(state):
            return state
        state = lifted(state, _surplus(state))


def _surplus(state: State) -> int:
    """Return the hex of an Aztec unit that its own quarter can spare for one without its garrison."""
    field, leader = state.field, state.at[state.roster.leader[0]]

    def spare(h: int) -> int:
        quarter = field.quarter_of[h]
        return (state.held[0] & field.quarter_hexes[quarter]).bit_count() if quarter else len(field.grid)

    return max((h for h in bits(state.held[0]) if h != leader), key=lambda h: (spare(h), -h))


def _sound_place(state: State) -> int:
    unit, field = state.active, state.field
    room = free(state, unit)
    if state.side == 0:
        return _in_the_city(state, unit, room)
    if is_boat(state, unit) or state.roster.people[unit] == "cortez":
        beside = field.city & ~field.water
    else:
        beside = _goals(state)
    away = marching.distances(field, beside)
    ashore = room & ~field.water or room
    if state.roster.people[unit] == "cortez":
        # In the second line, so that the city cannot reach him on its first day.
        return min(bits(ashore), key=lambda h: (away[h] < 4, away[h], h))
    return min(bits(ashore if not is_boat(state, unit) else room), key=lambda h: (away[h], h))


def _goals(state: State) -> int:
    """Return the gates of the outer wall, from outside; on a map without gates the city."""
    field = state.field
    gates = 0
    for a, b in field.gates:
        if (field.city >> a & 1) != (field.city >> b & 1):
            gates |= 1 << a | 1 << b
    return gates or field.city


def _in_the_city(state: State, unit: int, room: int) -> int:
    field = state.field
    if unit == state.roster.leader[0]:
        away = marching.distances(field, ((1 << len(field.grid)) - 1) & ~field.city)
        return min(bits(room), key=lambda h: (-away[h], h))
    lacks = lacking(state)
    wanted = next((field.quarter_hexes[key] & room for key in lacks if field.quarter_hexes[key] & room), room)
    outside = ((1 << len(field.grid)) - 1) & ~field.city
    rim = wanted & field.grid.grown(outside)
    away = marching.distances(field, state.held[0])
    leader = state.at[state.roster.leader[0]]
    if rim and (unit % 3 or not leader >= 0):
        # The walls first, spread out: as far from the next friend as can be.
        return max(bits(rim), key=lambda h: (away[h], -h))
    near = marching.distances(field, 1 << leader) if leader >= 0 else away
    return min(bits(wanted), key=lambda h: (near[h], h))
