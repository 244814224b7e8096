"""The legal moves of a seat one level at a time: what to do, with which unit, where.

Each choice names the element on the map that it belongs to: ``unit:17`` or ``hex:g12``.
"""

from __future__ import annotations

from companion.games.kit import CHANCE, Arg, Choice, Facts, Move, Seat
from companion.games.siege.rules import fighting, legal, marching
from companion.games.siege.rules.state import NOBODY, State

_BY_UNIT = ("force", "march", "walk", "succumb")
_BY_HEX = ("place", "lift", "go", "advance", "retreat")
_BY_PEOPLE = ("take",)
_ALONE = ("all", "claim", "done", "hold", "ready", "rest")

_SURE = ("claim",)
"""What asks for a second tap."""


def choices(state: State, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
    """Return the legal moves of a seat, or what may be typed in for chance, one level at a time."""
    listed = legal.moves(state, seat)
    if seat == CHANCE:
        return [] if picked else [Choice(move.name, {"n": move.args[0]}, "chance", move, "die") for move in listed]
    match picked:
        case ():
            return _first(state, listed)
        case ("attack", int(unit)):
            return [_attack(state, move) for move in listed if move.name == "attack" and move.args[0] == unit]
        case ("attack",):
            units = dict.fromkeys(int(move.args[0]) for move in listed if move.name == "attack")
            return [_deeper("attack_with", {**legal.unit_facts(state, u), "pick": u}, f"unit:{u}") for u in units]
        case (str(name),) if name in (*_BY_UNIT, *_BY_HEX, *_BY_PEOPLE):
            return [_choice(state, move) for move in listed if move.name == name]
    return []


def _first(state: State, listed: list[Move]) -> list[Choice]:
    """Return the kinds of moves; what has no arguments is made at once, and so is what there is only one kind of."""
    names = list(dict.fromkeys(move.name for move in listed))
    found = []
    for name in names:
        own = [move for move in listed if move.name == name]
        if name in _ALONE:
            found.append(Choice(name, {}, name, own[0], "phase", confirm=name in _SURE))
        elif name in ("retreat", "advance"):
            found += [_choice(state, move) for move in own]
        else:
            found.append(_deeper(f"{name}_any", {"n": len(own), "pick": name}, name))
    return found


def _deeper(key: str, facts: Facts, element: str) -> Choice:
    return Choice(key, facts, element, group="deeper")


def _choice(state: State, move: Move) -> Choice:
    name, args = move
    if name in _BY_UNIT:
        unit = int(args[0])
        facts = {**legal.unit_facts(state, unit), "points": state.purse[unit]}
        return Choice(name, facts, f"unit:{unit}", move, name)
    if name in _BY_PEOPLE:
        return Choice(name, {"people": args[0]}, f"people:{args[0]}", move, name)
    where = str(args[0])
    facts = {"hex": where, **_of_hex(state, name, where)}
    return Choice(name, facts, f"hex:{where}", move, name)


def _of_hex(state: State, name: str, where: str) -> dict[str, Arg]:
    if name == "go" and state.active != NOBODY:
        cost = marching.reach(state, state.active)[state.field.grid.numbers[where]]
        return {"cost": cost, "left": state.purse[state.active] - cost}
    if name == "place":
        return {"people": state.roster.people[state.active]}
    return {}


def _attack(state: State, move: Move) -> Choice:
    unit, where = int(move.args[0]), str(move.args[1])
    target = state.field.grid.numbers[where]
    modifier = sum(fighting.modifiers(state, unit, target).values())
    odds = fighting.odds(modifier, state.rules.natural_hit == "on")
    facts: Facts = {
        "hex": where,
        "modifier": modifier,
        "win": int(odds.defender * 6),
        "lose": int(odds.attacker * 6),
        "people": state.roster.people[unit],
        "foe": state.roster.people[fighting.defender_of(state, target)],
    }
    return Choice("attack", facts, f"hex:{where}", move, "attack")
