"""Laws of the siege: movement against a naive second calculation, a mirrored map, and what holds after every move."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import pytest

from companion.games.kit import CHANCE, Move, replace
from companion.games.siege import GAME
from companion.games.siege.rules import marching
from companion.games.siege.rules.field import COSTS, Field
from companion.games.siege.rules.geometry import bits
from companion.games.siege.rules.maps import field_of, written
from companion.games.siege.rules.state import MOVE, State, moved, threat
from tests.games.playouts import accepted, drawn


def opened(preset: str = "skirmish", **chosen: Any) -> State:
    options = {option.key: option.default for option in GAME.options} | dict(GAME.presets[preset]) | chosen
    state = GAME.rules.setup(options, ("aztecs", "spaniards"))
    for _ in range(2):
        for name in ("rest", "ready"):
            state = accepted(GAME.rules.play(state, GAME.rules.to_act(state)[0], Move(name)), Move(name))
    return state


def played(state: State, random: Random, longest: int) -> Any:
    """Yield the states of random play that marches and fights much and ends few phases early."""
    for _ in range(longest):
        if GAME.rules.on_turn(state) is None:
            return
        seat = GAME.rules.to_act(state)[0]
        listed = [move for move in GAME.rules.moves(state, seat) if move.name != "claim"]
        if len(listed) > 1 and random.random() < 0.9:
            listed = [move for move in listed if move.name != "done"]
        move = drawn(listed, random)
        before, state = state, accepted(GAME.rules.play(state, seat, move), move)
        yield before, seat, move, state


# Movement, calculated a second time: every path, one step at a time, with no table and no bits.


def naive_reach(state: State, unit: int) -> dict[str, int]:
    field, names = state.field, state.field.grid.names
    people = state.roster.people
    stands = {here: u for u, here in reversed(list(enumerate(state.at))) if here >= 0}
    boats = {state.at[u] for u in state.roster.boats if state.at[u] >= 0}
    riders = {state.at[u] for u in state.roster.land[1] if state.at[u] >= 0}
    side = state.roster.side[unit]
    shy = list(bits(threat(state, 1 - side))) if state.routed >> unit & 1 else []

    def step(here: int, to: int) -> int | None:
        cost = 1 if not field.dry(to) else COSTS[field.ground[to]]
        if field.dry(here) or field.dry(to):
            cost += 2 if (min(here, to), max(here, to)) in field.walls else 0
        if state.fires >> to & 1 or (to in stands and state.roster.side[stands[to]] != side):
            return None
        if shy and min(field.grid.distance(to, s) for s in shy) < min(field.grid.distance(here, s) for s in shy):
            return None
        return cost

    start, found = state.at[unit], {}

    @cache
    def walk(here: int, left: int, dry: bool) -> None:
        for to in field.grid.beside[here]:
            if to < 0 or (cost := step(here, to)) is None or cost > left:
                continue
            spent = state.purse[unit] - left + cost
            if field.dry(to) and people[unit] != "boat" and (dry or here == start):
                if to not in stands:
                    found[to] = min(spent, found.get(to, 99))
                walk(to, left - cost, True)
            elif (
                not field.dry(to)
                and (people[unit] != "boat" and (field.dry(here) or here == start))
                and to in boats - riders
            ):
                found[to] = min(spent, found.get(to, 99))
                if not field.dry(here):
                    walk(to, left - cost, False)
            elif not field.dry(to) and not field.dry(start) and not dry:
                if to not in boats:
                    found[to] = min(spent, found.get(to, 99))
                walk(to, left - cost, False)

    walk(start, state.purse[unit], field.dry(start))
    found.pop(start, None)
    return {names[h]: cost for h, cost in found.items()}


@pytest.mark.parametrize("preset", ["classic", "skirmish"])
def test_the_hexes_in_reach_are_those_of_a_naive_calculation(preset: str) -> None:
    random, compared = Random(f"reach {preset}"), 0
    for _ in range(3):
        for _before, _seat, _move, state in played(opened(preset), random, 250):
            if state.stage == MOVE and state.active >= 0 and not state.agenda and state.purse[state.active] <= 7:
                names = state.field.grid.names
                reach = {names[h]: cost for h, cost in marching.reach(state, state.active).items()}
                assert reach == naive_reach(state, state.active)
                compared += 1
    assert compared > 60


# The mirror: a map turned upside down, every unit with it.


def mirrored(field: Field) -> Field:
    grid = field.grid
    assert grid.height % 2, "only a map of odd height is its own mirror's shape"

    def over(h: int) -> int:
        return (grid.height - 1 - h // grid.width) * grid.width + h % grid.width

    def edges(of: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        return frozenset((min(over(a), over(b)), max(over(a), over(b))) for a, b in of)

    flipped = ["".join(letters[over(h)] for h in range(len(grid))) for letters in (field.ground, field.zones)]
    places = {over(h): name for h, name in field.places.items()}
    return Field(field.name, grid, *flipped, field.quarters, places, edges(field.walls), edges(field.gates))


def test_on_a_mirrored_map_everything_is_the_same_upside_down() -> None:
    random, compared = Random("mirror"), 0
    grid, text = field_of("skirmish").grid, written(mirrored(field_of("skirmish")))

    def over(name: Any) -> Any:
        if isinstance(name, str):
            h = grid.numbers[name]
            return grid.names[(grid.height - 1 - h // grid.width) * grid.width + h % grid.width]
        return name

    for _ in range(4):
        state = opened()
        other = replace(state, rules=replace(state.rules, map=text), at=(-1,) * len(state.at), held=(0, 0), hulls=0)
        for unit, here in enumerate(state.at):
            other = moved(other, (unit,), grid.numbers[over(grid.names[here])])
        for before, seat, move, after in played(state, random, 300):
            if before.stage == "fire" and len(before.agenda) > 1:
                break  # fires are asked in the order of their hexes
            turned = sorted(
                Move(each.name, tuple(over(arg) for arg in each.args)) for each in GAME.rules.moves(before, seat)
            )
            assert turned == GAME.rules.moves(other, seat)
            other = accepted(GAME.rules.play(other, seat, Move(move.name, tuple(map(over, move.args)))), move)
            assert (other.routed, other.purse, other.outcome) == (after.routed, after.purse, after.outcome)
            assert [over(grid.names[h]) if h >= 0 else h for h in after.at] == [
                grid.names[h] if h >= 0 else h for h in other.at
            ]
            compared += 1
    assert compared > 300


# What holds after every move.


@pytest.mark.parametrize("preset", list(GAME.presets))
def test_what_must_hold_holds_after_every_move(preset: str) -> None:
    random = Random(f"laws {preset}")
    chosen: dict[str, Any] = {}
    for n in range(4):
        if n:
            fixed = GAME.presets[preset]
            chosen = {o.key: random.choice(o.values) for o in GAME.options if o.key not in fixed and o.key != "map"}
        state = opened(preset, **chosen)
        for before, seat, move, after in played(state, random, 400):
            _holds(before, seat, move, after)


def _holds(before: State, seat: str, move: Move, after: State) -> None:
    people, land = after.roster.people, [after.at[u] for side in (0, 1) for u in after.roster.land[side]]
    on_land = [h for h in land if h >= 0 and after.field.dry(h)]
    assert len(on_land) == len(set(on_land)), "two units share a hex of land"
    afloat = [h for h in land if h >= 0 and not after.field.dry(h)]
    boats = [after.at[u] for u in after.roster.boats if after.at[u] >= 0]
    assert len(boats) == len(set(boats))
    assert not [h for h in boats if after.field.dry(h)]
    assert set(afloat) <= set(boats), "a unit walks on water"
    assert all(afloat.count(h) <= after.rules.boat_capacity for h in afloat)
    assert all(after.at[u] < 0 or after.field.dry(after.at[u]) for u in after.roster.land[0])
    entered = [h for was, h in zip(before.at, after.at, strict=True) if was != h and h >= 0]
    assert not [h for h in entered if before.fires >> h & 1], "somebody entered fire"
    assert not [h for h in boats + land if h >= 0 and after.fires >> h & 1], "somebody stands in fire"
    fleeing = {after.at[int(task[1])] for task in after.agenda if task[0] in ("flight", "retreat", "panic")}
    if after.rules.rout_contact == "now" and not after.outcome:
        for unit in bits(after.routed):
            foes = threat(after, 1 - after.roster.side[unit])
            near = after.field.grid.around[after.at[unit]] & foes
            assert not near or after.at[unit] in fleeing, "a routed unit rests beside an enemy"
    assert not [u for u in bits(after.routed) if after.at[u] < 0]
    alive = sum(1 for h in after.at if h >= 0)
    assert alive + sum(1 for h in after.at if h == -1) == len(people)
    assert (after.outcome is not None and after.outcome.kind == "captured") == any(
        after.at[leader] < 0 for leader in after.roster.leader
    ) or after.rules.capture == "defeated"
    held = [0, 0]
    for side in (0, 1):
        for u in after.roster.land[side]:
            held[side] |= 1 << after.at[u] if after.at[u] >= 0 else 0
    assert after.held == tuple(held)
    assert seat in ("aztecs", "spaniards", CHANCE)
    assert move.name
