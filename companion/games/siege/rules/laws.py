"""The invariants of the siege, which the conformance suite checks after every random move."""

from __future__ import annotations

from companion.games.kit import replace
from companion.games.siege.rules.state import PHASES, WAITING, State, Task, moved

_TASKS = {
    "event": "", "succumb": "s", "pace": "un", "strike": "uh", "fate": "uh", "flight": "uhnb", "retreat": "uhnnb",
    "panic": "uh", "victory": "u", "rally": "u", "fire": "h",
}  # fmt: skip
"""What the numbers of a task are: a side, a unit, a hex, a number, what burns."""


def laws(state: State) -> dict[str, bool]:
    """Return the invariants of the game, each with whether this state satisfies it."""
    units, kind = len(state.at), state.outcome and state.outcome.kind
    placed = replace(state, at=(WAITING,) * units, held=(0, 0), hulls=0)
    for unit, here in enumerate(state.at):
        placed = moved(placed, (unit,), here)
    return {
        "units": bool(state.at) and len(state.purse) == units,
        "a phase that there is": -2 <= state.phase < len(PHASES),
        "a unit that acts, or none": -1 <= state.active < units,
        "turns from 1": state.turn >= 1,
        "hexes that follow from where units stand": (placed.held, placed.hulls) == (state.held, state.hulls),
        "tasks with numbers in range": all(_in_range(task, units, len(state.field.grid)) for task in state.agenda),
        "an end that there is": kind in (None, "captured", "limit", "draw")
        and (state.outcome is None or (state.outcome.winner is None) == (kind == "draw")),
    }


def _in_range(task: Task, units: int, hexes: int) -> bool:
    limits = {"s": 2, "u": units, "h": hexes, "n": 13, "b": hexes}
    name, *args = task
    return all(
        (-1 if kind == "b" else 0) <= int(arg) < limits[kind]
        for kind, arg in zip(_TASKS[str(name)], args, strict=True)
    )
