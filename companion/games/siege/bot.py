"""The app's player: it hunts the enemy's leader and attacks where the odds are good.

The strong player also plays the siege through before it places its leader, from each of several places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from operator import attrgetter
from typing import Any, TypeAlias

from companion.games.kit import BEGINNER, STRONG, Below, Move, Search, Seat, Skill, View, best_of, replace
from companion.games.siege.rules import fighting, legal, marching
from companion.games.siege.rules.field import Field
from companion.games.siege.rules.geometry import bits
from companion.games.siege.rules.options import HouseRules
from companion.games.siege.rules.play import MOVES
from companion.games.siege.rules.roster import SIDES
from companion.games.siege.rules.state import (
    DEAD,
    DEPLOY,
    NOBODY,
    PHASES,
    WAITING,
    Outcome,
    State,
    is_boat,
    roster_of,
    standing,
)

Unit: TypeAlias = Mapping[str, Any]

PLACES = 7
"""Places for its leader from which the siege is played through."""

TO_THE_BOATS = Move("take", ("boat",))

AHEAD = 8
"""Turns for which it is; most sieges are over before."""


class Commander(Skill, frozen=True, kw_only=True):
    """What a side goes by."""

    patience: int = 7
    """Hexes from its prey beyond which a unit marches by force."""
    guards: int = 4
    """One in so many units stays where it is, so that the leader is never alone; with 0 none does."""
    odds: int = 0
    """The least modifier of an attack on a unit."""
    hope: int = -1
    """The least modifier of an attack on the leader."""
    flight: int = 0
    """Hexes from the nearest enemy within which its leader goes elsewhere; with 0 it stays."""
    playthroughs: int = 0
    """How many times the siege is played through before the leader is placed; with 0 the app's own array is taken."""


PRACTISED_COMMANDER = Commander()

SKILLS = {BEGINNER: Commander(slips=10), STRONG: Commander(patience=5, odds=1, flight=2, playthroughs=30)}
"""How it plays at the other levels."""


def decide(view: View, moves: Sequence[Move], below: Below, commander: Commander = PRACTISED_COMMANDER) -> Move:
    """Return what the app plays; the moves are not empty."""
    state, seat = position(view), view["decider"]
    if not commander.playthroughs:
        return _at_sight(state, seat, moves, below, commander)
    return _search(commander).best(state, seat, moves, below, commander.playthroughs)


def _at_sight(state: State, seat: Seat, moves: Sequence[Move], below: Below, commander: Commander) -> Move:
    names = {move.name for move in moves}
    for name, chosen in _POLICIES:
        if name in names:
            move = chosen(_Scene(state, seat, commander, below), moves)
            if move is not None:
                return move
    return moves[below(len(moves))]


@lru_cache(maxsize=8)
def _search(commander: Commander) -> Search[State]:
    """Return what plays a siege through whose sides go by one commander."""

    def at_sight(state: State, seat: Seat, moves: Sequence[Move], below: Below) -> Move:
        return _at_sight(state, seat, moves, below, commander)

    def ranked(state: State, seat: Seat, moves: Sequence[Move], below: Below) -> Sequence[Move]:
        return list(dict.fromkeys([at_sight(state, seat, moves, below), *_places(state, moves)]))

    return Search(
        to_act=lambda state: tuple(filter(None, [legal.decider(state)])),
        moves=legal.moves,
        play=MOVES.play,
        chance=legal.chance,
        turn=attrgetter("turn"),
        policy=at_sight,
        ranked=ranked,
        rewards=_rewards,
        turns=AHEAD,
    )


def _places(state: State, moves: Sequence[Move]) -> list[Move]:
    """Return where a leader who is placed first would be hard to reach: aboard, else where the way there is long."""
    side, field = state.side, state.field
    if not state.deploying or state.active != state.roster.leader[side] or state.hulls:
        return []
    if TO_THE_BOATS in moves and state.rules.cortez_afloat == "on":
        return [TO_THE_BOATS]
    toil = _toil(field, field.city & ~field.water if side else field.camp)
    places = sorted(_named(moves, "place"), key=lambda move: -toil[field.grid.numbers[str(move.args[0])]])
    return places[:PLACES]


@lru_cache(maxsize=64)
def _toil(field: Field, start: int) -> Sequence[int]:
    """Return for every hex what it costs to walk there from the nearest of a set, where nobody stands in the way."""
    far = marching.FAR
    cost, front = [0 if start >> h & 1 else far for h in range(len(field.grid))], [(0, h) for h in bits(start)]
    while front:
        spent, here = heappop(front)
        for to, step in field.by_land[here]:
            if spent + step < cost[to]:
                cost[to] = spent + step
                heappush(front, (cost[to], to))
    return cost


