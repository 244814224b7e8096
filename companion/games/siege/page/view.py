"""What a seat may know of a siege, as JSON. Nothing is hidden: every counter is on the map."""

from __future__ import annotations

from functools import lru_cache

from companion.games.kit import Json, Seat
from companion.games.siege.rules import combat, course, deployment, fighting, legal, marching
from companion.games.siege.rules.field import TERRAINS, Field
from companion.games.siege.rules.geometry import bits
from companion.games.siege.rules.roster import SIDES
from companion.games.siege.rules.state import ATTACK, DEAD, MOVE, NOBODY, State


def view(state: State, seat: Seat | None) -> dict[str, Json]:
    """Return what a seat, or with none a spectator, may know."""
    names = state.field.grid.names
    return {
        "me": seat if seat in SIDES else None,
        "seats": list(SIDES),
        "rules": state.rules.chosen(),
        "turn": state.turn,
        "turn_limit": state.rules.turn_limit,
        "quiet": course.quiet_turns(state),
        "quiet_limit": state.rules.quiet_limit,
        "last_attack": state.last_attack,
        "stage": state.stage,
        "side": state.mover,
        "on_turn": None if state.outcome else state.mover,
        "decider": legal.decider(state),
        "map": map_of(state.field),
        "units": [_unit(state, u) for u in range(len(state.at))],
        "fires": [names[h] for h in bits(state.fires)],
        "active": None if state.active == NOBODY else state.active,
        "reach": _reach(state),
        "attacks": _attacks(state),
        "due": _due(state),
        "agenda": [list(task) for task in state.agenda],
        "deployment": _deployment(state),
        "since": _since(state),
        "strength": _strength(state),
        "odds": odds_table(state.rules.natural_hit == "on", -2 if state.rules.bodyguard == "off" else -4),
        "outcome": None if state.outcome is None else {"kind": state.outcome.kind, "winner": state.outcome.winner},
    }


@lru_cache(maxsize=16)
def map_of(field: Field) -> dict[str, Json]:
    """Return a map as JSON: its letters row by row, its walls and gates as pairs of hexes."""
    grid = field.grid
    rows = range(0, len(grid), grid.width)
    return {
        "name": field.name,
        "width": grid.width,
        "height": grid.height,
        "ground": [field.ground[at : at + grid.width] for at in rows],
        "zones": [field.zones[at : at + grid.width] for at in rows],
        "walls": [[grid.names[a], grid.names[b]] for a, b in sorted(field.walls)],
        "gates": [[grid.names[a], grid.names[b]] for a, b in sorted(field.gates)],
        "quarters": dict(field.quarters),
        "places": {grid.names[h]: name for h, name in sorted(field.places.items())},
        "terrains": dict(TERRAINS),
    }


@lru_cache(maxsize=4)
def odds_table(natural_hit: bool, least: int = -2) -> dict[str, Json]:
    """Return how many of six rolls defeat the defender, nobody and the attacker, for modifiers from `least` on."""
    table = {m: fighting.odds(m, natural_hit) for m in range(least, 4)}
    return {str(m): [int(each * 6) for each in odds] for m, odds in table.items()}


def _unit(state: State, unit: int) -> Json:
    here = state.at[unit]
    return {
        "people": state.roster.people[unit],
        "no": state.roster.number[unit],
        "hex": "" if here < 0 else state.field.grid.names[here],
        "alive": here != DEAD,
        "routed": bool(state.routed >> unit & 1),
        "rolled": bool(state.rolled >> unit & 1),
        "forced": bool(state.forced >> unit & 1),
        "spent": bool(state.spent >> unit & 1),
        "stirred": bool(state.stirred >> unit & 1),
        "advanced": bool(state.advanced >> unit & 1),
        "checked": bool(state.checked >> unit & 1),
        "points": state.purse[unit],
    }


def _reach(state: State) -> dict[str, Json]:
    if state.stage != MOVE or state.active == NOBODY or state.agenda or state.outcome:
        return {}
    names = state.field.grid.names
    return {names[h]: cost for h, cost in sorted(marching.reach(state, state.active).items())}


def _attacks(state: State) -> list[Json]:
    """Return every attack that may be made now with its modifiers, or the one whose die is due."""
    if state.outcome or state.stage != ATTACK:
        return []
    if state.agenda:
        task = state.agenda[0]
        return [attack_of(state, int(task[1]), int(task[2]))] if task[0] == "strike" else []
    return [attack_of(state, unit, target) for unit, target in fighting.attacks(state)]


def attack_of(state: State, unit: int, target: int) -> dict[str, Json]:
    """Return an attack with its target, its modifiers by reason and what they add up to."""
    found = fighting.modifiers(state, unit, target)
    return {
        "unit": unit,
        "hex": state.field.grid.names[target],
        "reasons": dict(found),
        "modifier": sum(found.values()),
    }


def _due(state: State) -> Json:
    """Return the task that is due: its name, its unit, the hex it is about, its choices where a seat picks."""
    if state.outcome or not state.agenda:
        return None
    names = state.field.grid.names
    name, *args = state.agenda[0]
    due: dict[str, Json] = {"task": name}
    match name:
        case "succumb":
            due["side"] = SIDES[int(args[0])]
            due["units"] = list(course.mortal(state, int(args[0])))
        case "fire":
            due["hex"] = names[int(args[0])]
        case "strike" | "fate" | "flight" | "panic" | "retreat":
            due |= {"unit": args[0], "from": names[int(args[1])]}
            if name == "retreat":
                due["hexes"] = [names[h] for h in marching.retreats(state, int(args[0]), int(args[1]), int(args[2]))]
        case "victory":
            due |= {"unit": args[0], "hexes": [names[h] for h in combat.advances(state, int(args[0]))]}
        case "pace" | "rally":
            due["unit"] = args[0]
    return due


def _since(state: State) -> list[Json]:
    """Return what happened since the side whose march begins was last on turn: from where units went or were lost."""
    if state.stage != MOVE or state.rolled or state.outcome:
        return []
    names, seen = state.field.grid.names, state.seen[state.side]
    changes = [(was, now) for was, now in zip(seen, state.at, strict=True) if was != now and was >= 0]
    return [[names[was], names[now] if now >= 0 else ""] for was, now in changes]


def _deployment(state: State) -> Json:
    if not state.deploying or state.outcome:
        return None
    counts: dict[str, Json] = {}
    for unit in deployment.waiting(state):
        people = state.roster.people[unit]
        counts[people] = int(str(counts.get(people, 0))) + 1
    names = state.field.grid.names
    hexes = 0 if state.active == NOBODY else deployment.free(state, state.active)
    return {
        "people": None if state.active == NOBODY else state.roster.people[state.active],
        "waiting": counts,
        "lacking": dict(deployment.lacking(state)) if state.side == 0 else {},
        "hexes": [names[h] for h in bits(hexes)],
    }


def _strength(state: State) -> dict[str, Json]:
    """Return for each people how many units fight, are routed and are dead."""
    found: dict[str, Json] = {}
    people = state.roster.people
    for each in dict.fromkeys(people):
        own = [u for u in range(len(people)) if people[u] == each]
        dead = sum(1 for u in own if state.at[u] == DEAD)
        routed = sum(1 for u in own if state.routed >> u & 1)
        found[each] = {"fit": len(own) - dead - routed, "routed": routed, "dead": dead}
    return found
