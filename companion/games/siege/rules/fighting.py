"""Attacks: who may attack whom, every modifier with its reason, and the exact odds."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from companion.games.siege.rules.geometry import bits
from companion.games.siege.rules.marching import riders
from companion.games.siege.rules.options import GUARDS
from companion.games.siege.rules.state import State, afloat, is_boat, on

HIT = 5
"""The modified roll from which the defender is defeated."""


class Odds(NamedTuple):
    """What a roll brings: each an exact probability; together they are 1."""

    defender: Fraction
    nothing: Fraction
    attacker: Fraction


def verdict(n: int, modifier: int, natural_hit: bool = False) -> str:
    """Return who is defeated by a die: ``defender``, ``attacker`` or, by nobody, ``nothing`` (rulings S20, S34)."""
    if n == 1:
        return "attacker"
    if n + modifier >= HIT or (natural_hit and n >= HIT):
        return "defender"
    return "attacker" if n + modifier <= 1 else "nothing"


def odds(modifier: int, natural_hit: bool = False) -> Odds:
    """Return the exact odds of an attack."""
    rolls = [verdict(n, modifier, natural_hit) for n in range(1, 7)]
    return Odds(*(Fraction(rolls.count(each), 6) for each in Odds._fields))


def modifiers(state: State, unit: int, target: int) -> dict[str, int]:
    """Return what is added to an attacker's roll, by its reason (rulings S19 to S24, S43, S44)."""
    people = state.roster.people
    side, here = state.roster.side[unit], state.at[unit]
    defenders = on(state, target)
    found = {}
    if is_conquistador(state, unit):
        found["conquistador"] = 1
    if any(state.routed >> each & 1 for each in defenders):
        found["routed"] = 1
    if unit == state.roster.leader[side] or led(state, unit):
        found["leader"] = 1
    if side == 1 and state.roster.leader[0] in defenders and (guard := GUARDS.get(state.rules.bodyguard)):
        fresh, stays = guard
        if state.turn <= fresh:
            found["bodyguard_fresh"] = -2
        elif stays:
            found["bodyguard"] = -1
    if side == 1:
        if _walled(state, here, target):
            found["wall"] = -1
    elif any(people[each] in ("conquistador", "cortez") for each in defenders):
        found["against_conquistador"] = -1
    if afloat(state, unit):
        found["boat"] = -1
    return found


def is_conquistador(state: State, unit: int) -> bool:
    """Return whether a unit has a conquistador's bonus (ruling S21)."""
    people = state.roster.people[unit]
    return people == "conquistador" or (people == "cortez" and state.rules.cortez_conquistador == "on")


def _walled(state: State, here: int, target: int) -> bool:
    """Return whether a wall protects a hex from one beside it; the outer one only who is inside (S23, S43)."""
    rules, field = state.rules, state.field
    if rules.inner_walls == "on":
        return bool(field.walled[here] >> target & 1)
    return bool(field.city & field.outer_walled[here] & 1 << target)


def led(state: State, unit: int) -> bool:
    """Return whether a unit's own leader, not routed, is beside it or rides with it (ruling S22)."""
    leader = state.roster.leader[state.roster.side[unit]]
    where = state.at[leader]
    if leader == unit or where < 0 or state.routed >> leader & 1:
        return False
    return where == state.at[unit] or bool(state.field.grid.around[where] >> state.at[unit] & 1)


def targets(state: State, side: int) -> int:
    """Return the hexes that a side may attack: an empty boat can be sunk (ruling S12)."""
    return state.held[1 - side] | (state.hulls if side == 0 else 0)


def attacks(state: State) -> Iterator[tuple[int, int]]:
    """Yield every attack that the side whose phase it is may make: a unit and a hex beside it (ruling S33)."""
    side, at = state.side, state.at
    foes = targets(state, side)
    if not foes:
        return
    barred = state.routed | state.forced | state.spent
    around = state.field.grid.around
    units = state.roster.land[side] if side == 0 else (*state.roster.land[1], *_armed_boats(state))
    for unit in units:
        here = at[unit]
        if here >= 0 and not barred >> unit & 1 and (near := around[here] & foes):
            for target in bits(near):
                yield unit, target


def _armed_boats(state: State) -> tuple[int, ...]:
    if state.rules.empty_boats == "vehicle":
        return ()
    return tuple(boat for boat in state.roster.boats if state.at[boat] >= 0 and not riders(state, boat))


def defender_of(state: State, hexagon: int) -> int:
    """Return the unit that is attacked on a hex: of a boat and its riders, a rider."""
    return on(state, hexagon)[0]


def sinks(state: State, unit: int) -> bool:
    """Return whether a defeated unit is a vehicle that is sunk at once (ruling S12)."""
    return is_boat(state, unit) and state.rules.empty_boats == "vehicle"