def _rewards(state: State) -> dict[Seat, float]:
    """Return 1 for a side that has won, 0 for one that has lost, else by how many units each has."""
    if state.outcome:
        won = 0.5 if state.outcome.winner is None else float(state.outcome.winner == SIDES[0])
    else:
        first, second = (sum(1 for _ in standing(state, side)) for side in (0, 1))
        won = first / (first + second)
    return dict(zip(SIDES, (won, 1 - won), strict=True))


def position(view: View) -> State:
    """Return the state that a view shows."""
    rules = HouseRules.of(view["rules"])
    units, sides, people = view["units"], roster_of(rules).side, roster_of(rules).people
    empty = State(rules, (DEAD,) * len(units), tuple(unit["points"] for unit in units), (0, 0))
    numbers = empty.field.grid.numbers
    at = tuple(numbers[unit["hex"]] if unit["hex"] else WAITING if unit["alive"] else DEAD for unit in units)
    walking = [(sides[u], here) for u, here in enumerate(at) if here >= 0 and people[u] != "boat"]
    side = SIDES.index(view["side"])
    end = view["outcome"]
    return replace(
        empty,
        at=at,
        held=(_set(here for n, here in walking if n == 0), _set(here for n, here in walking if n == 1)),
        hulls=_set(here for u, here in enumerate(at) if here >= 0 and people[u] == "boat"),
        routed=_marked(units, "routed"),
        fires=_set(numbers[name] for name in view["fires"]),
        turn=view["turn"],
        phase=-1 - side if view["stage"] == DEPLOY else PHASES.index((view["stage"], side)),
        active=NOBODY if view["active"] is None else view["active"],
        rolled=_marked(units, "rolled"),
        forced=_marked(units, "forced"),
        stirred=_marked(units, "stirred"),
        spent=_marked(units, "spent"),
        advanced=_marked(units, "advanced"),
        checked=_marked(units, "checked"),
        agenda=tuple(map(tuple, view["agenda"])),
        last_attack=view["last_attack"],
        outcome=Outcome(end["kind"], end["winner"]) if end else None,
    )


def _set(members: Iterable[int]) -> int:
    found = 0
    for each in members:
        found |= 1 << each
    return found


def _marked(units: Sequence[Unit], mark: str) -> int:
    return _set(number for number, unit in enumerate(units) if unit[mark])


class _Scene:
    """A state as the player looks at it: which side is its own, where the prey is."""

    def __init__(self, state: State, seat: Seat, commander: Commander, below: Below) -> None:
        self.state, self.commander, self.below = state, commander, below
        self.side = SIDES.index(seat)
        self._numbers = state.field.grid.numbers
        self.leader = state.roster.leader[self.side]
        self.prey = state.at[state.roster.leader[1 - self.side]]
        hunted = 1 << self.prey if self.prey >= 0 else 0
        self.to_prey = marching.distances(state.field, hunted)
        """For every hex how far the prey is."""
        self._foes = state.held[1 - self.side]

    def danger(self, hexagon: int) -> int:
        return marching.distances(self.state.field, self._foes)[hexagon]

    def goal(self, move: Move) -> int:
        """Return the hex that a move leads to."""
        return self._numbers[str(move.args[0])]

    def hunts(self, unit: int) -> bool:
        """Return whether a unit goes after the enemy's leader: no leader, no boat, nobody in rout, no guard."""
        state, guards = self.state, self.commander.guards
        fit = unit != self.leader and state.roster.people[unit] != "boat" and not state.routed >> unit & 1
        return fit and (not guards or bool(unit % guards))


def _named(moves: Sequence[Move], name: str) -> list[Move]:
    return [move for move in moves if move.name == name]


def _first(name: str) -> Callable[[_Scene, Sequence[Move]], Move | None]:
    return lambda _scene, moves: next(iter(_named(moves, name)), None)


