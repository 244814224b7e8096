"""Describes what a move did, as lines for the log: the move itself, then its consequences."""

from __future__ import annotations

from collections.abc import Iterator

from companion.games.kit import CHANCE, Arg, Line, Move, Seat
from companion.games.siege.rules import combat, fighting, legal
from companion.games.siege.rules.geometry import bits
from companion.games.siege.rules.state import DEAD, State


def story(before: State, seat: Seat, move: Move, after: State) -> list[Line]:
    """Return what a move did, line by line."""
    return [*_done(before, seat, move, after), *_followed(before, move, after)]


def _done(before: State, seat: Seat, move: Move, after: State) -> Iterator[Line]:
    name, args = move
    mark = f"seat:{seat}"
    match name:
        case "place":
            yield Line("deployed", {"seat": seat, "n": 1}, mark, adds="n")
        case "rest":
            n = sum(1 for was, now in zip(before.at, after.at, strict=True) if was != now)
            yield Line("deployed", {"seat": seat, "n": n}, mark, adds="n")
        case "ready":
            yield Line("ready", {"seat": seat}, mark)
        case "go" | "advance":
            unit = before.active if name == "go" else int(before.agenda[0][1])
            yield Line("went", {**legal.unit_facts(before, unit), "to": args[0]}, f"unit:{unit}")
        case "succumb":
            unit = int(args[0])
            yield Line("succumbed", legal.unit_facts(before, unit), f"unit:{unit}")
        case "attack":
            unit, target = int(args[0]), before.field.grid.numbers[str(args[1])]
            foe = before.roster.people[fighting.defender_of(before, target)]
            yield Line("attacked", {**legal.unit_facts(before, unit), "foe": foe, "to": args[1]}, f"unit:{unit}")
        case "claim":
            yield Line("claimed", {"seat": seat}, mark)
        case _ if seat == CHANCE:
            yield from _die(before, int(args[0]))


def _die(before: State, n: int) -> Iterator[Line]:
    """Yield what a die showed."""
    name, *numbers = before.agenda[0]
    unit = int(numbers[0]) if numbers else 0
    match name:
        case "event":
            yield Line("event", {"n": n})
        case "pace" | "fate" | "flight" | "panic":
            yield Line(str(name), {**legal.unit_facts(before, unit), "n": n}, f"unit:{unit}")
        case "strike":
            modifier = sum(fighting.modifiers(before, unit, int(numbers[1])).values())
            verdict = fighting.verdict(n, modifier, before.rules.natural_hit == "on")
            yield Line(f"strike_{verdict}", {"n": n, "modifier": modifier}, f"unit:{unit}")
        case "rally":
            code = "rallied" if n + combat.rally_bonus(before, unit) >= combat.RALLIES else "not_rallied"
            yield Line(code, {**legal.unit_facts(before, unit), "n": n}, f"unit:{unit}")
        case "fire":
            facts: dict[str, Arg] = {"hex": before.field.grid.names[unit], "n": n}
            yield Line("fire_out" if n <= combat.GOES_OUT else "fire_on", facts)


def _followed(before: State, move: Move, after: State) -> Iterator[Line]:
    """Yield what came of a move: units that fled, routed or were lost, what burns, how it ended."""
    if before.deploying:
        return
    names = after.field.grid.names
    lost = [u for u, here in enumerate(after.at) if here == DEAD != before.at[u]]
    for unit in lost:
        if move.name != "succumb":
            yield Line("lost", legal.unit_facts(before, unit), f"unit:{unit}")
    for unit in bits(after.routed & ~before.routed):
        yield Line("routed", legal.unit_facts(before, unit), f"unit:{unit}")
    if move.name in ("flight", "retreat"):
        for unit, here in enumerate(after.at):
            if here >= 0 and here != before.at[unit]:
                yield Line("fled", {**legal.unit_facts(before, unit), "to": names[here]}, f"unit:{unit}")
    for h in bits(after.fires & ~before.fires):
        yield Line("burns", {"hex": names[h]})
    if after.outcome:
        winner = after.outcome.winner
        yield Line(f"ended_{after.outcome.kind}", {"seat": winner} if winner else {})
    elif after.turn != before.turn:
        yield Line("turn", {"number": after.turn})
