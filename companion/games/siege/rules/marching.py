"""Where units can go: the hexes within reach and their cost, walls, boats and boarding, and who may not come near.

Each answer depends only on a map and sets of hexes, so it is cached.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from companion.games.siege.rules.field import BOAT_COST, Field
from companion.games.siege.rules.geometry import bits
from companion.games.siege.rules.roster import LEADERS
from companion.games.siege.rules.state import State, as_set, is_boat, on, threat

FAR = 255
"""How far an enemy is that there is not."""


class Ground(NamedTuple):
    """What a moving unit meets on a map, as sets of hexes. `shy` are those that it may not approach."""

    foes: int
    friends: int
    fires: int
    hulls: int
    decks: int
    shy: int = 0
    from_each: bool = False
    """Whether a routed unit may come nearer to no enemy at all, instead of to the nearest (ruling S14)."""

    def within(self, near: int) -> Ground:
        """Return the part of it in a set of hexes; enemies to keep away from count from afar."""
        return Ground(
            self.foes & near,
            self.friends & near,
            self.fires & near,
            self.hulls & near,
            self.decks & near,
            self.shy,
            self.from_each,
        )

    @property
    def barred(self) -> int:
        """What nobody enters."""
        return self.foes | self.fires


def ground_for(state: State, unit: int) -> Ground:
    """Return what a unit meets on the map."""
    side = state.roster.side[unit]
    decks = decks_for(state, unit) if side == 1 else 0
    shy = threat(state, 1 - side) if state.routed >> unit & 1 else 0
    foes = state.held[1 - side] | (state.hulls if side == 0 else 0)
    each = state.rules.rout_measure == "any"
    return Ground(foes, state.held[side], state.fires, state.hulls, decks, shy, each)


def decks_for(state: State, unit: int) -> int:
    """Return the boats that a unit may board: with room left (ruling S10), for the leader only by S40."""
    people = state.roster.people[unit]
    if people == "boat" or (people in LEADERS and state.rules.cortez_afloat == "off"):
        return 0
    if state.rules.boat_capacity == 1:
        return state.hulls & ~state.held[1]
    at = [state.at[u] for u in state.roster.land[1]]
    return as_set(tuple(h for h in bits(state.hulls) if at.count(h) < state.rules.boat_capacity))


_latest: tuple[State | None, int, Mapping[int, int]] = (None, 0, {})


def reach(state: State, unit: int) -> Mapping[int, int]:
    """Return the hexes that a unit can go to with the points it has left, and what each costs (rulings S6 to S11).

    They come in the order of their names.
    """
    global _latest
    known, of, found = _latest
    if known is not state or of != unit:
        found = _reach(state, unit)
        _latest = (state, unit, found)
    return found


def _reach(state: State, unit: int) -> Mapping[int, int]:
    points, rules = state.purse[unit], state.rules
    if points <= 0:
        return {}
    field, here = state.field, state.at[unit]
    # A change farther away than the unit can go leaves its hexes as they were, so the cached ones stay valid.
    ground = ground_for(state, unit).within(_near(field, here, points))
    fresh = not state.stirred >> unit & 1
    found = (_afloat if is_boat(state, unit) else _anywhere)(
        field,
        here,
        points,
        ground,
        rules.boarding == "whole_move",
        fresh and rules.min_one_hex == "on",
        fresh,
    )
    if rules.garrison == "always" and state.roster.side[unit] == 0 and not may_leave(state, unit):
        quarter = field.quarter_hexes[field.quarter_of[state.at[unit]]]
        return {h: cost for h, cost in found.items() if quarter >> h & 1}
    return found


@lru_cache(maxsize=20_000)
def _near(field: Field, start: int, steps: int) -> int:
    """Return the hexes within a number of steps."""
    return field.grid.grown(_near(field, start, steps - 1)) if steps else 1 << start


def may_leave(state: State, unit: int) -> bool:
    """Return whether an Aztec unit may leave its quarter under a standing garrison (ruling S3)."""
    quarter = state.field.quarter_of[state.at[unit]]
    return not quarter or (state.held[0] & state.field.quarter_hexes[quarter]).bit_count() > 3


@lru_cache(maxsize=2048)
def _anywhere(
    field: Field, start: int, points: int, ground: Ground, whole: bool, at_least_one: bool, fresh: bool
) -> Mapping[int, int]:
    """Return where a unit that walks can go, from land or from the boat that it rides."""
    dry = field.dry(start)
    passed = _by_land(field, start, points, ground) if dry or not whole else {}
    found = {} if dry else dict(_afloat(field, start, points, ground, whole, False, fresh))
    found |= {h: cost for h, cost in passed.items() if not ground.friends >> h & 1}
    if at_least_one if dry else fresh and (whole or at_least_one):
        _add_one(field, start, points, ground, found)
    if not whole or fresh:
        _add_boarding(field, start, points, ground, found, passed, whole)
    return _ranked(field, found)


def _ranked(field: Field, found: dict[int, int]) -> dict[int, int]:
    rank = field.grid.rank
    return {h: found[h] for h in sorted(found, key=rank.__getitem__)}


def _by_land(field: Field, start: int, points: int, ground: Ground) -> dict[int, int]:
    """Return the hexes of land that a unit can enter, those of friends among them, which it can only pass."""
    by_land, shy = field.by_land, ground.shy
    best = bytearray([FAR]) * len(field.grid)
    for closed in (start, *bits(ground.barred)) if ground.barred else (start,):
        best[closed] = 0  # there is no cheaper way in
    ripe: list[list[int]] = [[] for _ in range(points + 1)]
    ripe[0].append(start)
    for spent in range(points):
        for here in ripe[spent]:
            if best[here] != spent:
                continue
            for to, cost in by_land[here]:
                total = spent + cost
                if total > points:
                    break
                if total < best[to]:
                    if shy and nearer(field, here, to, ground):
                        continue
                    best[to] = total
                    ripe[total].append(to)
    return {h: best[h] for reached in ripe[1:] for h in reached}


def _add_one(field: Field, start: int, points: int, ground: Ground, found: dict[int, int]) -> None:
    """Add the hexes of land beside it that a unit may enter whatever they cost, for all that it has."""
    for to, cost in field.by_land[start]:
        if cost > points or to not in found:
            free = not (ground.barred | ground.friends) >> to & 1
            if free and not (ground.shy and nearer(field, start, to, ground)):
                found.setdefault(to, points)


def _add_boarding(
    field: Field,
    start: int,
    points: int,
    ground: Ground,
    found: dict[int, int],
    passed: Mapping[int, int],
    whole: bool,
) -> None:
    """Add the boats with room: beside a unit, and beside a way over land, also where it only passes (ruling S45)."""
    if not ground.decks:
        return
    for here, spent in {start: 0, **({} if whole else passed)}.items():
        for to, cost in field.aboard[here]:
            total = points if whole else spent + cost
            open_ = ground.decks >> to & 1 and total <= points and total < found.get(to, FAR)
            if open_ and not (ground.shy and nearer(field, here, to, ground)):
                found[to] = total


@lru_cache(maxsize=2048)
def _afloat(
    field: Field, start: int, points: int, ground: Ground, _whole: bool, _one: bool, _fresh: bool
) -> dict[int, int]:
    """Return where a boat can go, with whoever rides it."""
    best, front = {start: 0}, [start]
    for spent in range(BOAT_COST, points + 1, BOAT_COST):
        following = []
        for here in front:
            for to in field.by_water[here]:
                if to not in best and not (ground.shy and nearer(field, here, to, ground)):
                    best[to] = spent
                    following.append(to)
        front = following
    return _ranked(field, {h: cost for h, cost in best.items() if h != start and not ground.hulls >> h & 1})


def retreats(state: State, unit: int, enemy: int, n: int) -> list[int]:
    """Return where a routed unit ends that goes `n` points away from an enemy's hex (rulings S14, S16, S17)."""
    ground = ground_for(state, unit)
    return list(_retreats(state.field, state.at[unit], enemy, n, ground, state.rules.rout_move))