def _embark(scene: _Scene, moves: Sequence[Move]) -> Move | None:
    """Once a boat was taken up before the leader, put it far out and him aboard; leave all else to the app."""
    state, hulls = scene.state, scene.state.hulls
    if not scene.commander.playthroughs or state.at[scene.leader] != WAITING:
        return None
    if hulls and state.active == scene.leader:
        return next((move for move in _named(moves, "place") if hulls >> scene.goal(move) & 1), None)
    if hulls:
        leader = Move("take", (state.roster.people[scene.leader],))
        return leader if leader in moves else None
    if state.active != NOBODY and is_boat(state, state.active):
        offshore = _offshore(state.field)
        return max(_named(moves, "place"), key=lambda move: offshore[scene.goal(move)])
    return None


def _offshore(field: Field) -> bytes:
    """Return for every hex how far land is."""
    return marching.distances(field, _set(h for h in range(len(field.grid)) if field.dry(h)))


def _march(scene: _Scene, moves: Sequence[Move]) -> Move | None:
    """Go on with the unit on its way while that brings it nearer; else send out the next, the foremost first."""
    state, commander = scene.state, scene.commander
    at, active = state.at, state.active
    if active != NOBODY and (steps := _named(moves, "go")):
        fleeing = commander.flight and active == scene.leader
        if fleeing and (refuge := _refuge(scene, steps, at[active])):
            return refuge
        reach = marching.reach(state, active)
        best = best_of(steps, lambda move: (-scene.to_prey[scene.goal(move)], -reach[scene.goal(move)]), scene.below)
        if scene.hunts(active) and scene.to_prey[scene.goal(best)] < scene.to_prey[at[active]]:
            return best
    fresh = [int(move.args[0]) for move in _named(moves, "march")]
    if scene.leader in fresh and scene.danger(at[scene.leader]) <= commander.flight:
        return Move("march", (scene.leader,))
    waiting = [unit for unit in fresh if scene.hunts(unit) and scene.to_prey[at[unit]] > 1]
    if not waiting:
        return Move("done")
    unit = best_of(waiting, lambda unit: -scene.to_prey[at[unit]], scene.below)
    return Move("force" if scene.to_prey[at[unit]] > commander.patience else "march", (unit,))


def _refuge(scene: _Scene, steps: Sequence[Move], here: int) -> Move | None:
    """Return the step that leads a leader farthest from its enemies, or None if it is farthest already."""
    best = best_of(steps, lambda move: scene.danger(scene.goal(move)), scene.below)
    return best if scene.danger(scene.goal(best)) > scene.danger(here) else None


def _attack(scene: _Scene, _moves: Sequence[Move]) -> Move | None:
    """Attack the leader whenever there is any hope, others with even odds or better; a leader does not attack."""
    state, commander = scene.state, scene.commander
    found = []
    for unit, target in fighting.attacks(state):
        hunting = target == scene.prey
        modifier = sum(fighting.modifiers(state, unit, target).values())
        if unit != scene.leader and modifier >= (commander.hope if hunting else commander.odds):
            found.append((hunting, modifier, Move("attack", (unit, state.field.grid.names[target]))))
    return best_of(found, lambda each: each[:2], scene.below)[2] if found else Move("done")


def _advance(scene: _Scene, moves: Sequence[Move]) -> Move | None:
    unit = int(scene.state.agenda[0][1])
    if unit == scene.leader:
        return Move("hold")
    best = best_of(_named(moves, "advance"), lambda move: -scene.to_prey[scene.goal(move)], scene.below)
    return best if scene.to_prey[scene.goal(best)] < scene.to_prey[scene.state.at[unit]] else Move("hold")


def _retreat(scene: _Scene, moves: Sequence[Move]) -> Move | None:
    return best_of(_named(moves, "retreat"), lambda move: scene.danger(scene.goal(move)), scene.below)


def _succumb(scene: _Scene, moves: Sequence[Move]) -> Move | None:
    """Lose a unit in rout first, then the one farthest from the prey; the leader last."""
    state = scene.state

    def worth(move: Move) -> tuple[bool, bool, int]:
        unit = int(move.args[0])
        return unit != scene.leader, bool(state.routed >> unit & 1), scene.to_prey[state.at[unit]]

    return best_of(_named(moves, "succumb"), worth, scene.below)


_POLICIES: Sequence[tuple[str, Callable[[_Scene, Sequence[Move]], Move | None]]] = (
    ("place", _embark),
    ("take", _embark),
    ("rest", _first("rest")),
    ("ready", _first("ready")),
    ("succumb", _succumb),
    ("retreat", _retreat),
    ("advance", _advance),
    ("hold", _first("hold")),
    ("attack", _attack),
    ("march", _march),
    ("go", _march),
    ("done", _first("done")),
)
"""What to do by the moves that there are, the first that is open."""
