"""What a move would change, as lines that the player reads before confirming it."""

from __future__ import annotations

from collections.abc import Iterator

from companion.games.kit import Line, Move, Seat
from companion.games.siege.rules.geometry import bits
from companion.games.siege.rules.legal import unit_facts
from companion.games.siege.rules.state import DEAD, State, as_set


def changes(before: State, seat: Seat, move: Move, after: State) -> Iterator[Line]:
    """Yield who is lost or routed, what burns, and whether the siege ends by it."""
    if move.name not in ("attack", "claim"):
        return
    for unit, (was, now) in enumerate(zip(before.at, after.at, strict=True)):
        if now == DEAD != was:
            yield Line("lost", unit_facts(before, unit))
    fleeing = as_set(tuple(int(task[1]) for task in after.agenda if task[0] == "flight"))
    for unit in bits(after.routed & (~before.routed | fleeing)):  # who was routed already routs again (ruling S27)
        yield Line("routed", unit_facts(before, unit))
    for hexagon in bits(after.fires & ~before.fires):
        yield Line("burns", {"hex": before.field.grid.names[hexagon]})
    if end := after.outcome:
        yield Line(f"ends_{end.kind}", {"seat": end.winner} if end.winner else {})


def follows(state: State) -> bool:
    """Return whether an attack's die is due, or the one that destroys or routs who was defeated by it."""
    return bool(state.agenda) and state.agenda[0][0] in ("strike", "fate") and state.outcome is None
