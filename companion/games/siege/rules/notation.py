"""A siege in one readable line that parses back, for errors, logs and tests. Only what it wrote is read.

A line begins with the map and holds ``key=value`` words; the rules are those that differ from their default::

    skirmish rules=forces:third phase=2 turn=3 at=k6,k8,-,+ purse=- active=- routed=1 fires=k7 ...

`at` is where each unit stands by its number: ``-`` is dead, ``+`` not yet placed. Sets of units are their numbers,
sets of hexes their names. A map of a table's own stands in the rules as hexadecimal UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from companion.games.kit import Value
from companion.games.siege.rules.geometry import Grid, bits
from companion.games.siege.rules.maps import SHIPPED
from companion.games.siege.rules.options import OPTIONS, HouseRules
from companion.games.siege.rules.roster import SIDES
from companion.games.siege.rules.state import DEAD, PHASES, WAITING, Outcome, State, moved, roster_of

_NONE = "-"
_NUMBER = re.compile(r"-?\d{1,9}", re.ASCII)
_TASKS = {
    "event": "", "succumb": "s", "pace": "un", "strike": "uh", "fate": "uh", "flight": "uhnb", "retreat": "uhnnb",
    "panic": "uh", "victory": "u", "rally": "u", "fire": "h",
}  # fmt: skip
"""What the numbers of a task are: a side, a unit, a hex, a number, what burns."""


def notation(state: State) -> str:
    """Return the state in one line; ``parse(notation(state)) == state``."""
    names = state.field.grid.names
    purse = [f"{u}:{points}" for u, points in enumerate(state.purse) if points]
    words = {
        "rules": _listed(f"{key}:{_brief(key, value)}" for key, value in _departures(state.rules)),
        "phase": str(state.phase),
        "turn": str(state.turn),
        "at": _places(names, state.at),
        "purse": _listed(purse),
        "active": str(state.active),
        **{key: _listed(str(u) for u in bits(getattr(state, key))) for key in _SETS},
        "fires": _listed(names[h] for h in bits(state.fires)),
        "agenda": _listed(":".join(map(str, task)) for task in state.agenda),
        "quiet": str(state.last_attack),
        **{f"seen.{side}": _places(names, at) for side, at in zip(SIDES, state.seen, strict=True)},
        "end": _NONE if state.outcome is None else f"{state.outcome.kind}:{state.outcome.winner or ''}",
    }
    return " ".join(("siege", *(f"{key}={value}" for key, value in words.items())))


_SETS = ("routed", "rolled", "forced", "stirred", "spent", "advanced", "checked")


def parse(text: str) -> State:
    """Read a state that `notation` wrote; raises `ValueError` for any other text."""
    try:
        state = _read(text)
    except (KeyError, IndexError, StopIteration, TypeError) as error:
        raise ValueError(f"siege notation is {_short(text)}; it lacks {error}") from None
    if notation(state) != text:
        raise ValueError(f"siege notation is {_short(text)}; expected what writes the same state")
    _check(state)
    return state


def _read(text: str) -> State:
    game, *pairs = text.split(" ")
    if game != "siege":
        raise ValueError(f"siege notation is {_short(text)}; expected it to begin with 'siege'")
    words = dict(each.split("=", 1) for each in pairs if "=" in each)
    rules = _rules(_items(words["rules"]))
    n = len(roster_of(rules).people)
    blank = State(rules, (WAITING,) * n, (0,) * n, (0, 0))
    grid = blank.field.grid
    at = _read_places(grid, words["at"], n)
    purse = [0] * n
    for each in _items(words["purse"]):
        unit, points = each.split(":")
        purse[_unit(unit, n)] = _number(points)
    kind, _, winner = words["end"].partition(":")
    placed = blank
    for number, here in enumerate(at):
        placed = moved(placed, (number,), here)
    return State(
        rules=rules,
        at=at,
        purse=tuple(purse),
        held=placed.held,
        hulls=placed.hulls,
        fires=_set(grid.hexagon(each) for each in _items(words["fires"])),
        turn=_number(words["turn"]),
        phase=_number(words["phase"]),
        active=_number(words["active"]),
        agenda=tuple(_task(each) for each in _items(words["agenda"])),
        last_attack=_number(words["quiet"]),
        seen=(_read_places(grid, words["seen.aztecs"], n), _read_places(grid, words["seen.spaniards"], n)),
        outcome=None if kind == _NONE else Outcome(kind, next((side for side in SIDES if side == winner), None)),
        **{key: _set(_unit(each, n) for each in _items(words[key])) for key in _SETS},
    )


def _check(state: State) -> None:
    """Raise `ValueError` for a state that play cannot lead to, as far as others rely on it."""
    n, size = len(state.at), len(state.field.grid)
    if not state.at:
        raise ValueError("siege notation places no units")
    if not -2 <= state.phase < len(PHASES) or not -1 <= state.active < n or state.turn < 1:
        raise ValueError(f"siege notation is in phase {state.phase} of turn {state.turn} with unit {state.active}")
    for name, *args in state.agenda:
        for kind, arg in zip(_TASKS[str(name)], args, strict=True):
            limit = {"s": 2, "u": n, "h": size, "n": 13, "b": size}[kind]
            if not (-1 if kind == "b" else 0) <= int(arg) < limit:
                raise ValueError(f"siege notation has the task {name} with {arg}; expected a number below {limit}")
    if state.outcome and (state.outcome.kind, state.outcome.winner is None) not in (
        ("captured", False), ("limit", False), ("draw", True),
    ):  # fmt: skip
        raise ValueError(f"siege notation ends by {state.outcome.kind} for {state.outcome.winner}")


def _departures(rules: HouseRules) -> Iterable[tuple[str, Value]]:
    return [(each.key, value) for each in OPTIONS if (value := getattr(rules, each.key)) != each.default]


def _brief(key: str, value: Value) -> str:
    return (
        f"x{value.encode().hex()}" if key == "map" and isinstance(value, str) and value not in SHIPPED else str(value)
    )


def _rules(departures: list[str]) -> HouseRules:
    chosen: dict[str, Value] = {option.key: option.default for option in OPTIONS}
    for each in departures:
        key, _, value = each.partition(":")
        if key not in chosen:
            raise ValueError(f"siege notation has the rule {_short(key)}; expected one of the game's options")
        if key == "map" and value.startswith("x"):
            chosen[key] = bytes.fromhex(value[1:]).decode()
        else:
            chosen[key] = int(value) if _NUMBER.fullmatch(value) else value
    return HouseRules.of(chosen)


def _places(names: Sequence[str], at: tuple[int, ...]) -> str:
    return ",".join("-" if h == DEAD else "+" if h == WAITING else names[h] for h in at) or "="


def _read_places(grid: Grid, text: str, n: int) -> tuple[int, ...]:
    if text == "=":
        return ()
    at = [DEAD if each == "-" else WAITING if each == "+" else grid.hexagon(each) for each in text.split(",")]
    if len(at) != n:
        raise ValueError(f"siege notation places {len(at)} units; expected {n}")
    return tuple(at)


def _task(text: str) -> tuple[str | int, ...]:
    name, *args = text.split(":")
    if name not in _TASKS or len(args) != len(_TASKS[name]):
        raise ValueError(f"siege notation has the task {_short(text)}; expected one of {', '.join(_TASKS)}")
    return (name, *map(_number, args))


def _listed(words: Iterable[str]) -> str:
    return ",".join(words) or _NONE


def _items(text: str) -> list[str]:
    return [] if text == _NONE else text.split(",")


def _set(numbers: Iterable[int]) -> int:
    found = 0
    for each in numbers:
        found |= 1 << each
    return found


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"siege notation has {_short(text)}; expected a whole number")
    return int(text)


def _unit(text: str, n: int) -> int:
    unit = _number(text)
    if not 0 <= unit < n:
        raise ValueError(f"siege notation has the unit {unit}; expected one below {n}")
    return unit


def _short(text: object) -> str:
    return ascii(text)[:80]