@lru_cache(maxsize=1024)
def _retreats(field: Field, start: int, enemy: int, n: int, ground: Ground, how: str) -> tuple[int, ...]:
    wet = not field.dry(start)
    layers: list[set[int]] = [{start}, *(set() for _ in range(n))]
    for spent in range(n):
        for here in layers[spent]:
            steps = [(to, BOAT_COST) for to in field.by_water[here]] if wet else field.by_land[here]
            for to, cost in steps:
                total = spent + (1 if how == "hexes" else cost)
                if total <= n and not ground.barred >> to & 1 and not nearer(field, here, to, ground):
                    layers[total].add(to)
    ends = set().union(*layers[1:]) if how == "at_most" else layers[n]
    taken = ground.hulls if wet else ground.friends
    begun = field.grid.distance(start, enemy)
    return tuple(sorted(h for h in ends if not taken >> h & 1 and field.grid.distance(h, enemy) > begun))


def nearer(field: Field, here: int, to: int, ground: Ground) -> bool:
    """Return whether a step brings a routed unit nearer to the enemy, by either measure of ruling S14."""
    if ground.from_each:
        distance = field.grid.distance
        return any(distance(to, foe) < distance(here, foe) for foe in bits(ground.shy))
    away = distances(field, ground.shy)
    return away[to] < away[here]


@lru_cache(maxsize=256)
def distances(field: Field, hexes: int) -> bytes:
    """Return for every hex how far the nearest of a set is, `FAR` where there is none."""
    away = bytearray([FAR]) * len(field.grid)
    around, front, seen, steps = field.grid.around, hexes, hexes, 0
    while front:
        following = 0
        for h in bits(front):
            away[h] = steps
            following |= around[h]
        front = following & ~seen
        seen |= front
        steps += 1
    return bytes(away)


def riders(state: State, boat: int) -> tuple[int, ...]:
    """Return who rides a boat."""
    return tuple(u for u in on(state, state.at[boat]) if u != boat)
