"""The whole state of a siege as one frozen value, and the few changes that all rules share.

Units and hexes are whole numbers, sets of either are bits (see `roster` and `geometry`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

from companion.games.kit import Struct, replace
from companion.games.siege.rules.field import Field
from companion.games.siege.rules.maps import field_of
from companion.games.siege.rules.options import HouseRules
from companion.games.siege.rules.roster import FULL, ROSTERS, SIDES, THIRD, Roster, Side

DEAD, WAITING = -1, -2
"""Where a unit stands that is on no hex: out of the game, or not yet deployed."""

NOBODY = -1

DEPLOY = "deploy"
EVENT, MOVE, ATTACK, RALLY, FIRE = "event", "move", "attack", "rally", "fire"

PHASES: tuple[tuple[str, int], ...] = (
    (EVENT, 1),
    (MOVE, 1),
    (ATTACK, 1),
    (RALLY, 1),
    (MOVE, 0),
    (ATTACK, 0),
    (RALLY, 0),
    (FIRE, 0),
)
"""The eight phases of a turn, each with the side that acts; in the first and the last it is nobody's alone."""

Task: TypeAlias = tuple[str | int, ...]
"""Something that is due before the phase goes on: its name, then units, hexes and numbers.

    event                              two of them begin a turn
    succumb side                       its owner picks the unit that dies
    pace unit forced                   a die, or two, for the march
    strike unit hex                    the die of an attack
    fate unit hex                      a defeated unit: destroyed or routed; the hex is its victor's
    flight unit hex tries burn         1D3 for a retreat from that hex; what burns behind it, or -1
    retreat unit hex n tries burn      the owner picks where it goes
    panic unit hex                     a die for one that saw a neighbour rout
    victory unit                       it may advance
    rally unit
    fire hex                           may go out
"""


class Outcome(Struct, frozen=True):
    """How the siege ended: ``captured`` a leader, the turn ``limit``, or a ``draw``, with no winner."""

    kind: str
    winner: Side | None = None


class State(Struct, frozen=True):
    """A siege between two moves.

    Laws: `held` are for each side the hexes on which its walking units stand, `hulls` those with a boat; both follow
    from `at`. `phase` is a place in `PHASES`, or below 0 while the side that it names deploys (-1 the Aztecs, -2 the
    Spanish side). `purse` are the points that each unit has left in the phase now running.
    """

    rules: HouseRules
    at: tuple[int, ...]
    purse: tuple[int, ...]
    held: tuple[int, int]
    hulls: int = 0
    routed: int = 0
    fires: int = 0
    turn: int = 1
    phase: int = -1
    active: int = NOBODY
    """The unit whose steps or whose place are picked now."""
    rolled: int = 0
    forced: int = 0
    stirred: int = 0
    """Units that left their hex in this phase."""
    spent: int = 0
    """Units that have attacked, and may not again."""
    advanced: int = 0
    checked: int = 0
    """Units that panic has asked in the attack now running."""
    agenda: tuple[Task, ...] = ()
    last_attack: int = 0
    seen: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """For each side where all units stood when its own phases last ended: what happened since is the difference."""
    outcome: Outcome | None = None

    @property
    def field(self) -> Field:
        """The map."""
        return field_of(self.rules.map)

    @property
    def roster(self) -> Roster:
        """The units of this game."""
        rules = self.rules
        return _roster(rules.map, rules.forces)

    @property
    def deploying(self) -> bool:
        """Whether units are still being placed."""
        return self.phase < 0

    @property
    def stage(self) -> str:
        """The name of the phase now running."""
        return DEPLOY if self.phase < 0 else PHASES[self.phase][0]

    @property
    def side(self) -> int:
        """The side whose phase it is: 0 the Aztecs, 1 the Spanish side."""
        return -1 - self.phase if self.phase < 0 else PHASES[self.phase][1]

    @property
    def mover(self) -> Side:
        """The name of the side whose phase it is."""
        return SIDES[self.side]


def roster_of(rules: HouseRules) -> Roster:
    """Return who fights: on a map that has no room for the full forces, a third of them."""
    return _roster(rules.map, rules.forces)


@lru_cache(maxsize=64)
def _roster(name: str, forces: str) -> Roster:
    full = ROSTERS[FULL]
    inside, outside, afloat = field_of(name).room()
    fits = len(full.land[0]) <= inside and len(full.land[1]) <= outside and len(full.boats) <= afloat
    return full if forces == FULL and fits else ROSTERS[THIRD]


def setup(rules: HouseRules) -> State:
    """Return the state in which the first side places its first unit (ruling S31)."""
    n = len(roster_of(rules).people)
    first = 0 if rules.setup_order == "aztecs_first" else 1
    active = 0 if first == 0 else roster_of(rules).land[1][0]
    return State(rules, (WAITING,) * n, (0,) * n, (0, 0), phase=-1 - first, active=active)


def standing(state: State, side: int) -> Iterator[int]:
    """Yield a side's walking units that are on the map."""
    at = state.at
    return (u for u in state.roster.land[side] if at[u] >= 0)


def on(state: State, hexagon: int) -> tuple[int, ...]:
    """Return the units on a hex, a boat last: on land one at most."""
    return tuple(u for u, here in enumerate(state.at) if here == hexagon)


def threat(state: State, side: int) -> int:
    """Return the hexes from which a side's units frighten: an empty boat only where boats are units (ruling S12)."""
    if side == 1 and state.rules.empty_boats == "unit":
        return state.held[1] | state.hulls
    return state.held[side]


def afloat(state: State, unit: int) -> bool:
    """Return whether a unit is on the water."""
    return bool(state.field.water >> state.at[unit] & 1)


def is_boat(state: State, unit: int) -> bool:
    """Return whether a unit is a brigantine."""
    return state.roster.people[unit] == "boat"


def moved(state: State, units: tuple[int, ...], to: int) -> State:
    """Return the state with units on another hex, `DEAD` among the hexes."""
    at = list(state.at)
    left = {at[u] for u in units}
    for u in units:
        at[u] = to
    held, hulls = list(state.held), state.hulls
    side, people = state.roster.side, state.roster.people
    for here in left:
        if here >= 0:
            here_still = [u for u, where in enumerate(at) if where == here]
            if not any(people[u] == "boat" for u in here_still):
                hulls &= ~(1 << here)
            for n in (0, 1):
                if not any(side[u] == n and people[u] != "boat" for u in here_still):
                    held[n] &= ~(1 << here)
    if to >= 0:
        for u in units:
            if people[u] == "boat":
                hulls |= 1 << to
            else:
                held[side[u]] |= 1 << to
    return replace(state, at=tuple(at), held=(held[0], held[1]), hulls=hulls)


def as_set(units: tuple[int, ...]) -> int:
    """Return units as a set."""
    found = 0
    for u in units:
        found |= 1 << u
    return found
